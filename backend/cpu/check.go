package cpu

import (
	"unsafe"

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
// operands, ErrPlacement for memory that host code cannot read, ErrOverlap where a result may share a byte
// with an operand or with another result.
func (f *fixed) check(out []tensor.Write, in []tensor.Read) error {
	return f.checkOver(out, in, nil)
}

// checkOver is check where over[o][i] says that input i may be the very memory and layout of out[o] too.
func (f *fixed) checkOver(out []tensor.Write, in []tensor.Read, over [][]bool) error {
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
	return f.checkMemory(out, in, over)
}

func (f *fixed) checkMemory(out []tensor.Write, in []tensor.Read, over [][]bool) error {
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
			if may := o == 0 && i < len(f.inPlace) && f.inPlace[i] || o < len(over) && over[o][i]; may && identical(r.View(), w.View()) {
				continue
			}
			return tensor.Errorf("", tensor.ErrOverlap, "operand %d, %s, overlaps result %d, %s",
				i, r.LayoutSummary(), o, w.Layout())
		}
	}
	for o, w := range out {
		for p, v := range out[:o] {
			if tensor.Overlaps(v.View(), w.View()) {
				return tensor.Errorf("", tensor.ErrOverlap, "result %d, %s, overlaps result %d, %s", p, v.Layout(), o, w.Layout())
			}
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

// identical reports whether two views are the same elements in the same places.
func identical(a, b tensor.View) bool {
	return a.DType() == b.DType() && start(a) == start(b) && a.Layout().Equal(b.Layout())
}

func start(v tensor.View) *byte {
	bytes, _ := v.Storage().Bytes()
	return unsafe.SliceData(bytes)
}

// accepts is the error for operands that do not fit an elementwise kernel: all of them have the result's
// shape, and the result has dtype want.
func accepts(want tensor.DType, out graph.Operand, in ...graph.Operand) error {
	if out.DType != want {
		return tensor.Errorf("", tensor.ErrDType, "the result has dtype %s, want %s", out.DType, want)
	}
	for i, o := range in {
		if !tensor.EqualShapes(o.Shape, out.Shape) {
			return tensor.Errorf("", tensor.ErrShape, "operand %d has shape %v, the result %v", i, o.Shape, out.Shape)
		}
	}
	return nil
}

// alike is the error for operands of different dtypes.
func alike(a, b graph.Operand) error {
	if a.DType != b.DType {
		return tensor.Errorf("", tensor.ErrDType, "operands have dtypes %s and %s", a.DType, b.DType)
	}
	return nil
}

// noFunction is the error for an elementwise function without a meaning for a dtype. Bool, which has logic
// but no arithmetic, is the wrong dtype; for the others the function is unsupported.
func noFunction(op string, fn any, dt tensor.DType) error {
	kind := tensor.ErrUnsupported
	if dt == tensor.Bool {
		kind = tensor.ErrDType
	}
	return tensor.Errorf("", kind, "%s %v does not take %s", op, fn, dt)
}
