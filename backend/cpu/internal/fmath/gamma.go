package fmath

import "math"

var (
	// lgammaNearA … D are log Γ(x) / ((x−1)(x−2)), which has no zero, about the middle of [0.6, 1],
	// [1, 1.5], [1.5, 2] and [2, 3]; truncation 2⁻⁵⁷.
	lgammaNearA = series{mid: 0.8, low: -2.5217219067619302e-17, coef: []float64{
		-1.5794241335543378, 1.334851328205673, -0.8474714652436317, 0.7227681495535752, -0.6404210327373755,
		0.5509655398201323, -0.4758469446775087, 0.41448905220660065, -0.36393628500951897,
		0.32261323620303345, -0.2894110322703904, 0.26362636070742324, -0.2451156179428976,
		0.23467336043791778, -0.23512009909255177, 0.2549640910378246, -0.32497406683507996,
		0.6335819933326566,
	}}
	lgammaNearB = series{mid: 1.25, low: -4.033604401731735e-17, coef: []float64{
		0.0009196654642302735, -0.0012166344629023404, 0.0013707490482406425, -0.00182908008305119,
		0.002478654300849903, -0.003339829864567926, 0.004526851789362695, -0.006183930152685169,
		0.008525117919379873, -0.011888238827465274, 0.01682767907679148, -0.024308805034753914,
		0.03615879797542416, -0.056273407273818285, 0.09456573803301091, -0.18455838443681608,
		0.5241164609163369,
	}}
	lgammaNearC = series{mid: 1.75, low: 1.4097142567474574e-17, coef: []float64{
		1.2807015979945507e-05, -2.3854570612650696e-05, 4.162338844905075e-05, -7.831227457341395e-05,
		0.00014852078889159766, -0.00028319780379355776, 0.0005448968809194371, -0.001060565891133046,
		0.0020955338816347592, -0.004226194128338483, 0.00877637042524237, -0.019053957830233514,
		0.0445204471985097, -0.11948158662524276, 0.4501393121092563,
	}}
	lgammaNearD = series{mid: 2.5, low: 2.7592977120495525e-17, coef: []float64{
		1.2848137769988069e-08, -3.385821013938236e-08, 7.585695078040205e-08, -2.015090104183497e-07,
		5.436082854534496e-07, -1.4575541733757617e-06, 3.9305860909127655e-06, -1.0682259123883373e-05,
		2.929928312004998e-05, -8.130229408034726e-05, 0.00022905363747507287, -0.0006586397065650056,
		0.0019490574889463365, -0.006018768527036914, 0.019905154304743208, -0.07466357415449941,
		0.37957716063055885,
	}}
	// lgammaSeries is B₂ₙ / (2n (2n−1)), Stirling's series for log Γ in 1/x².
	lgammaSeries = [...]float64{
		0.17964437236883057, -0.029550653594771242, 0.00641025641025641, -0.0019175269175269176,
		0.0008417508417508417, -0.0005952380952380953, 0.0007936507936507937, -0.002777777777777778,
		0.08333333333333333,
	}
	// digammaNearA and B are ψ(x) / (x − x₀), x₀ its positive zero, about the middle of [1, 1.5] and
	// [1.5, 2]; truncation 2⁻⁵⁷.
	digammaNearA = series{mid: 1.25, low: 3.766579244659759e-17, coef: []float64{
		-0.014796528051356691, 0.018495857097213627, -0.018958741550904424, 0.023699371042433547,
		-0.03011402042745277, 0.03764733288479069, -0.04703920581273237, 0.058823576244651676,
		-0.07358634649164202, 0.09210990119870723, -0.11542831205414934, 0.1449583674692417,
		-0.1827773492838793, 0.23226650153188502, -0.2998194686573864, 0.40023923094282465,
		-0.5791664818235417, 1.0747589096650145,
	}}
	digammaNearB = series{mid: 1.75, low: -7.080145499702322e-18, coef: []float64{
		0.0001672503390180045, -0.0002927973030925864, 0.0004734978561274989, -0.0008294317248202582,
		0.0014574316883487004, -0.002556785797730015, 0.004491812238388615, -0.007910466228862838,
		0.01398578620324799, -0.024890048522512667, 0.04479965445267514, -0.08228558635558357,
		0.15712011335204265, -0.32625462786810605, 0.8581832171262995,
	}}
	// digammaSeries is B₂ₙ / 2n.
	digammaSeries = [...]float64{
		3.0539543302701198, -0.4432598039215686, 0.08333333333333333, -0.021092796092796094,
		0.007575757575757576, -0.004166666666666667, 0.003968253968253968, -0.008333333333333333,
		0.08333333333333333,
	}
	digammaZero = pair{1.4616321449683622, 9.549995429965697e-17}
	halfLog2Pi  = pair{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55}
	logPi       = pair{0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57}
)

// lgammaNear is log Γ(x) on [0.6, 3].
func lgammaNear(x float64) pair {
	s := &lgammaNearD
	switch {
	case x < 1:
		s = &lgammaNearA
	case x < 1.5:
		s = &lgammaNearB
	case x < 2:
		s = &lgammaNearC
	}
	return twoSum(x, -2).times(x - 1).mul(s.at(x))
}

// lgammaPositive is log Γ(x) for finite x > 0: by the recurrence Γ(x+1) = x Γ(x) into [0.6, 3], and by
// Stirling's (x − ½) log x − x + ½ log 2π + … from 10.
func lgammaPositive(x float64) pair {
	switch {
	case x < 0x1p-60:
		return logPair(pair{hi: x}, 0).neg()
	case x < 0.6:
		return logPair(pair{hi: x}, 0).neg().add(lgammaNear(1 + x))
	case x <= 3:
		return lgammaNear(x)
	case x < 10:
		t, product := x-1, 1.0
		for ; t >= 2; t-- {
			product = float64(product * t)
		}
		return logPair(pair{hi: product}, 0).add(lgammaNear(t + 1))
	case x > 0x1p1000:
		// x (log x − 1), scaled so that only the result can overflow; the rest is below an ULP.
		p := logPair(pair{hi: x}, 0).plus(-1).times(float64(x * 0x1p-13))
		return pair{hi: ldexp(p.hi, 13)}
	}
	r := 1 / x
	tail := float64(r * horner(float64(r*r), lgammaSeries[:]))
	main := logPair(pair{hi: x}, 0).mul(twoSum(x, -0.5)).plus(-x)
	return main.add(halfLog2Pi).plus(tail)
}

// sincosPi is sin πf and cos πf for |f| ≤ ½.
func sincosPi(f float64) (sin, cos pair) {
	if math.Abs(f) <= 0.25 {
		r := pairPi.times(f)
		return sinKernel(r), cosKernel(r)
	}
	r := pairPi.times(0.5 - math.Abs(f))
	sin, cos = cosKernel(r), sinKernel(r)
	if f < 0 {
		sin = sin.neg()
	}
	return sin, cos
}

// Lgamma is log |Γ(x)|, within 0.8 ULP for x > −1. Below, by the reflection
// log(π / |x sin πx|) − log Γ(−x), it is within 1 ULP of the larger of these terms, which is more than
// one of the result near its zeros (x = −2.457…, −2.747…, and two more between the integers that follow).
// Lgamma(±0) = Lgamma(±Inf) = +Inf, Lgamma(-n) = +Inf for integers n, Lgamma(NaN) = NaN.
func Lgamma(x float64) float64 {
	switch {
	case x != x:
		return nan
	case x == 0 || math.IsInf(x, 0):
		return inf
	case x > 0:
		return lgammaPositive(x).value()
	case x > -0x1p-60:
		return -Log(-x)
	}
	f := x - math.RoundToEven(x)
	if f == 0 {
		return inf
	}
	sin, _ := sincosPi(math.Abs(f))
	reflected := logPi.add(logPair(sin.times(-x), 0).neg())
	return reflected.add(lgammaPositive(-x).neg()).value()
}

// digammaPositive is ψ(x) for finite x > 0.
func digammaPositive(x float64) pair {
	switch {
	case x < 1:
		s := twoSum(1, x)
		psi := digammaPositive(s.hi)
		slope := 1.64 - x // ψ′(1+x), roughly
		return pair{hi: -1}.div(pair{hi: x}).add(psi).plus(float64(s.lo * slope))
	case x < 2:
		d := twoSum(x, -digammaZero.hi).plus(-digammaZero.lo)
		if x < 1.5 {
			return d.mul(digammaNearA.at(x))
		}
		return d.mul(digammaNearB.at(x))
	case x < 10:
		sum := pair{}
		for ; x >= 2; x-- {
			sum = sum.add(pairOne.div(pair{hi: x - 1}))
		}
		return sum.add(digammaPositive(x))
	}
	r := 1 / x
	z := float64(r * r)
	tail := float64(0.5*r) + float64(z*horner(z, digammaSeries[:]))
	return logPair(pair{hi: x}, 0).plus(-tail)
}

// Digamma is ψ(x), the derivative of log Γ, within 1.2 ULP for x > 0. Below, by the reflection
// ψ(1−x) − π cot πx, it is within 2 ULP of the larger of these terms, which is more than two of the
// result near its zeros, one between any two integers.
// Digamma(+0) = -Inf, Digamma(-0) = +Inf, Digamma(+Inf) = +Inf, Digamma(-Inf) = NaN,
// Digamma(-n) = NaN for integers n, Digamma(NaN) = NaN.
func Digamma(x float64) float64 {
	switch {
	case x != x || x < -math.MaxFloat64:
		return nan
	case math.Abs(x) < 0x1p-60:
		return -1 / x // at ±0 as well
	case x > math.MaxFloat64:
		return inf
	case x > 0:
		return digammaPositive(x).value()
	}
	f := x - math.RoundToEven(x)
	if f == 0 {
		return nan
	}
	sin, cos := sincosPi(f)
	cot := pairPi.mul(cos).div(sin)
	return digammaPositive(1 - x).add(cot.neg()).value()
}
