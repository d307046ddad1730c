package simd

import "math/bits"

// BlockSize is the number of neighbours that make a block, the leaf of the tree by which a sum is taken.
const BlockSize = 128

// shortBlock is the most elements of a block that has one lane.
const shortBlock = 16

// Sums is addition, for reductions.
type Sums[T Summable] struct {
	// Block is the sum of up to BlockSize elements: in eight lanes, lane j of which starts at 0 and takes every
	// element whose place is j modulo 8, in order, joined as ((l₀+l₄) + (l₂+l₆)) + ((l₁+l₅) + (l₃+l₇)). A block of
	// 16 elements or fewer is added one by one, from 0 on.
	Block func(x []T) T
	// Line is the tree of blocks of any number of elements, one or more: of one block it is Block, of more
	// Line(left) + Line(right), where left is the largest power of two of blocks that is less than their number.
	Line func(x []T) T
	// Row is out = a + b, Rows is acc = (((acc + a) + b) + c) + d, element by element.
	Row  func(out, a, b []T)
	Rows func(acc, a, b, c, d []T)
	// AddAt adds u's rows to the table's, one after another.
	AddAt func(table, u []T, p *Places)
}

var (
	sums32 = goSums[float32]()
	sums64 = goSums[float64]()
)

// SumsOf is the table of a type.
func SumsOf[T Summable]() Sums[T] {
	switch s := any(&sums32).(type) {
	case *Sums[T]:
		return *s
	}
	switch s := any(&sums64).(type) {
	case *Sums[T]:
		return *s
	}
	return goSums[T]()
}

func goSums[T Summable]() Sums[T] {
	return Sums[T]{sumBlock[T], sumLine[T], addRow[T], addRows[T], rowsAtBy(addRow[T])}
}

// sumBlock is bound by the latency of addition where there are few lanes; eight hide it in scalar code.
func sumBlock[T Summable](x []T) T {
	if len(x) <= shortBlock {
		var a T
		for _, v := range x {
			a += v
		}
		return a
	}
	var a0, a1, a2, a3, a4, a5, a6, a7 T
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
		var y [8]T // further zeros change no lane: none is −0
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

func sumLine[T Summable](x []T) T { return sumTree(x, BlockSize, sumBlock[T]) }

// treeLevels is how many times a line of any length can be halved.
const treeLevels = 48

// sumTree is the tree of leaves of some elements, a power of two of blocks, of which there is one or more. It
// counts in binary: level k is the value of 2ᵏ leaves.
func sumTree[T Summable](x []T, leaf int, sum func(x []T) T) T {
	var level [treeLevels]T
	n := uint(0)
	for ; len(x) > leaf; n++ {
		v, k := sum(x[:leaf]), 0
		for ; n>>k&1 == 1; k++ {
			v = level[k%treeLevels] + v
		}
		level[k%treeLevels] = v
		x = x[leaf:]
	}
	v := sum(x)
	for ; n != 0; n &= n - 1 {
		v = level[bits.TrailingZeros(n)%treeLevels] + v
	}
	return v
}

func addRow[T Summable](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] + b[i]
	}
}

func addRows[T Summable](acc, a, b, c, d []T) {
	n := len(acc)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i, v := range acc {
		acc[i] = v + a[i] + b[i] + c[i] + d[i]
	}
}
