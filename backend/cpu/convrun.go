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
	weights    []A // the weight of the phase, where it is copied
	ph         *convPhase

	rows, columns int // of an item
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
	depth := p.channels * ph.Taps
	if p.copied {
		rows := p.weights.size()
		r.weights = grown(r.weights, rows*depth)
		x.run(rows, grainOf(depth), (*convWeights[E, A])(r))
	}
	products := p.groups.size() * (p.images / ph.images)
	r.cut(products, x.NumThreads())
	work := min(r.rows, p.features) * min(r.columns, ph.columns) * depth
	x.run(products*r.down*r.across, max(1, convGrain/max(work, 1)), r)
}

const convGrain = 1 << 16 // products of a chunk, at least

// cut divides the products, the same sums however they are cut: columns into what is packed at a time, and
// where that keeps too few threads busy, the larger of rows and columns further.
func (r *convRun[E, A]) cut(products, threads int) {
	size := r.p.tile.size()
	most := min(convBytes/(matmulBlock*sizeOf[A]()), 1<<11)
	strips, panels := ceilDiv(r.ph.columns, size.columns), ceilDiv(r.p.features, size.rows)
	r.across, r.down = ceilDiv(r.ph.columns, most), 1
	if want := ceilDiv(2*threads, products); threads > 1 && r.across < want {
		if r.ph.columns >= r.p.features {
			r.across = min(want, strips)
		} else {
			r.down = min(want, panels)
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

// convWeights copies the weight of a phase, row by row: groups and features.
type convWeights[E tensor.Element, A summable] convRun[E, A]

func (c *convWeights[E, A]) chunk(lo, hi int) {
	p, n := c.p, &c.ph.weight
	w := p.spare.Get()
	w.groups.seek(&p.weights, 1, lo)
	depth := n.rows * n.row
	for row := lo; row < hi; row++ {
		at, to := w.groups.at(0)+c.ph.WAt, c.weights[row*depth:][:depth]
		for w.cursor.seek(n, 0); len(to) > 0; w.cursor.next(n) {
			p.rows.load(to[:n.row], c.w, at+w.cursor.at[0], n.step[0])
			to = to[n.row:]
		}
		w.groups.next()
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
	product, part := item/(r.down*r.across), item%(r.down*r.across)
	apart := p.images / ph.images // products of a group
	group, image := product/apart, product%apart
	w.groups.seek(&p.groups, 1, group)
	w.cAt = w.groups.at(0) + ph.CAt + image*p.cImage
	w.xAt, w.wAt = w.groups.at(1)+image*p.xImage, w.groups.at(2)+ph.WAt
	if p.copied {
		w.wAt = group * p.features * p.channels * ph.Taps
	}
	w.i0, w.j0 = part/r.across*r.rows, part%r.across*r.columns
	w.i1, w.j1 = min(w.i0+r.rows, p.features), min(w.j0+r.columns, ph.columns)
	if !ph.direct {
		w.sums = grown(w.sums, (w.i1-w.i0)*(w.j1-w.j0))
	}
	for b := (convBlock{}).next(p.channels, ph.Taps); b.channels > 0; b = b.next(p.channels, ph.Taps) {
		r.read(w, b)
		r.pack(w, b.depth())
		r.multiply(w, b)
	}
	if !ph.direct {
		r.storeSums(w)
	}
}

// multiply does all panels by all strips of an item, over a block.
func (r *convRun[E, A]) multiply(w *convScratch[A], b convBlock) {
	size, depth := r.p.tile.size(), b.depth()
	panel := depth * size.apart
	atOnce := max(1, gemmBytes/(panel*sizeOf[A]()))
	w.panels = grown(w.panels, atOnce*panel)
	w.edge, w.line = grown(w.edge, size.rows*size.columns), grown(w.line, size.columns)
	for i0 := w.i0; i0 < w.i1; i0 += atOnce * size.rows {
		i1 := min(w.i1, i0+atOnce*size.rows)
		for i := i0; i < i1; i += size.rows {
			r.packPanel(w, b, w.panels[(i-i0)/size.rows*panel:][:panel], i, min(size.rows, i1-i))
		}
		for s := range len(w.strips) - 1 {
			for i := i0; i < i1; i += size.rows {
				r.one(w, w.panels[(i-i0)/size.rows*panel:], depth, i, min(size.rows, i1-i), s, b.channel+b.tap > 0)
			}
		}
	}
}

// one does a panel by a strip.
func (r *convRun[E, A]) one(w *convScratch[A], panel []A, depth, i, rows, strip int, add bool) {
	p := r.p
	wide := p.tile.size().columns
	j := strip * wide
	columns := min(wide, w.j1-w.j0-j)
	c, cRow, at := w.sums, w.j1-w.j0, (i-w.i0)*(w.j1-w.j0)+j
	if r.ph.direct {
		c, cRow, at = r.ca, p.cFeature, w.cAt+i*p.cFeature+w.j0+j
	}
	packed := w.packed[strip*wide*depth:]
	if columns == wide {
		p.tile.multiply(rows, c[at:], cRow, panel, packed, depth, add, w.line)
		return
	}
	p.tile.multiply(rows, w.edge, wide, panel, packed, depth, false, w.line)
	for k := range rows {
		to, from := c[at+k*cRow:][:columns], w.edge[k*wide:][:columns]
		if add {
			p.add(to, to, from)
		} else {
			copy(to, from)
		}
	}
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
