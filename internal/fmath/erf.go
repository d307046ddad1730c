package fmath

import "math"

var (
	// erfCoef is erf x / x − 1 in x² on |x| ≤ 0.85; truncation 2⁻⁶².
	erfCoef = [...]float64{
		-8.836806926696765e-10, 1.4189432307826212e-08, -1.630047114161474e-07, 1.6457674204604608e-06,
		-1.4925449960083416e-05, 0.00012055326927271165, -0.0008548326902774533, 0.005223977623915162,
		-0.026866170645017125, 0.11283791670954685, -0.3761263890318375, 0.1283791670955126,
	}

	// erfcNearA, B and C are e^(x²) erfc x about the middle of [½, 1], [1, 2] and [2, 4]; truncation 2⁻⁵⁷.
	erfcNearA = series{mid: 0.75, low: -5.124684192006287e-17, coef: []float64{
		-1.440376961255891e-05, 4.337915907561481e-05, -0.00012332717214560827, 0.00034666379283020214,
		-0.000938513222881505, 0.002437641069942269, -0.006051532271776434, 0.01428919858470859,
		-0.031897262039946896, 0.06679054252841538, -0.12983606199488007, 0.23095813155129497,
		-0.3679726916557954, 0.5069376502931449,
	}}
	erfcNearB = series{mid: 1.5, low: 1.7007985607722196e-17, coef: []float64{
		1.3242541506849586e-08, -4.9545807838901603e-08, 1.6714292901928126e-07, -5.944961119917664e-07,
		2.0670657912156654e-06, -6.97536222785843e-06, 2.2864299608127746e-05, -7.265887301589559e-05,
		0.0002233099453004411, -0.0006619300701084315, 0.0018861348769919975, -0.0051459575478377826,
		0.013377340953067394, -0.03293090529956527, 0.0761510398554774, -0.16362291773256005,
		0.3215854164543175,
	}}
	erfcNearC = series{mid: 3, low: -5.4272175920200274e-18, coef: []float64{
		1.6482525468969957e-12, -8.134236373235494e-12, 3.1724792006762475e-11, -1.5077563830210874e-10,
		7.20516363335066e-10, -3.316229237177357e-09, 1.4977253627698686e-08, -6.64646639786765e-08,
		2.8926684651166363e-07, -1.2333685934914701e-06, 5.146436522511331e-06, -2.0989464259545496e-05,
		8.355413963369297e-05, -0.00032412554452200884, 0.0012230390523765237, -0.004479431018371144,
		0.01588437115987134, -0.05437226000717289, 0.17900115118138996,
	}}

	// erfcFar is x e^(x²) erfc x in 1/x² on [4, 28]; truncation 2⁻⁵⁹.
	erfcFar = series{mid: 0, low: -2.2698383788230876e-17, coef: []float64{
		64495367.90732313, -37159562.3427182, 10350017.215469595, -1909001.491907861, 274194.4373795177,
		-34841.04395242786, 4380.378772656427, -593.8237640386935, 91.60883094717249, -16.66091671636995,
		3.702491817407898, -1.0578554576877661, 0.4231421876269841, -0.2820947917738263, 0.5641895835477563,
	}}

	// erfinvCoefA is erfinv x / x in x² on |x| ≤ ¾; error 2⁻²⁴.
	erfinvCoefA = [...]float64{
		0.5820866510610629, -0.8317266095224253, 0.6449067326245235, -0.17294757697411098,
		0.11218092713336046, 0.08112208790215628, 0.12786316580437612, 0.23200708297460454, 0.886226948389791,
	}

	// erfinvCoefB is erfinv x in √(−log(1−x)) − 3.5 on [¾, 1); error 2⁻²⁵.
	erfinvCoefB = [...]float64{
		-5.530605704139581e-09, 3.6631007354411434e-08, -6.0643135804114e-08, 3.346502369818275e-08,
		-6.428263784032944e-07, 3.2701442719563472e-06, -8.862632817502881e-06, 2.3170416029949443e-05,
		-5.8026353493821186e-05, 7.028410588015121e-05, 0.0004393948318519638, -0.004989521741793159,
		1.036492279454943, 3.2343027593446485,
	}
)

// erfSmall is erf x − x for |x| ≤ 0.85.
func erfSmall(x float64) float64 {
	return float64(x * horner(float64(x*x), erfCoef[:]))
}

// erfcScaled is erfc x = 2ᵏ × c for ½ ≤ x ≤ 28: the smooth e^(x²) erfc x, times e^(−x²) with x² exact.
func erfcScaled(x float64) (c float64, k int) {
	var p pair
	switch {
	case x < 1:
		p = erfcNearA.at(x)
	case x < 2:
		p = erfcNearB.at(x)
	case x < 4:
		p = erfcNearC.at(x)
	default:
		p = erfcFar.at(1 / float64(x*x)).div(pair{hi: x})
	}
	e, k := expPair(twoProd(x, x).neg())
	return e.mul(p).hi, k
}

// Erf is 2/√π ∫₀ˣ e^(−t²) dt, within 0.9 ULP.
// Erf(±0) = ±0, Erf(±Inf) = ±1, Erf(NaN) = NaN.
func Erf(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan
	case a <= 0.85:
		return x + erfSmall(x)
	case a > 6:
		return math.Copysign(1, x)
	}
	return math.Copysign(1-ldexp(erfcScaled(a)), x)
}

// Erfc is 1 − erf x without the cancellation for large x, within 0.85 ULP (2 where it is subnormal).
// Erfc(+Inf) = 0, Erfc(-Inf) = 2, Erfc(NaN) = NaN.
func Erfc(x float64) float64 {
	switch {
	case x != x:
		return nan
	case x > 28:
		return 0
	case x >= 0.5:
		return ldexp(erfcScaled(x))
	case x >= -0.85:
		s := twoSum(1, -x)
		return s.hi + (s.lo - erfSmall(x))
	case x < -6:
		return 2
	}
	return 2 - ldexp(erfcScaled(-x))
}

// Erfinv is the x with erf x = y, within 1 ULP: a polynomial to 24 bits, then one step of Halley's method
// on erf near the middle, and on erfc, where 1 − |y| is exact, near the ends.
// Erfinv(±0) = ±0, Erfinv(±1) = ±Inf, Erfinv(y) = NaN for |y| > 1 and NaN.
func Erfinv(y float64) float64 {
	a := math.Abs(y)
	var x, residual float64
	switch {
	case !(a <= 1):
		return nan
	case a == 1:
		return math.Copysign(inf, y)
	case a < 0x1p-1000:
		return float64(y * halfRootPi) // and x² would underflow below
	case a <= 0.75:
		x = float64(a * horner(float64(a*a), erfinvCoefA[:]))
		s := twoSum(x, -a)
		residual = s.hi + (s.lo + erfSmall(x))
	default:
		x = horner(math.Sqrt(-Log(1-a))-3.5, erfinvCoefB[:])
		residual = (1 - a) - ldexp(erfcScaled(x))
	}
	u := float64(float64(residual*halfRootPi) * Exp(float64(x*x)))
	return math.Copysign(x-u/(1+float64(x*u)), y)
}

const halfRootPi = 0x1.c5bf891b4ef6bp-1 // √π / 2
