package fmath

import "math"

// oddInteger reports whether y is an odd integer.
func oddInteger(y float64) bool {
	a := math.Abs(y)
	return a < 0x1p53 && a == math.Floor(a) && int64(a)&1 == 1
}

// Pow is x^y = e^(y log x), with log x to 2⁻⁶⁴ and the product as a pair: within 0.65 ULP
// (0.8 where the result is subnormal), and exact wherever x^y is a float64 below 2⁵³.
//
//	Pow(x, ±0) = 1 and Pow(1, y) = 1 for any operand, NaN included; other NaNs give NaN
//	Pow(±0, y) = ±Inf for odd integers y < 0, +Inf for the other y < 0
//	Pow(±0, y) = ±0 for odd integers y > 0, +0 for the other y > 0
//	Pow(-1, ±Inf) = 1
//	Pow(x, +Inf) = +Inf for |x| > 1 and +0 for |x| < 1; Pow(x, -Inf) the other way round
//	Pow(+Inf, y) = +Inf for y > 0 and +0 for y < 0; Pow(-Inf, y) = Pow(-0, -y)
//	Pow(x, y) = NaN for finite x < 0 and finite y that is no integer
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return nan
	}
	a := math.Abs(x)
	negative := math.Signbit(x) && oddInteger(y)
	var r float64
	switch {
	case a == 1 && math.IsInf(y, 0):
		return 1
	case a == 0 || math.IsInf(a, 0) || math.IsInf(y, 0):
		if (a > 1) == (y > 0) {
			r = inf
		}
	case x < 0 && y != math.Floor(y):
		return nan
	default:
		r = powFinite(a, y)
	}
	if negative {
		return -r
	}
	return r
}

// powFinite is x^y for finite x > 0 and finite y.
func powFinite(x, y float64) float64 {
	if x == 1 {
		return 1 // y may be too large for a pair product
	}
	l := logPair(pair{hi: x}, 0)
	switch p := float64(y * l.hi); {
	case p > 710:
		return inf
	case p < -746:
		return 0
	}
	e, k := expPair(l.times(y))
	return ldexp(e.hi, k)
}

// cbrtCoef is ∛m on [1, 8]; error 2⁻⁶·³.
var cbrtCoef = [...]float64{
	0.0016274953380330931, -0.03402605365290486, 0.3288364544631474, 0.7167346418604423,
}

// Cbrt is ∛x, within 0.67 ULP: a polynomial to 6 bits, two steps of Halley's method, and a third one from
// the root cut to 26 bits, whose square is exact.
// Cbrt(±0) = ±0, Cbrt(±Inf) = ±Inf, Cbrt(NaN) = NaN.
func Cbrt(x float64) float64 {
	switch {
	case x != x:
		return nan
	case x == 0 || math.IsInf(x, 0):
		return x
	}
	m, k := math.Frexp(math.Abs(x)) // m in [½, 1)
	k--
	third := (k + 3*400) / 3 // k ≥ −1075, so the quotient is rounded down
	m = float64(m * exp2Int(k+3*400-3*third+1))
	t := horner(m, cbrtCoef[:])
	for range 2 {
		cube := float64(float64(t*t) * t)
		t -= float64(t*(cube-m)) / (float64(2*cube) + m)
	}
	t, _ = split(t)
	r := m / float64(t*t)
	t += float64(t*(r-t)) / (float64(2*t) + r)
	return math.Copysign(float64(t*exp2Int(third-400)), x)
}

// Hypot is √(x² + y²) without overflow or underflow on the way, within 0.51 ULP.
// Hypot(±Inf, y) = Hypot(x, ±Inf) = +Inf, NaN included; other NaNs give NaN.
func Hypot(x, y float64) float64 {
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return inf
	case x != x || y != y:
		return nan
	}
	a, b := math.Abs(x), math.Abs(y)
	if a < b {
		a, b = b, a
	}
	if b == 0 {
		return a
	}
	_, e := math.Frexp(a)
	a, b = ldexp(a, -e), ldexp(b, -e)
	if b < 0x1p-60 {
		return ldexp(a+b, e) // √(a²+b²) − a is far below an ULP; adding b only breaks no tie
	}
	return ldexp(twoProd(a, a).add(twoProd(b, b)).sqrt().hi, e)
}
