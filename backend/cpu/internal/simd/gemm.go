package simd

// TileRows is the most rows of a tile.
const TileRows = 6

// Tile is the inner kernel of a matrix product: a few rows of a times Columns columns of b. There is none
// without assembly. It fuses each product with its sum: the sums of a tile are
//
//	s ← fma(a[i, k], b[k, j], s), from 0 on, k in order
//
// whatever the strides and the number of rows, and they are stored in c or added to it.
type Tile[T Float] struct {
	Columns int
	by      [TileRows + 1]tileKernel[T]
	squares func(dst, a *T, aRow, squares int) // packs as many columns of TileRows rows as a register holds
}

type tileKernel[T Float] func(c *T, cRow int, a *T, aRow, aCol int, b *T, bRow, depth, add int)

// PackedRow is how far apart Pack puts the columns of a.
const PackedRow = 8

var (
	tile32 *Tile[float32]
	tile64 *Tile[float64]
)

// TileOf is the tile of a type, nil where there is none.
func TileOf[T Float]() *Tile[T] {
	if t, ok := any(tile32).(*Tile[T]); ok {
		return t
	}
	return any(tile64).(*Tile[T])
}

// Multiply does a tile of 1 to TileRows rows and a depth of 1 to 1024: element (i, k) of a is
// a[i·aRow + k·aCol], row k of b begins at b[k·bRow], row i of c at c[i·cRow]. Strides are not negative.
func (t *Tile[T]) Multiply(rows int, c []T, cRow int, a []T, aRow, aCol int, b []T, bRow, depth int, add bool) {
	// What assembly reaches, checked here.
	_, _, _ = c[(rows-1)*cRow+t.Columns-1], a[(rows-1)*aRow+(depth-1)*aCol], b[(depth-1)*bRow+t.Columns-1]
	sum := 0
	if add {
		sum = 1
	}
	t.by[rows](&c[0], cRow, &a[0], aRow, aCol, &b[0], bRow, depth, sum)
}

// Pack is dst[k·PackedRow + i] = a[i·aRow + k] for i < TileRows, k < depth. What it leaves between is zero.
func (t *Tile[T]) Pack(dst, a []T, aRow, depth int) {
	lanes := t.Columns / 2
	dst = dst[:depth*PackedRow]
	_ = a[(TileRows-1)*aRow+depth-1]
	whole := depth &^ (lanes - 1)
	if whole > 0 {
		t.squares(&dst[0], &a[0], aRow, whole/lanes)
	}
	for k := whole; k < depth; k++ {
		to := dst[k*PackedRow:][:PackedRow]
		for i := range TileRows {
			to[i] = a[i*aRow+k]
		}
		clear(to[TileRows:])
	}
}
