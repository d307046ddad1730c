package fmath

import "math"

// halfExp is e^x / 2 for x ≥ 0, which is finite a little beyond the overflow of e^x.
func halfExp(x float64) float64 {
	if x > 711 {
		return inf
	}
	e, k := expPair(pair{hi: x})
	return ldexp(e.hi, k-1)
}

// sinhPair is sinh x for |x| ≤ 40: with t = e^x − 1, (t + t/(1+t)) / 2.
func sinhPair(x float64) pair {
	t := expm1Pair(pair{hi: x})
	return t.add(t.div(pairOne.add(t))).scale(0.5)
}

// coshPair is cosh x for |x| ≤ 40: (e + 1/e) / 2.
func coshPair(x float64) pair {
	e := pairOne.add(expm1Pair(pair{hi: math.Abs(x)}))
	return e.add(pairOne.div(e)).scale(0.5)
}

// Sinh is (e^x − e^−x) / 2, within 0.75 ULP.
// Sinh(±0) = ±0, Sinh(±Inf) = ±Inf, Sinh(NaN) = NaN.
func Sinh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan
	case a < 0x1p-28:
		return x
	case a > 40:
		return math.Copysign(halfExp(a), x)
	}
	return math.Copysign(sinhPair(a).value(), x)
}

// Cosh is (e^x + e^−x) / 2, within 0.6 ULP.
// Cosh(±0) = 1, Cosh(±Inf) = +Inf, Cosh(NaN) = NaN.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan
	case a > 40:
		return halfExp(a)
	}
	return coshPair(a).value()
}

// Tanh is sinh x / cosh x = t / (t + 2) with t = e^2x − 1, within 0.65 ULP.
// Tanh(±0) = ±0, Tanh(±Inf) = ±1, Tanh(NaN) = NaN.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan
	case a < 0x1p-28:
		return x
	case a > 22:
		return math.Copysign(1, x)
	}
	t := expm1Pair(pair{hi: float64(2 * a)})
	return math.Copysign(t.div(t.plus(2)).value(), x)
}

// Asinh is log(x + √(x² + 1)) = log1p(x + x² / (1 + √(1 + x²))), within 0.51 ULP.
// Asinh(±0) = ±0, Asinh(±Inf) = ±Inf, Asinh(NaN) = NaN.
func Asinh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan
	case a < 0x1p-28 || a > math.MaxFloat64:
		return x
	case a > 0x1p28:
		return math.Copysign(logPair(pair{hi: a}, 1).value(), x)
	}
	square := twoProd(a, a)
	den := square.plus(1).sqrt().plus(1)
	return math.Copysign(log1pPair(square.div(den).plus(a)).value(), x)
}

// Acosh is log(x + √(x² − 1)) = log1p(t + √(2t + t²)) with t = x − 1, within 0.51 ULP.
// Acosh(1) = 0, Acosh(+Inf) = +Inf, Acosh(x < 1) = NaN, Acosh(NaN) = NaN.
func Acosh(x float64) float64 {
	switch {
	case !(x >= 1):
		return nan
	case x > math.MaxFloat64:
		return inf
	case x > 0x1p28:
		return logPair(pair{hi: x}, 1).value()
	}
	t := twoSum(x, -1)
	root := t.mul(t.plus(2)).sqrt()
	return log1pPair(t.add(root)).value()
}

// Atanh is log((1+x) / (1−x)) / 2, within 0.51 ULP.
// Atanh(±0) = ±0, Atanh(±1) = ±Inf, Atanh(x) = NaN for |x| > 1 and NaN.
func Atanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a <= 1):
		return nan
	case a < 0x1p-28:
		return x
	case a == 1:
		return math.Copysign(inf, x)
	case a < 0.17:
		return twoAtanh(pair{hi: x}).scale(0.5).value()
	}
	f := pair{hi: float64(2 * a)}.div(twoSum(1, -a))
	return math.Copysign(log1pPair(f).scale(0.5).value(), x)
}
