package cpu

import "github.com/adjoint-go/adjoint/tensor"

// Three ways to divide the work, and none changes a sum. Many products: each is one thread's. A product of many
// rows: y is packed by all threads, then rows are divided, evenly and in whole panels. A product of few rows:
// strips of columns are divided, and packed by whoever multiplies them.

// gemmProducts has the products as items.
type gemmProducts[E tensor.Element, A float] gemmRun[E, A]

func (g *gemmProducts[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	p := r.p
	w := p.spare.Get()
	b := &w.own
	w.batch.seek(&p.batch, 1, lo)
	for range hi - lo {
		p.locate(b, &w.batch)
		for p.begin(b); b.depth > 0; p.advance(b) {
			if p.packY {
				r.pack(b, w, 0, ceilDiv(b.columns, p.tile.Columns))
			}
			r.multiply(b, w, 0, ceilDiv(p.m, p.tile.Rows), 0, ceilDiv(b.columns, p.tile.Columns))
		}
		w.batch.next()
	}
	p.spare.Put(w)
}

// shared computes the products one after another, each by all threads.
func (r *gemmRun[E, A]) shared(x *Exec, products int) {
	p := r.p
	w := p.spare.Get()
	panels := ceilDiv(p.m, p.tile.Rows)
	w.batch.seek(&p.batch, 1, 0)
	for range products {
		b := &r.gemmBlock
		p.locate(b, &w.batch)
		for p.begin(b); b.depth > 0; p.advance(b) {
			strips := ceilDiv(b.columns, p.tile.Columns)
			if panels < 2*x.NumThreads() {
				x.run(strips, max(1, gemmGrain/(p.m*p.tile.Columns*b.depth)), (*gemmColumns[E, A])(r))
				continue
			}
			if p.packY {
				x.run(strips, max(1, gemmGrain/8/(p.tile.Columns*b.depth)), (*gemmPacking[E, A])(r))
			}
			x.run(panels, max(1, gemmGrain/(p.tile.Rows*b.columns*b.depth)), (*gemmRows[E, A])(r))
		}
		w.batch.next()
	}
	p.spare.Put(w)
}

// locate puts b on a product.
func (p *gemm[E, A]) locate(b *gemmBlock[A], s *strips) {
	b.cAt, b.xAt, b.yAt = s.at(0), s.at(1+p.first), s.at(2-p.first)
}

// begin puts b on the first block, advance on the next: all of k for some columns, then further columns. A
// depth of 0 is the end.
func (p *gemm[E, A]) begin(b *gemmBlock[A]) {
	b.j0, b.k0 = 0, 0
	p.measure(b)
}

func (p *gemm[E, A]) advance(b *gemmBlock[A]) {
	if b.k0 += b.depth; b.k0 == p.k {
		b.j0, b.k0 = b.j0+b.columns, 0
	}
	p.measure(b)
}

func (p *gemm[E, A]) measure(b *gemmBlock[A]) {
	b.columns, b.depth = min(p.n-b.j0, gemmStrips*p.tile.Columns), min(p.k-b.k0, gemmDepth)
	if b.columns == 0 {
		b.depth = 0
		return
	}
	strips := ceilDiv(b.columns, p.tile.Columns)
	b.packed = grown(b.packed, strips*p.tile.Columns*b.depth)
	if !p.direct && b.k0 == 0 {
		b.sums = grown(b.sums, p.m*b.columns)
	}
}

type (
	gemmPacking[E tensor.Element, A float] gemmRun[E, A]
	gemmRows[E tensor.Element, A float]    gemmRun[E, A]
	gemmColumns[E tensor.Element, A float] gemmRun[E, A]
)

func (g *gemmPacking[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	w := r.p.spare.Get()
	r.pack(&r.gemmBlock, w, lo, hi)
	r.p.spare.Put(w)
}

func (g *gemmRows[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	w := r.p.spare.Get()
	r.multiply(&r.gemmBlock, w, lo, hi, 0, ceilDiv(r.columns, r.p.tile.Columns))
	r.p.spare.Put(w)
}

func (g *gemmColumns[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	w := r.p.spare.Get()
	if r.p.packY {
		r.pack(&r.gemmBlock, w, lo, hi)
	}
	r.multiply(&r.gemmBlock, w, 0, ceilDiv(r.p.m, r.p.tile.Rows), lo, hi)
	r.p.spare.Put(w)
}

// multiply does panels p0 to p1 − 1 of strips s0 to s1 − 1 of a block.
func (r *gemmRun[E, A]) multiply(b *gemmBlock[A], w *gemmScratch[A], p0, p1, s0, s1 int) {
	p := r.p
	atOnce := max(1, gemmBytes/(gemmDepth*p.tile.Apart*sizeOf[A]()))
	for ; p0 < p1; p0 += atOnce {
		end := min(p1, p0+atOnce)
		if p.packX {
			r.packPanels(b, w, p0, end)
		}
		for s := s0; s < s1; s++ {
			for i := p0; i < end; i++ {
				r.one(b, w, i, i-p0, s)
			}
		}
		if !p.direct && b.k0+b.depth == p.k {
			r.storeRows(b, p0*p.tile.Rows, min(p.m, end*p.tile.Rows), s0*p.tile.Columns,
				min(b.columns, s1*p.tile.Columns))
		}
	}
}

// one does the tile of a panel, which is packed in a slot, and a strip.
func (r *gemmRun[E, A]) one(b *gemmBlock[A], w *gemmScratch[A], panel, slot, strip int) {
	p := r.p
	i, j, wide := panel*p.tile.Rows, strip*p.tile.Columns, p.tile.Columns
	rows, columns := min(p.tile.Rows, p.m-i), min(wide, b.columns-j)
	x, xRow, xCol := w.panels, 1, p.tile.Apart
	if p.packX {
		x = x[slot*b.depth*p.tile.Apart:]
	} else {
		x, xRow, xCol = r.xa[b.xAt+i*p.x.row+b.k0*p.x.col:], p.x.row, p.x.col
	}
	y, yRow := b.packed, wide
	switch {
	case p.packY:
		y = y[j*b.depth:]
	case columns < wide:
		if slot == 0 {
			w.strip = grown(w.strip, wide*b.depth)
			r.packStrip(b, w, w.strip, j, columns)
		}
		y = w.strip
	default:
		y, yRow = r.ya[b.yAt+b.k0*p.y.row+b.j0+j:], p.y.row
	}
	c, cRow := b.sums, b.columns
	at := i*cRow + j
	if p.direct {
		c, cRow = r.ca, p.c.row
		at = b.cAt + i*cRow + b.j0 + j
	}
	add := b.k0 > 0
	if columns == wide {
		p.tile.Multiply(rows, c[at:], cRow, x, xRow, xCol, y, yRow, b.depth, add)
		return
	}
	w.edge = grown(w.edge, p.tile.Rows*wide)
	p.tile.Multiply(rows, w.edge, wide, x, xRow, xCol, y, yRow, b.depth, false)
	for k := range rows {
		to, from := c[at+k*cRow:][:columns], w.edge[k*wide:][:columns]
		if add {
			p.add(to, to, from)
		} else {
			copy(to, from)
		}
	}
}

// storeRows stores finished sums, rounded where they are halves.
func (r *gemmRun[E, A]) storeRows(b *gemmBlock[A], i0, i1, j0, j1 int) {
	p := r.p
	for i := i0; i < i1; i++ {
		at := b.cAt + i*p.c.row + (b.j0+j0)*p.c.col
		p.rows.store(r.c, at, p.c.col, b.sums[i*b.columns:][j0:j1])
	}
}
