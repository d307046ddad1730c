package ops

import (
	"math"
)

// VJP is ct · Guard(ct, conj f′), and the adjoint of the real-linear map for the functions of a complex
// operand that have no complex derivative.
func (o UnaryOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(int) *Node {
		x, y, g := c.In[0], c.Out[0], ct[0]
		switch {
		case o.Fn == UnaryAbs && isComplex(x):
			return scale(Sign(x), g)
		case o.Fn == UnarySign && isComplex(x):
			return turn(x, y, g)
		case o.Fn == UnaryConj:
			return Conj(g)
		case o.Fn == UnaryReal:
			return Cast(g, x.DType())
		case o.Fn == UnaryImag:
			return Complex(0, g)
		case o.Fn == UnaryNeg:
			return Neg(g)
		}
		if slope := o.slope(x, y); slope != nil {
			return times(g, Conj(slope))
		}
		return nil
	})
}

// JVP is tan · Guard(tan, f′), and the real-linear map itself for the functions of a complex operand that
// have no complex derivative.
func (o UnaryOp) JVP(c *Call, tan []*Node) []*Node {
	return push(tan, func(_ int, t *Node) *Node {
		x, y := c.In[0], c.Out[0]
		switch {
		case o.Fn == UnaryAbs && isComplex(x):
			return inner(Sign(x), t)
		case o.Fn == UnarySign && isComplex(x):
			return turn(x, y, t)
		case o.Fn == UnaryConj:
			return Conj(t)
		case o.Fn == UnaryReal:
			return Real(t)
		case o.Fn == UnaryImag:
			return Imag(t)
		case o.Fn == UnaryNeg:
			return Neg(t)
		}
		if slope := o.slope(x, y); slope != nil {
			return times(t, slope)
		}
		return nil
	})
}

// scale is z·r, complex times real, each component guarded against a zero r.
func scale(z, r *Node) *Node { return Complex(times(r, Real(z)), times(r, Imag(z))) }

// inner is Re(conj(z)·t), each component guarded against a zero t.
func inner(z, t *Node) *Node { return Add(times(Real(t), Real(z)), times(Imag(t), Imag(z))) }

// turn is the derivative of s = z/|z| along t, which is its own adjoint: what of t is across s, over |z|. At
// z = 0 it is 0, as the real sign's.
func turn(z, s, t *Node) *Node {
	r := Abs(z)
	across := Sub(t, scale(s, inner(s, t)))
	inverse := Where(Equal(r, 0), 0, Div(1, r))
	return Complex(times(Real(across), inverse), times(Imag(across), inverse))
}

// slope is f′(x), given y = f(x) too; nil where there is no gradient. Where the operand is complex it is the
// complex derivative.
func (o UnaryOp) slope(x, y *Node) *Node {
	switch o.Fn {
	case UnaryAbs:
		return Sign(x)
	case UnaryExp:
		return y
	case UnaryExp2:
		return Mul(y, math.Ln2)
	case UnaryExpm1:
		return Exp(x) // y + 1 would lose the small ones
	case UnaryLog:
		return Div(1, x)
	case UnaryLog2:
		return Div(1/math.Ln2, x)
	case UnaryLog10:
		return Div(1/math.Ln10, x)
	case UnaryLog1p:
		return Div(1, Add(x, 1))
	case UnarySqrt:
		return Div(0.5, y)
	case UnaryRsqrt:
		return Div(Mul(y, -0.5), x)
	case UnaryCbrt:
		return Div(1.0/3, Square(y))
	case UnarySigmoid:
		return Mul(y, Sub(1, y))
	case UnarySoftplus:
		return Sigmoid(x)
	case UnaryErf:
		return Mul(Exp(Neg(Square(x))), 2/math.Sqrt(math.Pi))
	case UnaryErfc:
		return Mul(Exp(Neg(Square(x))), -2/math.Sqrt(math.Pi))
	case UnaryErfinv:
		return Mul(Exp(Square(y)), math.Sqrt(math.Pi)/2)
	}
	return o.trigSlope(x, y)
}

func (o UnaryOp) trigSlope(x, y *Node) *Node {
	switch o.Fn {
	case UnarySin:
		return Cos(x)
	case UnaryCos:
		return Neg(Sin(x))
	case UnaryTan:
		return Add(Square(y), 1)
	case UnaryAsin:
		return Div(1, Mul(Sqrt(Sub(1, x)), Sqrt(Add(1, x))))
	case UnaryAcos:
		return Div(-1, Mul(Sqrt(Sub(1, x)), Sqrt(Add(1, x))))
	case UnaryAtan: // 1/(x² + 1), where x² may overflow by u = 1/x
		u2 := Square(Div(1, x))
		return Where(LessEqual(Abs(x), 1), Div(1, Add(Square(x), 1)), Div(u2, Add(u2, 1)))
	case UnarySinh:
		return Cosh(x)
	case UnaryCosh:
		return Sinh(x)
	case UnaryTanh:
		return Sub(1, Square(y))
	case UnaryAsinh: // 1/√(x² + 1), where x² may overflow by u = 1/x
		u := Div(1, x)
		return Where(LessEqual(Abs(x), 1), Div(1, Sqrt(Add(Square(x), 1))), Div(Abs(u), Sqrt(Add(Square(u), 1))))
	case UnaryAcosh:
		return Div(1, Mul(Sqrt(Sub(x, 1)), Sqrt(Add(x, 1))))
	case UnaryAtanh:
		return Div(1, Mul(Sub(1, x), Add(1, x)))
	}
	return nil
}
