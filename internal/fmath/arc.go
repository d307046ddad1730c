package fmath

import "math"

var (
	// asinCoef is (asin x / x − 1) / x² in x² on |x| ≤ ½; truncation 2⁻⁵⁸.
	asinCoef = [...]float64{
		0.028757851367421566, -0.014851887071247204, 0.01740087944269402, 0.005457506718640358,
		0.01032281435018578, 0.011479177415184906, 0.013971212973552933, 0.017352392720869973,
		0.02237217294214989, 0.030381944138531247, 0.04464285714635543, 0.07499999999998433,
		0.16666666666666669,
	}
	// atanCoef is (atan x / x − 1) / x² in x² on |x| ≤ 7/16; truncation 2⁻⁶⁰.
	atanCoef = [...]float64{
		0.014759380407779155, -0.033114228762660534, 0.044916556747777434, -0.05216532007308444,
		0.05876924062763387, -0.06666239748865294, 0.07692285419714515, -0.09090908350382436,
		0.111111110965279, -0.14285714285565465, 0.19999999999999404, -0.3333333333333333,
	}
)

// atanSteps are the slopes about which atanRatio turns an argument, each used below its limit.
// The limits are those of FreeBSD's s_atan: they keep what is left within 7/16.
var atanSteps = [...]struct {
	limit, slope float64
	angle        pair
}{
	{7. / 16, 0, pair{}},
	{11. / 16, 0.5, pair{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56}},
	{19. / 16, 1, pair{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}},
	{39. / 16, 1.5, pair{0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56}},
}

// asinKernel is asin x for 0 ≤ x ≤ ½.
func asinKernel(x pair, square float64) pair {
	p := float64(float64(x.hi*square) * horner(square, asinCoef[:]))
	return fastSum(x.hi, x.lo+p)
}

// asinFar is 2 asin √((1−a)/2) = acos a for ½ ≤ a ≤ 1; 1 − a is exact there.
func asinFar(a float64) pair {
	z := float64(0.5 * (1 - a))
	return asinKernel(pair{hi: z}.sqrt(), z).scale(2)
}

// Asin is the arc sine in [−π/2, π/2], within 0.6 ULP.
// Asin(±0) = ±0, Asin(x) = NaN for |x| > 1 and NaN.
func Asin(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a <= 1):
		return nan
	case a < 0x1p-27:
		return x
	case a <= 0.5:
		return asinKernel(pair{hi: x}, float64(x*x)).hi
	}
	return math.Copysign(pairHalfPi.add(asinFar(a).neg()).hi, x)
}

// Acos is the arc cosine in [0, π], within 0.6 ULP.
// Acos(1) = 0, Acos(x) = NaN for |x| > 1 and NaN.
func Acos(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a <= 1):
		return nan
	case a <= 0.5:
		return pairHalfPi.add(asinKernel(pair{hi: x}, float64(x*x)).neg()).hi
	case x > 0:
		return asinFar(a).hi
	}
	return pairPi.add(asinFar(a).neg()).hi
}

// atanRatio is atan(y/x) for y, x > 0 whose exponents differ by less than 64 and lie within ±500.
// atan(y/x) = angle + atan((y − slope x) / (x + slope y)) where slope = tan angle; above the last limit
// it is π/2 − atan(x/y).
func atanRatio(y, x float64) pair {
	ratio := y / x
	num, den, angle := pair{hi: -x}, pair{hi: y}, pairHalfPi
	for i := range atanSteps {
		s := &atanSteps[i]
		if ratio < s.limit {
			num = twoProd(-s.slope, x).plus(y)
			den = twoProd(s.slope, y).plus(x)
			angle = s.angle
			break
		}
	}
	t := num.div(den)
	z := float64(t.hi * t.hi)
	p := float64(float64(t.hi*z) * horner(z, atanCoef[:]))
	return angle.add(fastSum(t.hi, t.lo+p))
}

// Atan is the arc tangent in [−π/2, π/2], within 0.6 ULP.
// Atan(±0) = ±0, Atan(±Inf) = ±π/2, Atan(NaN) = NaN.
func Atan(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan
	case a < 0x1p-27:
		return x
	case a > 0x1p60:
		return math.Copysign(pairHalfPi.hi, x)
	}
	return math.Copysign(atanRatio(a, 1).hi, x)
}

// atan2Pair is the angle of the point (x, y) for finite non-zero x, y.
func atan2Pair(y, x float64) pair {
	ay, ey := math.Frexp(math.Abs(y))
	ax, ex := math.Frexp(math.Abs(x))
	var a pair
	switch d := ey - ex; {
	case d > 62:
		a = pairHalfPi
	case d > -62:
		a = atanRatio(ldexp(ay, d), ax)
	case x > 0:
		a.hi = ldexp(ay/ax, d) // atan t = t − t³/3…, and t² is below 2⁻¹²⁰
	}
	if x < 0 {
		a = pairPi.add(a.neg())
	}
	if y < 0 {
		return a.neg()
	}
	return a
}

// Atan2 is the angle of the point (x, y) in [−π, π], within 0.6 ULP (0.75 where it is subnormal).
// The signs of zeros count: Atan2(±0, x ≥ +0) = ±0, Atan2(±0, x ≤ -0) = ±π, Atan2(y ≠ 0, ±0) = ±π/2;
// Atan2(±Inf, +Inf) = ±π/4, Atan2(±Inf, -Inf) = ±3π/4, and a NaN gives NaN.
func Atan2(y, x float64) float64 {
	if x != x || y != y {
		return nan
	}
	left := math.Signbit(x)
	var a float64
	switch yInf, xInf := math.IsInf(y, 0), math.IsInf(x, 0); {
	case yInf && xInf && left:
		a = 0x1.2d97c7f3321d2p+1 // 3π/4
	case yInf && xInf:
		a = 0x1.921fb54442d18p-1 // π/4
	case y == 0 || xInf:
		if left {
			a = pairPi.hi
		}
	case x == 0 || yInf:
		a = pairHalfPi.hi
	default:
		return atan2Pair(y, x).hi
	}
	return math.Copysign(a, y)
}
