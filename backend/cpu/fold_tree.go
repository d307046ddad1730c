package cpu

import "math/bits"

// cascade joins the values of blocks into the tree as they come: a binary counter whose level k holds the
// value of 2ᵏ blocks. The value of 2ᵏ blocks at an aligned place is a subtree, so pieces of a line that are
// such runs of blocks can be folded apart and pushed like blocks.
type cascade[A any] struct {
	n     uint
	level [64]A
}

func (c *cascade[A]) push(f *fold[A], v A) { c.pushTree(f, v, 0) }

// pushTree pushes the value of 2ᵏ blocks; the number of those before is a multiple of 2ᵏ.
func (c *cascade[A]) pushTree(f *fold[A], v A, k int) {
	one := uint(1) << k
	for ; c.n>>k&1 == 1; k++ {
		v = f.join(c.level[k&63], v)
	}
	c.level[k&63] = v
	c.n += one
}

// total joins what is left, the smallest subtrees first, and empties the cascade.
func (c *cascade[A]) total(f *fold[A]) A {
	n := c.n
	c.n = 0
	if n == 0 {
		return f.identity
	}
	k := bits.TrailingZeros(n)
	v := c.level[k&63]
	for n &= n - 1; n != 0; n &= n - 1 {
		v = f.join(c.level[bits.TrailingZeros(n)&63], v)
	}
	return v
}

// rowCascade is a cascade of many lines side by side: a level is a row of width values.
type rowCascade[A any] struct {
	n      uint
	width  int
	levels []A
}

// reset empties the cascade and makes room for a number of blocks.
func (c *rowCascade[A]) reset(width, blocks int) {
	c.n, c.width = 0, width
	c.levels = grown(c.levels, width*(bits.Len(uint(blocks))+1))
}

func (c *rowCascade[A]) level(k, columns int) []A { return c.levels[k*c.width:][:columns] }

// push takes a row of values and leaves it changed.
func (c *rowCascade[A]) push(f *fold[A], v []A) {
	k := bits.TrailingZeros(^c.n)
	for i := range k {
		f.row(v, v, c.level(i, len(v)))
	}
	copy(c.level(k, len(v)), v)
	c.n++
}

// total writes the totals to out and empties the cascade.
func (c *rowCascade[A]) total(f *fold[A], out []A) {
	n := c.n
	c.n = 0
	if n == 0 {
		setAll(out, f.identity)
		return
	}
	copy(out, c.level(bits.TrailingZeros(n), len(out)))
	for n &= n - 1; n != 0; n &= n - 1 {
		f.row(out, out, c.level(bits.TrailingZeros(n), len(out)))
	}
}

func setAll[A any](x []A, v A) {
	for i := range x {
		x[i] = v
	}
}

// treePieces cuts n elements into about the wanted number of equal runs of 2ᵏ blocks; the last may be
// shorter.
func treePieces(n, wanted int) (size, pieces int) {
	if wanted <= 1 {
		return n, 1
	}
	size = blockSize
	for wanted < n/size {
		size *= 2
	}
	return size, max(1, ceilDiv(n, size))
}

// runs walks a nest of one operand as runs of equally spaced elements.
type runs struct {
	n  *nest
	c  cursor
	in int // place in the row
}

func (r *runs) seek(n *nest, pos int) {
	r.n, r.in = n, 0
	row := 0
	if pos > 0 {
		row, r.in = pos/n.row, pos%n.row
	}
	r.c.seek(n, row)
}

// next is where the next run of up to limit elements begins, and its length.
func (r *runs) next(limit int) (at, count int) {
	at = r.c.at[0] + r.in*r.n.step[0]
	count = min(limit, r.n.row-r.in)
	if r.in += count; r.in == r.n.row {
		r.in = 0
		r.c.next(r.n)
	}
	return at, count
}
