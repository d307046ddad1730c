package fmath

import (
	"math"
	"math/bits"
)

var (
	// sinCoef is (sin x − x) / x³ in x² on |x| ≤ π/4; truncation 2⁻⁶⁶.
	sinCoef = [...]float64{
		-7.586636882825159e-13, 1.6058530596645953e-10, -2.50521062259944e-08, 2.755731921932058e-06,
		-0.0001984126984126504, 0.008333333333333331, -0.16666666666666666,
	}
	// cosCoef is (cos x − 1 + x²/2) / x⁴ in x² on |x| ≤ π/4; truncation 2⁻⁶¹.
	cosCoef = [...]float64{
		-1.138254464534925e-11, 2.087614504941318e-09, -2.755731726587808e-07, 2.48015872987544e-05,
		-0.0013888888888887389, 0.041666666666666664,
	}
)

// π/2 in three steps of 33 bits, whose products with an integer below 2²⁰ are exact, and a rest.
const (
	halfPi1 = 0x1.921fb544p+0
	halfPi2 = 0x1.0b4611a6p-34
	halfPi3 = 0x1.3198a2ep-69
	halfPi4 = 0x1.b839a252049c1p-104
)

// twoOverPi holds the first 1216 bits of 2/π behind one word of zeros, which serves the arguments whose
// window begins before the point.
var twoOverPi = [...]uint64{
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
}

// reduce writes x = q π/2 + r with |r| ≤ π/4 (a little more near the border), q modulo 4, for finite x.
func reduce(x float64) (r pair, q int) {
	a := math.Abs(x)
	switch {
	case a <= 0x1.921fb54442d18p-1: // π/4
		return pair{hi: x}, 0
	case a >= 0x1p20:
		r, q = reduceLarge(a)
		if x < 0 {
			return r.neg(), -q & 3
		}
		return r, q
	}
	n := float64(x*0x1.45f306dc9c883p-1) + shift - shift
	r = twoSum(x-float64(n*halfPi1), float64(-n*halfPi2))
	s := twoSum(r.hi, float64(-n*halfPi3))
	r = fastSum(s.hi, s.lo+(r.lo-float64(n*halfPi4)))
	return r, int(n) & 3
}

// reducePair is reduce for an argument that carries a low part, which for a large one needs its own.
func reducePair(x pair) (r pair, q int) {
	r, q = reduce(x.hi)
	s, p := reduce(x.lo)
	r, q = r.add(s), q+p
	switch {
	case r.hi > 0.8:
		return r.add(pairHalfPi.neg()), (q + 1) & 3
	case r.hi < -0.8:
		return r.add(pairHalfPi), (q - 1) & 3
	}
	return r, q & 3
}

// reduceLarge is reduce for x ≥ 2²⁰, by Payne and Hanek (1983). With x = m 2ᵉ, the bits of 2/π above
// weight 2^(1−e) only add multiples of 4 to x × 2/π, so the product of m with the next 192 bits, taken
// modulo 2¹⁹², is x × 2/π modulo 4 with 190 bits behind the point. No float64 comes nearer to a multiple
// of π/2 than about 2⁻⁶¹, which leaves more than 70 good bits.
func reduceLarge(x float64) (r pair, q int) {
	b := math.Float64bits(x)
	e := int(b>>52) - 1023 - 52
	m := b&(1<<52-1) | 1<<52

	at := e - 2 + 64 // bits to skip; the 64 are the leading zeros of the table
	word, off := at/64, uint(at%64)
	w := [3]uint64{}
	for i := range w {
		w[i] = twoOverPi[word+i]<<off | twoOverPi[word+i+1]>>(64-off)
	}
	h2, p2 := bits.Mul64(m, w[2])
	h1, p1 := bits.Mul64(m, w[1])
	p1, c := bits.Add64(p1, h2, 0)
	p0 := m*w[0] + h1 + c

	q = int(p0 >> 62)
	p0, p1, p2 = p0<<2|p1>>62, p1<<2|p2>>62, p2<<2
	negative := p0>>63 == 1
	if negative {
		q = (q + 1) & 3
		var borrow uint64
		p2, borrow = bits.Sub64(0, p2, 0)
		p1, borrow = bits.Sub64(0, p1, borrow)
		p0, _ = bits.Sub64(0, p0, borrow)
	}
	lead := 0
	for p0>>63 == 0 && lead < 128 {
		n := uint(max(bits.LeadingZeros64(p0), 1))
		n = min(n, 63)
		p0, p1, p2 = p0<<n|p1>>(64-n), p1<<n|p2>>(64-n), p2<<n
		lead += int(n)
	}
	f := pair{
		float64(float64(p0>>11) * 0x1p-53),
		float64(float64((p0<<53|p1>>11)>>11) * 0x1p-106),
	}
	f = f.scale(exp2Int(-lead)).mul(pairHalfPi)
	if negative {
		f = f.neg()
	}
	return f, q
}

// sinKernel is sin r for |r| ≤ π/4.
func sinKernel(r pair) pair {
	x := r.hi
	z := float64(x * x)
	p := float64(float64(z*x) * horner(z, sinCoef[:]))
	return fastSum(x, p+(r.lo-float64(float64(0.5*z)*r.lo)))
}

// cosKernel is cos r for |r| ≤ π/4.
func cosKernel(r pair) pair {
	x := r.hi
	z := twoProd(x, x)
	p := float64(float64(z.hi*z.hi) * horner(z.hi, cosCoef[:]))
	s := fastSum(1, float64(-0.5*z.hi))
	return fastSum(s.hi, s.lo+(p-(float64(0.5*z.lo)+float64(x*r.lo))))
}

// sinQuarter is sin(r + q π/2).
func sinQuarter(r pair, q int) pair {
	switch q & 3 {
	case 0:
		return sinKernel(r)
	case 1:
		return cosKernel(r)
	case 2:
		return sinKernel(r).neg()
	}
	return cosKernel(r).neg()
}

// Sin is the sine of x radians, within 0.65 ULP for every finite x, however large.
// Sin(±0) = ±0, Sin(±Inf) = NaN, Sin(NaN) = NaN.
func Sin(x float64) float64 {
	switch {
	case x-x != 0:
		return nan
	case math.Abs(x) < 0x1p-27:
		return x
	}
	return sinQuarter(reduce(x)).hi
}

// Cos is the cosine of x radians, within 0.65 ULP for every finite x, however large.
// Cos(±0) = 1, Cos(±Inf) = NaN, Cos(NaN) = NaN.
func Cos(x float64) float64 {
	if x-x != 0 {
		return nan
	}
	r, q := reduce(x)
	return sinQuarter(r, q+1).hi
}

// Tan is sin x / cos x, divided as pairs, within 0.85 ULP for every finite x, however large.
// Tan(±0) = ±0, Tan(±Inf) = NaN, Tan(NaN) = NaN.
func Tan(x float64) float64 {
	switch {
	case x-x != 0:
		return nan
	case math.Abs(x) < 0x1p-27:
		return x
	}
	r, q := reduce(x)
	return sinQuarter(r, q).div(sinQuarter(r, q+1)).hi
}
