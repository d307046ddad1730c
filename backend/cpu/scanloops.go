package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/ops"
)

// What the loops compute. h is the state of a line, x and y its element and result.
//
//	Sum of integers   h ← h + x; y = h
//	Sum of floats     hi + r is the sum: r ← r + x; y = hi + r; and after every 32 elements hi + r is split anew,
//	                  hi ← hi + r rounded, r ← what the rounding lost (0 where hi is not finite). So the error
//	                  is that of 32 roundings of the terms, however many there are, and since hi + r does not
//	                  change when it is split, sums of what is not negative never fall.
//	Prod              h ← h·x; y = h
//	Max, Min          h ← max(h, x); y = h
//	Affine            h ← a·h + x, each rounded, but first h ← x; y = h
//	LogSumExp         s = Σ exp(x − m), of two words like a Sum of floats, split after every element. m is the
//	                  first element, and becomes x where x is above m + 1; then s ← s·exp(m − x) first.
//	                  y = m + log s. A factor for every new maximum would add an error for every element of a
//	                  line that rises slowly; these shrink what came before to a third or less.

func integerScan[I integer](fn ops.ScanFn, least, greatest I) scanLoops[I] {
	switch fn {
	case ops.ScanSum:
		return scanLoops[I]{line: sumLine[I], row: sumColumns[I], cost: 1}
	case ops.ScanProd:
		return prodScan[I]()
	case ops.ScanMax:
		return maxScan(least)
	case ops.ScanMin:
		return minScan(greatest)
	}
	return affineScan[I]()
}

func boolScan(fn ops.ScanFn) scanLoops[uint8] {
	switch fn {
	case ops.ScanSum, ops.ScanMax:
		return maxScan[uint8](0)
	case ops.ScanProd, ops.ScanMin:
		return minScan[uint8](1)
	}
	return scanLoops[uint8]{line: affineBoolLine, row: affineBoolColumns, cost: 1}
}

func floatScan[A float](fn ops.ScanFn, exps *exponentials[A]) scanLoops[A] {
	var r scanLoops[A]
	switch fn {
	case ops.ScanSum:
		r = carriedScan(func(A) A { return 0 })
		r.row, r.quietRow = newFloatRow[A](), true
		r.four, r.many = nil, simd.FloatsOf[A]().SumLines
	case ops.ScanProd:
		r = prodScan[A]()
	case ops.ScanMax:
		r = maxScan(A(math.Inf(-1)))
	case ops.ScanMin:
		r = minScan(A(math.Inf(1)))
	case ops.ScanLogSumExp:
		r = logSumExpScan(exps)
	default:
		r = affineScan[A]()
	}
	r.quiet = quietNaN[A]
	return r
}

// complex64Sum is the only scan that computes in complex64.
func complex64Scan() scanLoops[complex64] {
	r := carriedScan(func(v complex64) complex64 { return complex64(zeroForNaN(complex128(v))) })
	r.quiet = quietComplex64
	return r
}

func complexScan(fn ops.ScanFn) scanLoops[complex128] {
	var r scanLoops[complex128]
	switch fn {
	case ops.ScanSum:
		r = carriedScan(zeroForNaN)
	case ops.ScanProd:
		r = scanLoops[complex128]{identity: 1, line: prodComplexLine, row: prodComplexColumns, cost: 2}
		r.start[0] = 1
	default:
		r = scanLoops[complex128]{line: affineComplexLine, row: affineComplexColumns, cost: 2}
	}
	r.quiet = quietComplex128
	return r
}

func zeroForNaN(v complex128) complex128 {
	re, im := real(v), imag(v)
	if re != re {
		re = 0
	}
	if im != im {
		im = 0
	}
	return complex(re, im)
}

func sumLine[A number](s *scanStep[A]) {
	x, y, h := s.x, s.y[:len(s.x)], s.h[0][0]
	for i, v := range x {
		h += v
		y[i] = h
	}
	s.h[0][0] = h
}

func sumColumns[A number](s *scanStep[A]) {
	x := s.x
	y, h := s.y[:len(x)], s.h[0][:len(x)]
	for c, v := range x {
		v += h[c]
		h[c], y[c] = v, v
	}
}

// carried is the Sum of floats and complexes.
type carried[A summable] struct {
	zero func(lost A) A // lost without its NaNs
}

func carriedScan[A summable](zero func(A) A) scanLoops[A] {
	c := carried[A]{zero}
	return scanLoops[A]{line: c.line, four: c.four, row: c.row, settle: c.settle, cost: 1}
}

// split is a + b, rounded, and what the rounding lost.
func (c carried[A]) split(a, b A) (sum, lost A) {
	if sum, lost = twoSum(a, b); lost != lost {
		lost = c.zero(lost)
	}
	return sum, lost
}

// twoSum is a + b, rounded, and what the rounding lost; that is NaN where the sum is not finite.
func twoSum[A summable](a, b A) (sum, lost A) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

func (c carried[A]) line(s *scanStep[A]) {
	x, y, hi, r := s.x, s.y[:len(s.x)], s.h[0][0], s.h[1][0]
	for len(x) > 0 {
		n := min(settleEvery, len(x))
		z := y[:n]
		for i, v := range x[:n] {
			r += v
			z[i] = hi + r
		}
		if n == settleEvery {
			hi, r = c.split(hi, r)
		}
		x, y = x[n:], y[n:]
	}
	s.h[0][0], s.h[1][0] = hi, r
}

func (c carried[A]) four(s *[fourLines]scanStep[A]) {
	n := len(s[0].x)
	x0, x1, x2, x3 := s[0].x, s[1].x[:n], s[2].x[:n], s[3].x[:n]
	y0, y1, y2, y3 := s[0].y[:n], s[1].y[:n], s[2].y[:n], s[3].y[:n]
	var hi, r [fourLines]A
	for l := range s {
		hi[l], r[l] = s[l].h[0][0], s[l].h[1][0]
	}
	for i := 0; i < n; i += settleEvery {
		end := min(i+settleEvery, n)
		h0, h1, h2, h3 := hi[0], hi[1], hi[2], hi[3]
		r0, r1, r2, r3 := r[0], r[1], r[2], r[3]
		for j := i; j < end; j++ {
			r0 += x0[j]
			r1 += x1[j]
			r2 += x2[j]
			r3 += x3[j]
			y0[j], y1[j], y2[j], y3[j] = h0+r0, h1+r1, h2+r2, h3+r3
		}
		r = [fourLines]A{r0, r1, r2, r3}
		if end-i == settleEvery {
			for l := range r {
				hi[l], r[l] = c.split(hi[l], r[l])
			}
		}
	}
	for l := range s {
		s[l].h[0][0], s[l].h[1][0] = hi[l], r[l]
	}
}

func (c carried[A]) row(s *scanStep[A]) {
	x := s.x
	y, hi, r := s.y[:len(x)], s.h[0][:len(x)], s.h[1][:len(x)]
	for i, v := range x {
		v += r[i]
		r[i], y[i] = v, hi[i]+v
	}
}

// newFloatRow is row on floats, whose results have quiet NaNs.
func newFloatRow[A float]() func(s *scanStep[A]) {
	add := simd.FloatsOf[A]().AddKept
	return func(s *scanStep[A]) { add(s.y[:len(s.x)], s.h[0], s.h[1], s.x) }
}

func (c carried[A]) settle(h *[scanState][]A) {
	hi, r := h[0], h[1][:len(h[0])]
	for i := range hi {
		hi[i], r[i] = c.split(hi[i], r[i])
	}
}

func prodScan[A number]() scanLoops[A] {
	r := scanLoops[A]{identity: 1, line: prodLine[A], four: prodFour[A], row: prodColumns[A], cost: 1}
	r.start[0] = 1
	return r
}

func prodLine[A number](s *scanStep[A]) {
	x, y, h := s.x, s.y[:len(s.x)], s.h[0][0]
	for i, v := range x {
		h *= v
		y[i] = h
	}
	s.h[0][0] = h
}

func prodFour[A number](s *[fourLines]scanStep[A]) {
	n := len(s[0].x)
	x0, x1, x2, x3 := s[0].x, s[1].x[:n], s[2].x[:n], s[3].x[:n]
	y0, y1, y2, y3 := s[0].y[:n], s[1].y[:n], s[2].y[:n], s[3].y[:n]
	h0, h1, h2, h3 := s[0].h[0][0], s[1].h[0][0], s[2].h[0][0], s[3].h[0][0]
	for i, v := range x0 {
		h0 *= v
		h1 *= x1[i]
		h2 *= x2[i]
		h3 *= x3[i]
		y0[i], y1[i], y2[i], y3[i] = h0, h1, h2, h3
	}
	s[0].h[0][0], s[1].h[0][0], s[2].h[0][0], s[3].h[0][0] = h0, h1, h2, h3
}

func prodColumns[A number](s *scanStep[A]) {
	x := s.x
	y, h := s.y[:len(x)], s.h[0][:len(x)]
	for c, v := range x {
		v *= h[c]
		h[c], y[c] = v, v
	}
}

func prodComplexLine(s *scanStep[complex128]) {
	for i, v := range s.x {
		s.h[0][0] = product(s.h[0][0], v)
		s.y[i] = s.h[0][0]
	}
}

func prodComplexColumns(s *scanStep[complex128]) {
	for c, v := range s.x {
		s.h[0][c] = product(s.h[0][c], v)
		s.y[c] = s.h[0][c]
	}
}
