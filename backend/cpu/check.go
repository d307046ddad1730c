package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// fixed is the dtypes and layouts a kernel was compiled for.
type fixed struct {
	out, in []graph.Operand
	inPlace []bool // input i may be the very memory and layout of out[0]; nil: none may
}

// check compares a run's operands with those of the plan, before the first write. It allocates nothing
// unless it fails.
//
// Errors, in this order over all operands: ErrDType, ErrPlanMismatch for another layout or number of
// operands, ErrPlacement for memory that host code cannot read, ErrOverlap where an input may share a byte
// with an output.
func (f *fixed) check(out []tensor.Write, in []tensor.Read) error {
	if len(out) != len(f.out) || len(in) != len(f.in) {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%d results and %d operands for a plan of %d and %d",
			len(out), len(in), len(f.out), len(f.in))
	}
	for i, w := range out {
		if w.DType() != f.out[i].DType {
			return dtypeMismatch("result", i, w.DType(), f.out[i].DType)
		}
	}
	for i, r := range in {
		if r.DType() != f.in[i].DType {
			return dtypeMismatch("operand", i, r.DType(), f.in[i].DType)
		}
	}
	for i, w := range out {
		if !w.Layout().Equal(f.out[i].Layout) {
			return layoutMismatch("result", i, w.Layout(), f.out[i].Layout)
		}
	}
	for i, r := range in {
		if !r.Layout().Equal(f.in[i].Layout) {
			return layoutMismatch("operand", i, r.Layout(), f.in[i].Layout)
		}
	}
	return f.checkMemory(out, in)
}

func (f *fixed) checkMemory(out []tensor.Write, in []tensor.Read) error {
	for _, w := range out {
		if _, err := w.Storage().Bytes(); err != nil {
			return err
		}
	}
	for i, r := range in {
		if _, err := r.Storage().Bytes(); err != nil {
			return err
		}
		for o, w := range out {
			if !tensor.Overlaps(r.View(), w.View()) {
				continue
			}
			same := r.Storage() == w.Storage() && r.DType() == w.DType() && r.Layout().Equal(w.Layout())
			if same && o == 0 && i < len(f.inPlace) && f.inPlace[i] {
				continue
			}
			return tensor.Errorf("", tensor.ErrOverlap, "operand %d, %s, overlaps result %d, %s",
				i, r.LayoutSummary(), o, w.Layout())
		}
	}
	return nil
}

func dtypeMismatch(what string, i int, got, want tensor.DType) error {
	return tensor.Errorf("", tensor.ErrDType, "%s %d has dtype %s, the plan is for %s", what, i, got, want)
}

func layoutMismatch(what string, i int, got, want tensor.Layout) error {
	return tensor.Errorf("", tensor.ErrPlanMismatch, "%s %d has layout %s, the plan is for %s",
		what, i, got, want)
}
