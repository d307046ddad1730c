package cpu

import "math"

// The loops of Affine, h ← a·h + x with both roundings, and of LogSumExp. The first element of a line is h
// itself, so that an infinite a makes no NaN of it. Affine is bound by a multiplication and an addition that
// wait for each other, 8 cycles an element of a single line; LogSumExp by an exponential and a logarithm.

func affineScan[A number]() scanLoops[A] {
	return scanLoops[A]{line: affineLine[A], four: affineFour[A], row: affineColumns[A], cost: 2}
}

// opened is how many elements of the step begin their line: none or one, which is its own result.
func (s *scanStep[A]) opened() int {
	if !s.first {
		return 0
	}
	s.h[0][0] = s.x[0]
	s.y[0] = s.x[0]
	return 1
}

// openedRow is the same of a row: whether it is the first, which is its own result.
func (s *scanStep[A]) openedRow() bool {
	if s.first {
		copy(s.h[0], s.x)
		copy(s.y, s.x)
	}
	return s.first
}

func affineLine[A number](s *scanStep[A]) {
	i := s.opened()
	x, h := s.x, s.h[0][0]
	y, a := s.y[:len(x)], s.a[:len(x)]
	for ; i < len(x); i++ {
		h = A(a[i]*h) + x[i]
		y[i] = h
	}
	s.h[0][0] = h
}

func affineFour[A number](s *[fourLines]scanStep[A]) {
	i, n := 0, len(s[0].x)
	for c := range s {
		i = s[c].opened()
	}
	x0, x1, x2, x3 := s[0].x, s[1].x[:n], s[2].x[:n], s[3].x[:n]
	a0, a1, a2, a3 := s[0].a[:n], s[1].a[:n], s[2].a[:n], s[3].a[:n]
	y0, y1, y2, y3 := s[0].y[:n], s[1].y[:n], s[2].y[:n], s[3].y[:n]
	h0, h1, h2, h3 := s[0].h[0][0], s[1].h[0][0], s[2].h[0][0], s[3].h[0][0]
	for ; i < len(x0); i++ {
		h0 = A(a0[i]*h0) + x0[i]
		h1 = A(a1[i]*h1) + x1[i]
		h2 = A(a2[i]*h2) + x2[i]
		h3 = A(a3[i]*h3) + x3[i]
		y0[i], y1[i], y2[i], y3[i] = h0, h1, h2, h3
	}
	s[0].h[0][0], s[1].h[0][0], s[2].h[0][0], s[3].h[0][0] = h0, h1, h2, h3
}

func affineColumns[A number](s *scanStep[A]) {
	if s.openedRow() {
		return
	}
	x := s.x
	y, a, h := s.y[:len(x)], s.a[:len(x)], s.h[0][:len(x)]
	for c, v := range x {
		v = A(a[c]*h[c]) + v
		h[c], y[c] = v, v
	}
}

func affineComplexLine(s *scanStep[complex128]) {
	for i := s.opened(); i < len(s.x); i++ {
		s.h[0][0] = product(s.a[i], s.h[0][0]) + s.x[i]
		s.y[i] = s.h[0][0]
	}
}

func affineComplexColumns(s *scanStep[complex128]) {
	if s.openedRow() {
		return
	}
	for c, v := range s.x {
		s.h[0][c] = product(s.a[c], s.h[0][c]) + v
		s.y[c] = s.h[0][c]
	}
}

// affineBoolLine is h ← a and h, or x.
func affineBoolLine(s *scanStep[uint8]) {
	for i := s.opened(); i < len(s.x); i++ {
		s.h[0][0] = s.a[i]&s.h[0][0] | s.x[i]
		s.y[i] = s.h[0][0]
	}
}

func affineBoolColumns(s *scanStep[uint8]) {
	if s.openedRow() {
		return
	}
	for c, v := range s.x {
		s.h[0][c] = s.a[c]&s.h[0][c] | v
		s.y[c] = s.h[0][c]
	}
}

// logSumExp is that scan; of h, word 0 is m, and words 1 and 2 are s.
type logSumExp[A float] struct{ exps *exponentials[A] }

func logSumExpScan[A float](exps *exponentials[A]) scanLoops[A] {
	l, least := logSumExp[A]{exps}, A(math.Inf(-1))
	r := scanLoops[A]{identity: least, line: l.line, row: l.row, cost: 16}
	r.start[0] = least
	return r
}

// line takes the block in steps: m at each element and before it, the exponentials of all elements, then of
// the changes of m where there are some, the sums, and the logarithms of all.
func (l logSumExp[A]) line(s *scanStep[A]) {
	n, m, rises := len(s.x), s.h[0][0], false
	e, tops, before := s.spare[0][:n], s.spare[1][:n], s.spare[2][:n]
	for i, v := range s.x {
		before[i] = m
		if v-m > 1 || v != v {
			m, rises = v, true
		}
		tops[i] = m
	}
	copy(e, s.x)
	l.exps.columns(e, tops)
	if rises {
		l.exps.columns(before, tops)
	}
	hi, lo, y := s.h[1][0], s.h[2][0], s.y[:n]
	for i, v := range e {
		if rises {
			hi, lo = A(hi*before[i]), A(lo*before[i])
		}
		hi, lo = twoSum(hi, lo+v)
		y[i], e[i] = hi, ratio(lo, hi)
	}
	s.h[0][0], s.h[1][0], s.h[2][0] = m, hi, lo
	l.finish(y, e, tops)
}

// row is line across columns.
func (l logSumExp[A]) row(s *scanStep[A]) {
	n, rises := len(s.x), false
	m, e, before := s.h[0][:n], s.spare[0][:n], s.spare[2][:n]
	for c, v := range s.x {
		before[c] = m[c]
		if v-m[c] > 1 || v != v {
			m[c], rises = v, true
		}
	}
	copy(e, s.x)
	l.exps.columns(e, m)
	if rises {
		l.exps.columns(before, m)
	}
	hi, lo, y := s.h[1][:n], s.h[2][:n], s.y[:n]
	for c, v := range e {
		a, b := hi[c], lo[c]
		if rises {
			a, b = A(a*before[c]), A(b*before[c])
		}
		hi[c], lo[c] = twoSum(a, b+v)
		y[c], e[c] = hi[c], ratio(lo[c], hi[c])
	}
	l.finish(y, e, m)
}

// ratio is lo/hi, where hi may be 0.
func ratio[A float](lo, hi A) A {
	if lo == 0 {
		return 0
	}
	return lo / hi
}

// finish turns sums s, of which y has the first words, into m + log s; log(hi + lo) is log hi + lo/hi, which
// counts where s is near 1.
func (l logSumExp[A]) finish(y, parts, tops []A) {
	l.exps.logs(y, y)
	for i, m := range tops {
		y[i] = m + (y[i] + parts[i])
	}
}
