package fmath

import "math"

// logCoef is (2 atanh s − 2s − ⅔s³) / s⁵ as a polynomial in s² ≤ 0.0295; truncation 2⁻⁷⁰ of 2 atanh s.
var logCoef = [...]float64{
	0.11725603260192677, 0.11706004250300112, 0.13334813369111848, 0.15384594802856283,
	0.18181818336888536, 0.22222222221649282, 0.28571428571429375, 0.4,
}

var (
	pairTwoThirds = pair{0x1.5555555555555p-1, 0x1.5555555555555p-55}
	pairInvLn2    = pair{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}
	pairInvLn10   = pair{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}
)

const sqrtHalfBits = 0x3fe6a09e667f3bcd

// logSplit writes x = 2ᵏ m with m in [√½, √2), for finite x > 0.
func logSplit(x float64) (m float64, k int) {
	if x < 0x1p-1022 {
		x, k = float64(x*0x1p54), -54
	}
	b := math.Float64bits(x) + (1023<<52 - sqrtHalfBits)
	k += int(b>>52) - 1023
	return math.Float64frombits(b&(1<<52-1) + sqrtHalfBits), k
}

// twoAtanh is 2 atanh s = log((1+s)/(1−s)) for |s| ≤ 0.1717, to about 2⁻⁶⁵: the first two terms of the
// series as pairs, the rest, below 2⁻¹² of the whole, in float64.
func twoAtanh(s pair) pair {
	z := s.mul(s)
	cube := s.mul(z).mul(pairTwoThirds)
	tail := float64(float64(float64(z.hi*z.hi)*s.hi) * horner(z.hi, logCoef[:]))
	t := fastSum(cube.hi, tail)
	r := fastSum(float64(2*s.hi), t.hi)
	return fastSum(r.hi, r.lo+(float64(2*s.lo)+(t.lo+cube.lo)))
}

// log1pKernel is log(1 + f) for 1 + f in [√½, √2], by s = f / (2 + f).
func log1pKernel(f pair) pair {
	den := fastSum(2, f.hi)
	den.lo += f.lo
	return twoAtanh(f.div(den))
}

// logPair is log(u × 2^e) for u.hi > 0, to about 2⁻⁶⁴.
func logPair(u pair, e int) pair {
	m, k := logSplit(u.hi)
	f := twoSum(m-1, ldexp(u.lo, -k))
	r := log1pKernel(f)
	k += e
	if k == 0 {
		return r
	}
	s := fastSum(float64(float64(k)*ln2Hi), r.hi)
	return fastSum(s.hi, s.lo+(r.lo+float64(float64(k)*ln2Lo)))
}

// log1pPair is log(1 + w) for w > −1.
func log1pPair(w pair) pair {
	if w.hi > -0.29 && w.hi < 0.41 {
		return log1pKernel(w)
	}
	return logPair(pairOne.add(w), 0)
}

// logEdge answers for the arguments that have no finite logarithm: NaN, ±0, negatives and +Inf.
func logEdge(x float64) float64 {
	switch {
	case x == 0:
		return -inf
	case x > 0:
		return inf
	}
	return nan
}

// Log is the natural logarithm, within 0.65 ULP. With f the reduced argument less 1 and s = f / (2 + f),
// log(1+f) = f − (f²/2 − s (f²/2 + R(s²))), the form of FreeBSD's e_log; here f²/2 is kept exact.
// Log(+Inf) = +Inf, Log(±0) = -Inf, Log(x < 0) = NaN, Log(NaN) = NaN.
func Log(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return logEdge(x)
	}
	m, k := logSplit(x)
	f := m - 1
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	c := &logCoef
	even := float64(c[1]*w) + c[3]
	odd := float64(c[0]*w) + c[2]
	even = float64(even*w) + c[5]
	odd = float64(odd*w) + c[4]
	even = float64(even*w) + c[7]
	odd = float64(odd*w) + c[6]
	r := float64(z * (pairTwoThirds.hi + float64(z*(even+float64(odd*z)))))
	sq := twoProd(f, f).scale(0.5)
	h := fastSum(f, -sq.hi)
	lo := h.lo + (float64(s*(sq.hi+r)) - sq.lo)
	if k == 0 {
		return h.hi + lo
	}
	n := float64(k)
	t := fastSum(float64(n*ln2Hi), h.hi)
	return t.hi + (t.lo + (lo + float64(n*ln2Lo)))
}

// Log1p is log(1 + x) without the cancellation near 0, within 0.51 ULP.
// Log1p(±0) = ±0, Log1p(-1) = -Inf, Log1p(+Inf) = +Inf, Log1p(x < -1) = NaN, Log1p(NaN) = NaN.
func Log1p(x float64) float64 {
	switch {
	case !(x > -1 && x <= math.MaxFloat64):
		return logEdge(1 + x)
	case math.Abs(x) < 0x1p-54:
		return x
	}
	return log1pPair(pair{hi: x}).value()
}

// Log2 is the logarithm to base 2, within 0.51 ULP, and exact on powers of two. Special cases as Log.
func Log2(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return logEdge(x)
	}
	m, k := logSplit(x)
	r := log1pKernel(pair{hi: m - 1}).mul(pairInvLn2)
	return r.plus(float64(k)).value()
}

// Log10 is the logarithm to base 10, within 0.51 ULP, and exact on powers of ten. Special cases as Log.
func Log10(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return logEdge(x)
	}
	return logPair(pair{hi: x}, 0).mul(pairInvLn10).value()
}
