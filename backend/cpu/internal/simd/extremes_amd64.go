//go:build !noasm

package simd

import (
	"math"
	"unsafe"
)

func updateBy[T Float](f func(best *T, at *int, keys *T, i, n int), rest func([]T, []int, []T, int)) func(
	[]T, []int, []T, int) {
	lanes := 32 / int(unsafe.Sizeof(*new(T)))
	return func(best []T, at []int, keys []T, i int) {
		at, keys = at[:len(best)], keys[:len(best)]
		for len(best) >= lanes {
			n := min(len(best), most) &^ (lanes - 1)
			f(unsafe.SliceData(best), unsafe.SliceData(at), unsafe.SliceData(keys), i, n)
			best, at, keys = best[n:], at[n:], keys[n:]
		}
		rest(best, at, keys, i)
	}
}

// wideExtremes is a narrow form but for what a wide one gains by.
func wideExtremes[T Float](narrow Extremes[T], updateMax, updateMin updateKernel[T],
	greatest, smallest wideEnds[T]) Extremes[T] {
	wide := narrow
	wide.Max, wide.Min, wide.FirstMax, wide.FirstMin = greatest.of, smallest.of, greatest.first, smallest.first
	wide.MaxStack, wide.MinStack = wideStackBy(greatest.stack), wideStackBy(smallest.stack)
	wide.UpdateMax, wide.UpdateMin = wideUpdateBy(updateMax), wideUpdateBy(updateMin)
	return wide
}

// updateKernel lets rows, a number of bytes apart, compete with the best of n columns.
type updateKernel[T Float] func(best *T, at *int, keys *T, step, rows, i, n int)

// stackKernel joins rows, a number of bytes apart, to n accumulators.
type stackKernel[T Float] func(acc, x *T, step, rows, n int)

// wideUpdateBy and wideStackBy go tile by tile over a stack.
func wideUpdateBy[T Float](f updateKernel[T]) func([]T, []int, []T, Stack, int) {
	return func(best []T, at []int, keys []T, rows Stack, i int) {
		at = at[:len(best)]
		inTiles(len(best), keys, rows, func(c int, top *T, step, r, height, width int) {
			f(&best[c], &at[c], top, step, height, i+r, width)
		})
	}
}

func wideStackBy[T Float](f stackKernel[T]) func(acc, x []T, rows Stack) {
	return func(acc, x []T, rows Stack) {
		inTiles(len(acc), x, rows, func(c int, top *T, step, _, height, width int) {
			f(&acc[c], top, step, height, width)
		})
	}
}

// inTiles cuts rows of some columns into tiles of what a call does: so many rows that they are streams which the
// memory is fastest with. Tile f begins at column c and row r.
func inTiles[T Float](columns int, x []T, rows Stack, f func(c int, top *T, step, r, height, width int)) {
	const height, width = 16, 2048
	size := int(unsafe.Sizeof(*new(T)))
	for r := 0; r < rows.N && columns > 0; r += height {
		n := min(height, rows.N-r)
		first := rows.Begin + r*rows.Step
		top, _ := x[first:][:columns], x[first+(n-1)*rows.Step:][:columns]
		for c := 0; c < columns; c += width {
			f(c, &top[c], rows.Step*size, r, n, min(width, columns-c))
		}
	}
}

// ends is the kernels of one end of the order.
type ends[T Float] struct {
	extreme   func(x *T, n int) (m T, nan, signs uint32)
	findEqual func(x *T, n int, v T) int
	findNaN   func(x *T, n int, v T) int
	most      bool
}

// shortLine is the length of a line that the Go code is faster on, and no less than a register of elements.
const shortLine = 16

// of is the extreme of x. A zero takes its sign from those of all elements: where the greatest is 0 an element
// without a sign can only be +0.
func (e *ends[T]) of(x []T) T {
	if len(x) < shortLine {
		if e.most {
			return maxOf(x)
		}
		return minOf(x)
	}
	all := uint32(1)<<(32/unsafe.Sizeof(x[0])) - 1
	var best T
	for i := 0; i < len(x); {
		n := e.piece(len(x) - i)
		m, nan, signs := e.extreme(&x[i], n)
		if nan != 0 {
			return NaN[T]()
		}
		if m == 0 {
			m = T(math.Copysign(0, 1))
			if e.most && signs == all || !e.most && signs != 0 {
				m = -m
			}
		}
		switch {
		case i == 0:
			best = m
		case e.most:
			best = max(best, m)
		default:
			best = min(best, m)
		}
		i += n
	}
	return best
}

// piece is how much of n elements a call does. What it leaves is no shorter than a short line.
func (e *ends[T]) piece(n int) int {
	const piece = 4096
	if n < piece+shortLine {
		return n
	}
	return piece
}

// first finds the extreme of each piece and, in the end, its place in the piece that won: all but one piece is
// read without looking for places.
func (e *ends[T]) first(keys []T, best T) (T, int) {
	if len(keys) < shortLine {
		if e.most {
			return firstMax(keys, best)
		}
		return firstMin(keys, best)
	}
	won, size := -1, 0
	for i := 0; i < len(keys); {
		n := e.piece(len(keys) - i)
		m, nan, _ := e.extreme(&keys[i], n)
		if nan != 0 {
			at := i + e.findNaN(&keys[i], n, 0)
			return keys[at], at
		}
		if e.most && m > best || !e.most && m < best {
			best, won, size = m, i, n
		}
		i += n
	}
	if won < 0 {
		return best, -1
	}
	at := won + e.findEqual(&keys[won], size, best)
	return keys[at], at
}

// wideEnds is the same in wide registers.
type wideEnds[T Float] struct {
	extreme func(x *T, n int) (m T, nan uint32)
	where   func(x *T, n int) (at int, nan uint32)
	stack   stackKernel[T]
	narrow  ends[T]
}

// group is how many elements where takes at least.
func (e *wideEnds[T]) group() int { return 256 / int(unsafe.Sizeof(*new(T))) }

// piece is how much of n elements a call does. What it leaves is no less than a group.
func (e *wideEnds[T]) piece(n int) int {
	if n < most+e.group() {
		return n
	}
	return most
}

func (e *wideEnds[T]) of(x []T) T {
	if len(x) < shortLine {
		return e.narrow.of(x)
	}
	best := x[0]
	for len(x) > 0 {
		n := e.piece(len(x))
		m, nan := e.extreme(&x[0], n)
		if nan != 0 {
			return NaN[T]()
		}
		if e.narrow.most {
			best = max(best, m)
		} else {
			best = min(best, m)
		}
		x = x[n:]
	}
	return best
}

func (e *wideEnds[T]) first(keys []T, best T) (T, int) {
	if len(keys) < e.group() {
		return e.narrow.first(keys, best)
	}
	won := -1
	for i := 0; i < len(keys); {
		n := e.piece(len(keys) - i)
		at, nan := e.where(&keys[i], n)
		if nan != 0 {
			at = i + e.narrow.findNaN(&keys[i], n, 0)
			return keys[at], at
		}
		if v := keys[i:][at]; e.narrow.most && v > best || !e.narrow.most && v < best {
			best, won = v, i+at
		}
		i += n
	}
	return best, won
}
