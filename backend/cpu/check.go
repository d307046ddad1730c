package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

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
