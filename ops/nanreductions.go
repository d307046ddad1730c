package ops

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The reductions that leave NaN out are those of the other elements, with their rules for axes, dtypes,
// gradients and errors: in place of a NaN stands what changes nothing. A NaN gets no gradient. Of integers
// and bool they are the plain reductions.

// withoutNaN is x with v, an element of its dtype, in place of NaN.
func withoutNaN(x *Node, v any) *Node {
	if !x.DType().IsFloat() && !x.DType().IsComplex() {
		return x
	}
	return Where(IsNaN(x), v, x)
}

// NanSum is Sum without the NaNs: 0 of nothing else.
func NanSum(x *Node, axes ...int) *Node {
	if bad := graph.Invalid("ops.NanSum", x); bad != nil {
		return bad
	}
	return Sum(withoutNaN(x, 0), axes...)
}

// NanProd is Prod without the NaNs: 1 of nothing else.
func NanProd(x *Node, axes ...int) *Node {
	if bad := graph.Invalid("ops.NanProd", x); bad != nil {
		return bad
	}
	return Prod(withoutNaN(x, 1), axes...)
}

// NanMean is Mean without the NaNs, of floats and complexes: NaN, with gradient 0, of nothing else.
func NanMean(x *Node, axes ...int) *Node {
	const name = "ops.NanMean"
	if bad := checked(name, x, acceptAnalog); bad != nil {
		return bad
	}
	wide := widened(x.DType())
	n := Sum(Cast(Not(IsNaN(x)), tensor.Int64), axes...)
	if !n.Valid() {
		return n
	}
	sum := Sum(Cast(withoutNaN(x, 0), wide), axes...)
	return Cast(Where(Equal(n, 0), math.NaN(), Div(sum, Cast(Maximum(n, 1), wide))), x.DType())
}

// NanMax is Max without the NaNs, which count as −∞: NaN, with gradient 0, of nothing else.
func NanMax(x *Node, axes ...int) *Node { return nanExtreme("ops.NanMax", Max, CombineMax, x, axes) }

// NanMin is Min without the NaNs, which count as +∞: NaN, with gradient 0, of nothing else.
func NanMin(x *Node, axes ...int) *Node { return nanExtreme("ops.NanMin", Min, CombineMin, x, axes) }

func nanExtreme(name string, extreme Reduction, c Combine, x *Node, axes []int) *Node {
	if bad := checked(name, x, acceptOrdered); bad != nil {
		return bad
	}
	y := extreme(withoutNaN(x, c.identity(x.DType())), axes...)
	if !y.Valid() || !x.DType().IsFloat() {
		return y
	}
	return Where(All(IsNaN(x), axes...), math.NaN(), y)
}

// NanArgMax is the index of the greatest element along an axis that is not NaN, the lowest of those that
// tie, as int64; 0 of a line of nothing but NaN.
//
// Errors (sticky): those of ArgMax.
func NanArgMax(x *Node, axis int) *Node { return nanArg("ops.NanArgMax", ArgMax, CombineMax, x, axis) }

// NanArgMin is the index of the least element along an axis that is not NaN, the lowest of those that tie, as
// int64; 0 of a line of nothing but NaN.
//
// Errors (sticky): those of ArgMin.
func NanArgMin(x *Node, axis int) *Node { return nanArg("ops.NanArgMin", ArgMin, CombineMin, x, axis) }

func nanArg(name string, arg func(*Node, int) *Node, c Combine, x *Node, axis int) *Node {
	if bad := checked(name, x, acceptReal); bad != nil {
		return bad
	}
	at := arg(withoutNaN(x, c.identity(x.DType())), axis)
	if !at.Valid() || !x.DType().IsFloat() {
		return at
	}
	// Where that is a NaN after all, every number is the identity too: the first of them is meant.
	isNaN, axis := IsNaN(x), (axis+x.Rank())%x.Rank()
	number := ArgMin(Cast(isNaN, tensor.Uint8), axis)
	missed := Squeeze(TakeAlongAxis(isNaN, ExpandDims(at, axis), axis), axis)
	return Where(missed, number, at)
}
