package cpu

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// fixed is the dtypes and layouts a kernel was compiled for.
type fixed struct {
	out, in []graph.Operand
	inPlace []bool // input i may be the very memory and layout of out[0]
}

// check holds the operands of a run against the plan, before anything is written. It allocates nothing where
// all is well.
//
// Errors: tensor.ErrDType for another element type, tensor.ErrPlanMismatch for another layout or number of
// operands, tensor.ErrPlacement for memory that host code cannot read, tensor.ErrOverlap for an input or a
// second output that shares memory with an output.
func (f *fixed) check(out []tensor.Write, in []tensor.Read) error {
	if len(out) != len(f.out) || len(in) != len(f.in) {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%d results and %d operands for a plan of %d and %d",
			len(out), len(in), len(f.out), len(f.in))
	}
	for i, w := range out {
		if err := checkOperand("result", i, f.out[i], w.View()); err != nil {
			return err
		}
		for j := range i {
			if tensor.Overlaps(w.View(), out[j].View()) {
				return tensor.Errorf("", tensor.ErrOverlap, "results %d and %d share memory", j, i)
			}
		}
	}
	for i, r := range in {
		if err := checkOperand("operand", i, f.in[i], r.View()); err != nil {
			return err
		}
		for j, w := range out {
			if !tensor.Overlaps(w.View(), r.View()) || j == 0 && f.over(i, w, r) {
				continue
			}
			return tensor.Errorf("", tensor.ErrOverlap, "operand %d (%s) shares memory with result %d (%s)",
				i, r.LayoutSummary(), j, w.Layout())
		}
	}
	return nil
}

// over reports whether input i is the memory and the layout of w and may be.
func (f *fixed) over(i int, w tensor.Write, r tensor.Read) bool {
	return i < len(f.inPlace) && f.inPlace[i] && sameMemory(w, r)
}

func checkOperand(kind string, i int, want graph.Operand, got tensor.View) error {
	if got.DType() != want.DType {
		return tensor.Errorf("", tensor.ErrDType, "%s %d is %s, the plan is for %s", kind, i, got.DType(), want.DType)
	}
	if !got.Layout().Equal(want.Layout) {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%s %d has layout %s, the plan is for %s",
			kind, i, got.Layout(), want.Layout)
	}
	_, err := got.Storage().Bytes()
	return err
}

// sameMemory reports whether an output and an input are one and the same: dtype, layout and first byte.
func sameMemory(w tensor.Write, r tensor.Read) bool {
	if w.DType() != r.DType() || !w.Layout().Equal(r.Layout()) {
		return false
	}
	a, aerr := w.Storage().Bytes()
	b, berr := r.Storage().Bytes()
	return aerr == nil && berr == nil && unsafe.SliceData(a) == unsafe.SliceData(b)
}
