package graph

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// fuseLines joins a fold over the last axes with the steps on the same rows that use what it makes: a
// normalisation takes one pass over memory, its rows staying in cache from one step to the next. It runs after
// fuse, on the kernels that are left. From a fold on it takes every step that reads what members make, on the
// same rows, and folds of the same rows that read what members read; other readers wait until the members are done, and
// so does what they feed.
//
// Folds of the axes before, across the rows, are taken too if they read what the members make or read: the gradients of
// a gain and a bias. Where the backend has no kernel for all of that, it is tried with less.
func (s *schedule) fuseLines(b Fuser) {
	for t := 0; t < len(s.steps); t++ {
		for _, also := range []struct{ across, beside bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
			g := lineGroup{
				schedule: s, backend: b, from: t, across: also.across, beside: also.beside, useless: map[int]bool{},
			}
			if !g.begin() {
				break
			}
			for g.grow(); g.prune(); g.grow() {
			}
			g.again()
			if g.join() || len(g.closed)+len(g.besides) == 0 {
				break
			}
		}
	}
}

type lineGroup struct {
	*schedule
	backend Fuser
	from    int
	shape   []int // of the rows
	lead    int
	rows    int
	members []int
	waiting []int
	made    map[int]int // slots that members write, and the member
	late    map[int]bool
	across  bool         // folds across the rows may be members
	closed  map[int]bool // slots that such members write: they are done when all rows are
	beside  bool         // folds of rows may be members that read no member
	besides []int        // those that are
	useless map[int]bool // those that may not
	wide    bool         // a member uses what a fold makes
	size    int          // steps of the members
}

// begin reports whether step from is a fold of rows.
func (g *lineGroup) begin() bool {
	st := &g.steps[g.from]
	shape, axes, ok := g.foldOf(st)
	lead := len(shape) - len(axes)
	if !ok || axes[0] != lead {
		return false
	}
	g.shape, g.lead, g.rows = shape, lead, tensor.Size(shape[:lead])
	if line := tensor.Size(shape[lead:]); line < 2 || g.rows < 2 {
		return false
	}
	g.made, g.late, g.closed = map[int]int{}, map[int]bool{}, map[int]bool{}
	g.members, g.waiting, g.besides, g.wide, g.size = nil, nil, nil, false, 0
	if !g.fitting(st) {
		return false
	}
	g.add(g.from)
	return true
}

// foldOf is the shape that a step folds and the axes, neighbours that are the last or the first.
func (g *lineGroup) foldOf(st *step) (shape, axes []int, ok bool) {
	op, spec := st.op, tensor.Spec{}
	if f, fused := op.(FusedOp); fused {
		last := f.Steps[len(f.Steps)-1]
		if f.Lines != nil || len(last.In) != 1 || last.In[0] >= 0 {
			return nil, nil, false
		}
		op, spec = last.Op, f.Steps[^last.In[0]].Spec
	} else if len(st.in) == 1 {
		spec.Shape = st.in[0].layout.Shape
	}
	fold, ok := op.(Folder)
	if !ok || !fold.Folds() || len(spec.Shape) == 0 {
		return nil, nil, false
	}
	axes = fold.FoldedAxes()
	n := len(axes)
	if n == 0 || axes[n-1]-axes[0] != n-1 || axes[0] > 0 && axes[n-1] != len(spec.Shape)-1 {
		return nil, nil, false
	}
	return spec.Shape, axes, true
}

// foldsAcross reports whether a step is a fold across the rows of the group.
func (g *lineGroup) foldsAcross(st *step) bool {
	shape, axes, ok := g.foldOf(st)
	return ok && axes[0] == 0 && len(axes) == g.lead && slices.Equal(shape, g.shape)
}

// reread reports whether a step is a fold across rows that a member reads, and no more than that.
func (g *lineGroup) reread(st *step) bool {
	if !g.across || len(st.in) != 1 || !isFold(st.op) || !g.foldsAcross(st) {
		return false
	}
	return slices.ContainsFunc(g.members, func(m int) bool { return uses(g.steps[m].in, st.in[0].slot) > 0 })
}

func (g *lineGroup) add(t int) {
	g.members = append(g.members, t)
	g.size += count(&g.steps[t])
	st := &g.steps[t]
	for _, p := range st.out {
		g.made[p.slot] = t
	}
	if g.foldsAcross(st) {
		g.closed[st.out[len(st.out)-1].slot] = true
	}
}

// count is the number of steps that one is made of.
func count(st *step) int {
	if f, ok := st.op.(FusedOp); ok {
		return len(f.Steps)
	}
	return 1
}

// grow takes what follows.
func (g *lineGroup) grow() {
	end := len(g.steps)
	if g.from < g.tail {
		end = g.tail
	}
	for t := g.from + 1; t < end; t++ {
		st := &g.steps[t]
		reads, waits := false, false
		for _, p := range st.in {
			_, made := g.made[p.slot]
			reads, waits = reads || made, waits || g.late[p.slot]
		}
		beside := !reads && g.beside && !g.useless[t] && g.foldsRows(st)
		joins := reads || beside || g.reread(st)
		if joins && !waits && g.size+count(st) <= fusedSteps && g.fitting(st) {
			g.add(t)
			if beside {
				g.besides = append(g.besides, t)
			}
			continue
		}
		if reads || waits || st.mayFail() && g.failsLater() {
			g.waiting = append(g.waiting, t)
			for _, p := range st.out {
				g.late[p.slot] = true
			}
		}
	}
}

// failsLater reports whether a step that can fail waits: those behind it must, lest another error be the first.
func (g *lineGroup) failsLater() bool {
	return slices.ContainsFunc(g.waiting, func(t int) bool { return g.steps[t].mayFail() })
}

// again takes folds across rows that stand before the first member that reads what they read, if nobody needs them before
// the members are done, the last of them included.
func (g *lineGroup) again() {
	last := g.members[len(g.members)-1]
	for t := g.from + 1; t < last; t++ {
		st := &g.steps[t]
		taken := slices.Contains(g.members, t) || slices.Contains(g.waiting, t)
		if taken || g.size+count(st) > fusedSteps || !g.reread(st) || !g.fitting(st) {
			continue
		}
		read := func(s step) bool { return uses(s.in, st.out[0].slot) > 0 }
		if !slices.ContainsFunc(g.steps[t+1:last+1], read) {
			g.add(t)
		}
	}
	slices.Sort(g.members)
}

// prune parts with folds beside the others that share nothing with them, neither an operand nor what they make, and
// begins again where there are some.
func (g *lineGroup) prune() bool {
	again := false
	for _, t := range g.besides {
		st := &g.steps[t]
		shares := slices.ContainsFunc(g.members, func(m int) bool {
			reads := func(p place) bool { return uses(g.steps[m].in, p.slot) > 0 }
			return m != t && (slices.ContainsFunc(st.in, reads) || slices.ContainsFunc(st.out, reads))
		})
		if !shares {
			g.useless[t], again = true, true
		}
	}
	if again {
		g.begin()
	}
	return again
}

// fitting reports whether a step works on the rows of the group and reads what members make row by row.
func (g *lineGroup) fitting(st *step) bool {
	steps, ok := g.expanded(st)
	if !ok {
		return false
	}
	if g.foldsAcross(st) {
		steps = steps[:len(steps)-1] // whose result has no rows
	}
	for _, s := range steps {
		if !g.onRows(s.Spec.Shape) {
			return false
		}
	}
	wide := false
	for _, p := range st.in {
		m, made := g.made[p.slot]
		if g.closed[p.slot] {
			return false
		}
		if !made {
			continue
		}
		for _, o := range g.steps[m].out {
			if o.slot != p.slot {
				continue
			}
			isWide := slices.Equal(o.layout.Shape, g.shape)
			switch readWide := slices.Equal(p.layout.Shape, g.shape); {
			case isWide && !p.layout.Equal(o.layout):
				return false
			case !isWide && readWide && !g.repeats(p.layout):
				return false
			case !isWide && !readWide && !(p.layout.Offset == 0 && p.layout.IsRowMajor() && p.layout.Size() == g.rows):
				return false
			case !isWide && readWide:
				wide = true
			}
		}
	}
	g.wide = g.wide || wide
	return true
}

// expanded is the steps of a step, if each is elementwise or a fold of the group's rows.
func (g *lineGroup) expanded(st *step) ([]FusedStep, bool) {
	steps := []FusedStep{{Op: st.op, Spec: tensor.Spec{Shape: st.out[0].layout.Shape}}}
	if f, fused := st.op.(FusedOp); fused {
		if f.Lines != nil {
			return nil, false
		}
		steps = f.Steps
	} else if len(st.out) != 1 {
		return nil, false
	}
	if last := steps[len(steps)-1].Op; isFold(last) {
		if !g.foldsRows(st) && !(g.across && g.foldsAcross(st)) {
			return nil, false
		}
	} else if op, ok := last.(Elementwise); !ok || !op.Elementwise() {
		return nil, false
	} else if len(steps) == 1 && !g.backend.Fuses(last, g.slots[st.out[0].slot].spec.DType, g.types(st.in)) {
		return nil, false
	}
	if len(st.in) == 0 {
		return nil, false
	}
	for _, p := range st.in { // of an elementwise step: all have the shape of its result
		if !g.onRows(p.layout.Shape) {
			return nil, false
		}
	}
	return steps, true
}

// foldsRows reports whether a step is a fold of the group's rows.
func (g *lineGroup) foldsRows(st *step) bool {
	shape, axes, ok := g.foldOf(st)
	return ok && axes[0] == g.lead && len(axes) == len(shape)-g.lead && slices.Equal(shape, g.shape)
}

func isFold(op Op) bool {
	f, ok := op.(Folder)
	return ok && f.Folds()
}

// onRows reports whether a shape is that of the rows or has an element a row.
func (g *lineGroup) onRows(shape []int) bool {
	return slices.Equal(shape, g.shape) || tensor.Size(shape) == g.rows
}

// repeats reports whether a layout of the group's shape gives each row one element of a compact run.
func (g *lineGroup) repeats(l tensor.Layout) bool {
	rows := tensor.Layout{Shape: l.Shape[:g.lead], Strides: l.Strides[:g.lead]}
	for a, st := range l.Strides[g.lead:] {
		if st != 0 && l.Shape[g.lead+a] != 1 {
			return false
		}
	}
	return l.Offset == 0 && rows.IsRowMajor()
}

// join makes one step of the members if there is a gain: a value of a row that its elements use again.
func (g *lineGroup) join() bool {
	if !g.wide || len(g.members) < 2 {
		return false
	}
	st, ok := g.fused()
	if !ok {
		return false
	}
	last := g.members[len(g.members)-1]
	var steps, after []step
	for t := range g.steps {
		switch {
		case t == last:
			steps = append(append(steps, st), after...)
		case slices.Contains(g.members, t):
		case t < last && slices.Contains(g.waiting, t):
			after = append(after, g.steps[t])
		default:
			steps = append(steps, g.steps[t])
		}
	}
	if g.from < g.tail {
		g.schedule.tail -= len(g.members) - 1
	}
	g.schedule.steps = steps
	g.m.stats.Lines++
	return true
}

// fused is the members as one op.
func (g *lineGroup) fused() (step, bool) {
	var (
		in    []place
		steps []FusedStep
		at    = map[int]int{} // slot → step that makes it
		out   []place
		wants []int
	)
	for _, m := range g.members {
		st := &g.steps[m]
		parts, results := []FusedStep{{Op: st.op, Spec: g.slots[st.out[0].slot].spec, In: upTo(len(st.in))}}, []int{0}
		if f, ok := st.op.(FusedOp); ok {
			parts, results = f.Steps, f.Results
		}
		base := len(steps)
		for _, s := range parts {
			made := FusedStep{Op: s.Op, Spec: s.Spec, In: make([]int, len(s.In)), View: make([]*tensor.Layout, len(s.In))}
			for k, from := range s.In {
				if from < 0 {
					made.In[k] = ^(^from + base)
					continue
				}
				p := st.in[from]
				if j, ok := at[p.slot]; ok {
					made.In[k] = ^j
					if !slices.Equal(p.layout.Shape, steps[j].Spec.Shape) {
						made.View[k] = &p.layout
					}
					continue
				}
				in, made.In[k] = operandAt(in, p)
			}
			steps = append(steps, made)
		}
		for r, p := range st.out {
			at[p.slot] = base + results[r]
			if g.wanted(p.slot) {
				out, wants = append(out, p), append(wants, base+results[r])
			}
		}
	}
	op := newFused(steps, wants)
	op.Lines, op.Lead = g.shape, g.lead
	pos := g.steps[g.members[len(g.members)-1]].pos
	st := step{op: op, pos: pos, in: in, out: out, used: slices.Repeat([]bool{true}, len(out))}
	if len(in)+len(out) > fusedOperands || len(out) == 0 {
		return st, false
	}
	kernel, err := g.backend.Compile(op, g.operands(out), g.operands(in), st.used)
	st.kernel = kernel
	return st, err == nil
}

func upTo(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i
	}
	return r
}

// wanted reports whether anybody but the members reads a slot.
func (g *lineGroup) wanted(slot int) bool {
	if g.slots[slot].kind == output || slices.ContainsFunc(g.assigns, func(a assignment) bool { return a.value.slot == slot }) {
		return true
	}
	for t, st := range g.steps {
		if !slices.Contains(g.members, t) && uses(st.in, slot) > 0 {
			return true
		}
	}
	return false
}
