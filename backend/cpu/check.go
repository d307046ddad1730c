package cpu

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// fixed is the dtypes and layouts that a kernel was compiled for.
type fixed struct {
	out, in []graph.Operand
	inPlace []bool // input i may be the very memory and layout of out[0]; nil: none may
}

// check compares the operands of a run with the plan, before the first write. It allocates nothing.
//
// Errors: tensor.ErrPlanMismatch for another number of operands or another layout, tensor.ErrDType,
// tensor.ErrPlacement for memory that host code cannot read, tensor.ErrOverlap where an output shares memory
// with an input or with another output.
func (f *fixed) check(out []tensor.Write, in []tensor.Read) error {
	if len(out) != len(f.out) || len(in) != len(f.in) {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%d results and %d operands, the plan has %d and %d",
			len(out), len(in), len(f.out), len(f.in))
	}
	for i := range in {
		if err := same("operand", i, &f.in[i], in[i].View()); err != nil {
			return err
		}
	}
	for i := range out {
		if err := same("result", i, &f.out[i], out[i].View()); err != nil {
			return err
		}
	}
	for o := range out {
		for i := range in {
			mayShare := o == 0 && f.inPlace != nil && f.inPlace[i]
			if tensor.Overlaps(out[o].View(), in[i].View()) && !(mayShare && identical(out[o].View(), in[i].View())) {
				return tensor.Errorf("", tensor.ErrOverlap, "result %d with %s shares memory with operand %d with %s",
					o, out[o].Layout(), i, in[i].Layout())
			}
		}
		for p := range o {
			if tensor.Overlaps(out[o].View(), out[p].View()) {
				return tensor.Errorf("", tensor.ErrOverlap, "result %d with %s shares memory with result %d with %s",
					o, out[o].Layout(), p, out[p].Layout())
			}
		}
	}
	return nil
}

// same tells whether operand i is what the plan says.
func same(kind string, i int, want *graph.Operand, got tensor.View) error {
	if got.DType() != want.DType {
		return tensor.Errorf("", tensor.ErrDType, "%s %d has dtype %s, the plan has %s", kind, i, got.DType(), want.DType)
	}
	if !want.Layout.Equal(got.Layout()) {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%s %d has layout %s, the plan has %s", kind, i, got.Layout(), want.Layout)
	}
	_, err := got.Storage().Bytes()
	return err
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
