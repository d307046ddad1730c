package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
)

// unaryComplex computes in complex128, so complex64 rounds once; a result may overflow only where its own
// type does. The real and the imaginary part are movements of half of the width.
func unaryComplex(fn ops.UnaryFn, out, in graph.Operand) graph.Kernel {
	switch fn {
	case ops.UnaryNeg:
		return map1(cheap, mapComplex(func(z complex128) complex128 { return -z }), out, in)
	case ops.UnaryConj:
		return map1(cheap, mapComplex(func(z complex128) complex128 {
			return complex(real(z),
				-imag(z))
		}), out, in)
	case ops.UnaryAbs:
		return map1(dear, mapComplex(absComplex), out, in)
	case ops.UnaryReal:
		return elementwise(componentTiles(out, in, 0), out, in)
	case ops.UnaryImag:
		return elementwise(componentTiles(out, in, 1), out, in)
	case ops.UnaryIsNaN:
		return map1(cheap, mapComplex(func(z complex128) bool { return z != z }), out, in)
	case ops.UnaryIsInf:
		return map1(cheap, mapComplex(isInf), out, in)
	case ops.UnaryIsFinite:
		return map1(cheap, mapComplex(isFinite), out, in)
	}
	if f := complexFunctions[fn]; f != nil {
		return map1(dear, mapComplex(f), out, in)
	}
	return nil
}

var complexFunctions = map[ops.UnaryFn]func(complex128) complex128{
	ops.UnarySign: complexSign,
	ops.UnaryExp:  fmath.CExp, ops.UnaryLog: fmath.CLog, ops.UnarySqrt: fmath.CSqrt,
	ops.UnaryExpm1: complexExpm1, ops.UnaryLog1p: complexLog1p,
	ops.UnaryRsqrt: func(z complex128) complex128 { return quotient(1, fmath.CSqrt(z)) },
	ops.UnarySin:   fmath.CSin, ops.UnaryCos: fmath.CCos, ops.UnaryTan: complexTan,
	ops.UnarySinh: complexSinh, ops.UnaryCosh: complexCosh, ops.UnaryTanh: fmath.CTanh,
	ops.UnarySigmoid: complexSigmoid,
}

// mapComplex calls f for every element: a complex number is two loads, a call and two stores, and most of
// these functions take tens of nanoseconds.
func mapComplex[R any](f func(complex128) R) func(out []R, z []complex128) {
	return func(out []R, z []complex128) {
		z = z[:len(out)]
		for i := range out {
			out[i] = f(z[i])
		}
	}
}

// componentTiles moves the real parts (part 0) or the imaginary ones (part 1).
func componentTiles(out, in graph.Operand, part int) *tiled {
	return moveTiles(out.DType.Size(), out.Layout, componentsOf(in.Layout, part))
}

// absComplex is √(x² + y²) without overflow on the way; NaN where a component is, even beside an infinity.
func absComplex(z complex128) float64 {
	if z != z {
		return math.NaN()
	}
	return fmath.Hypot(real(z), imag(z))
}

func isInf(z complex128) bool { return math.IsInf(real(z), 0) || math.IsInf(imag(z), 0) }

func isFinite(z complex128) bool { return real(z)-real(z) == 0 && imag(z)-imag(z) == 0 }

// complexSign is z/|z|, and 0 at 0. Very large and very small numbers are scaled first, by a power of two:
// their modulus would be infinite or have few bits.
func complexSign(z complex128) complex128 {
	if z == 0 {
		return z
	}
	x, y := real(z), imag(z)
	switch m := max(math.Abs(x), math.Abs(y)); {
	case m > 0x1p1000:
		x, y = float64(x*0x1p-600), float64(y*0x1p-600)
	case m < 0x1p-900:
		x, y = float64(x*0x1p600), float64(y*0x1p600)
	}
	r := absComplex(complex(x, y))
	return complex(x/r, y/r)
}

// complexExpm1 is e^z − 1 = (e^x − 1) cos y − 2 sin²(y/2) + i e^x sin y, which keeps its digits near 0.
func complexExpm1(z complex128) complex128 {
	x, y := real(z), imag(z)
	if x > 600 || !isFinite(z) {
		e := fmath.CExp(z)
		return complex(real(e)-1, imag(e))
	}
	s := fmath.Sin(float64(0.5 * y))
	re := float64(fmath.Expm1(x)*fmath.Cos(y)) - float64(2*float64(s*s))
	return complex(re, float64(fmath.Exp(x)*fmath.Sin(y)))
}

// complexLog1p is log(1 + z) = ½ log1p(x(2 + x) + y²) + i arg(1 + z) near 0, where 1 + z would lose digits.
func complexLog1p(z complex128) complex128 {
	x, y := real(z), imag(z)
	if !(math.Abs(x) < 0.5 && math.Abs(y) < 0.5) {
		return fmath.CLog(complex(1+x, y))
	}
	s := float64(x*(2+x)) + float64(y*y)
	return complex(float64(0.5*fmath.Log1p(s)), fmath.Atan2(y, 1+x))
}

// complexTan is −i tanh(iz), complexSinh −i sin(iz), complexCosh cos(iz): exact exchanges of components.
func complexTan(z complex128) complex128 {
	t := fmath.CTanh(complex(-imag(z), real(z)))
	return complex(imag(t), -real(t))
}

func complexSinh(z complex128) complex128 {
	s := fmath.CSin(complex(-imag(z), real(z)))
	return complex(imag(s), -real(s))
}

func complexCosh(z complex128) complex128 { return fmath.CCos(complex(-imag(z), real(z))) }

// complexSigmoid is 1/(1 + e^−z), on the left half plane e^z/(1 + e^z), so that no power overflows.
func complexSigmoid(z complex128) complex128 {
	if real(z) >= 0 {
		e := fmath.CExp(-z)
		return quotient(1, complex(1+real(e), imag(e)))
	}
	e := fmath.CExp(z)
	return quotient(e, complex(1+real(e), imag(e)))
}
