package backendtest

import (
	"math"
	"math/big"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// refBinary: + − × ÷ rounded once, extremes and bits exactly, Pow and Atan2 within functionULPs.
func refBinary(o ops.BinaryOp, a, b array) outcome {
	dt := a.DType
	to := dt
	if o.Fn == ops.BinaryComplex {
		to = map[tensor.DType]tensor.DType{tensor.Float32: tensor.Complex64, tensor.Float64: tensor.Complex128}[dt]
	}
	out := newArray(to, a.Shape...)
	r := outcome{array: out}
	for i := range out.at {
		x, y := a.at[i], b.at[i]
		switch {
		case o.Fn == ops.BinaryComplex:
			out.at[i] = element{x.re, y.re}
		case o.Fn == ops.BinaryGuard:
			out.at[i] = y
			if guards(dt, x, y) {
				out.at[i] = element{}
			}
		case dt == tensor.Bool:
			out.at[i] = binaryBool(o.Fn, x, y)
		case dt.IsComplex():
			out.at[i] = fromComplex(dt, binaryComplex(o.Fn, complexOf(dt, x), complexOf(dt, y)))
		case dt.IsFloat():
			out.at[i] = fromFloat(dt, binaryFloat(o.Fn, floatOf(dt, x.re), floatOf(dt, y.re)))
		default:
			out.at[i] = binaryInt(o.Fn, dt, x, y)
		}
	}
	switch {
	case dt.IsComplex() && (o.Fn == ops.BinaryMul || o.Fn == ops.BinaryDiv):
		r.ulps, r.scale, r.free = 4, moduli(out), notFinite(a, b, out)
	case dt.IsComplex() && o.Fn == ops.BinaryPow: // exp(b·log a): the error of the logarithm grows with b
		r.ulps, r.scale, r.free = 64, moduli(out), notFinite(a, b, out)
	case dt.IsFloat() && (o.Fn == ops.BinaryPow || o.Fn == ops.BinaryAtan2):
		r.ulps = functionULPs
	}
	return r
}

// guards: a is 0 and b is not finite.
func guards(dt tensor.DType, a, b element) bool { return !isTrue(dt, a) && !isFinite(dt, b) }

func binaryBool(fn ops.BinaryFn, x, y element) element {
	a, b := x.re != 0, y.re != 0
	switch fn {
	case ops.BinaryAdd, ops.BinaryMax, ops.BinaryOr:
		return fromBool(a || b)
	case ops.BinaryXor:
		return fromBool(a != b)
	}
	return fromBool(a && b)
}

func binaryFloat(fn ops.BinaryFn, a, b float64) float64 {
	switch fn {
	case ops.BinaryAdd:
		return a + b
	case ops.BinarySub:
		return a - b
	case ops.BinaryMul:
		return a * b
	case ops.BinaryDiv:
		return a / b
	case ops.BinaryPow:
		return power(a, b)
	case ops.BinaryAtan2:
		if a == 0 || b == 0 || math.IsNaN(a+b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
			return math.Atan2(a, b)
		}
		return float(bigAtan2(bf(a), bf(b)))
	case ops.BinaryMax:
		return extreme(a, b, false)
	case ops.BinaryMin:
		return extreme(a, b, true)
	case ops.BinaryRem:
		return math.Mod(a, b)
	}
	r := math.Mod(a, b) // Mod: the sign of the divisor
	switch {
	case math.IsNaN(r):
		return r
	case r == 0:
		return math.Copysign(0, b)
	case r < 0 != (b < 0):
		return float(add(bf(r), bf2(b)))
	}
	return r
}

// bf2 is bf that keeps an infinity.
func bf2(f float64) *big.Float {
	if math.IsInf(f, 0) {
		return new(big.Float).SetInf(f < 0)
	}
	return bf(f)
}

// extreme is the greater or the lesser; NaN where either is; −0 below +0.
func extreme(a, b float64, least bool) float64 {
	switch {
	case math.IsNaN(a):
		return a
	case math.IsNaN(b):
		return b
	case a == 0 && b == 0:
		if math.Signbit(a) == least {
			return a
		}
		return b
	case a < b == least:
		return a
	}
	return b
}

// power is a^b; what is special is what math.Pow says.
func power(a, b float64) float64 {
	p := math.Pow(a, b)
	if a == 0 || b == 0 || a == 1 || math.IsNaN(p) || math.IsInf(p, 0) || p == 0 || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return p
	}
	return math.Copysign(float(bigExp(mul(bf(b), bigLog(bf(math.Abs(a)))))), p)
}

func binaryComplex(fn ops.BinaryFn, a, b complex128) complex128 {
	switch fn {
	case ops.BinaryAdd:
		return a + b
	case ops.BinarySub:
		return a - b
	}
	if !finite(a) || !finite(b) || b == 0 && fn == ops.BinaryDiv {
		return complex(math.NaN(), math.NaN())
	}
	switch fn {
	case ops.BinaryMul:
		return cmul(wideOf(a), wideOf(b)).complex()
	case ops.BinaryDiv:
		return cquo(wideOf(a), wideOf(b)).complex()
	}
	switch {
	case b == 0:
		return 1
	case a == 0:
		return complex(math.NaN(), math.NaN())
	}
	return cexp(cmul(wideOf(b), clog(wideOf(a)))).complex()
}

func finite(c complex128) bool {
	return !math.IsInf(real(c), 0) && !math.IsInf(imag(c), 0) && !math.IsNaN(real(c)+imag(c))
}

func binaryInt(fn ops.BinaryFn, dt tensor.DType, x, y element) element {
	a, b := integer(dt, x), integer(dt, y)
	z, zero := new(big.Int), b.Sign() == 0
	switch fn {
	case ops.BinaryAdd:
		z.Add(a, b)
	case ops.BinarySub:
		z.Sub(a, b)
	case ops.BinaryMul:
		z.Mul(a, b)
	case ops.BinaryDiv:
		if !zero {
			z.Quo(a, b)
		}
	case ops.BinaryRem:
		if !zero {
			z.Rem(a, b)
		}
	case ops.BinaryMod:
		if !zero {
			if z.Rem(a, b); z.Sign()*b.Sign() < 0 {
				z.Add(z, b)
			}
		}
	case ops.BinaryPow:
		z = powerInt(a, b, dt)
	case ops.BinaryMax:
		if z.Set(a); b.Cmp(a) > 0 {
			z.Set(b)
		}
	case ops.BinaryMin:
		if z.Set(a); b.Cmp(a) < 0 {
			z.Set(b)
		}
	case ops.BinaryAnd:
		z.And(a, b)
	case ops.BinaryOr:
		z.Or(a, b)
	case ops.BinaryXor:
		z.Xor(a, b)
	case ops.BinaryShiftLeft:
		if inWidth(b, dt) {
			z.Lsh(a, uint(b.Int64()))
		}
	case ops.BinaryShiftRight:
		switch {
		case inWidth(b, dt):
			z.Rsh(a, uint(b.Int64()))
		case a.Sign() < 0:
			z.SetInt64(-1)
		}
	}
	return castInt(dt, z)
}

func inWidth(count *big.Int, dt tensor.DType) bool {
	return count.Sign() >= 0 && count.Cmp(big.NewInt(int64(8*dt.Size()))) < 0
}

// powerInt is a^b modulo 2^width; of a negative b the whole part of 1/a^|b|, 0 for a = 0 as a division by 0.
func powerInt(a, b *big.Int, dt tensor.DType) *big.Int {
	if b.Sign() >= 0 {
		return new(big.Int).Exp(a, b, new(big.Int).Lsh(big.NewInt(1), uint(8*dt.Size())))
	}
	switch odd := b.Bit(0) == 1; {
	case a.IsInt64() && a.Int64() == 1, a.IsInt64() && a.Int64() == -1 && !odd:
		return big.NewInt(1)
	case a.IsInt64() && a.Int64() == -1:
		return big.NewInt(-1)
	}
	return new(big.Int)
}

// refCompare: NaN equals nothing and is not ordered; −0 equals +0.
func refCompare(o ops.CompareOp, a, b array) outcome {
	out := newArray(tensor.Bool, a.Shape...)
	for i := range out.at {
		out.at[i] = fromBool(compare(o.Fn, a.DType, a.at[i], b.at[i]))
	}
	return outcome{array: out}
}

func compare(fn ops.CompareFn, dt tensor.DType, x, y element) bool {
	equal, less, greater := order(dt, x, y)
	switch fn {
	case ops.CompareEqual:
		return equal
	case ops.CompareNotEqual:
		return !equal
	case ops.CompareLess:
		return less
	case ops.CompareLessEqual:
		return less || equal
	case ops.CompareGreater:
		return greater
	case ops.CompareGreaterEqual:
		return greater || equal
	case ops.CompareAttains:
		return equal || isNaN(dt, x) && isNaN(dt, y)
	}
	return guards(dt, x, y)
}

func order(dt tensor.DType, x, y element) (equal, less, greater bool) {
	switch {
	case dt.IsComplex():
		return complexOf(dt, x) == complexOf(dt, y), false, false
	case dt.IsFloat():
		a, b := floatOf(dt, x.re), floatOf(dt, y.re)
		return a == b, a < b, a > b
	}
	c := integer(dt, x).Cmp(integer(dt, y))
	return c == 0, c < 0, c > 0
}
