package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// matmulRun is one run. An item is a panel of rows of a strip of columns of one product of the batch.
type matmulRun[E tensor.Element, A summable] struct {
	p          *matmul[E, A]
	x, y, c    []E
	xa, ya, ca []A // the same elements, where E is A
	strips     int
	panels     int // of a strip
	height     int // rows of a panel
}

// matmulScratch is what a chunk works with.
type matmulScratch[A any] struct {
	batch strips
	x     []A // a block of a row of x
	y     []A // a block of a strip of y, where its rows do not lie so
	c     []A // a panel of the result, where its rows do not lie so
	sum   []A // a row of the result over one block
}

// matmulRows limits the rows of a panel, and with them the scratch and how often y is packed anew.
const matmulRows = 256

func (p *matmul[E, A]) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	if p.batch.rows == 0 || p.m == 0 || p.n == 0 {
		return nil
	}
	exec := x.(*Exec)
	r := p.states.Get()
	xs, ys := in[p.first].Storage(), in[1-p.first].Storage()
	cs := out[0].Storage()
	r.p, r.x, r.y, r.c = p, tensor.Elements[E](xs), tensor.Elements[E](ys), tensor.Elements[E](cs)
	if p.rows.same {
		r.xa, r.ya, r.ca = elementsOf[A](xs), elementsOf[A](ys), elementsOf[A](cs)
	}
	strips := r.cut(exec.NumThreads())
	exec.run(strips*r.panels, grainOf(r.height*min(p.width, p.n)*p.k/4), r)
	r.x, r.y, r.c, r.xa, r.ya, r.ca = nil, nil, nil, nil, nil, nil
	p.states.Put(r)
	return nil
}

// cut divides the work into items, the same sums however it is cut, and gives the number of strips in all.
// Where those keep too few threads busy their panels get lower, down to 64K products.
func (r *matmulRun[E, A]) cut(threads int) (strips int) {
	p := r.p
	r.strips = ceilDiv(p.n, p.width)
	strips = p.batch.size() * r.strips
	r.panels = ceilDiv(p.m, matmulRows)
	if few := 2 * threads; threads > 1 && strips*r.panels < few {
		most := p.m * min(p.n, p.width) * p.k >> 16
		r.panels = max(r.panels, min(p.m, ceilDiv(few, strips), most))
	}
	r.height = ceilDiv(p.m, r.panels)
	r.panels = ceilDiv(p.m, r.height)
	return strips
}

func (r *matmulRun[E, A]) chunk(lo, hi int) {
	p := r.p
	w := p.spare.Get()
	w.x, w.sum = grown(w.x, matmulBlock), grown(w.sum, p.width)
	perProduct := r.strips * r.panels
	w.batch.seek(&p.batch, 1, lo/perProduct)
	for item := lo; item < hi; item++ {
		strip, panel := item/r.panels%r.strips, item%r.panels
		r.panel(w, panel*r.height, min(p.m, (panel+1)*r.height), strip*p.width, min(p.n, (strip+1)*p.width))
		if (item+1)%perProduct == 0 {
			w.batch.next()
		}
	}
	p.spare.Put(w)
}

// panel computes rows i0 to i1 − 1 of columns j0 to j1 − 1.
func (r *matmulRun[E, A]) panel(w *matmulScratch[A], i0, i1, j0, j1 int) {
	p, n := r.p, j1-j0
	cAt, xAt, yAt := w.batch.at(0)+j0*p.c.col, w.batch.at(1+p.first), w.batch.at(2-p.first)+j0*p.y.col
	inPlace := p.rows.same && p.c.col == 1
	if !inPlace {
		w.c = grown(w.c, (i1-i0)*n)
	}
	for k0 := 0; k0 == 0 || k0 < p.k; k0 += matmulBlock {
		depth := min(matmulBlock, p.k-k0)
		y, at, stride := r.block(w, yAt+k0*p.y.row, depth, n)
		for i := i0; i < i1; i++ {
			var c []A
			if inPlace {
				c = r.ca[cAt+i*p.c.row:][:n]
			} else {
				c = w.c[(i-i0)*n:][:n]
			}
			x := w.x[:depth]
			switch from := xAt + i*p.x.row + k0*p.x.col; {
			case depth == 0: // nothing lies at from
			case p.rows.same && p.x.col == 1:
				x = r.xa[from:][:depth]
			default:
				p.rows.load(x, r.x, from, p.x.col)
			}
			if k0 == 0 {
				p.mac.row(c, y, at, stride, x)
				continue
			}
			p.mac.row(w.sum[:n], y, at, stride, x)
			p.add(c, c, w.sum)
		}
	}
	for i := i0; !inPlace && i < i1; i++ {
		p.rows.store(r.c, cAt+i*p.c.row, p.c.col, w.c[(i-i0)*n:][:n])
	}
}

// block is depth rows of n elements of y that begin at an offset: where they lie, or packed.
func (r *matmulRun[E, A]) block(w *matmulScratch[A], from, depth, n int) (y []A, at, stride int) {
	p := r.p
	if p.rows.same && p.y.col == 1 {
		return r.ya, from, p.y.row
	}
	w.y = grown(w.y, depth*n)
	for k := range depth {
		p.rows.load(w.y[k*n:][:n], r.y, from+k*p.y.row, p.y.col)
	}
	return w.y, 0, n
}

// row is c ← Σₖ x[k]·y[k] in order, from 0.
func (m *mac[A]) row(c, y []A, at, stride int, x []A) {
	clear(c)
	for ; len(x) >= 8; x = x[8:] {
		m.eight(c, y, at, stride, (*[8]A)(x))
		at += 8 * stride
	}
	for _, v := range x {
		m.one(c, y[at:], v)
		at += stride
	}
}
