package backendtest

import (
	"math"

	"github.com/adjoint-go/adjoint/ops"
)

// realFunction is a function of one float, rounded once to float64. What is not finite, not a number or on
// the edge of the domain is what the C standard says, as package math does.
func realFunction(fn ops.UnaryFn, x float64) float64 {
	special, ok := realSpecial(fn, x)
	if ok {
		return special
	}
	b := bf(x)
	switch fn {
	case ops.UnaryExp:
		return float(bigExp(b))
	case ops.UnaryExp2:
		return float(bigExp(mul(b, bigLn2())))
	case ops.UnaryExpm1:
		return float(sub(bigExp(b), bf(1)))
	case ops.UnaryLog:
		return float(bigLog(b))
	case ops.UnaryLog2:
		return float(quo(bigLog(b), bigLn2()))
	case ops.UnaryLog10:
		return float(quo(bigLog(b), bigLog(bf(10))))
	case ops.UnaryLog1p:
		return float(bigLog(add(bf(1), b)))
	case ops.UnarySqrt:
		return float(root(b))
	case ops.UnaryRsqrt:
		return float(quo(bf(1), root(b)))
	case ops.UnaryCbrt:
		return float(bigCbrt(b))
	case ops.UnarySigmoid:
		return float(quo(bf(1), add(bf(1), bigExp(neg(b)))))
	case ops.UnarySoftplus:
		if e := bigExp(b); x < -80 { // beside 1 it would lose its digits
			return float(sub(e, scale(mul(e, e), -1)))
		}
		return float(bigLog(add(bf(1), bigExp(b))))
	case ops.UnaryErf:
		return float(bigErf(b))
	case ops.UnaryErfc:
		return float(sub(bf(1), bigErf(b)))
	case ops.UnaryErfinv:
		return float(bigErfinv(b))
	case ops.UnarySinh:
		return float(bigSinh(b))
	case ops.UnaryCosh:
		return float(bigCosh(b))
	case ops.UnaryTanh:
		return float(bigTanh(b))
	case ops.UnaryAsinh:
		return float(bigAsinh(b))
	case ops.UnaryAcosh:
		return float(bigAcosh(b))
	case ops.UnaryAtanh:
		return float(bigAtanh(b))
	}
	return circular(fn, x)
}

func circular(fn ops.UnaryFn, x float64) float64 {
	b := bf(x)
	switch fn {
	case ops.UnaryAsin:
		return float(bigAsin(b))
	case ops.UnaryAcos:
		return float(sub(scale(bigPi(), -1), bigAsin(b)))
	case ops.UnaryAtan:
		return float(bigAtan(b))
	}
	sin, cos := bigSinCos(b)
	switch fn {
	case ops.UnarySin:
		return float(sin)
	case ops.UnaryCos:
		return float(cos)
	}
	return float(quo(sin, cos))
}

// seriesReach is the largest |x| that the series are used for.
var seriesReach = map[ops.UnaryFn]float64{
	ops.UnaryExp: 700, ops.UnaryExp2: 1000, ops.UnaryExpm1: 700, ops.UnarySinh: 700, ops.UnaryCosh: 700,
	ops.UnaryTanh: 30, ops.UnarySigmoid: 700, ops.UnarySoftplus: 700, ops.UnaryErf: 7, ops.UnaryErfc: 7,
}

// realSpecial is what package math gives where the series do not reach: at NaN, the infinities, zero, outside
// of the domain, where the result overflows or vanishes, and where the result is the operand to the last bit.
func realSpecial(fn ops.UnaryFn, x float64) (y float64, ok bool) {
	f := map[ops.UnaryFn]func(float64) float64{
		ops.UnaryExp: math.Exp, ops.UnaryExp2: math.Exp2, ops.UnaryExpm1: math.Expm1, ops.UnaryLog: math.Log,
		ops.UnaryLog2: math.Log2, ops.UnaryLog10: math.Log10, ops.UnaryLog1p: math.Log1p, ops.UnarySqrt: math.Sqrt,
		ops.UnaryRsqrt: func(x float64) float64 { return 1 / math.Sqrt(x) },
		ops.UnaryCbrt:  math.Cbrt, ops.UnarySin: math.Sin, ops.UnaryCos: math.Cos, ops.UnaryTan: math.Tan,
		ops.UnaryAsin: math.Asin, ops.UnaryAcos: math.Acos, ops.UnaryAtan: math.Atan, ops.UnarySinh: math.Sinh,
		ops.UnaryCosh: math.Cosh, ops.UnaryTanh: math.Tanh, ops.UnaryAsinh: math.Asinh, ops.UnaryAcosh: math.Acosh,
		ops.UnaryAtanh:   math.Atanh,
		ops.UnarySigmoid: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		ops.UnarySoftplus: func(x float64) float64 {
			if x > 700 {
				return x
			}
			return math.Log1p(math.Exp(x))
		},
		ops.UnaryErf: math.Erf, ops.UnaryErfc: math.Erfc, ops.UnaryErfinv: math.Erfinv,
	}[fn](x)
	limit, limited := seriesReach[fn]
	switch {
	case x == 0 || math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(f) || math.IsInf(f, 0) || f == 0:
		return f, true
	case limited && math.Abs(x) > limit:
		return f, true
	case math.Abs(x) < 0x1p-70 && math.Abs(f-x) <= math.Abs(x)*0x1p-50: // x + O(x²) rounds to x
		return x, true
	}
	return 0, false
}

// complexFunction is a function of one complex number, each component rounded once.
func complexFunction(fn ops.UnaryFn, c complex128) complex128 {
	z, one := wideOf(c), wide{bf(1), bf(0)}
	switch fn {
	case ops.UnaryExp:
		return cexp(z).complex()
	case ops.UnaryExpm1:
		return csub(cexp(z), one).complex()
	case ops.UnaryLog:
		return clog(z).complex()
	case ops.UnaryLog1p:
		return clog(cadd(one, z)).complex()
	case ops.UnarySqrt:
		return csqrt(z).complex()
	case ops.UnaryRsqrt:
		return cquo(one, csqrt(z)).complex()
	case ops.UnarySin:
		return csin(z).complex()
	case ops.UnaryCos:
		return ccos(z).complex()
	case ops.UnaryTan:
		return cquo(csin(z), ccos(z)).complex()
	case ops.UnarySinh:
		return csinh(z).complex()
	case ops.UnaryCosh:
		return ccosh(z).complex()
	case ops.UnaryTanh:
		return cquo(csinh(z), ccosh(z)).complex()
	case ops.UnarySigmoid:
		return cquo(one, cadd(one, cexp(cneg(z)))).complex()
	case ops.UnarySign:
		r := bigHypot(z.re, z.im)
		if r.Sign() == 0 {
			return 0
		}
		return wide{quo(z.re, r), quo(z.im, r)}.complex()
	}
	return c
}
