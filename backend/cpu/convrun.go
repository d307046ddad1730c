package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// convRun is one run. An item is some rows of some columns of a product: of a group, and an image or all.
type convRun[E tensor.Element, A summable] struct {
	p          *conv[E, A]
	x, w, c    []E
	xa, wa, ca []A // the same elements, where E is A
	weights    []A // the packed weight of the phase
	ph         *convPhase

	rows, columns int // of an item
	products      int
	down, across  int // items of a product
}

func (p *conv[E, A]) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	exec := x.(*Exec)
	r := p.states.Get()
	xs, ws, cs := in[0].Storage(), in[1].Storage(), out[0].Storage()
	r.p, r.x, r.w, r.c = p, tensor.Elements[E](xs), tensor.Elements[E](ws), tensor.Elements[E](cs)
	if p.rows.same {
		r.xa, r.wa, r.ca = elementsOf[A](xs), elementsOf[A](ws), elementsOf[A](cs)
	}
	if p.zero != nil {
		exec.run(p.zero.rows, grainOf(p.zero.row), (*convZeros[E, A])(r))
	}
	for i := range p.phases {
		r.phase(exec, &p.phases[i])
	}
	r.x, r.w, r.c, r.xa, r.wa, r.ca = nil, nil, nil, nil, nil, nil
	p.states.Put(r)
	return nil
}

func (r *convRun[E, A]) phase(x *Exec, ph *convPhase) {
	p := r.p
	r.ph = ph
	depth, size := p.channels*ph.Taps, p.tile.size()
	panels := p.groups.size() * r.panels()
	r.weights = grown(r.weights, panels*size.apart*depth)
	x.run(panels, grainOf(size.rows*depth), (*convWeights[E, A])(r))
	products := p.groups.size() * (p.images / ph.images)
	r.products = products
	r.cut(products, x.NumThreads())
	work := min(r.rows, p.features) * min(r.columns, ph.columns) * depth
	x.run(products*r.down*r.across, max(1, convGrain/max(work, 1)), r)
}

const convGrain = 1 << 16 // products of a chunk, at least

// cut divides the products, the same sums however they are cut: rows and columns into what caches hold, and
// where that keeps too few threads busy, the larger of the two further.
func (r *convRun[E, A]) cut(products, threads int) {
	size := r.p.tile.size()
	most := min(convBytes/(matmulBlock*sizeOf[A]()), 1<<11)
	strips, panels := ceilDiv(r.ph.columns, size.columns), r.panels()
	r.across, r.down = ceilDiv(r.ph.columns, most), ceilDiv(r.p.features, most)
	if want := ceilDiv(2*threads, products); threads > 1 && r.across*r.down < want {
		if r.ph.columns >= r.p.features {
			r.across = max(r.across, min(ceilDiv(want, r.down), strips))
		} else {
			r.down = max(r.down, min(ceilDiv(want, r.across), panels))
		}
	}
	r.columns = ceilDiv(strips, r.across) * size.columns
	r.rows = ceilDiv(panels, r.down) * size.rows
	r.across, r.down = ceilDiv(r.ph.columns, r.columns), ceilDiv(r.p.features, r.rows)
}

// convZeros sets the result to zero, row by row of its nest.
type convZeros[E tensor.Element, A summable] convRun[E, A]

func (z *convZeros[E, A]) chunk(lo, hi int) {
	p := z.p
	w := p.spare.Get()
	w.line = grown(w.line, min(p.zero.row, 1<<10))
	clear(w.line)
	w.cursor.seek(p.zero, lo)
	for range hi - lo {
		at, step := w.cursor.at[0], p.zero.step[0]
		for n := p.zero.row; n > 0; n -= len(w.line) {
			p.rows.store(z.c, at, step, w.line[:min(n, len(w.line))])
			at += len(w.line) * step
		}
		w.cursor.next(p.zero)
	}
	p.spare.Put(w)
}

func (r *convRun[E, A]) chunk(lo, hi int) {
	w := r.p.spare.Get()
	for item := lo; item < hi; item++ {
		r.item(w, item)
	}
	w.src = nil
	r.p.spare.Put(w)
}

// item does one: block by block of the inner axis it packs the columns, then panel by panel multiplies.
func (r *convRun[E, A]) item(w *convScratch[A], item int) {
	p, ph := r.p, r.ph
	product, part := item%r.products, item/r.products // columns are the same from item to item, and their pieces
	apart := p.images / ph.images                     // products of a group
	group, image := product/apart, product%apart
	w.groups.seek(&p.groups, 1, group)
	w.cAt = w.groups.at(0) + ph.CAt + image*p.cImage
	w.xAt = w.groups.at(1) + image*p.xImage
	w.i0, w.j0 = part/r.across*r.rows, part%r.across*r.columns
	w.i1, w.j1 = min(w.i0+r.rows, p.features), min(w.j0+r.columns, ph.columns)
	if !ph.direct {
		w.sums = grown(w.sums, (w.i1-w.i0)*(w.j1-w.j0))
	}
	for b := (convBlock{}).next(p.channels, ph.Taps); b.channels > 0; b = b.next(p.channels, ph.Taps) {
		if ph.gathered {
			r.locatePieces(w, b)
		} else {
			r.read(w, b)
		}
		panels := r.panelsAt(group, w.i0/p.tile.size().rows, b)
		for s := range len(w.strips) - 1 {
			r.pack(w, b, s)
			r.multiply(w, panels, b.depth(), s, b.channel+b.tap > 0)
		}
	}
	if !ph.direct {
		r.storeSums(w)
	}
}

// multiply does the item's rows of a strip, over a block.
func (r *convRun[E, A]) multiply(w *convScratch[A], panels []A, depth, strip int, add bool) {
	p, rows := r.p, w.i1-w.i0
	wide := p.tile.size().columns
	j := strip * wide
	columns := min(wide, w.j1-w.j0-j)
	c, cRow, at := w.sums, w.j1-w.j0, j
	if r.ph.direct {
		c, cRow, at = r.ca, p.cFeature, w.cAt+w.i0*p.cFeature+w.j0+j
	}
	w.line = grown(w.line, wide)
	if columns == wide {
		p.tile.multiply(rows, c[at:], cRow, panels, w.packed, depth, add, w.line)
		return
	}
	w.edge = grown(w.edge, rows*wide)
	p.tile.multiply(rows, w.edge, wide, panels, w.packed, depth, false, w.line)
	storeEdge(c[at:], cRow, w.edge, wide, rows, columns, p.add, add)
}

// storeSums stores finished sums, rounded where they are halves.
func (r *convRun[E, A]) storeSums(w *convScratch[A]) {
	p, step := r.p, r.ph.inner().C
	for i := w.i0; i < w.i1; i++ {
		sums, at := w.sums[(i-w.i0)*(w.j1-w.j0):], w.cAt+i*p.cFeature
		for _, s := range w.columns {
			p.rows.store(r.c, at+s.out, step, sums[s.at:][:s.n])
		}
	}
}
