package control

import (
	"slices"
	"sync"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// part is what a body reads or writes of an operand: a layout on a window that begins with its first byte, and
// where that window lies in each step. Kernels are compiled for it once.
type part struct {
	dtype  tensor.DType
	layout tensor.Layout
	size   int // of the window, in bytes
	first  int // where it begins in step 0
	stride int // from one step to the next
}

// whole is an operand that is the same in every step.
func whole(o graph.Operand) part {
	base := tensor.Layout{Shape: o.Shape, Strides: o.Strides}
	lo, hi, _ := base.Span() // a layout that was checked
	base.Offset = -lo
	if base.IsRowMajor() {
		base = tensor.RowMajor(o.Shape)
	}
	size := o.DType.Size()
	if lo == hi { // it lies nowhere
		return part{dtype: o.DType, layout: base}
	}
	return part{dtype: o.DType, layout: base, size: (hi - lo) * size, first: (o.Offset + lo) * size}
}

// sliced is an operand of which each step sees a slice along axis 0.
func sliced(o graph.Operand) part {
	slice := tensor.Layout{Shape: o.Shape[1:], Strides: o.Strides[1:], Offset: o.Offset}
	p := whole(graph.Operand{DType: o.DType, Layout: slice})
	if p.size > 0 {
		p.stride = o.Strides[0] * o.DType.Size()
	}
	return p
}

// dense is compact memory for a spec.
func dense(s tensor.Spec) part {
	return part{dtype: s.DType, layout: tensor.RowMajor(s.Shape), size: s.Size() * s.DType.Size()}
}

func (p part) operand() graph.Operand { return graph.Operand{DType: p.dtype, Layout: p.layout} }

func operandsOf(parts []part) []graph.Operand {
	r := make([]graph.Operand, len(parts))
	for i, p := range parts {
		r[i] = p.operand()
	}
	return r
}

// frame is the operands and results of a function on windows, made once and moved from step to step.
type frame struct {
	in, out   []*tensor.Window
	reads     []tensor.Read
	writes    []tensor.Write
	ins, outs []part
}

func newFrame(outs, ins []part) (*frame, error) {
	f := &frame{ins: ins, outs: outs}
	for _, p := range ins {
		w, v, err := p.window()
		if err != nil {
			return nil, err
		}
		f.in, f.reads = append(f.in, w), append(f.reads, v.Read())
	}
	for _, p := range outs {
		w, v, err := p.window()
		if err != nil {
			return nil, err
		}
		write, err := tensor.NewWrite(v)
		if err != nil {
			return nil, err
		}
		f.out, f.writes = append(f.out, w), append(f.writes, write)
	}
	return f, nil
}

func (p part) window() (*tensor.Window, tensor.View, error) {
	w := tensor.NewWindow(p.size)
	v, err := tensor.NewView(w.Storage(), p.dtype, p.layout)
	return w, v, err
}

// read and write lay the window of an operand or a result on what it is in step t.
func (f *frame) read(i, t int, s *tensor.Storage) error {
	return f.in[i].Move(s, f.ins[i].first+t*f.ins[i].stride)
}

func (f *frame) write(i, t int, s *tensor.Storage) error {
	return f.out[i].Move(s, f.outs[i].first+t*f.outs[i].stride)
}

// clear lets go of all memory.
func (f *frame) clear() {
	for _, w := range f.in {
		w.Clear()
	}
	for _, w := range f.out {
		w.Clear()
	}
}

// pool keeps what runs of a kernel work with, as many as there are concurrent ones.
type pool[S any] struct {
	mu   sync.Mutex
	free []*S
	make func() (*S, error)
}

func (p *pool[S]) get() (*S, error) {
	p.mu.Lock()
	if k := len(p.free) - 1; k >= 0 {
		s := p.free[k]
		p.free = p.free[:k]
		p.mu.Unlock()
		return s, nil
	}
	p.mu.Unlock()
	return p.make()
}

func (p *pool[S]) put(s *S) {
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// plan is the operands that a kernel was compiled for.
type plan struct {
	out, in []graph.Operand
	used    []bool
}

// check compares a run's operands with the plan's, before the first write: numbers, dtypes, layouts, and that no
// result shares memory with an operand or with another result.
func (p *plan) check(out []tensor.Write, in []tensor.Read) error {
	if len(out) != len(p.out) || len(in) != len(p.in) {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%d results and %d operands for a plan of %d and %d",
			len(out), len(in), len(p.out), len(p.in))
	}
	for i, r := range in {
		if err := mismatch("operand", i, r.View(), p.in[i]); err != nil {
			return err
		}
	}
	for i, w := range out {
		if !p.used[i] {
			continue
		}
		if err := mismatch("result", i, w.View(), p.out[i]); err != nil {
			return err
		}
		for k, r := range in {
			if tensor.Overlaps(w.View(), r.View()) {
				return tensor.Errorf("", tensor.ErrOverlap, "operand %d, %s, overlaps result %d, %s",
					k, r.LayoutSummary(), i, w.Layout())
			}
		}
		for k, v := range out[:i] {
			if p.used[k] && tensor.Overlaps(w.View(), v.View()) {
				return tensor.Errorf("", tensor.ErrOverlap, "results %d and %d share memory", k, i)
			}
		}
	}
	return nil
}

func mismatch(what string, i int, got tensor.View, want graph.Operand) error {
	switch {
	case got.DType() != want.DType:
		return tensor.Errorf("", tensor.ErrDType, "%s %d has dtype %s, the plan is for %s",
			what, i, got.DType(), want.DType)
	case !got.Layout().Equal(want.Layout):
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%s %d has layout %s, the plan is for %s",
			what, i, got.Layout(), want.Layout)
	}
	return nil
}

// newPlan checks the operands as a backend does.
func newPlan(op graph.Op, out, in []graph.Operand, used []bool) (*plan, error) {
	specs := make([]tensor.Spec, len(in))
	for i, o := range in {
		if _, err := tensor.NewLayout(o.Shape, o.Strides, o.Offset); err != nil {
			return nil, err
		}
		specs[i] = o.Spec()
	}
	want, err := op.Infer(specs)
	if err != nil {
		return nil, err
	}
	if len(out) != len(want) || len(used) != len(want) {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d results, want %d", len(out), len(want))
	}
	for i, o := range out {
		if used[i] && !o.Spec().Equal(want[i]) {
			return nil, tensor.Errorf("", tensor.ErrShape, "result %d is %s, want %s", i, o.Spec(), want[i])
		}
		if used[i] && !o.Injective() {
			return nil, tensor.Errorf("", tensor.ErrNonInjective,
				"the destination layout %s reaches an element twice", o.Layout)
		}
	}
	return &plan{slices.Clone(out), slices.Clone(in), slices.Clone(used)}, nil
}

// copier copies between two layouts.
type copier struct {
	kernel   graph.Kernel
	from, to part
}

func newCopier(b graph.Backend, to, from part) (*copier, error) {
	k, err := b.Compile(graph.Copy{}, []graph.Operand{to.operand()}, []graph.Operand{from.operand()}, []bool{true})
	return &copier{k, from, to}, err
}

// predicate reads a bool of rank 0 on the host.
func predicate(b graph.Backend, v tensor.View) (bool, error) {
	v, err := b.Export(v)
	if err != nil {
		return false, err
	}
	if _, err := v.Storage().Bytes(); err != nil {
		return false, err
	}
	return tensor.Elements[bool](v.Storage())[v.Layout().Offset], nil
}
