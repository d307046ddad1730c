package simd

import "math"

// Extremes is the order of numbers, for reductions and arg-reductions. Max and Min take −0 to be below +0, and
// a NaN wins both. For First and Update zeros are equal.
type Extremes[T Number] struct {
	// Max and Min are the extreme of one element or more.
	Max, Min func(x []T) T
	// MaxRow and MinRow are out = max(a, b), MaxRows and MinRows acc = max(acc, a, b, c, d), element by element.
	// MaxStack and MinStack are the extreme of acc and all of x's rows.
	MaxRow, MinRow     func(out, a, b []T)
	MaxRows, MinRows   func(acc, a, b, c, d []T)
	MaxStack, MinStack func(acc, x []T, rows Stack)
	// FirstMax and FirstMin give the extreme of best, which is no NaN, and the keys, and where among the keys it
	// is first; −1 where none beats best. The first NaN beats all.
	FirstMax, FirstMin func(keys []T, best T) (T, int)
	// UpdateMax and UpdateMin let rows of keys compete with the best of each column, one after another: where a key
	// of the first row wins it becomes the best, and at becomes i, of the next row i + 1, and so on. A column whose
	// best is NaN is decided.
	UpdateMax, UpdateMin func(best []T, at []int, keys []T, rows Stack, i int)
	// MaxAt and MinAt have the table's rows become their and u's rows' extremes, one after another.
	MaxAt, MinAt func(table, u []T, p *Places)
}

// Stack is N rows, one below another: row r begins at element Begin + r·Step.
type Stack struct{ Begin, Step, N int }

// The forms that this CPU has, the fastest last.
var (
	extremes32 = []Extremes[float32]{goExtremes[float32]()}
	extremes64 = []Extremes[float64]{goExtremes[float64]()}
)

// ExtremesOf is the table of a type.
func ExtremesOf[T Number]() Extremes[T] {
	all := extremesOf[T]()
	return all[len(all)-1]
}

func extremesOf[T Number]() []Extremes[T] {
	if e, ok := any(extremes32).([]Extremes[T]); ok {
		return e
	}
	if e, ok := any(extremes64).([]Extremes[T]); ok {
		return e
	}
	return []Extremes[T]{goExtremes[T]()}
}

func goExtremes[T Number]() Extremes[T] {
	return Extremes[T]{
		maxOf[T], minOf[T], maxRow[T], minRow[T], maxRows[T], minRows[T],
		stackBy(maxRow[T], maxRows[T]), stackBy(minRow[T], minRows[T]),
		firstMax[T], firstMin[T], updatesBy(updateMax[T]), updatesBy(updateMin[T]),
		rowsAtBy(maxRow[T]), rowsAtBy(minRow[T]),
	}
}

// A comparison that is given as a function value would cost more than the rest of a step, so both ends of the order
// have loops of their own.

// maxOf is a compare and a rarely taken branch an element: faster than max, which takes care of zeros' signs,
// and than several accumulators, since the branch is foreseen.
func maxOf[T Number](x []T) T {
	best := x[0]
	for _, v := range x {
		if !(v <= best) {
			if v != v {
				return NaN[T]()
			}
			best = v
		}
	}
	if best == 0 {
		for _, v := range x {
			if v == 0 && !math.Signbit(float64(v)) {
				return v
			}
		}
	}
	return best
}

func minOf[T Number](x []T) T {
	best := x[0]
	for _, v := range x {
		if !(v >= best) {
			if v != v {
				return NaN[T]()
			}
			best = v
		}
	}
	if best == 0 {
		for _, v := range x {
			if v == 0 && math.Signbit(float64(v)) {
				return v
			}
		}
	}
	return best
}

func maxRow[T Number](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	nan := NaN[T]()
	for i := range out {
		v := max(a[i], b[i])
		if v != v {
			v = nan
		}
		out[i] = v
	}
}

func minRow[T Number](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	nan := NaN[T]()
	for i := range out {
		v := min(a[i], b[i])
		if v != v {
			v = nan
		}
		out[i] = v
	}
}

func maxRows[T Number](acc, a, b, c, d []T) {
	n := len(acc)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	nan := NaN[T]()
	for i, v := range acc {
		v = max(v, a[i], b[i], c[i], d[i])
		if v != v {
			v = nan
		}
		acc[i] = v
	}
}

func minRows[T Number](acc, a, b, c, d []T) {
	n := len(acc)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	nan := NaN[T]()
	for i, v := range acc {
		v = min(v, a[i], b[i], c[i], d[i])
		if v != v {
			v = nan
		}
		acc[i] = v
	}
}

func firstMax[T Number](keys []T, best T) (T, int) {
	at := -1
	for i, v := range keys {
		if !(v <= best) { // greater, or NaN: one rarely taken branch for both
			best, at = v, i
			if v != v {
				break
			}
		}
	}
	return best, at
}

func firstMin[T Number](keys []T, best T) (T, int) {
	at := -1
	for i, v := range keys {
		if !(v >= best) {
			best, at = v, i
			if v != v {
				break
			}
		}
	}
	return best, at
}

// updatesBy does rows by a function of one.
func updatesBy[T Number](f func(best []T, at []int, keys []T, i int)) func([]T, []int, []T, Stack, int) {
	return func(best []T, at []int, keys []T, rows Stack, i int) {
		for r := range rows.N {
			f(best, at, keys[rows.Begin+r*rows.Step:], i+r)
		}
	}
}

func updateMax[T Number](best []T, at []int, keys []T, i int) {
	at, keys = at[:len(best)], keys[:len(best)]
	for c, v := range keys {
		if b := best[c]; !(v <= b) && b == b {
			best[c], at[c] = v, i
		}
	}
}

func updateMin[T Number](best []T, at []int, keys []T, i int) {
	at, keys = at[:len(best)], keys[:len(best)]
	for c, v := range keys {
		if b := best[c]; !(v >= b) && b == b {
			best[c], at[c] = v, i
		}
	}
}

// stackBy does a stack by functions of one row and of four.
func stackBy[T any](row func(out, a, b []T), rows func(acc, a, b, c, d []T)) func(acc, x []T, s Stack) {
	return func(acc, x []T, s Stack) {
		r, at := 0, func(r int) []T { return x[s.Begin+r*s.Step:] }
		for ; r+3 < s.N; r += 4 {
			rows(acc, at(r), at(r+1), at(r+2), at(r+3))
		}
		for ; r < s.N; r++ {
			row(acc, acc, at(r))
		}
	}
}
