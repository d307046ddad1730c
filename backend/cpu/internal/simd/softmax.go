package simd

import "unsafe"

// The parts of a softmax of float32 with AVX-512. These are nil without.
var (
	span32     func(x *float32, n int) (low, high float32)
	softLine32 func(sums, out, x, next *float32, m float32, blocks int, before, result *float32,
		s, high, low float32, log, past bool)
	quotients32 func(out, e, s, high, low *float32, step, n int, past bool)
)

// HasSoftLines reports whether there are SoftLine and Quotients.
func HasSoftLines() bool { return softLine32 != nil }

// SoftLine is a line of a softmax, and the end of the one before: what one has to wait for memory the other has to
// compute.
type SoftLine struct {
	X, Y, Sums []float32 // Y = exp(X − M), and Sums[i] is the Block of Y[i·BlockSize:]; with Log Y = X − M
	M          float32   // the greatest of X
	Log        bool
	Next       []float32 // what is read soon, as long as X, or nil

	Before, Result []float32 // Result = Before / Sum, with Log Before − Sum, where Before is not nil, as long as X
	Sum            float32
	Past           bool // Result is written past the caches, if it can: FencePast is to follow
}

// softSpan is by how much the elements of a SoftLine may differ: their exponentials are at least 2⁻⁵⁸, so that nothing
// in them or in their quotients is out of range, and nothing needs to be looked at.
const softSpan = 40

// Soft is the greatest of x, and whether a SoftLine can do it: it has whole blocks, is finite and has no elements far
// apart. A NaN may hide. It would be in every sum that it is part of.
func Soft(x []float32) (m float32, ok bool) {
	if softLine32 == nil || len(x) == 0 || len(x)%BlockSize != 0 {
		return 0, false
	}
	var low float32
	for i := 0; i < len(x); {
		n := min(len(x)-i, most)
		l, h := span32(&x[i], n)
		if i == 0 {
			low, m = l, h
		}
		low, m = min(low, l), max(m, h)
		i += n
	}
	return m, m-low <= softSpan
}

// Do does the line.
func (l *SoftLine) Do() {
	n := len(l.X)
	y, sums, next, before, result := l.Y[:n], l.Sums[:n/BlockSize], l.Next, l.Before, l.Result
	if next == nil {
		next = l.X
	}
	next = next[:n]
	var high, low float32
	if before != nil {
		before, result = before[:n], result[:n]
		high, low = reciprocal(l.Sum)
	}
	past := l.past()
	const call = most / 8
	for i := 0; i < n; i += call {
		k := min(n-i, call)
		var from, to *float32
		if before != nil {
			from, to = &before[i], &result[i]
		}
		softLine32(&sums[i/BlockSize], &y[i], &l.X[i], &next[i], l.M, k/BlockSize, from, to, l.Sum, high, low,
			l.Log, past)
	}
}

func (l *SoftLine) past() bool {
	return l.Past && len(l.Result) > 0 && uintptr(unsafe.Pointer(&l.Result[0]))%cacheLine == 0
}

// Finish is the end of the line before, when no line follows.
func (l *SoftLine) Finish() {
	if l.Log {
		floats32.Shift(l.Result[:len(l.Before)], l.Before, l.Sum)
		return
	}
	var s, high, low [wideLanes]float32
	h, w := reciprocal(l.Sum)
	for i := range s {
		s[i], high[i], low[i] = l.Sum, h, w
	}
	result, past := l.Result[:len(l.Before)], l.past()
	for i := 0; i < len(result); i += most {
		quotients32(&result[i], &l.Before[i], &s[0], &high[0], &low[0], 0, min(len(result)-i, most), past)
	}
}

// wideLanes is the float32 elements of a register of AVX-512.
const wideLanes = 16

// Divisors is divisors S, from 1 to 2³², with reciprocals: high is 1/s, rounded, and low what that lost, rounded.
//
// Of e from 2⁻⁶⁴ to 1 the quotient is rounded correctly by
//
//	q = RN(e·high + RN(e·low)),  r = e − q·s,  RN(q + r·high)
//
// Let e/s be in [1, 2), whose floats are u = 2⁻²³ apart, and s in [1, 2): powers of two change nothing, as everything
// is far from underflow. high is within 2⁻²⁵ of 1/s, so |low| ≤ 2⁻²⁵, and high + low is within 2⁻⁵⁰ of 1/s. As e < 4,
// e·low is rounded by 2⁻⁴⁸ at most, so q is within (1/2 + 2⁻²⁴)·u of e/s. r is a multiple of u·2⁻²³ that is less than
// 2²⁴ of them, hence exact. The last sum, before it is rounded, is within (1/2 + 2⁻²⁴)·u·s·2⁻²⁵ of e/s. A midpoint μ
// of two floats is an odd multiple of u/2, and e − μ·s is a multiple of u·2⁻²⁴ that is not 0, since e would have 25
// bits: e/s is u·2⁻²⁴/s or more from μ. That is more than the sum is off, as s² ≤ (2 − 2⁻²³)². So the sum and e/s are
// between the same midpoints and round to the same float. (It is Markstein's theorem for a divisor known before.)
type Divisors struct{ S, high, low []float32 }

// Of makes d the divisors s, which it keeps, and reports whether they are all from 1 to 2³².
func (d *Divisors) Of(s []float32) bool {
	d.S, d.high, d.low = s, d.high[:0], d.low[:0]
	for _, v := range s {
		if !(v >= 1 && v <= 1<<32) {
			return false
		}
		h, l := reciprocal(v)
		d.high, d.low = append(d.high, h), append(d.low, l)
	}
	return true
}

// reciprocal is 1/s in two parts. What is left of the product is exact.
func reciprocal(s float32) (high, low float32) {
	high = 1 / s
	return high, float32(1-float64(s)*float64(high)) / s
}

// Divide is out = e / S, element by element, for exponentials e from 0 to 1, or NaN. It may be written past the caches
// where that is wanted; FencePast is to follow then.
func (d *Divisors) Divide(out, e []float32, past bool) {
	if len(out) == 0 {
		return
	}
	n := len(out)
	e, s, high, low := e[:n], d.S[:n], d.high[:n], d.low[:n]
	past = past && uintptr(unsafe.Pointer(&out[0]))%cacheLine == 0
	for i := 0; i < n; i += most {
		quotients32(&out[i], &e[i], &s[i], &high[i], &low[i], 4*wideLanes, min(n-i, most), past)
	}
}
