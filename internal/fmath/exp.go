package fmath

import "math"

// expCoef is (eʳ − 1 − r − r²/2) / r³ on |r| ≤ ln 2 / 2; truncation 2⁻⁶¹ of eʳ.
var expCoef = [...]float64{
	2.0911274821900127e-09, 2.510043897623718e-08, 2.7557282889212767e-07, 2.7557268347499137e-06,
	2.480158731719623e-05, 0.0001984126986312606, 0.0013888888888886543, 0.008333333333330048,
	0.041666666666666664, 0.16666666666666669,
}

// expm1Kernel is eʳ − 1 for |r| ≤ 0.3468, to about 2⁻⁵⁶ of r. The polynomial is split into even and odd
// halves, which shortens its chain of dependent operations, and that chain is what bounds Exp.
func expm1Kernel(r pair) pair {
	c := &expCoef
	x := r.hi
	z := float64(x * x)
	even := float64(c[1]*z) + c[3]
	odd := float64(c[0]*z) + c[2]
	even = float64(even*z) + c[5]
	odd = float64(odd*z) + c[4]
	even = float64(even*z) + c[7]
	odd = float64(odd*z) + c[6]
	even = float64(even*z) + c[9]
	odd = float64(odd*z) + c[8]
	q := even + float64(odd*x)
	p := float64(0.5*z) + float64(float64(z*x)*q)
	return fastSum(x, p+(r.lo+float64(r.lo*x)))
}

// expReduce writes x = k ln 2 + r with |r| ≤ 0.3468, for |x| < 2000 (Cody and Waite: k × ln2Hi is exact).
func expReduce(x pair) (r pair, k int) {
	n := float64(x.hi*log2E) + shift - shift
	r = twoSum(x.hi-float64(n*ln2Hi), float64(-n*ln2Lo))
	return twoSum(r.hi, r.lo+x.lo), int(n)
}

// expPair writes e^x = 2ᵏ × e with e in [0.7, 1.42], for |x| < 2000.
func expPair(x pair) (e pair, k int) {
	r, k := expReduce(x)
	m := expm1Kernel(r)
	e = fastSum(1, m.hi)
	return fastSum(e.hi, e.lo+m.lo), k
}

// expm1Pair is e^x − 1 for |x| ≤ 50.
func expm1Pair(x pair) pair {
	r, k := expReduce(x)
	m := expm1Kernel(r)
	if k == 0 {
		return m
	}
	return pairOne.add(m).scale(exp2Int(k)).plus(-1)
}

// Exp is e^x, within 0.6 ULP (0.75 where the result is subnormal).
// Exp(+Inf) = +Inf, Exp(-Inf) = 0, Exp(NaN) = NaN.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return nan
	case x > 709.79:
		return inf
	case x < -745.14:
		return 0
	}
	e, k := expPair(pair{hi: x})
	return ldexp(e.hi, k)
}

// Expm1 is e^x − 1 without the cancellation near 0, within 0.8 ULP.
// Expm1(±0) = ±0, Expm1(+Inf) = +Inf, Expm1(-Inf) = -1, Expm1(NaN) = NaN.
func Expm1(x float64) float64 {
	switch {
	case x != x:
		return nan
	case math.Abs(x) < 0x1p-54:
		return x
	case x > 50:
		return Exp(x)
	case x < -50:
		return -1
	}
	return expm1Pair(pair{hi: x}).value()
}

// Exp2 is 2^x, within 0.6 ULP, and exact where x is an integer.
// Exp2(+Inf) = +Inf, Exp2(-Inf) = 0, Exp2(NaN) = NaN.
func Exp2(x float64) float64 {
	switch {
	case x != x:
		return nan
	case x >= 1024:
		return inf
	case x < -1075:
		return 0
	}
	n := x + shift - shift
	f := x - n
	m := expm1Kernel(pairLn2.times(f))
	e := fastSum(1, m.hi)
	return ldexp(e.hi+(e.lo+m.lo), int(n))
}

// Sigmoid is 1 / (1 + e^−x) for x ≥ 0 and e^x / (1 + e^x) below, so that neither side overflows or
// cancels; within 0.6 ULP.
// Sigmoid(+Inf) = 1, Sigmoid(-Inf) = 0, Sigmoid(NaN) = NaN.
func Sigmoid(x float64) float64 {
	switch {
	case x != x:
		return nan
	case x > 40:
		return 1
	case x < -40:
		return Exp(x) // e^x differs from 1 + e^x over 1 by less than 2⁻⁵⁷
	}
	e, k := expPair(pair{hi: -math.Abs(x)})
	e = e.scale(exp2Int(k))
	den := fastSum(1, e.hi)
	den.lo += e.lo
	if x < 0 {
		return e.div(den).value()
	}
	return pairOne.div(den).value()
}

// Softplus is log(1 + e^x) = max(x, 0) + log1p(e^−|x|), within 0.6 ULP.
// Softplus(+Inf) = +Inf, Softplus(-Inf) = 0, Softplus(NaN) = NaN.
func Softplus(x float64) float64 {
	switch {
	case x != x:
		return nan
	case x > 40:
		return x + Exp(-x)
	case x < -40:
		return Exp(x)
	}
	e, k := expPair(pair{hi: -math.Abs(x)})
	l := log1pPair(e.scale(exp2Int(k)))
	return l.plus(max(x, 0)).value()
}
