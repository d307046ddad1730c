package draft

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// ArgReduce is the rules of an arg-reduction fn of elements dt laid out as src, along axis, into indices of dtype
// index laid out as dst.
func ArgReduce(name string, dt, index tensor.DType, fn ops.ArgFn, src, dst tensor.Layout, axis int) Plan {
	from, to := Of("source", dt, src), Of("destination", index, dst)
	return Plan{
		Name: name, In: []Operand{from}, Out: []Operand{to},
		DTypes: func() error { return argReducible(dt, index, fn) },
		Axes:   func() error { return InsideAxis(axis, &from) },
		Shapes: func() error {
			return to.Fits(DropAxis(from.Shape, axis), "source shape %v without axis %d", from.Shape, axis)
		},
		Possible: func() error {
			if from.Shape[axis] == 0 {
				return tensor.Errorf("", tensor.ErrUnsupported,
					"axis %d of source shape %v is empty: there is no index to give", axis, from.Shape)
			}
			return nil
		},
		Lengths: func() error {
			if index == tensor.Int32 && from.Shape[axis]-1 > math.MaxInt32 {
				return tensor.Errorf("", tensor.ErrOverflow,
					"axis %d of source shape %v is too long for an int32 index", axis, from.Shape)
			}
			return nil
		},
	}
}

// argReducible is the error for dtypes that an arg-reduction does not take.
func argReducible(dt, index tensor.DType, fn ops.ArgFn) error {
	switch {
	case !dt.Valid() || dt == tensor.Bool:
		return tensor.Errorf("", tensor.ErrDType, "source dtype %s has no order", dt)
	case fn > ops.ArgMinAbsFn:
		return tensor.Errorf("", tensor.ErrUnsupported, "no arg-reduction %d", fn)
	case dt.IsComplex() && (fn == ops.ArgMaxFn || fn == ops.ArgMinFn):
		return tensor.Errorf("", tensor.ErrUnsupported, "source dtype %s has no order but by magnitude", dt)
	case index != tensor.Int32 && index != tensor.Int64:
		return tensor.Errorf("", tensor.ErrDType, "index dtype %s is neither int32 nor int64", index)
	}
	return nil
}

// DropAxis is a shape without an axis.
func DropAxis(shape []int, axis int) []int {
	return slices.Delete(slices.Clone(shape), axis, axis+1)
}
