package cpu

// The tree. A reduction that rounds (float and complex Sum and Prod, the sum inside LogSumExp and Softmax)
// takes its elements x₀ … xₙ₋₁ in row-major order of the reduced axes and joins them in one fixed order:
//
//	block     128 neighbours x₁₂₈ᵦ … ; the last block may be shorter
//	lane      in a block, lane j of 8 starts at the identity (0, 1) and takes every x whose place in the
//	          block is j modulo 8, in order
//	join      ((lane₀∘lane₄) ∘ (lane₂∘lane₆)) ∘ ((lane₁∘lane₅) ∘ (lane₃∘lane₇)) is the block's value
//	short     a block of 16 or fewer has one lane: it is folded from the identity on, one by one, which is the
//	          order that StableHLO's windows are written down in, and spares the joins
//	tree(b₀…) of one block it is the block's value; of more it is tree(left) ∘ tree(rest), where left is the
//	          largest power of two of blocks that is less than their number
//
// The order depends on the extents alone: not on layouts, on which loop was chosen, or on threads. The error
// grows with 16 + log₂(n/128) roundings, not with n. 8 lanes hide the latency of addition (4 cycles, 2 a
// cycle) in scalar code; wider machines take several blocks at a time, which are independent.
const (
	blockSize  = 128
	lanes      = 8
	shortBlock = 16
)

// lanesOf is the number of lanes of a block of n elements.
func lanesOf(n int) int {
	if n <= shortBlock {
		return 1
	}
	return lanes
}

// fold is a reduction as the loops use it: each function does a whole block or row.
type fold[A any] struct {
	identity A
	anyOrder bool // the same bits in every order: no lanes, no tree
	join     func(a, b A) A
	block    func(x []A) A             // of one element or more, in lanes
	row      func(acc, a []A)          // acc ∘ a, column by column
	rows     func(acc, a, b, c, d []A) // ((acc∘a)∘b)∘c)∘d, column by column
}

func sumOf[A summable](anyOrder bool) *fold[A] {
	return &fold[A]{0, anyOrder, add[A], sumBlock[A], sumRow[A], sumRows[A]}
}

func prodOf[A number](anyOrder bool) *fold[A] {
	return &fold[A]{1, anyOrder, mul[A], prodBlock[A], prodRow[A], prodRows[A]}
}

var complexProd = &fold[complex128]{1, false, product, prodComplexBlock, prodComplexRow, prodComplexRows}

// maxOf and minOf are Max and Min with the given identity; integers have no NaN and only one zero, so their
// blocks are plain loops.
func maxOf[A number](identity A, block func([]A) A) *fold[A] {
	return &fold[A]{identity, true, maxPair[A], block, maxRow[A], maxColumns[A]}
}

func minOf[A number](identity A, block func([]A) A) *fold[A] {
	return &fold[A]{identity, true, minPair[A], block, minRow[A], minColumns[A]}
}

func add[A summable](a, b A) A   { return a + b }
func mul[A number](a, b A) A     { return a * b }
func maxPair[A number](a, b A) A { return max(a, b) } // NaN wins, −0 is below +0: as the language has it
func minPair[A number](a, b A) A { return min(a, b) }

func sumBlock[A summable](x []A) A {
	if len(x) <= shortBlock {
		var a A
		for _, v := range x {
			a += v
		}
		return a
	}
	var a0, a1, a2, a3, a4, a5, a6, a7 A
	for len(x) >= 8 {
		y := x[:8]
		a0 += y[0]
		a1 += y[1]
		a2 += y[2]
		a3 += y[3]
		a4 += y[4]
		a5 += y[5]
		a6 += y[6]
		a7 += y[7]
		x = x[8:]
	}
	if len(x) > 0 {
		var y [8]A // further zeros change no lane: none is −0
		copy(y[:], x)
		a0 += y[0]
		a1 += y[1]
		a2 += y[2]
		a3 += y[3]
		a4 += y[4]
		a5 += y[5]
		a6 += y[6]
	}
	return ((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7))
}

func sumRow[A summable](acc, a []A) {
	a = a[:len(acc)]
	for i, v := range acc {
		acc[i] = v + a[i]
	}
}

func sumRows[A summable](acc, a, b, c, d []A) {
	n := len(acc)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i, v := range acc {
		acc[i] = v + a[i] + b[i] + c[i] + d[i]
	}
}

func prodBlock[A number](x []A) A {
	var l [lanes]A
	for j := range l {
		l[j] = 1
	}
	if len(x) <= shortBlock {
		for _, v := range x {
			l[0] *= v
		}
		return l[0]
	}
	for len(x) >= lanes {
		y := (*[lanes]A)(x)
		for j := range l {
			l[j] *= y[j]
		}
		x = x[lanes:]
	}
	for j, v := range x {
		l[j] *= v
	}
	return ((l[0] * l[4]) * (l[2] * l[6])) * ((l[1] * l[5]) * (l[3] * l[7]))
}

func prodRow[A number](acc, a []A) {
	a = a[:len(acc)]
	for i, v := range acc {
		acc[i] = v * a[i]
	}
}

func prodRows[A number](acc, a, b, c, d []A) {
	n := len(acc)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i, v := range acc {
		acc[i] = v * a[i] * b[i] * c[i] * d[i]
	}
}

func prodComplexBlock(x []complex128) complex128 {
	l := [lanes]complex128{1, 1, 1, 1, 1, 1, 1, 1}
	used := lanesOf(len(x))
	for i, v := range x {
		l[i%used] = product(l[i%used], v)
	}
	if used == 1 {
		return l[0]
	}
	return product(product(product(l[0], l[4]), product(l[2], l[6])),
		product(product(l[1], l[5]), product(l[3], l[7])))
}

func prodComplexRow(acc, a []complex128) {
	for i, v := range acc {
		acc[i] = product(v, a[i])
	}
}

func prodComplexRows(acc, a, b, c, d []complex128) {
	for _, x := range [][]complex128{a, b, c, d} {
		prodComplexRow(acc, x)
	}
}

// maxBlock is a compare and a rarely taken branch an element: faster than max, which takes care of zeros'
// signs, and than several accumulators, since the branch is foreseen.
func maxBlock[A number](x []A) A {
	best := x[0]
	for _, v := range x {
		if !(v <= best) {
			best = v
			if v != v {
				break
			}
		}
	}
	return best
}

// maxFloatBlock is maxBlock where +0 is above −0.
func maxFloatBlock[A float](x []A) A {
	best := maxBlock(x)
	if best == 0 {
		for _, v := range x {
			if v == 0 && 1/v > 0 {
				return v
			}
		}
	}
	return best
}

func maxRow[A number](acc, a []A) {
	a = a[:len(acc)]
	for i, v := range acc {
		acc[i] = max(v, a[i])
	}
}

func maxColumns[A number](acc, a, b, c, d []A) {
	n := len(acc)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i, v := range acc {
		acc[i] = max(v, a[i], b[i], c[i], d[i])
	}
}

func minBlock[A number](x []A) A {
	best := x[0]
	for _, v := range x {
		if !(v >= best) {
			best = v
			if v != v {
				break
			}
		}
	}
	return best
}

// minFloatBlock is minBlock where −0 is below +0.
func minFloatBlock[A float](x []A) A {
	best := minBlock(x)
	if best == 0 {
		for _, v := range x {
			if v == 0 && 1/v < 0 {
				return v
			}
		}
	}
	return best
}

func minRow[A number](acc, a []A) {
	a = a[:len(acc)]
	for i, v := range acc {
		acc[i] = min(v, a[i])
	}
}

func minColumns[A number](acc, a, b, c, d []A) {
	n := len(acc)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i, v := range acc {
		acc[i] = min(v, a[i], b[i], c[i], d[i])
	}
}
