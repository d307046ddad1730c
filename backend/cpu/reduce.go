package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileReduce makes the kernel of out[kept…] = fold of in[0] over op.Axes.
//
// Sum and Prod of floats and complex numbers follow the tree of fold.go; halves are folded in float32 and
// complex64 products in complex128, rounded once. Integers wrap; for bool, Sum and Max are or, Prod and Min
// are and. Max and Min are NaN where an element is, and hold −0 to be below +0. LogSumExp is m + log Σ
// exp(x − m) with m the maximum, by the same tree.
//
// With op.Init in[1] takes part last: init ∘ tree; for LogSumExp it takes part in m too, and its exponential
// is added to the sum. Without elements the result is the identity: 0, 1, −∞, or what Max and Min start from.
//
// Errors: ErrUnsupported for Max, Min and LogSumExp of complex numbers, LogSumExp of anything but floats and
// unknown functions; ErrDType, ErrAxis, ErrShape for operands that do not fit each other.
func compileReduce(op ops.ReduceOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	if err := validReduce(op, out, in); err != nil {
		return nil, err
	}
	switch x := in[0]; x.DType {
	case tensor.Bool: // bytes 0 and 1
		return newBoolReduce(op, out, in), nil
	case tensor.Int8:
		return newIntReduce[int8](op, out, in, math.MinInt8, math.MaxInt8), nil
	case tensor.Int16:
		return newIntReduce[int16](op, out, in, math.MinInt16, math.MaxInt16), nil
	case tensor.Int32:
		return newIntReduce[int32](op, out, in, math.MinInt32, math.MaxInt32), nil
	case tensor.Int64:
		return newIntReduce[int64](op, out, in, math.MinInt64, math.MaxInt64), nil
	case tensor.Uint8:
		return newIntReduce[uint8](op, out, in, 0, math.MaxUint8), nil
	case tensor.Uint16:
		return newIntReduce[uint16](op, out, in, 0, math.MaxUint16), nil
	case tensor.Uint32:
		return newIntReduce[uint32](op, out, in, 0, math.MaxUint32), nil
	case tensor.Uint64:
		return newIntReduce[uint64](op, out, in, 0, math.MaxUint64), nil
	case tensor.Float16:
		return newFloatReduce(op, out, in, float16Rows, exponentials32), nil
	case tensor.BFloat16:
		return newFloatReduce(op, out, in, bfloat16Rows, exponentials32), nil
	case tensor.Float32:
		return newFloatReduce(op, out, in, sameRows[float32](), exponentials32), nil
	case tensor.Float64:
		return newFloatReduce(op, out, in, sameRows[float64](), exponentials64), nil
	case tensor.Complex64:
		if op.Fn == ops.ReduceProd {
			return newReducer(op, out, in, complex64Rows, complexProduct), nil
		}
		return newReducer(op, out, in, sameRows[complex64](), complex64Sum), nil
	}
	if op.Fn == ops.ReduceProd {
		return newReducer(op, out, in, sameRows[complex128](), complexProduct), nil
	}
	return newReducer(op, out, in, sameRows[complex128](), complex128Sum), nil
}

var (
	complex64Sum   = reduction[complex64]{fold: sumOf[complex64](false), quiet: quietComplex64}
	complex128Sum  = reduction[complex128]{fold: sumOf[complex128](false), quiet: quietComplex128}
	complexProduct = reduction[complex128]{fold: complexProd, quiet: quietComplex128}
)

// validReduce makes the errors of compileReduce.
func validReduce(op ops.ReduceOp, out graph.Operand, in []graph.Operand) error {
	want := 1
	if op.Init {
		want = 2
	}
	if len(in) != want {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%d operands for a reduction of %d", len(in), want)
	}
	x := in[0]
	switch isFloat := x.DType.IsFloat(); {
	case !x.DType.Valid():
		return tensor.Errorf("", tensor.ErrDType, "operand 0 has dtype %s", x.DType)
	case op.Fn > ops.ReduceLogSumExp:
		return tensor.Errorf("", tensor.ErrUnsupported, "no reduction %d", op.Fn)
	case op.Fn == ops.ReduceLogSumExp && !isFloat, x.DType.IsComplex() && op.Fn > ops.ReduceProd:
		return tensor.Errorf("", tensor.ErrUnsupported, "reduction %d does not take %s", op.Fn, x.DType)
	case out.DType != x.DType:
		return tensor.Errorf("", tensor.ErrDType, "the result has dtype %s, operand 0 %s", out.DType, x.DType)
	case op.Init && in[1].DType != x.DType:
		return tensor.Errorf("", tensor.ErrDType, "the init operand has dtype %s, operand 0 %s",
			in[1].DType, x.DType)
	case op.Init && in[1].Rank() != 0:
		return tensor.Errorf("", tensor.ErrShape, "the init operand has shape %v, want a scalar", in[1].Shape)
	}
	for i, a := range op.Axes {
		if a < 0 || a >= x.Rank() || i > 0 && a <= op.Axes[i-1] {
			return tensor.Errorf("", tensor.ErrAxis, "axes %v of shape %v are not sorted, unique and inside",
				op.Axes, x.Shape)
		}
	}
	if kept, _ := planning.Split(x.Layout, op.Axes); !tensor.EqualShapes(kept.Shape, out.Shape) {
		return tensor.Errorf("", tensor.ErrShape, "the result has shape %v, want %v: operand 0 has %v, axes %v",
			out.Shape, kept.Shape, x.Shape, op.Axes)
	}
	return nil
}

func newBoolReduce(op ops.ReduceOp, out graph.Operand, in []graph.Operand) graph.Kernel {
	f := maxOf[uint8](0)
	if op.Fn == ops.ReduceProd || op.Fn == ops.ReduceMin {
		f = minOf[uint8](1)
	}
	return newReducer(op, out, in, sameRows[uint8](), reduction[uint8]{fold: f})
}

func newIntReduce[I integer](op ops.ReduceOp, out graph.Operand, in []graph.Operand,
	least, greatest I) graph.Kernel {
	f := sumOf[I](true)
	switch op.Fn {
	case ops.ReduceProd:
		f = prodOf[I](true)
	case ops.ReduceMax:
		f = maxOf(least)
	case ops.ReduceMin:
		f = minOf(greatest)
	}
	return newReducer(op, out, in, sameRows[I](), reduction[I]{fold: f})
}

func newFloatReduce[E tensor.Element, A float](op ops.ReduceOp, out graph.Operand, in []graph.Operand,
	rows rowsOf[E, A], exps *exponentials[A]) graph.Kernel {
	r := reduction[A]{fold: sumOf[A](false), quiet: quietNaN[A]}
	switch op.Fn {
	case ops.ReduceProd:
		r.fold = prodOf[A](false)
	case ops.ReduceMax:
		r.fold = maxOf(A(math.Inf(-1)))
	case ops.ReduceMin:
		r.fold = minOf(A(math.Inf(1)))
	case ops.ReduceLogSumExp:
		r.top = maxOf(A(math.Inf(-1)))
		r.terms, r.one = &exps.terms, exps.one
	}
	return newReducer(op, out, in, rows, r)
}

// quietNaN gives every NaN the bits of math.NaN: those of a sum depend on which of its terms were NaN first.
func quietNaN[A float](values []A) {
	for i, v := range values {
		if v != v {
			values[i] = A(math.NaN())
		}
	}
}

func quietComplex64(values []complex64) {
	for i, v := range values {
		values[i] = complex(quieted(real(v)), quieted(imag(v)))
	}
}

func quietComplex128(values []complex128) {
	for i, v := range values {
		values[i] = complex(quieted(real(v)), quieted(imag(v)))
	}
}
