package backendtest

import (
	"math"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// functionULPs is how far an elementary function may be from the real value: a unit in the last place more
// than the rounding of the result.
const functionULPs = 1.5

// refUnary: signs, roundings and tests exactly; √ rounded once; the other functions within functionULPs.
func refUnary(o ops.UnaryOp, x array) outcome {
	dt := x.DType
	out := newArray(unaryResult(o.Fn, dt), x.Shape...)
	r := outcome{array: out}
	switch {
	case dt.IsComplex():
		for i, e := range x.at {
			out.at[i] = unaryComplex(o.Fn, dt, e)
		}
		if !exactComplex(o.Fn) {
			r.ulps, r.scale, r.free = 4, moduli(out), notFinite(x, out)
		}
	case dt.IsFloat():
		for i, e := range x.at {
			out.at[i] = unaryFloat(o.Fn, dt, e)
		}
		if o.Fn >= ops.UnaryExp && o.Fn <= ops.UnaryErfinv && o.Fn != ops.UnarySqrt {
			r.ulps = functionULPs
		}
	default:
		for i, e := range x.at {
			out.at[i] = unaryInt(o.Fn, dt, e)
		}
	}
	return r
}

func unaryResult(fn ops.UnaryFn, dt tensor.DType) tensor.DType {
	switch fn {
	case ops.UnaryIsNaN, ops.UnaryIsInf, ops.UnaryIsFinite:
		return tensor.Bool
	case ops.UnaryAbs, ops.UnaryReal, ops.UnaryImag:
		return dt.Real()
	}
	return dt
}

// moduli are the magnitudes that the components of complex numbers are measured at.
func moduli(a array) []float64 {
	m := make([]float64, len(a.at))
	for i, e := range a.at {
		if a.DType.IsComplex() {
			c := complexOf(a.DType, e)
			m[i] = math.Hypot(real(c), imag(c))
		} else {
			m[i] = math.Abs(floatOf(a.DType, e.re))
		}
	}
	return m
}

func unaryFloat(fn ops.UnaryFn, dt tensor.DType, e element) element {
	x := floatOf(dt, e.re)
	sign := uint64(1) << (8*dt.Size() - 1)
	switch fn {
	case ops.UnaryNeg: // of the sign bit alone, NaN's too
		return element{e.re ^ sign, 0}
	case ops.UnaryAbs:
		return element{e.re &^ sign, 0}
	case ops.UnarySign:
		switch {
		case x > 0:
			return fromFloat(dt, 1)
		case x < 0:
			return fromFloat(dt, -1)
		}
		return e // of a zero itself, of NaN NaN
	case ops.UnaryFloor:
		return fromFloat(dt, math.Floor(x))
	case ops.UnaryCeil:
		return fromFloat(dt, math.Ceil(x))
	case ops.UnaryRound:
		return fromFloat(dt, math.RoundToEven(x))
	case ops.UnaryTrunc:
		return fromFloat(dt, math.Trunc(x))
	case ops.UnaryIsNaN:
		return fromBool(math.IsNaN(x))
	case ops.UnaryIsInf:
		return fromBool(math.IsInf(x, 0))
	case ops.UnaryIsFinite:
		return fromBool(!math.IsInf(x, 0) && !math.IsNaN(x))
	}
	return fromFloat(dt, realFunction(fn, x))
}

func unaryInt(fn ops.UnaryFn, dt tensor.DType, e element) element {
	v := intOf(dt, e)
	switch fn {
	case ops.UnaryNeg:
		return fromInt(dt, -v)
	case ops.UnaryAbs:
		if v < 0 && !dt.IsUnsigned() {
			v = -v // the least integer wraps to itself
		}
		return fromInt(dt, v)
	case ops.UnarySign:
		return fromInt(dt, int64(integer(dt, e).Sign()))
	case ops.UnaryNot:
		if dt == tensor.Bool {
			return fromBool(v == 0)
		}
		return fromInt(dt, ^v)
	}
	return e
}

func exactComplex(fn ops.UnaryFn) bool {
	switch fn {
	case ops.UnaryNeg, ops.UnaryConj, ops.UnaryReal, ops.UnaryImag, ops.UnaryIsNaN, ops.UnaryIsInf, ops.UnaryIsFinite:
		return true
	}
	return false
}

func unaryComplex(fn ops.UnaryFn, dt tensor.DType, e element) element {
	sign := uint64(1) << (8*dt.Real().Size() - 1)
	c := complexOf(dt, e)
	switch fn {
	case ops.UnaryNeg:
		return element{e.re ^ sign, e.im ^ sign}
	case ops.UnaryConj:
		return element{e.re, e.im ^ sign}
	case ops.UnaryReal:
		return element{e.re, 0}
	case ops.UnaryImag:
		return element{e.im, 0}
	case ops.UnaryAbs:
		return fromFloat(dt.Real(), math.Hypot(real(c), imag(c)))
	case ops.UnaryIsNaN:
		return fromBool(isNaN(dt, e))
	case ops.UnaryIsInf:
		return fromBool(math.IsInf(real(c), 0) || math.IsInf(imag(c), 0))
	case ops.UnaryIsFinite:
		return fromBool(isFinite(dt, e))
	}
	if !isFinite(dt, e) || c == 0 && isPole(fn) {
		return fromComplex(dt, complex(math.NaN(), math.NaN()))
	}
	return fromComplex(dt, complexFunction(fn, c))
}

// isPole: a logarithm or a power of a complex 0 has no agreed value.
func isPole(fn ops.UnaryFn) bool { return fn == ops.UnaryLog || fn == ops.UnaryRsqrt }

// notFinite marks where a component of an operand is infinite or NaN: complex functions have no agreed value
// there.
func notFinite(in ...array) []bool {
	free := make([]bool, len(in[0].at))
	for i := range free {
		for _, a := range in {
			free[i] = free[i] || !isFinite(a.DType, a.at[i])
		}
	}
	return free
}

// isFinite is neither infinite nor NaN, in both components.
func isFinite(dt tensor.DType, e element) bool {
	ok := func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }
	return ok(floatOf(dt, e.re)) && (!dt.IsComplex() || ok(floatOf(dt, e.im)))
}
