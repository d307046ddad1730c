package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The reductions fold the named axes and drop them. No axes means all, an explicitly empty slice none;
// negative axes count from the end; the caller's slice is never changed. KeepDims keeps the reduced axes with
// extent 1. Errors (sticky) of every one: tensor.ErrAxis for an axis out of range or named twice,
// tensor.ErrUnsupported for nil.

// Reduction is the type of Sum, Max and the others.
type Reduction = func(x *Node, axes ...int) *Node

// KeepDims is a reduction whose reduced axes stay, with extent 1, so that the result broadcasts with x:
// KeepDims(Max, x, -1).
//
// Errors (sticky): those of the reduction.
func KeepDims(reduce Reduction, x *Node, axes ...int) *Node {
	const op = "ops.KeepDims"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	if reduce == nil {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "the reduction is nil"))
	}
	r := reduce(x, axes...)
	if !r.Valid() {
		return r
	}
	sorted, err := sortedAxes(axes, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	return Reshape(r, keptShape(x.Shape(), sorted)...)
}

// Sum is Σ x, 0 of nothing; for bool it is or. Half floats are summed in float32. The cotangent is repeated.
func Sum(x *Node, axes ...int) *Node { return reduce(ReduceSum, x, axes) }

// Prod is Π x, 1 of nothing; for bool it is and. The derivative by an element is the product of all the
// others, right with any number of zeros.
func Prod(x *Node, axes ...int) *Node { return reduce(ReduceProd, x, axes) }

// Max is the greatest x: NaN where there is one, +0 of the two zeros; for bool it is or. The cotangent is
// shared equally among the elements that attain it, the NaNs where it is NaN.
//
// Errors (sticky): also tensor.ErrUnsupported for complex and where there are no elements to choose from.
func Max(x *Node, axes ...int) *Node { return reduce(ReduceMax, x, axes) }

// Min is the least x: NaN where there is one, −0 of the two zeros; for bool it is and. The cotangent is
// shared equally among the elements that attain it, the NaNs where it is NaN.
//
// Errors (sticky): also tensor.ErrUnsupported for complex and where there are no elements to choose from.
func Min(x *Node, axes ...int) *Node { return reduce(ReduceMin, x, axes) }

// LogSumExp is log Σ exp(x) of floats, shifted by the maximum so that it does not overflow; −∞ of nothing.
// The derivatives are exp(x − out): all 0 where the result is −∞, and where it is +∞ equal shares of the
// elements that are +∞.
//
// Errors (sticky): also tensor.ErrDType for integers and bool, tensor.ErrUnsupported for complex.
func LogSumExp(x *Node, axes ...int) *Node { return reduce(ReduceLogSumExp, x, axes) }

func reduce(fn ReduceFn, x *Node, axes []int) *Node {
	name := ReduceOp{Fn: fn}.Name()
	if bad := graph.Invalid(name, x); bad != nil {
		return bad
	}
	sorted, err := sortedAxes(axes, x.Rank())
	if err != nil {
		return x.Graph().Fail(name, err)
	}
	if len(sorted) == 0 { // of one element, each of these is the element
		if bad := checked(name, x, reduceTraits[fn].takes); bad != nil {
			return bad
		}
		return x
	}
	return graph.Apply(ReduceOp{fn, sorted, false}, x)
}

// ReduceInit is a reduction in which init, a Go scalar or a node of rank 0, takes part as one more element of
// each line; so Max and Min of nothing are init. Its cotangent is that of an element, summed over the lines.
//
// Errors (sticky): also tensor.ErrDType where init has another dtype, tensor.ErrRank where it is not of rank
// 0.
func ReduceInit(fn ReduceFn, x *Node, init any, axes ...int) *Node {
	const op = "ops.ReduceInit"
	n, bad := lift(op, 0, x, init)
	if bad != nil {
		return bad
	}
	sorted, err := sortedAxes(axes, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	return graph.Apply(ReduceOp{fn, sorted, true}, n...)
}

// Mean is Σ x / n of floats and complexes, NaN of nothing. Half floats are computed in float32 and rounded
// once. The cotangent is divided by n and repeated.
//
// Errors (sticky): also tensor.ErrDType for integers and bool: cast first.
func Mean(x *Node, axes ...int) *Node {
	const op = "ops.Mean"
	if bad := checked(op, x, acceptAnalog); bad != nil {
		return bad
	}
	sorted, err := sortedAxes(axes, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	n := tensor.Size(pick(x.Shape(), sorted))
	sum := Sum(Cast(x, widened(x.DType())), sorted...)
	return Cast(Div(sum, float64(n)), x.DType())
}

// Any is whether some x ≠ 0, NaN included, as a bool; false of nothing. It has no gradient.
func Any(x *Node, axes ...int) *Node { return test("ops.Any", Sum, x, axes) }

// All is whether every x ≠ 0, NaN included, as a bool; true of nothing. It has no gradient.
func All(x *Node, axes ...int) *Node { return test("ops.All", Prod, x, axes) }

// test folds truth values; Sum of bools is or, Prod is and.
func test(op string, fold Reduction, x *Node, axes []int) *Node {
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	sorted, err := sortedAxes(axes, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	return fold(Cast(x, tensor.Bool), sorted...)
}
