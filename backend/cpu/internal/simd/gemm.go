package simd

import "unsafe"

// RowUnit divides the number of rows of every tile.
const RowUnit = 6

// Tile is the inner kernel of a matrix product: a few rows of a times Columns columns of b. There is none
// without assembly. It fuses each product with its sum: the sums of a tile are
//
//	s ← fma(a[i, k], b[k, j], s), from 0 on, k in order
//
// whatever the tile, the strides and the number of rows, and they are stored in c or added to it.
type Tile[T Float] struct {
	Rows, Columns int // at most
	Apart         int // how far apart Pack puts the columns of a, no less than Rows
	by            []tileKernel[T]
	packed        panelsKernel[T]                                                        // of Rows rows, a as Pack has it, b as wide as a tile
	squares       func(dst, a *T, aRow, squares int)                                     // packs squares of 32 bytes of Rows rows
	pieces        func(dst, src *T, from, dstRow, srcRow, rows int, pieces *byte, n int) // nil with narrow registers
}

type (
	tileKernel[T Float]   func(c *T, cRow int, a *T, aRow, aCol int, b *T, bRow, depth, add int)
	panelsKernel[T Float] func(c *T, cRow int, a, b *T, depth, add, panels int)
)

// The tiles of a type, the narrower ones first.
var (
	tiles32 []*Tile[float32]
	tiles64 []*Tile[float64]
)

// TileOf is the tile for products of so many columns, nil where there is none: the widest that they fill, or
// the next, of which they fill more than half.
func TileOf[T Float](columns int) *Tile[T] {
	tiles, ok := any(tiles32).([]*Tile[T])
	if !ok {
		tiles = any(tiles64).([]*Tile[T])
	}
	var best *Tile[T]
	for _, t := range tiles {
		if best == nil || columns > t.Columns/2 {
			best = t
		}
	}
	return best
}

// Multiply does a tile of 1 to t.Rows rows and a depth of 1 to 1024: element (i, k) of a is
// a[i·aRow + k·aCol], row k of b begins at b[k·bRow], row i of c at c[i·cRow]. Strides are not negative.
func (t *Tile[T]) Multiply(rows int, c []T, cRow int, a []T, aRow, aCol int, b []T, bRow, depth int, add bool) {
	if rows == t.Rows && aRow == 1 && aCol == t.Apart && bRow == t.Columns {
		t.Panels(rows, c, cRow, a, b, depth, add)
		return
	}
	// What assembly reaches, checked here.
	_, _, _ = c[(rows-1)*cRow+t.Columns-1], a[(rows-1)*aRow+(depth-1)*aCol], b[(depth-1)*bRow+t.Columns-1]
	t.by[rows](&c[0], cRow, &a[0], aRow, aCol, &b[0], bRow, depth, one(add))
}

// Panels is the same for rows by the panel: a as Pack has it, panel after panel, and b as wide as a tile. The last
// panel may have fewer rows.
func (t *Tile[T]) Panels(rows int, c []T, cRow int, a, b []T, depth int, add bool) {
	panel, sum := depth*t.Apart, one(add)
	_, _ = c[(rows-1)*cRow+t.Columns-1], b[depth*t.Columns-1]
	_ = a[(rows-1)/t.Rows*panel+(depth-1)*t.Apart+(rows-1)%t.Rows]
	whole, most := rows/t.Rows, max(1, panelsOfCall/depth)
	for whole > 0 {
		n := min(whole, most)
		t.packed(&c[0], cRow, &a[0], &b[0], depth, sum, n)
		if rows -= n * t.Rows; rows == 0 {
			return
		}
		whole -= n
		c, a = c[n*t.Rows*cRow:], a[n*panel:]
	}
	t.by[rows](&c[0], cRow, &a[0], 1, t.Apart, &b[0], t.Columns, depth, sum)
}

// panelsOfCall is the depth of all panels of a call together, for some 15 µs.
const panelsOfCall = 1 << 12

// one is what kernels take for a bool.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Pack is dst[k·t.Apart + i] = a[i·aRow + k] for i < t.Rows, k < depth. What it leaves between is zero.
func (t *Tile[T]) Pack(dst, a []T, aRow, depth int) {
	lanes := 32 / int(unsafe.Sizeof(a[0]))
	dst = dst[:depth*t.Apart]
	_ = a[(t.Rows-1)*aRow+depth-1]
	whole := depth &^ (lanes - 1)
	if whole > 0 {
		t.squares(&dst[0], &a[0], aRow, whole/lanes)
	}
	for k := whole; k < depth; k++ {
		to := dst[k*t.Apart:][:t.Apart]
		for i := range t.Rows {
			to[i] = a[i*aRow+k]
		}
		clear(to[t.Rows:])
	}
}
