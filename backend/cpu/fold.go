package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

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
// cycle) in scalar code; vector code takes several blocks at a time, which are independent.
const (
	blockSize  = simd.BlockSize
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
	block    func(x []A) A                     // of one element or more, in lanes; of any number in any order
	line     func(x []A) A                     // the tree of one element or more; nil: block by block
	row      func(out, a, b []A)               // a ∘ b, column by column
	rows     func(acc, a, b, c, d []A)         // ((acc∘a)∘b)∘c)∘d, column by column
	stack    func(acc, x []A, rows simd.Stack) // acc ∘ the first row ∘ the next …; nil: four by four
}

func sumOf[A summable](anyOrder bool) *fold[A] {
	s := simd.SumsOf[A]()
	f := &fold[A]{anyOrder: anyOrder, join: add[A], block: s.Block, row: s.Row, rows: s.Rows}
	if !anyOrder {
		f.line = s.Line
	}
	return f
}

func prodOf[A number](anyOrder bool) *fold[A] {
	row := simd.ArithmeticOf[A]().Mul
	return &fold[A]{identity: 1, anyOrder: anyOrder, join: mul[A], block: prodBlock[A], row: row, rows: prodRows[A]}
}

var complexProd = &fold[complex128]{
	identity: 1, join: product, block: prodComplexBlock, row: prodComplexRow, rows: prodComplexRows,
}

// maxOf and minOf are Max and Min with the given identity.
func maxOf[A number](identity A) *fold[A] {
	e := simd.ExtremesOf[A]()
	return &fold[A]{identity: identity, anyOrder: true, join: maxPair[A], block: e.Max, row: e.MaxRow, rows: e.MaxRows,
		stack: e.MaxStack}
}

func minOf[A number](identity A) *fold[A] {
	e := simd.ExtremesOf[A]()
	return &fold[A]{identity: identity, anyOrder: true, join: minPair[A], block: e.Min, row: e.MinRow, rows: e.MinRows,
		stack: e.MinStack}
}

func add[A summable](a, b A) A   { return a + b }
func mul[A number](a, b A) A     { return a * b }
func maxPair[A number](a, b A) A { return max(a, b) } // NaN wins, −0 is below +0: as the language has it
func minPair[A number](a, b A) A { return min(a, b) }

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

func prodComplexRow(out, a, b []complex128) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = product(a[i], b[i])
	}
}

func prodComplexRows(acc, a, b, c, d []complex128) {
	for _, x := range [][]complex128{a, b, c, d} {
		prodComplexRow(acc, acc, x)
	}
}
