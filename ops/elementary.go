package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Neg is −x of numbers; unsigned integers wrap. The derivative is −1.
func Neg(x *Node) *Node { return unary(UnaryNeg, x) }

// Abs is |x| of numbers: the least integer wraps to itself, a complex gives its modulus, a real. The
// derivative is Sign(x): 0 at 0.
func Abs(x *Node) *Node { return unary(UnaryAbs, x) }

// Sign is −1, 0 or 1 of real numbers, NaN of NaN; z/|z| of complexes, 0 at 0. A real sign has no gradient.
func Sign(x *Node) *Node { return unary(UnarySign, x) }

// Floor is the greatest whole number ≤ x, of floats; integers stay as they are. No gradient.
func Floor(x *Node) *Node { return rounding(UnaryFloor, x) }

// Ceil is the least whole number ≥ x, of floats; integers stay as they are. No gradient.
func Ceil(x *Node) *Node { return rounding(UnaryCeil, x) }

// Round is the nearest whole number, the even one of two, of floats; integers stay as they are. No gradient.
func Round(x *Node) *Node { return rounding(UnaryRound, x) }

// Trunc is the whole part of x, toward 0, of floats; integers stay as they are. No gradient.
func Trunc(x *Node) *Node { return rounding(UnaryTrunc, x) }

func rounding(fn UnaryFn, x *Node) *Node {
	if x.Valid() && x.DType().IsInteger() {
		return x
	}
	return unary(fn, x)
}

// Not is ¬x of bools, bit by bit of integers.
func Not(x *Node) *Node { return unary(UnaryNot, x) }

// IsNaN is true where x is NaN, a complex where a component is. Integers and bools never are.
func IsNaN(x *Node) *Node { return classify(UnaryIsNaN, x, false) }

// IsInf is true where x is +∞ or −∞, a complex where a component is. Integers and bools never are.
func IsInf(x *Node) *Node { return classify(UnaryIsInf, x, false) }

// IsFinite is true where x is neither infinite nor NaN, in both components of a complex. Integers and bools
// always are.
func IsFinite(x *Node) *Node { return classify(UnaryIsFinite, x, true) }

func classify(fn UnaryFn, x *Node, exact bool) *Node {
	if x.Valid() && !x.DType().IsDifferentiable() {
		return Full(x.Graph(), tensor.Bool, exact, x.Shape()...)
	}
	return unary(fn, x)
}

func isComplex(x *Node) bool { return x.Valid() && x.DType().IsComplex() }

// Conj is the complex conjugate; anything real stays as it is. The cotangent is conjugated too.
func Conj(x *Node) *Node {
	if x.Valid() && !isComplex(x) {
		return x
	}
	return unary(UnaryConj, x)
}

// Real is the real part of a complex; anything real stays as it is. The cotangent becomes the real part of
// the operand's.
func Real(x *Node) *Node {
	if x.Valid() && !isComplex(x) {
		return x
	}
	return unary(UnaryReal, x)
}

// Imag is the imaginary part of a complex, 0 of anything real. The cotangent becomes the imaginary part of
// the operand's.
func Imag(x *Node) *Node {
	if x.Valid() && !isComplex(x) {
		return ZerosLike(x)
	}
	return unary(UnaryImag, x)
}

// StopGradientOp is the identity whose derivative is zero.
type StopGradientOp struct{}

// Name is ops.StopGradient.
func (o StopGradientOp) Name() string { return "ops.StopGradient" }

// Key is the canonical form of the attributes.
func (o StopGradientOp) Key() string { return graph.KeyOf(o) }

// Infer is the operand's spec.
func (o StopGradientOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	return in, arity(in, 1)
}

// VJP stops the cotangent.
func (o StopGradientOp) VJP(*Call, []*Node, []bool) []*Node { return none(1) }

// JVP stops the tangent.
func (o StopGradientOp) JVP(*Call, []*Node) []*Node { return none(1) }

// Batch is the same op.
func (o StopGradientOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node {
	return []*Node{graph.Apply(o, in...)}
}

// Alias is the operand: there is no kernel and no copy.
func (o StopGradientOp) Alias(int) int { return 0 }

// StopGradient is x as a constant in the eyes of differentiation: no cotangent and no tangent passes.
func StopGradient(x *Node) *Node {
	if bad := graph.Invalid("ops.StopGradient", x); bad != nil {
		return bad
	}
	return graph.Apply(StopGradientOp{}, x)
}
