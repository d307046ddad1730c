package simd

import "unsafe"

const (
	LinesAtOnce = 16 // a register of float32, of the widest there are
	LineGroup   = 8  // a register of float32, two of float64
	Settled     = 32 // elements of a line between two splits
)

// linesPast reports whether SumLines of float32 can write past the caches.
var linesPast bool

// Lines is cumulative sums of some lines at work: X is what comes next of each, as many elements of all, and Y is
// room for its sums, which may be X. Hi + R is the sum of a line: R = R + x, then y = Hi + R, element by element,
// and after every Settled elements Hi + R is split anew, into itself, rounded, and what the rounding lost, 0 where
// that is NaN. Y and X are empty afterwards. Some groups may have no lines, that is, no elements: the last ones.
type Lines[T any] struct {
	Y, X  [LinesAtOnce][]T
	Hi, R [LinesAtOnce]T
	Past  bool // Y is written past the caches, if it can: FencePast is to follow
}

// CanPast reports whether Y can be written past the caches, all of it but what is less than a cache line.
func (s *Lines[T]) CanPast() bool {
	if !linesPast || unsafe.Sizeof(s.Hi[0]) != 4 {
		return false
	}
	for _, y := range s.Y {
		if uintptr(unsafe.Pointer(unsafe.SliceData(y)))%cacheLine != 0 || len(y) == 0 {
			return false
		}
	}
	return true
}

func (s *Lines[T]) advance(n int) {
	for l, x := range s.X {
		if len(x) > 0 {
			s.Y[l], s.X[l] = s.Y[l][n:], x[n:]
		}
	}
}

// sumLines is bound by the latency of addition, which four lines hide from one another.
func sumLines[T Float](s *Lines[T]) {
	for ; len(s.X[0]) >= Settled; s.advance(Settled) {
		for l := 0; l < LinesAtOnce && len(s.X[l]) > 0; l += 4 {
			sumFourLines(s, l)
		}
	}
	for l, x := range s.X {
		y, hi, r := s.Y[l], s.Hi[l], s.R[l]
		for i, v := range x {
			r += v
			y[i] = hi + r
		}
		s.R[l] = r
	}
	s.advance(len(s.X[0]))
}

// sumFourLines takes arrays of Settled elements of lines from l on, so that no place needs to be checked.
func sumFourLines[T Float](s *Lines[T], l int) {
	type block = [Settled]T
	x, y, hi, r := s.X[l:l+4], s.Y[l:l+4], (*[4]T)(s.Hi[l:]), (*[4]T)(s.R[l:])
	x0, x1, x2, x3 := (*block)(x[0]), (*block)(x[1]), (*block)(x[2]), (*block)(x[3])
	y0, y1, y2, y3 := (*block)(y[0]), (*block)(y[1]), (*block)(y[2]), (*block)(y[3])
	h0, h1, h2, h3 := hi[0], hi[1], hi[2], hi[3]
	r0, r1, r2, r3 := r[0], r[1], r[2], r[3]
	for j := range Settled {
		r0 += x0[j]
		r1 += x1[j]
		r2 += x2[j]
		r3 += x3[j]
		y0[j], y1[j], y2[j], y3[j] = h0+r0, h1+r1, h2+r2, h3+r3
	}
	for k, v := range [4]T{r0, r1, r2, r3} {
		hi[k], r[k] = settle(hi[k], v)
	}
}

// settle is a + b, rounded, and what the rounding lost.
func settle[T Float](a, b T) (sum, lost T) {
	sum = a + b
	t := sum - a
	if lost = (a - (sum - t)) + (b - t); lost != lost {
		lost = 0
	}
	return sum, lost
}
