package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// argLines finds the extremes of lines of E by comparing keys of type K. It is bound by memory from the
// second-level cache on: the comparison loop takes one compare and one rarely taken branch an element, some
// 7 to 10 GB/s of float32.
type argLines[E tensor.Element, K number] struct {
	index  tensor.DType
	load   func(dst []K, src []E, at, step int)
	direct bool // E is K and the load changes nothing
	first  func(keys []K, best K) (K, int)
	update func(best []K, at []int, keys []K, rows simd.Stack, i int)

	lines  nest // of the lines: operand 0 the source, 1 the destination
	length int
	step   int
	width  int // lines worked on side by side
	states planning.States[argRun[E, K]]
	spare  planning.States[argScratch[K]]
}

// argRun is one run. Its items are the pieces of the strips, piece by piece.
type argRun[E tensor.Element, K number] struct {
	p      *argLines[E, K]
	src    []E
	keys   []K // src, where the plan is direct
	dst    *tensor.Storage
	pieces int
	best   []K // per item and column, where a line has several pieces
	at     []int
}

// argScratch is what a chunk works with.
type argScratch[K number] struct {
	s         strips
	row, best []K
	at        []int
}

// argBlock is the number of keys of a line that are loaded at a time.
const argBlock = 256

func newArgLines[E tensor.Element, K number](p *ArgReducePlan, axis int, direct bool,
	load func(dst []K, src []E, at, step int)) argKernel {
	src, dst := p.operands.In[0].Layout, p.operands.Out[0].Layout
	order := simd.ExtremesOf[K]()
	k := &argLines[E, K]{
		index: p.index, load: load, direct: direct, first: order.FirstMax, update: order.UpdateMax,
		length: src.Shape[axis], step: src.Strides[axis], width: 1,
	}
	if p.fn == ops.ArgMinFn || p.fn == ops.ArgMinAbsFn {
		k.first, k.update = order.FirstMin, order.UpdateMin
	}
	kept := tensor.Layout{Shape: dst.Shape, Strides: draft.DropAxis(src.Strides, axis), Offset: src.Offset}
	k.lines = newNestByStride(kept, dst)
	if sideBySide(&k.lines, k.length, k.step) {
		k.width = stripWidth(&k.lines, k.length, sizeOf[K]())
	}
	return k
}

func (k *argLines[E, K]) run(x *Exec, dst tensor.Write, src tensor.Read) {
	units := k.lines.rows * stripsPerRow(&k.lines, k.width)
	if units == 0 {
		return
	}
	r := k.states.Get()
	r.p, r.src, r.dst = k, tensor.Elements[E](src.Storage()), dst.Storage()
	if k.direct {
		r.keys = tensor.Elements[K](src.Storage())
	}
	work := k.length * min(k.width, k.lines.row)
	r.pieces = piecesPerLine(units, work, x.NumThreads())
	if r.pieces > 1 {
		r.best, r.at = grown(r.best, units*r.pieces*k.width), grown(r.at, units*r.pieces*k.width)
	}
	x.run(units*r.pieces, grainOf(work/r.pieces), r)
	if r.pieces > 1 {
		r.join(units)
	}
	r.src, r.keys, r.dst = nil, nil, nil
	k.states.Put(r)
}

// chunk does items: strip lo/pieces, piece lo%pieces, and so on.
func (r *argRun[E, K]) chunk(lo, hi int) {
	p := r.p
	w := p.spare.Get()
	most := max(p.width, resultsAtOnce)
	w.row, w.best, w.at = grown(w.row, max(argBlock, p.width)), grown(w.best, most), grown(w.at, most)
	w.s.seek(&p.lines, p.width, lo/r.pieces)
	for item := lo; item < hi; item++ {
		piece, n := item%r.pieces, w.s.size()
		if r.pieces == 1 && p.width == 1 {
			n = min(hi-item, p.lines.row-w.s.i, resultsAtOnce)
			base := w.s.at(0)
			for c := range n {
				_, w.at[c] = r.line(w, base+c*p.lines.step[0], 0, p.length)
			}
			storeIndices(r.dst, p.index, w.s.at(1), p.lines.step[1], w.at[:n])
			w.s.advance(n)
			item += n - 1
			continue
		}
		best, at := w.best[:n], w.at[:n]
		if r.pieces > 1 {
			best, at = r.best[item*p.width:][:n], r.at[item*p.width:][:n]
		}
		from, to := pieceOf(p.length, piece, r.pieces)
		if p.width == 1 {
			best[0], at[0] = r.line(w, w.s.at(0), from, to)
		} else {
			r.columns(w, best, at, from, to)
		}
		if r.pieces == 1 {
			storeIndices(r.dst, p.index, w.s.at(1), p.lines.step[1], at)
		}
		if piece == r.pieces-1 {
			w.s.next()
		}
	}
	p.spare.Put(w)
}

// line searches elements from to to − 1 of the line that begins at base.
func (r *argRun[E, K]) line(w *argScratch[K], base, from, to int) (best K, at int) {
	p := r.p
	block := argBlock
	if p.direct && p.step == 1 {
		block = to - from
	}
	for i := from; i < to; i += block {
		n := min(block, to-i)
		keys := w.row[:min(n, len(w.row))]
		if p.direct && p.step == 1 {
			keys = r.keys[base+i:][:n]
		} else {
			p.load(keys, r.src, base+i*p.step, p.step)
		}
		if i == from {
			best, at = keys[0], from
		}
		if best != best {
			break
		}
		var j int
		if best, j = p.first(keys, best); j >= 0 {
			at = i + j
		}
	}
	return best, at
}

// columns searches elements from to to − 1 of the strip's lines, row by row.
func (r *argRun[E, K]) columns(w *argScratch[K], best []K, at []int, from, to int) {
	p, base, step := r.p, w.s.at(0), r.p.lines.step[0]
	p.load(best, r.src, base+from*p.step, step)
	for c := range at {
		at[c] = from
	}
	from++
	if p.direct && step == 1 {
		p.update(best, at, r.keys, simd.Stack{Begin: base + from*p.step, Step: p.step, N: to - from}, from)
		return
	}
	keys := w.row[:len(best)]
	for i := from; i < to; i++ {
		p.load(keys, r.src, base+i*p.step, step)
		p.update(best, at, keys, simd.Stack{N: 1}, i)
	}
}

// join chooses among the pieces of each line, in order, so that the first of equals stays.
func (r *argRun[E, K]) join(units int) {
	p := r.p
	w := p.spare.Get()
	w.at = grown(w.at, p.width)
	w.s.seek(&p.lines, p.width, 0)
	for u := range units {
		n, first := w.s.size(), u*r.pieces*p.width
		at := w.at[:n] // the piece that wins, then where
		clear(at)
		p.update(r.best[first:][:n], at, r.best, simd.Stack{Begin: first + p.width, Step: p.width, N: r.pieces - 1}, 1)
		for c, piece := range at {
			at[c] = r.at[first+piece*p.width+c]
		}
		storeIndices(r.dst, p.index, w.s.at(1), p.lines.step[1], at)
		w.s.next()
	}
	p.spare.Put(w)
}

// storeIndices writes indices that are known to fit.
func storeIndices(dst *tensor.Storage, index tensor.DType, at, step int, from []int) {
	if index == tensor.Int32 {
		storeInts(tensor.Elements[int32](dst), at, step, from)
		return
	}
	storeInts(tensor.Elements[int64](dst), at, step, from)
}

func storeInts[I int32 | int64](dst []I, at, step int, from []int) {
	for _, v := range from {
		dst[at] = I(v)
		at += step
	}
}
