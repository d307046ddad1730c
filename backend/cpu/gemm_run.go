package cpu

import "github.com/adjoint-go/adjoint/tensor"

// Three ways to divide the work, and none changes a sum. Many products: each is one thread's. A product of many
// columns: rows of x are packed by all threads, then strips of columns are divided, and packed by whoever multiplies
// them, so that no thread waits for lines of y from another's cache. A product of few columns: y is packed by all
// threads, then rows are divided, evenly and in whole panels.

// gemmProducts has the products as items.
type gemmProducts[E tensor.Element, A float] gemmRun[E, A]

func (g *gemmProducts[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	p := r.p
	w := p.spare.Get()
	b := &w.own
	panels, strips := ceilDiv(p.m, p.tile.Rows), ceilDiv(p.n, p.tile.Columns)
	w.batch.seek(&p.batch, 1, lo)
	for range hi - lo {
		p.locate(b, &w.batch)
		if p.byColumns(1) {
			for p.top(b); b.depth > 0; p.further(b) {
				if p.packX {
					w.panels = grown(w.panels, panels*p.tile.Apart*b.depth)
					r.packBlocks(*b, w, w.panels, 0, panels)
				}
				r.columns(b, w, w.panels, 0, strips)
			}
		} else {
			for p.begin(b); b.depth > 0; p.advance(b) {
				if p.packY {
					r.pack(b, w, 0, ceilDiv(b.columns, p.tile.Columns))
				}
				r.multiplyRows(b, w, 0, panels)
			}
		}
		w.batch.next()
	}
	p.spare.Put(w)
}

// shared computes the products one after another, each by all threads.
func (r *gemmRun[E, A]) shared(x *Exec, products int) {
	p, b := r.p, &r.gemmBlock
	w := p.spare.Get()
	w.batch.seek(&p.batch, 1, 0)
	for range products {
		p.locate(b, &w.batch)
		if p.byColumns(x.NumThreads()) {
			r.sharedColumns(x)
		} else {
			r.sharedRows(x)
		}
		w.batch.next()
	}
	p.spare.Put(w)
}

// byColumns reports whether columns are divided: where there are few rows, and columns enough.
func (p *gemm[E, A]) byColumns(threads int) bool {
	panels, strips := ceilDiv(p.m, p.tile.Rows), ceilDiv(p.n, p.tile.Columns)
	return panels < 2*threads || panels < min(gemmFew*threads, gemmTall) && strips >= 2*threads && p.far <= gemmFar
}

func (r *gemmRun[E, A]) sharedColumns(x *Exec) {
	p, b := r.p, &r.gemmBlock
	panels, strips := ceilDiv(p.m, p.tile.Rows), ceilDiv(p.n, p.tile.Columns)
	for p.top(b); b.depth > 0; p.further(b) {
		if p.packX {
			r.panels = grown(r.panels, panels*p.tile.Apart*b.depth)
			x.run(panels, grainOf(p.tile.Rows*b.depth), (*gemmPanels[E, A])(r))
		}
		x.run(strips, max(1, gemmGrain/(p.m*p.tile.Columns*b.depth)), (*gemmColumns[E, A])(r))
	}
}

func (r *gemmRun[E, A]) sharedRows(x *Exec) {
	p, b := r.p, &r.gemmBlock
	for p.begin(b); b.depth > 0; p.advance(b) {
		if p.packY {
			strips := ceilDiv(b.columns, p.tile.Columns)
			x.run(strips, max(1, gemmGrain/8/(p.tile.Columns*b.depth)), (*gemmPacking[E, A])(r))
		}
		x.run(ceilDiv(p.m, p.tile.Rows), max(1, gemmGrain/(p.tile.Rows*b.columns*b.depth)), (*gemmRows[E, A])(r))
	}
}

// locate puts b on a product.
func (p *gemm[E, A]) locate(b *gemmBlock[A], s *strips) {
	b.cAt, b.xAt, b.yAt = s.at(0), s.at(1+p.first), s.at(2-p.first)
}

// top puts b on the columns of x that are packed at a time, and further on the next. A depth of 0 is the end.
func (p *gemm[E, A]) top(b *gemmBlock[A]) { b.k0, b.depth = 0, min(p.far, p.k) }

func (p *gemm[E, A]) further(b *gemmBlock[A]) {
	b.k0 += b.depth
	b.depth = min(p.far, p.k-b.k0)
}

// begin puts b on the first block of all rows, advance on the next: all of k for some columns, then further columns.
// A depth of 0 is the end.
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
	gemmPanels[E tensor.Element, A float]  gemmRun[E, A]
	gemmColumns[E tensor.Element, A float] gemmRun[E, A]
	gemmPacking[E tensor.Element, A float] gemmRun[E, A]
	gemmRows[E tensor.Element, A float]    gemmRun[E, A]
)

func (g *gemmPanels[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	w := r.p.spare.Get()
	r.packBlocks(r.gemmBlock, w, r.panels, lo, hi)
	r.p.spare.Put(w)
}

func (g *gemmColumns[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	w := r.p.spare.Get()
	sums := w.own.sums
	w.own = r.gemmBlock
	w.own.sums = sums
	r.columns(&w.own, w, r.panels, lo, hi)
	r.p.spare.Put(w)
}

func (g *gemmPacking[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	w := r.p.spare.Get()
	r.pack(&r.gemmBlock, w, lo, hi)
	r.p.spare.Put(w)
}

func (g *gemmRows[E, A]) chunk(lo, hi int) {
	r := (*gemmRun[E, A])(g)
	w := r.p.spare.Get()
	r.multiplyRows(&r.gemmBlock, w, lo, hi)
	r.p.spare.Put(w)
}
