// Package planning holds what kernels of any backend are planned with: the operands that they were compiled for, and
// loop nests over layouts.
package planning

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Operands is the dtypes and layouts that a kernel was compiled for.
type Operands struct {
	Out, In []graph.Operand
	Over    [][]bool // Over[o][i]: input i may be the very memory and layout of Out[o]; nil: none may
	// Reach is the error for memory that the kernel cannot read or write; nil is that of host code.
	Reach func(s *tensor.Storage) error
}

// Check compares a run's operands with those of the plan, before the first write. It allocates nothing
// unless it fails.
//
// Errors, in this order over all operands: ErrDType, ErrPlanMismatch for another layout or number of
// operands, what Reach says of their memory, ErrOverlap where a result may share a byte with an operand or with
// another result.
func (p *Operands) Check(out []tensor.Write, in []tensor.Read) error {
	if len(out) != len(p.Out) || len(in) != len(p.In) {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%d results and %d operands for a plan of %d and %d",
			len(out), len(in), len(p.Out), len(p.In))
	}
	for i, w := range out {
		if w.DType() != p.Out[i].DType {
			return dtypeMismatch("result", i, w.DType(), p.Out[i].DType)
		}
	}
	for i, r := range in {
		if r.DType() != p.In[i].DType {
			return dtypeMismatch("operand", i, r.DType(), p.In[i].DType)
		}
	}
	for i, w := range out {
		if !w.Layout().Equal(p.Out[i].Layout) {
			return layoutMismatch("result", i, w.Layout(), p.Out[i].Layout)
		}
	}
	for i, r := range in {
		if !r.Layout().Equal(p.In[i].Layout) {
			return layoutMismatch("operand", i, r.Layout(), p.In[i].Layout)
		}
	}
	return p.checkMemory(out, in)
}

func (p *Operands) checkMemory(out []tensor.Write, in []tensor.Read) error {
	for _, w := range out {
		if err := p.reach(w.Storage()); err != nil {
			return err
		}
	}
	for i, r := range in {
		if err := p.reach(r.Storage()); err != nil {
			return err
		}
		for o, w := range out {
			if !tensor.Overlaps(r.View(), w.View()) {
				continue
			}
			if o < len(p.Over) && i < len(p.Over[o]) && p.Over[o][i] && tensor.Same(r.View(), w.View()) {
				continue
			}
			return tensor.Errorf("", tensor.ErrOverlap, "operand %d, %s, overlaps result %d, %s",
				i, r.LayoutSummary(), o, w.Layout())
		}
	}
	for o, w := range out {
		for k, v := range out[:o] {
			if tensor.Overlaps(v.View(), w.View()) {
				return tensor.Errorf("", tensor.ErrOverlap, "result %d, %s, overlaps result %d, %s", k, v.Layout(), o, w.Layout())
			}
		}
	}
	return nil
}

func (p *Operands) reach(s *tensor.Storage) error {
	if p.Reach != nil {
		return p.Reach(s)
	}
	_, err := s.Bytes()
	return err
}

func dtypeMismatch(what string, i int, got, want tensor.DType) error {
	return tensor.Errorf("", tensor.ErrDType, "%s %d has dtype %s, the plan is for %s", what, i, got, want)
}

func layoutMismatch(what string, i int, got, want tensor.Layout) error {
	return tensor.Errorf("", tensor.ErrPlanMismatch, "%s %d has layout %s, the plan is for %s",
		what, i, got, want)
}

// Valid is the error for operands that are no layouts, that the op does not take, or for results that are not
// what it infers or that reach an element twice; only results that are used are looked at.
func Valid(op graph.Op, out, in []graph.Operand, used []bool) error {
	if len(used) != len(out) {
		return tensor.Errorf("", tensor.ErrUnsupported, "%d results, of %d it is said whether they are used",
			len(out), len(used))
	}
	for _, o := range in {
		if err := valid(o); err != nil {
			return err
		}
	}
	for i, o := range out {
		if !used[i] {
			continue
		}
		if err := valid(o); err != nil {
			return err
		}
		if !o.Injective() {
			return tensor.Errorf("", tensor.ErrNonInjective, "the destination layout %s reaches an element twice", o.Layout)
		}
	}
	return fits(op, out, in, used)
}

// valid refuses what is no layout of elements.
func valid(o graph.Operand) error {
	if !o.DType.Valid() {
		return tensor.Errorf("", tensor.ErrDType, "%s is no element type", o.DType)
	}
	_, err := tensor.NewLayout(o.Shape, o.Strides, o.Offset)
	return err
}

// fits holds the results that are used against what the op infers.
func fits(op graph.Op, out, in []graph.Operand, used []bool) error {
	specs := make([]tensor.Spec, len(in))
	for k, o := range in {
		specs[k] = o.Spec()
	}
	want, err := op.Infer(specs)
	if err != nil {
		return err
	}
	if len(out) != len(want) {
		return tensor.Errorf("", tensor.ErrUnsupported, "%d results, want %d", len(out), len(want))
	}
	for i, o := range out {
		switch {
		case !used[i]:
		case o.DType != want[i].DType:
			return tensor.Errorf("", tensor.ErrDType, "result %d has dtype %s, want %s", i, o.DType, want[i].DType)
		case !tensor.EqualShapes(o.Shape, want[i].Shape):
			return tensor.Errorf("", tensor.ErrShape, "result %d has shape %v, want %v", i, o.Shape, want[i].Shape)
		}
	}
	return nil
}
