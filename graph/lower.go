package graph

import (
	"fmt"

	"github.com/adjoint-go/adjoint/tensor"
)

// A schedule is a module as steps over slots. A slot is a run of memory that one step writes, or that comes
// from outside; a place is a layout on a slot. Views are places, not steps.
type schedule struct {
	m       *module
	slots   []slot
	steps   []step
	at      map[*Node]place
	outputs []place // of the results, in order
	specs   []tensor.Spec
	assigns []assignment
	inputs  map[string]int     // slot of each input
	args    map[*Node]argument // of a function
	vars    map[*Variable]int
	tail    int // steps from here on cannot fail, and no output needs them
}

type slotKind uint8

const (
	temporary slotKind = iota // written by a step, in planned memory
	constant
	input
	variable // the value at the start of the run
	output   // written by a step, in the caller's memory
)

type slot struct {
	kind   slotKind
	spec   tensor.Spec // of the compact tensor that fills the slot
	bytes  int
	view   tensor.View // constant
	name   string      // input
	arg    int         // input: which argument of a function
	v      *Variable   // variable; or, for a temporary, the variable whose memory it is written to
	output int         // which result
	buffer int         // which planned buffer, for a temporary
	last   int         // the last step that reads it
}

type place struct {
	slot   int
	layout tensor.Layout
}

type step struct {
	op     Op
	pos    string
	out    []place
	in     []place
	used   []bool
	kernel Kernel

	checked bool // another step has found that it cannot fail
}

type assignment struct {
	v      *Variable
	value  place
	direct bool // the step that makes the value writes it to the variable
	pos    string
}

// argument is where an argument of a function is among its operands, and under which layout.
type argument struct {
	index  int
	layout tensor.Layout
}

func newSchedule(m *module) *schedule {
	return &schedule{m: m, at: map[*Node]place{}, inputs: map[string]int{}, args: map[*Node]argument{}, vars: map[*Variable]int{}}
}

// lower makes the steps. layouts are those of the results; nil if all are row-major, as a program's are.
func (s *schedule) lower(layouts []tensor.Layout) error {
	for _, c := range s.m.calls {
		if err := s.add(c); err != nil {
			return err
		}
	}
	for i, n := range s.m.outputs {
		if _, effect := n.call.Op.(AssignOp); effect {
			continue
		}
		l := tensor.RowMajor(n.spec.Shape)
		if layouts != nil {
			l = layouts[i]
		}
		s.addOutput(n, l)
	}
	s.stageAssigned()
	if s.m.passes {
		s.checkFirst()
	}
	s.markUsed()
	s.moveTail()
	return s.checkSizes()
}

// checkSizes finds what is too large for memory. A view may be that; what a step writes may not.
func (s *schedule) checkSizes() error {
	for _, st := range s.steps {
		for _, p := range st.out {
			if _, err := tensor.CheckedBytes(s.slots[p.slot].spec); err != nil {
				return &Error{st.pos, st.op.Name(), err}
			}
		}
	}
	return nil
}

// place is where a node's value is, a constant's made known on first use.
func (s *schedule) place(n *Node) place {
	n = s.m.node(n)
	if p, ok := s.at[n]; ok {
		return p
	}
	v, _ := s.m.known(n) // all other nodes are placed by add, operands first
	p := place{s.newSlot(slot{kind: constant, spec: v.Spec(), view: v}), v.Layout()}
	s.at[n] = p
	return p
}

func (s *schedule) newSlot(sl slot) int {
	sl.bytes = sl.spec.Size() * sl.spec.DType.Size()
	sl.last = -1
	s.slots = append(s.slots, sl)
	return len(s.slots) - 1
}

func (s *schedule) add(c *Call) error {
	switch op := c.Op.(type) {
	case Constant:
		if _, err := s.m.backend.Import(op.view.Read()); err != nil {
			return &Error{c.Pos(), "graph.Const", err}
		}
		return nil
	case InputLeaf:
		if a, ok := s.args[c.Out[0]]; ok {
			k := s.newSlot(slot{kind: input, spec: op.leaf.spec, arg: a.index})
			s.at[c.Out[0]] = s.under(k, a.layout)
			return nil
		}
		if op.Label == "" {
			return &Error{c.Pos(), "graph.Compile", fmt.Errorf("an output depends on a function's argument, which has no value outside of it")}
		}
		k := s.newSlot(slot{kind: input, spec: op.leaf.spec, name: op.Label})
		s.inputs[op.Label] = k
		s.at[c.Out[0]] = place{k, tensor.RowMajor(op.leaf.spec.Shape)}
		return nil
	case VariableLeaf:
		if op.Var.store.backend != s.m.backend {
			return &Error{c.Pos(), "graph.Compile", op.Var.foreign("program", s.m.backend)}
		}
		s.at[c.Out[0]] = place{s.variableSlot(op.Var), tensor.RowMajor(op.Var.spec.Shape)}
		return nil
	case AssignOp:
		return s.addAssign(c, op)
	case Aliaser:
		for r, n := range c.Out {
			s.at[n] = s.place(c.In[op.Alias(r)])
		}
		return nil
	case Viewer:
		p := s.place(c.In[0])
		l, ok := op.View(p.layout)
		if !ok {
			p = s.copyOf(p, c.In[0].spec, tensor.RowMajor(c.In[0].Shape()), c.Pos())
			l, _ = op.View(p.layout)
		}
		s.m.stats.Views++
		s.at[c.Out[0]] = place{p.slot, l}
		return nil
	}
	st := step{op: c.Op, pos: c.Pos()}
	for _, x := range c.In {
		st.in = append(st.in, s.place(x))
	}
	for _, n := range c.Out {
		p := place{s.newSlot(slot{spec: n.spec}), tensor.RowMajor(n.spec.Shape)}
		s.at[n] = p
		st.out = append(st.out, p)
	}
	s.steps = append(s.steps, st)
	return nil
}

func (s *schedule) variableSlot(v *Variable) int {
	k, ok := s.vars[v]
	if !ok {
		k = s.newSlot(slot{kind: variable, spec: v.spec, v: v})
		s.vars[v] = k
	}
	return k
}

func (s *schedule) addAssign(c *Call, op AssignOp) error {
	for _, a := range s.assigns {
		if a.v == op.Var {
			return &Error{c.Pos(), "graph.Assign", fmt.Errorf("variable %q is assigned twice in one program, at %s too", op.Var.name, a.pos)}
		}
	}
	if op.Var.store.backend != s.m.backend {
		return &Error{c.Pos(), "graph.Compile", op.Var.foreign("program", s.m.backend)}
	}
	s.variableSlot(op.Var)
	p := s.place(c.In[0])
	s.at[c.Out[0]] = p
	s.assigns = append(s.assigns, assignment{v: op.Var, value: p, pos: c.Pos()})
	return nil
}

// copyOf adds a step that puts a place into memory of its own, under a layout.
func (s *schedule) copyOf(p place, spec tensor.Spec, l tensor.Layout, pos string) place {
	to := s.under(s.newSlot(slot{spec: spec}), l)
	s.steps = append(s.steps, step{op: Copy{}, pos: pos, out: []place{to}, in: []place{p}})
	s.m.stats.Copies++
	return to
}

// under is a whole slot under a layout of the caller's, which may leave holes.
func (s *schedule) under(slot int, l tensor.Layout) place {
	if _, hi, err := l.Span(); err == nil {
		sl := &s.slots[slot]
		sl.bytes = max(sl.bytes, hi*sl.spec.DType.Size())
	}
	return place{slot, l}
}

// addOutput makes the slot of a result the caller's memory, by a copy where it is a view, is somebody else's
// memory, is a result already or has not the caller's layout.
func (s *schedule) addOutput(n *Node, l tensor.Layout) {
	p := s.place(n)
	if sl := s.slots[p.slot]; sl.kind != temporary || !s.fills(p) || !l.Equal(p.layout) {
		p = s.copyOf(p, n.spec, l, n.call.Pos())
	}
	s.slots[p.slot].kind, s.slots[p.slot].output = output, len(s.outputs)
	s.outputs = append(s.outputs, p)
	s.specs = append(s.specs, n.spec)
}

// fills reports whether a place is the whole slot in its own order.
func (s *schedule) fills(p place) bool {
	return p.layout.Offset == 0 && p.layout.IsRowMajor() && p.layout.Size() == s.slots[p.slot].spec.Size()
}

// stageAssigned copies values that lie in the memory of a variable that is assigned too, since that memory
// changes before they are written: v, w = w, v.
func (s *schedule) stageAssigned() {
	assigned := map[int]bool{}
	for _, a := range s.assigns {
		assigned[s.vars[a.v]] = true
	}
	for i, a := range s.assigns {
		if assigned[a.value.slot] {
			s.assigns[i].value = s.copyOf(a.value, a.v.spec, tensor.RowMajor(a.v.spec.Shape), a.pos)
		}
	}
}

// markUsed tells each step which of its results anybody reads.
func (s *schedule) markUsed() {
	read := make([]bool, len(s.slots))
	for _, st := range s.steps {
		for _, p := range st.in {
			read[p.slot] = true
		}
	}
	for _, a := range s.assigns {
		read[a.value.slot] = true
	}
	for i := range s.steps {
		st := &s.steps[i]
		st.used = make([]bool, len(st.out))
		for k, p := range st.out {
			st.used[k] = read[p.slot] || s.slots[p.slot].kind == output
		}
	}
}

// moveTail moves what cannot fail and what no output waits for to the end, in order. There, assigned values
// may be written over their variables: nothing can go wrong any more.
func (s *schedule) moveTail() {
	maker := map[int]int{}
	for i, st := range s.steps {
		for _, p := range st.out {
			maker[p.slot] = i
		}
	}
	first := make([]bool, len(s.steps))
	var need func(slot int)
	need = func(slot int) {
		i, ok := maker[slot]
		if !ok || first[i] {
			return
		}
		first[i] = true
		for _, p := range s.steps[i].in {
			need(p.slot)
		}
	}
	for i, st := range s.steps {
		if st.mayFail() {
			need(st.out[0].slot)
			first[i] = true
		}
	}
	for _, p := range s.outputs {
		need(p.slot)
	}
	var head, tail []step
	for i, st := range s.steps {
		if first[i] {
			head = append(head, st)
		} else {
			tail = append(tail, st)
		}
	}
	s.tail = len(head)
	s.steps = append(head, tail...)
}
