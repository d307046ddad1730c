package ops

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Var, Std and Norm take axes as the other reductions do. KeepDims takes them as functions:
//
//	KeepDims(func(x *Node, axes ...int) *Node { return Norm(x, 2, axes...) }, x, -1)

// Var is Σ|x − mean|² / (n − correction) of floats and complexes, n the number of elements of a line: with
// correction 0 the variance of a population, with 1 the unbiased one of a sample. It takes two passes, so
// that it keeps its digits where the mean is large. Of a complex it is real. Where n ≤ correction the divisor
// is 0: NaN for a single element. Half floats are computed in float32 and rounded once.
//
// Errors (sticky): also tensor.ErrDType for integers and bool: cast first.
func Var(x *Node, correction int, axes ...int) *Node {
	const op = "ops.Var"
	d, at, bad := deviations(op, x, axes)
	if bad != nil {
		return bad
	}
	square := Square(Real(d))
	if isComplex(d) {
		square = Add(square, Square(Imag(d)))
	}
	return Cast(Div(Sum(square, at...), degrees(d, at, correction)), x.DType().Real())
}

// Std is √Var. It is computed as a norm, so that squares neither overflow nor vanish; where a line is
// constant it is 0, and its gradient is 0.
//
// Errors (sticky): as Var.
func Std(x *Node, correction int, axes ...int) *Node {
	const op = "ops.Std"
	d, at, bad := deviations(op, x, axes)
	if bad != nil {
		return bad
	}
	return Cast(Div(powerNorm(d, 2, at), math.Sqrt(degrees(d, at, correction))), x.DType().Real())
}

// deviations is x − mean, of a dtype that is computed in, and the axes sorted.
func deviations(op string, x *Node, axes []int) (d *Node, at []int, bad *Node) {
	if bad := checked(op, x, acceptAnalog); bad != nil {
		return nil, nil, bad
	}
	at, err := sortedAxes(axes, x.Rank())
	if err != nil {
		return nil, nil, x.Graph().Fail(op, err)
	}
	wide := Cast(x, widened(x.DType()))
	return Sub(wide, KeepDims(Mean, wide, at...)), at, nil
}

// degrees is the divisor of a variance.
func degrees(x *Node, axes []int, correction int) float64 {
	if !x.Valid() {
		return 0
	}
	return max(float64(tensor.Size(pick(x.Shape(), axes)))-float64(correction), 0)
}

// Norm is (Σ|x|ᵖ)^(1/p) of floats and complexes, of any order p: ∞ gives the greatest |x|, −∞ the least, and
// 0 the number of elements that are not 0. Of a complex it is real. Of nothing it is 0, for a negative p ∞.
// Powers are scaled so that they neither overflow nor vanish; half floats are computed in float32 and rounded
// once.
//
// The derivative by an element that is 0 is 0, and all are where the norm is 0; for p = ±∞ equal shares go to
// the elements that attain it, and for p = 0 there is none.
//
// Errors (sticky): also tensor.ErrDType for integers and bool: cast first; tensor.ErrUnsupported for a p of
// NaN.
func Norm(x *Node, p float64, axes ...int) *Node {
	const op = "ops.Norm"
	if bad := checked(op, x, acceptAnalog); bad != nil {
		return bad
	}
	if math.IsNaN(p) {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "there is no norm of order %v", p))
	}
	at, err := sortedAxes(axes, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	wide := Cast(x, widened(x.DType()))
	var y *Node
	switch {
	case p == 0:
		y = Sum(Cast(NotEqual(wide, 0), wide.DType().Real()), at...)
	case p == 1:
		y = Sum(Abs(wide), at...)
	case math.IsInf(p, 0):
		y = extremeOf(Abs(wide), p > 0, at)
	default:
		y = powerNorm(wide, p, at)
	}
	return Cast(y, x.DType().Real())
}

// extremeOf is the greatest or the least of magnitudes, of nothing 0 or ∞.
func extremeOf(a *Node, greatest bool, axes []int) *Node {
	if bad := graph.Invalid("ops.Norm", a); bad != nil {
		return bad
	}
	fn, none := ReduceMin, math.Inf(1)
	if greatest {
		fn, none = ReduceMax, 0
	}
	if tensor.Size(pick(a.Shape(), axes)) == 0 {
		return graph.Apply(ReduceOp{fn, axes, true}, a, a.Graph().Literal(a.DType(), none))
	}
	return reduce(fn, a, axes)
}

// powerNorm is s·(Σ|x/s|ᵖ)^(1/p) for an s that keeps the powers in range; it does not depend on s, which is a
// constant in the eyes of differentiation.
func powerNorm(x *Node, p float64, axes []int) *Node {
	a := Abs(x)
	if !a.Valid() {
		return a
	}
	s := normScale(extremeOf(StopGradient(a), p > 0, axes), p)
	var sum *Node
	if kept := keptShape(x.Shape(), axes); p == 2 {
		sum = Square(Div(Real(x), Reshape(s, kept...)))
		if isComplex(x) {
			sum = Add(sum, Square(Div(Imag(x), Reshape(s, kept...))))
		}
		sum = Sum(sum, axes...)
	} else {
		zero := Equal(a, 0) // no slope there, whatever p
		power := Pow(Div(Where(zero, 1, a), Reshape(s, kept...)), p)
		sum = Sum(Where(zero, math.Pow(0, p), power), axes...)
	}
	if !sum.Valid() {
		return sum
	}
	flat := Equal(sum, math.Pow(0, p)) // of nothing but zeros, with a negative p of a zero: 0, and no slope
	root := Where(flat, 1, sum)
	if p == 2 {
		root = Sqrt(root)
	} else {
		root = Pow(root, 1/p)
	}
	return Where(flat, 0, Mul(s, root))
}

// normScale is 1 where sums of powers of magnitudes about m are in range, else m.
func normScale(m *Node, p float64) *Node {
	if !m.Valid() {
		return m
	}
	exponents := 1022.0
	if m.DType() == tensor.Float32 {
		exponents = 126
	}
	room := min(exponents/(2*math.Abs(p)), exponents) // the other half is for their number
	plain := And(GreaterEqual(m, math.Exp2(-room)), LessEqual(m, math.Exp2(room)))
	return Where(Or(plain, Or(Equal(m, 0), Not(IsFinite(m)))), 1, m)
}
