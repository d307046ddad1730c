package graph

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/adjoint-go/adjoint/tensor"
)

// ErrMemory is the kind of error of a program that needs more memory than Options.MemoryLimit.
var ErrMemory = errors.New("memory limit exceeded")

// Options of CompileWith; the zero value is what Compile uses.
type Options struct {
	// MemoryLimit is the most bytes that one run may use for intermediates and results; 0 is no limit.
	// A program that needs more does not compile: ErrMemory.
	MemoryLimit int
	// CheckNaN makes a run stop at the first op whose result holds a NaN: *NaNError. Of a loop it sees the results.
	CheckNaN bool
	// NoPasses compiles the graph as it was built, for tests that compare.
	NoPasses bool
}

// Stats says what the compiler did.
type Stats struct {
	Calls     int // in the graph, that the outputs need
	Rewritten int // became another, cheaper call
	Composed  int // became one for many
	Merged    int // equal to another call
	Folded    int // computed while compiling
	Views     int // became a layout
	Copies    int // inserted, for layouts, outputs and variables
	Lines     int // kernels that take several steps through the rows of a tensor
	Fused     int // joined with others in one kernel
	Steps     int // kernels that a run executes
	Donated   int // results written over an operand
	Direct    int // assigned values written over their variable
	Buffers   int // of intermediates
	Bytes     int // of those buffers, together
	Inner     int // bytes that control flow uses inside, beside those
	Outputs   int // bytes of the results
}

// Program is a compiled graph: a schedule of kernels over planned buffers. It is safe for concurrent runs;
// runs that assign a variable exclude one another and those that read it.
type Program struct {
	backend  Backend
	options  Options
	steps    []step
	slots    []slot
	inputs   []boundary
	vars     []binding
	outputs  []boundary
	sizes    []int // of the buffers
	commitAt int   // from this step on variables are written: the run no longer stops
	stats    Stats

	mu     sync.Mutex
	frames []*frame
}

// boundary is an input or a result.
type boundary struct {
	name string
	arg  int // which argument of a function, or which result
	slot int
	spec tensor.Spec
}

// binding is a variable that a program uses, in the order in which it is locked.
type binding struct {
	v        *Variable
	assigned bool
}

// Compile makes a program that computes the outputs and has the effects among them: an assignment among the
// outputs is done, not returned.
//
// Errors: the first error of the graph, with its line; those of the backend, with the op's line.
func Compile(b Backend, outputs ...*Node) (*Program, error) {
	return CompileWith(b, Options{}, outputs...)
}

// CompileWith is Compile with options. Errors: as Compile, and ErrMemory.
func CompileWith(b Backend, o Options, outputs ...*Node) (*Program, error) {
	m, err := newModule(b, outputs)
	if err != nil {
		return nil, err
	}
	m.stats.Calls = len(m.calls)
	if !o.NoPasses {
		m.simplify()
	}
	s := newSchedule(m)
	if err := s.lower(nil); err != nil {
		return nil, err
	}
	if m.passes && !o.CheckNaN {
		s.join()
	}
	p := &Program{backend: b, options: o}
	if err := p.plan(s); err != nil {
		return nil, err
	}
	if need := p.PeakBytes(); o.MemoryLimit > 0 && need > o.MemoryLimit {
		return nil, fmt.Errorf("graph.Compile: a run needs %d bytes, the limit is %d: %w", need, o.MemoryLimit, ErrMemory)
	}
	return p, nil
}

// simplify runs the passes over calls.
func (m *module) simplify() {
	m.passes = true
	m.rewrite()
	m.foldConstants()
	m.compose()
	m.mergeEqual()
}

// join makes one kernel of several steps where the backend can.
func (s *schedule) join() {
	if f, ok := s.m.backend.(Fuser); ok {
		s.fuse(f)
		s.fuseLines(f)
	}
}

// plan decides where everything lives and compiles the kernels.
func (p *Program) plan(s *schedule) error {
	p.sizes = s.planMemory(!p.options.CheckNaN)
	p.commitAt = s.commits()
	if err := s.compileKernels(); err != nil {
		return err
	}
	p.steps, p.slots, p.stats = s.steps, s.slots, s.m.stats
	p.describe(s)
	return nil
}

// describe lists what crosses the program's boundary.
func (p *Program) describe(s *schedule) {
	for k, sl := range s.slots {
		if sl.kind == input {
			p.inputs = append(p.inputs, boundary{sl.name, sl.arg, k, sl.spec})
		}
	}
	for i, pl := range s.outputs {
		p.outputs = append(p.outputs, boundary{"", i, pl.slot, s.specs[i]})
		p.stats.Outputs += s.slots[pl.slot].bytes
	}
	for v := range s.vars {
		assigned := slices.ContainsFunc(s.assigns, func(a assignment) bool { return a.v == v })
		p.vars = append(p.vars, binding{v, assigned})
	}
	slices.SortFunc(p.vars, func(a, b binding) int {
		if a.v.id < b.v.id {
			return -1
		}
		return 1
	})
	p.stats.Steps, p.stats.Buffers = len(p.steps), len(p.sizes)
	for _, n := range p.sizes {
		p.stats.Bytes += n
	}
	for _, st := range p.steps {
		if k, ok := st.kernel.(sizer); ok {
			p.stats.Inner += k.Bytes()
		}
	}
}

// Stats says what the compiler did.
func (p *Program) Stats() Stats { return p.stats }

// PeakBytes is what one run uses for intermediates and results.
func (p *Program) PeakBytes() int { return p.stats.Bytes + p.stats.Inner + p.stats.Outputs }

// Inputs lists the names and specs that a run is fed, in the order in which they were met.
func (p *Program) Inputs() (names []string, specs []tensor.Spec) {
	for _, in := range p.inputs {
		names, specs = append(names, in.name), append(specs, in.spec)
	}
	return names, specs
}

// Outputs lists the specs of the results.
func (p *Program) Outputs() []tensor.Spec {
	specs := make([]tensor.Spec, len(p.outputs))
	for i, o := range p.outputs {
		specs[i] = o.spec
	}
	return specs
}

// frame is the memory of one run, kept for the next: buffers, and the operands of every step bound to them.
// Operands on inputs, results and variables are bound again where they moved.
type frame struct {
	out   [][]tensor.Write
	in    [][]tensor.Read
	moved []mover           // per slot that comes from outside
	feeds []*tensor.Storage // staging memory for feeds of other layouts, made when needed
	bound []*tensor.Storage // per slot: what its operands are bound to
}

// mover lists the operands that lie on a slot.
type mover struct{ in, out [][2]int }

// frame takes a free frame or makes one.
func (p *Program) frame() (*frame, error) {
	p.mu.Lock()
	if k := len(p.frames) - 1; k >= 0 {
		f := p.frames[k]
		p.frames = p.frames[:k]
		p.mu.Unlock()
		return f, nil
	}
	p.mu.Unlock()
	return p.newFrame()
}

func (p *Program) release(f *frame) {
	p.mu.Lock()
	p.frames = append(p.frames, f)
	p.mu.Unlock()
}

func (p *Program) newFrame() (*frame, error) {
	f := &frame{
		out: make([][]tensor.Write, len(p.steps)), in: make([][]tensor.Read, len(p.steps)),
		moved: make([]mover, len(p.slots)), bound: make([]*tensor.Storage, len(p.slots)),
		feeds: make([]*tensor.Storage, len(p.inputs)),
	}
	buffers := make([]*tensor.Storage, len(p.sizes))
	for i, n := range p.sizes {
		var err error
		if buffers[i], err = p.backend.Allocate(n); err != nil {
			return nil, err
		}
	}
	for t, st := range p.steps {
		f.out[t], f.in[t] = make([]tensor.Write, len(st.out)), make([]tensor.Read, len(st.in))
		for k, pl := range st.out {
			v, err := p.view(pl, buffers)
			if err != nil {
				return nil, err
			}
			if f.out[t][k], err = tensor.NewWrite(v); err != nil {
				return nil, err
			}
			f.moved[pl.slot].out = append(f.moved[pl.slot].out, [2]int{t, k})
		}
		for k, pl := range st.in {
			v, err := p.view(pl, buffers)
			if err != nil {
				return nil, err
			}
			f.in[t][k] = v.Read()
			f.moved[pl.slot].in = append(f.moved[pl.slot].in, [2]int{t, k})
		}
	}
	return f, nil
}

// view is a place in a frame's memory. What comes from outside is bound in each run: until then a place
// there is bound to memory of its own that is dropped at once, or to the constant.
func (p *Program) view(pl place, buffers []*tensor.Storage) (tensor.View, error) {
	sl := p.slots[pl.slot]
	switch {
	case sl.kind == constant:
		return tensor.NewView(sl.view.Storage(), sl.spec.DType, pl.layout)
	case sl.kind == temporary && sl.v == nil:
		return tensor.NewView(buffers[sl.buffer], sl.spec.DType, pl.layout)
	}
	return tensor.NewView(tensor.ForeignStorage(sl.bytes, tensor.Placement{}, "", 0, nil, nil), sl.spec.DType, pl.layout)
}

// bind points every operand on a slot to a storage.
func (f *frame) bind(slot int, s *tensor.Storage) error {
	if f.bound[slot] == s {
		return nil
	}
	for _, at := range f.moved[slot].out {
		w, err := f.out[at[0]][at[1]].On(s)
		if err != nil {
			return err
		}
		f.out[at[0]][at[1]] = w
	}
	for _, at := range f.moved[slot].in {
		v, err := f.in[at[0]][at[1]].View().On(s)
		if err != nil {
			return err
		}
		f.in[at[0]][at[1]] = v.Read()
	}
	f.bound[slot] = s
	return nil
}
