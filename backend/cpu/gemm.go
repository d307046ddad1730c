package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// gemm is the matrix product of floats on CPUs with fused multiply-adds, by tiles of 6 or 12 rows and two
// registers of columns. As in matmul the order is fixed by the extents: k is cut in blocks of 256, a block is a
// chain of fused multiply-adds from 0 on, and the sums of the blocks are added in order. So the bits do not
// depend on layouts, on the tile, on what is packed or on threads, but they are not those of matmul, which
// rounds every product.
//
// It is bound by arithmetic: a tile keeps 12 or 24 sums in registers, and for as many fused operations it loads
// two registers and as many scalars as it has rows. x is packed, in panels of as many rows as a tile has, where
// there are enough strips of columns to pay for it, and else read where it lies; y is packed by strips as wide as a
// tile, which stay in the nearest cache while the rows of x pass by.
type gemm[E tensor.Element, A float] struct {
	operands planning.Operands
	rows     rowsOf[E, A]
	tile     *simd.Tile[A]
	turn     func(dst []A, dstRow int, src []A, srcRow, rows, columns int)
	add      func(out, a, b []A)
	batch    nest // operand 0 the result, 1 and 2 the matrices
	m, k, n  int
	first    int    // the operand that is x: 0, or 1 where the transposed product is computed
	x, y, c  matrix // of the product that is computed
	direct   bool   // tiles are stored in the result, whose rows are dense
	packX    bool
	packY    bool
	gathered bool        // strips of y are made of pieces:
	whole    simd.Pieces // all columns of a strip
	rest     simd.Pieces // and those of the last one
	far      int         // columns of x, packed at a time where columns of the result are divided

	states planning.States[gemmRun[E, A]]
	spare  planning.States[gemmScratch[A]]
}

const (
	gemmDepth  = matmulBlock // of k
	gemmStrips = 64          // of y, packed at a time: one or two megabytes
	gemmBytes  = 128 << 10   // of x, packed at a time: for the second-level cache

	gemmGroup = 4    // strips that a block of packed x is read for: their sums stay in the second-level cache
	gemmFar   = 4096 // columns of x that are packed at once, where sums may wait in the result
	gemmFew   = 16   // panels for each thread: with fewer of them columns are divided
	gemmTall  = 96   // and with no more in all, so that a block of k stays in the second-level cache

	packStrips = 16        // from this number of strips on packing x pays
	packPanels = 4         // and from this number of panels packing y
	nearBytes  = 128 << 10 // but not a y as small as this: the second-level cache gives it fast enough
)

func newGemm[E tensor.Element, A float](out, x, y graph.Operand, rows rowsOf[E, A]) graph.Kernel {
	r := x.Rank()
	p := &gemm[E, A]{
		operands: planning.Operands{Out: []graph.Operand{out}, In: []graph.Operand{x, y}}, rows: rows,
		turn: simd.MovementOf[A]().Transpose, add: simd.SumsOf[A]().Row,
		batch: newNest(batchOf(out), batchOf(x), batchOf(y)),
		m:     x.Shape[r-2], k: x.Shape[r-1], n: y.Shape[r-1],
		x: matrixOf(x), y: matrixOf(y), c: matrixOf(out),
	}
	if p.c.col != 1 && p.c.row == 1 { // dense columns: the rows of the transposed product
		p.first = 1
		p.m, p.n = p.n, p.m
		p.x, p.y, p.c = p.y.transposed(), p.x.transposed(), p.c.transposed()
	}
	tile := simd.TileOf[A](p.n)
	p.tile = tile
	p.direct = rows.same && p.c.col == 1 && p.c.row >= 0
	p.packX = !rows.same || p.x.row < 0 || p.x.col < 0 || ceilDiv(p.n, tile.Columns) >= packStrips
	p.far = p.k
	if p.direct {
		p.far = min(p.k, gemmFar)
	}
	if p.gathered = rows.same && p.y.col == 1 && p.y.row >= 0 && tile.HasPieces(); p.gathered {
		p.whole, p.rest = piecesOf(tile, tile.Columns), piecesOf(tile, p.n%tile.Columns)
	}
	near := p.n%tile.Columns == 0 && p.k*p.n*sizeOf[A]() <= nearBytes
	p.packY = !rows.same || p.y.row < 0 || p.y.col != 1 || ceilDiv(p.m, tile.Rows) >= packPanels && !near
	return p
}

// gemmRun is one run. The fields from block on are of the product that threads share.
type gemmRun[E tensor.Element, A float] struct {
	p          *gemm[E, A]
	x, y, c    []E
	xa, ya, ca []A // the same elements, where E is A
	gemmBlock[A]
	panels []A // packed rows of x
}

// gemmBlock is a block of k and of columns of one product.
type gemmBlock[A any] struct {
	xAt, yAt, cAt int // of the product
	j0, columns   int
	k0, depth     int
	packed        []A // strips of y
	sums          []A // of the result's columns, where tiles are not stored there
}

// gemmScratch is what a thread works with.
type gemmScratch[A any] struct {
	batch  strips
	own    gemmBlock[A] // of a product that is the thread's alone
	panels []A          // packed rows of x
	line   []A          // of x or y, loaded
	strip  []A          // the one at the right edge, packed where others are not
	edge   []A          // a tile at the right edge
}

func (p *gemm[E, A]) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	products := p.batch.size()
	if products == 0 || p.m == 0 || p.n == 0 {
		return nil
	}
	exec := x.(*Exec)
	r := p.states.Get()
	xs, ys, cs := in[p.first].Storage(), in[1-p.first].Storage(), out[0].Storage()
	r.p, r.x, r.y, r.c = p, tensor.Elements[E](xs), tensor.Elements[E](ys), tensor.Elements[E](cs)
	if p.rows.same {
		r.xa, r.ya, r.ca = elementsOf[A](xs), elementsOf[A](ys), elementsOf[A](cs)
	}
	work := p.m * p.n * p.k
	if threads := exec.NumThreads(); threads == 1 || products >= 4*threads || work < shareGemm {
		exec.run(products, max(1, gemmGrain/max(work, 1)), (*gemmProducts[E, A])(r))
	} else {
		r.shared(exec, products)
	}
	r.x, r.y, r.c, r.xa, r.ya, r.ca = nil, nil, nil, nil, nil, nil
	p.states.Put(r)
	return nil
}

// Work is counted in products of elements, of which a core does some 40,000 in a microsecond.
const (
	shareGemm = 1 << 19 // a product worth several threads
	gemmGrain = 1 << 17 // a chunk
)
