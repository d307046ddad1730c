package fmath

import "math"

// expTimes is e^a × s for finite s, which may be finite where e^a is not.
func expTimes(a, s pair) float64 {
	switch {
	case a.hi < -1900:
		return math.Copysign(0, s.hi)
	case a.hi > 1900:
		return math.Copysign(inf, s.hi)
	}
	e, k := expPair(a)
	_, n := math.Frexp(s.hi)
	return ldexp(e.mul(pair{ldexp(s.hi, -n), ldexp(s.lo, -n)}).hi, k+n)
}

// polar is e^a (cos b + i sin b) for finite b; an imaginary part of exactly zero keeps its sign.
func polar(a, b pair) complex128 {
	if b.hi == 0 {
		return complex(expTimes(a, pairOne), b.hi)
	}
	r, q := reducePair(b)
	return complex(expTimes(a, sinQuarter(r, q+1)), expTimes(a, sinQuarter(r, q)))
}

// logModulus is log √(x² + y²) for finite x, y, not both zero. x² + y² is kept to 106 bits, so nothing
// is lost where the modulus is near 1.
func logModulus(x, y float64) pair {
	a, b := math.Abs(x), math.Abs(y)
	if a < b {
		a, b = b, a
	}
	e := 0
	if a > 0x1p400 || a < 0x1p-400 {
		_, e = math.Frexp(a)
		a, b = ldexp(a, -e), ldexp(b, -e)
	}
	p, q := twoProd(a, a), twoProd(b, b)
	sum := p.add(q)
	if e == 0 && sum.hi > 0.75 && sum.hi < 1.4 {
		// log1p of the sum less 1, where the larger terms cancel first and without error.
		d := twoSum(p.hi-1, q.hi).add(twoSum(p.lo, q.lo))
		return log1pPair(d).scale(0.5)
	}
	return logPair(sum, 2*e).scale(0.5)
}

func isNaN(z complex128) bool { return real(z) != real(z) || imag(z) != imag(z) }

// CExp is e^z = e^x (cos y + i sin y); each part within 0.8 ULP.
// CExp(x ± 0i) = e^x ± 0i; CExp(-Inf + yi) = 0 with the signs of cos y, sin y; CExp(+Inf + yi) = Inf with
// those signs for finite y ≠ 0, and Inf + NaN i for other y; a NaN or infinite y otherwise gives NaN + NaN i.
func CExp(z complex128) complex128 {
	x, y := real(z), imag(z)
	switch {
	case y == 0:
		return complex(Exp(x), y)
	case math.IsInf(x, -1) && y-y != 0:
		return 0
	case math.IsInf(x, 1) && y-y != 0:
		return complex(inf, nan)
	case x != x || y-y != 0:
		return complex(nan, nan)
	}
	return polar(pair{hi: max(-2000, min(x, 2000))}, pair{hi: y})
}

// CLog is log |z| + i arg z, with −π ≤ arg z ≤ π and the sign of a zero imaginary part kept; each part
// within 0.7 ULP, near |z| = 1 as well.
// CLog(±0 ± 0i) = -Inf with arg of the signs; an infinite part gives +Inf; a NaN otherwise NaN.
func CLog(z complex128) complex128 {
	x, y := real(z), imag(z)
	arg := Atan2(y, x)
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return complex(inf, arg)
	case isNaN(z):
		return complex(nan, nan)
	case z == 0:
		return complex(-inf, arg)
	}
	return complex(logModulus(x, y).value(), arg)
}

// CSqrt is the root in the right half plane, √((|z|+|x|)/2) for one part and y over twice that for the
// other; each part within 1.8 ULP (1 more where it is subnormal). The sign of a zero y is kept.
// CSqrt(x ± Inf i) = +Inf ± Inf i for any x, CSqrt(-Inf + yi) = 0 ± Inf i, CSqrt(+Inf + yi) = +Inf ± 0i;
// a NaN otherwise gives NaN + NaN i.
func CSqrt(z complex128) complex128 {
	x, y := real(z), imag(z)
	switch {
	case math.IsInf(y, 0):
		return complex(inf, y)
	case math.IsInf(x, 1):
		return complex(inf, zeroOrNaN(y))
	case math.IsInf(x, -1):
		return complex(math.Abs(zeroOrNaN(y)), math.Copysign(inf, quiet(y)))
	case isNaN(z):
		return complex(nan, nan)
	case z == 0:
		return complex(0, y)
	}
	_, e := math.Frexp(max(math.Abs(x), math.Abs(y)))
	e &^= 1
	x, y = ldexp(x, -e), ldexp(y, -e)
	s := math.Sqrt(float64(0.5 * (Hypot(x, y) + math.Abs(x))))
	t := ldexp(math.Abs(y)/float64(2*s), e/2)
	s = ldexp(s, e/2)
	if x < 0 {
		s, t = t, s
	}
	return complex(s, math.Copysign(t, imag(z)))
}

// zeroOrNaN is a zero with the sign of y, or NaN if y is.
func zeroOrNaN(y float64) float64 {
	if y != y {
		return nan
	}
	return math.Copysign(0, y)
}

// quiet makes any NaN the one that this package returns.
func quiet(x float64) float64 {
	if x != x {
		return nan
	}
	return x
}

// CPow is z^w = e^(w log z), the exponent carried as pairs, of which the angle of z is good to 2⁻⁵⁶: for
// |w| < 6 each part is within 1 ULP of the modulus, which near an axis is many of the smaller part, and
// for larger w the error grows in proportion.
// CPow(z, 0) = 1. For z = 0: 0 where real w > 0, and where real w < 0 Inf + 0i for a real w and
// Inf + Inf i otherwise, as math/cmplx has it; NaN where real w = 0. An infinite or NaN part gives NaN.
func CPow(z, w complex128) complex128 {
	switch {
	case w == 0:
		return 1
	case isNaN(z) || isNaN(w):
		return complex(nan, nan)
	case z == 0:
		switch {
		case real(w) > 0:
			return 0
		case real(w) < 0 && imag(w) == 0:
			return complex(inf, 0)
		case real(w) < 0:
			return complex(inf, inf)
		}
		return complex(nan, nan)
	}
	x, y, c, d := real(z), imag(z), real(w), imag(w)
	if x-x != 0 || y-y != 0 || c-c != 0 || d-d != 0 {
		return complex(nan, nan)
	}
	l := logModulus(x, y)
	var arg pair
	switch {
	case y == 0 && x < 0:
		arg = pairPi
		if math.Signbit(y) {
			arg = arg.neg()
		}
	case x == 0:
		arg = pair{math.Copysign(pairHalfPi.hi, y), math.Copysign(pairHalfPi.lo, y)}
	case y != 0:
		arg = atan2Pair(y, x)
	}
	if math.Abs(c) > 0x1p900 || math.Abs(d) > 0x1p900 {
		return complex(nan, nan)
	}
	a := l.times(c).add(arg.times(-d))
	b := l.times(d).add(arg.times(c))
	return polar(a, b)
}

// sinhCosh is s × sinh y and c × cosh y, finite wherever the products are.
func sinhCosh(y float64, s, c pair) (sinh, cosh float64) {
	a := math.Abs(y)
	switch {
	case a < 0x1p-28:
		return s.times(y).hi, c.hi
	case a <= 40:
		return sinhPair(y).mul(s).hi, coshPair(y).mul(c).hi
	}
	if y < 0 {
		s = s.neg()
	}
	e := pair{hi: min(a, 2000)}
	return expTimes(e, s.scale(0.5)), expTimes(e, c.scale(0.5))
}

// CSin is sin x cosh y + i cos x sinh y; each part within 1 ULP.
// Zeros keep their signs; an infinite or NaN x gives NaN, except that CSin(x + 0i) has a zero imaginary part.
func CSin(z complex128) complex128 {
	x, y := real(z), imag(z)
	switch {
	case y == 0:
		return complex(Sin(x), y)
	case x == 0:
		return complex(x, Sinh(y))
	case x-x != 0 || y != y:
		return complex(nan, nan)
	}
	r, q := reduce(x)
	im, re := sinhCosh(y, sinQuarter(r, q+1), sinQuarter(r, q))
	return complex(re, im)
}

// CCos is cos x cosh y − i sin x sinh y; each part within 1 ULP. Special cases as CSin.
func CCos(z complex128) complex128 {
	x, y := real(z), imag(z)
	switch {
	case y == 0:
		return complex(Cos(x), -float64(math.Copysign(1, Sin(x))*y))
	case x == 0:
		return complex(Cosh(y), -float64(math.Copysign(1, y)*x))
	case x-x != 0 || y != y:
		return complex(nan, nan)
	}
	r, q := reduce(x)
	im, re := sinhCosh(y, sinQuarter(r, q).neg(), sinQuarter(r, q+1))
	return complex(re, im)
}

// CTanh is (β ρ s + i t) / (1 + β s²) with t = tan y, β = 1 + t², s = sinh x, ρ = √(1 + s²)
// (Kahan, "Branch Cuts for Complex Elementary Functions", 1987); each part within 4 ULP.
// CTanh(±Inf + yi) = ±1 ± 0i; a NaN or an infinite y otherwise gives NaN, except that a zero part of z
// stays zero.
func CTanh(z complex128) complex128 {
	x, y := real(z), imag(z)
	switch {
	case math.IsInf(x, 0):
		return complex(math.Copysign(1, x), math.Copysign(0, quiet(y)))
	case y == 0:
		return complex(Tanh(x), y)
	case x == 0 && y-y == 0:
		return complex(x, Tan(y))
	case x != x || y-y != 0:
		return complex(nan, nan)
	case math.Abs(x) > 22:
		// tanh z = ±(1 + 2 e^(−2|x|) …); the imaginary part is 4 sin y cos y e^(−2|x|).
		sc := float64(4 * float64(Sin(y)*Cos(y)))
		return complex(math.Copysign(1, x), expTimes(pair{hi: float64(-2 * min(math.Abs(x), 1000))}, pair{hi: sc}))
	}
	t, s := Tan(y), Sinh(x)
	beta := 1 + float64(t*t)
	rho := math.Sqrt(1 + float64(s*s))
	den := 1 + float64(beta*float64(s*s))
	return complex(float64(float64(beta*rho)*s)/den, t/den)
}
