package ops

import "math"

// The builders of one operand. Where the cotangent is 0, a derivative that is infinite or NaN counts as 0.
// Complex derivatives follow ⟨u, v⟩ = Re Σ conj(u)·v: the cotangent is multiplied by conj(f′). Errors
// (sticky): tensor.ErrDType for a dtype that the function does not take (cast first), tensor.ErrUnsupported
// for nil and for a complex operand of a function that is real.

// Exp is e^x of floats and complexes. The derivative is e^x.
func Exp(x *Node) *Node { return unary(UnaryExp, x) }

// Exp2 is 2^x of floats and complexes. The derivative is 2^x·log 2.
func Exp2(x *Node) *Node {
	if isComplex(x) {
		return Exp(Mul(x, math.Ln2))
	}
	return unary(UnaryExp2, x)
}

// Expm1 is e^x − 1 of floats and complexes, accurate near 0. The derivative is e^x.
func Expm1(x *Node) *Node { return unary(UnaryExpm1, x) }

// Log is the natural logarithm of floats and complexes: −∞ at 0, NaN for negative floats. The derivative is
// 1/x.
func Log(x *Node) *Node { return unary(UnaryLog, x) }

// Log2 is log x / log 2 of floats and complexes. The derivative is 1/(x·log 2).
func Log2(x *Node) *Node {
	if isComplex(x) {
		return Div(Log(x), math.Ln2)
	}
	return unary(UnaryLog2, x)
}

// Log10 is log x / log 10 of floats and complexes. The derivative is 1/(x·log 10).
func Log10(x *Node) *Node {
	if isComplex(x) {
		return Div(Log(x), math.Ln10)
	}
	return unary(UnaryLog10, x)
}

// Log1p is log(1 + x) of floats and complexes, accurate near 0. The derivative is 1/(1 + x).
func Log1p(x *Node) *Node { return unary(UnaryLog1p, x) }

// Sqrt is √x of floats and complexes, NaN for negative floats. The derivative is 1/(2√x).
func Sqrt(x *Node) *Node { return unary(UnarySqrt, x) }

// Rsqrt is 1/√x of floats and complexes. The derivative is −1/(2x√x).
func Rsqrt(x *Node) *Node { return unary(UnaryRsqrt, x) }

// Cbrt is ∛x of floats, negative for negative x. The derivative is 1/(3·∛x²).
func Cbrt(x *Node) *Node { return unary(UnaryCbrt, x) }

// Sigmoid is 1/(1 + e^−x) of floats and complexes. The derivative is y·(1 − y).
func Sigmoid(x *Node) *Node { return unary(UnarySigmoid, x) }

// Softplus is log(1 + e^x) of floats, without overflow. The derivative is Sigmoid(x).
func Softplus(x *Node) *Node { return unary(UnarySoftplus, x) }

// Erf is (2/√π)·∫₀ˣ e^−t² dt of floats. The derivative is (2/√π)·e^−x².
func Erf(x *Node) *Node { return unary(UnaryErf, x) }

// Erfc is 1 − Erf(x) of floats, accurate where it is small. The derivative is −(2/√π)·e^−x².
func Erfc(x *Node) *Node { return unary(UnaryErfc, x) }

// Erfinv is the x of Erf(x) = y, of floats: ±∞ at ±1, NaN beyond. The derivative is (√π/2)·e^x².
func Erfinv(y *Node) *Node { return unary(UnaryErfinv, y) }
