package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// masked keeps the elements at which a mask is true, or puts them back to where they were: one pass counts what
// blocks of the mask hold, the next moves every block by itself, since it knows how many are before. It is
// bound by the bytes that it reads and writes, or by some 5 operations an element; what is true is no matter.
type masked[E tensor.Element] struct {
	operands planning.Operands
	expands  bool
	big      int    // which operand has the mask's axes: 0 the source, 1 the result
	lead     nest   // source and result, over the axes before the mask's
	body     nest   // big and mask, over the mask's axes
	places   nest   // mask alone
	inner    nest   // source and result, over the axes behind
	count    int    // extent of the axis that stands for the mask's
	step     int    // along it
	block    int    // places of a block
	blocks   int    // in the mask
	each     int    // elements of a block
	start    [2]int // of source and result
	past     bool   // y is so large that it is written past the caches, from scratch
	states   planning.States[maskedRun[E]]
	spare    planning.States[maskedScratch[E]]
}

// maskedRun is one run; its items are the blocks of every line.
type maskedRun[E tensor.Element] struct {
	p      *masked[E]
	x, y   []E
	mask   []uint8
	before []int // how many are true before each block, and in all
}

// maskedScratch is what a chunk walks with.
type maskedScratch[E tensor.Element] struct {
	lead        strips
	body, inner cursor
	kept        []E // of a row of a block
}

// compileMasked is the plan of a compression, or of an expansion, at an axis.
//
// Errors: those of op.Infer; tensor.ErrDType and tensor.ErrShape where the result is not what op gives.
func compileMasked(op graph.Op, axis int, expands bool, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	if err := planning.Valid(op, []graph.Operand{out}, in, []bool{true}); err != nil {
		return nil, err
	}
	switch out.DType.Size() {
	case 1:
		return newMasked[uint8](axis, expands, out, in), nil
	case 2:
		return newMasked[uint16](axis, expands, out, in), nil
	case 4:
		return newMasked[uint32](axis, expands, out, in), nil
	case 8:
		return newMasked[uint64](axis, expands, out, in), nil
	}
	return newMasked[complex128](axis, expands, out, in), nil
}

// axesOf is a layout of some neighbouring axes, at 0.
func axesOf(l tensor.Layout, from, to int) tensor.Layout {
	return tensor.Layout{Shape: slices.Clone(l.Shape[from:to]), Strides: slices.Clone(l.Strides[from:to])}
}

func newMasked[E tensor.Element](axis int, expands bool, out graph.Operand, in []graph.Operand) graph.Kernel {
	x, mask, y := in[0], in[1], out
	over := [2]int{mask.Rank(), 1} // the axes that stand for the mask's
	p := &masked[E]{
		operands: planning.Operands{Out: []graph.Operand{out}, In: slices.Clone(in)}, expands: expands,
		start: [2]int{x.Offset, y.Offset},
	}
	big, small := x, y
	if expands {
		p.big, over[0], over[1] = 1, 1, mask.Rank()
		big, small = y, x
	}
	p.lead = newNest(axesOf(x.Layout, 0, axis), axesOf(y.Layout, 0, axis))
	p.inner = newNest(axesOf(x.Layout, axis+over[0], x.Rank()), axesOf(y.Layout, axis+over[1], y.Rank()))
	p.body = newNest(axesOf(big.Layout, axis, axis+mask.Rank()), mask.Layout)
	p.places = newNest(mask.Layout)
	p.count, p.step = small.Shape[axis], small.Strides[axis]
	size := p.inner.size()
	p.past = !expands && size == 1 && p.step == 1 && y.Size()*sizeOf[E]() >= tuning.past
	p.block = max(16, 1<<13/max(size, 1))
	p.blocks = ceilDiv(p.body.size(), p.block)
	p.each = min(p.block, p.body.size()) * size
	if size == 0 {
		p.blocks, p.count = 0, 0
	}
	p.states.Make = func() *maskedRun[E] { return &maskedRun[E]{p: p, before: make([]int, p.blocks+1)} }
	return p
}

func (p *masked[E]) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	lines := p.lead.size()
	if lines == 0 {
		return nil
	}
	r, x := p.states.Get(), ex.(*Exec)
	r.x, r.y = tensor.Elements[E](in[0].Storage()), tensor.Elements[E](out[0].Storage())
	r.mask = tensor.Elements[uint8](in[1].Storage())
	x.run(p.blocks, max(1, 1<<16/p.block), (*maskCounts[E])(r))
	total := 0
	for b, n := range r.before[:p.blocks] {
		r.before[b] = total
		total += n
	}
	r.before[p.blocks] = total
	x.run(lines*p.blocks, grainOf(p.each), r)
	if !p.expands && total < p.count {
		r.pad(lines, total)
	}
	r.x, r.y, r.mask = nil, nil, nil
	p.states.Put(r)
	return nil
}

// maskCounts is the region that counts; its items are blocks.
type maskCounts[E tensor.Element] maskedRun[E]

func (r *maskCounts[E]) chunk(lo, hi int) {
	p := r.p
	w := p.spare.Get()
	for ; lo < hi; lo++ {
		from := lo * p.block
		r.before[lo] = countPlaces(r.mask, &p.places, &w.body, from, min(from+p.block, p.places.size()))
	}
	p.spare.Put(w)
}

func (r *maskedRun[E]) chunk(lo, hi int) {
	p := r.p
	w := p.spare.Get()
	for ; lo < hi; lo++ {
		w.lead.seek(&p.lead, 1, lo/p.blocks)
		r.move(w, lo%p.blocks, [2]int{p.start[0] + w.lead.at(0), p.start[1] + w.lead.at(1)})
	}
	if p.past {
		simd.FencePast()
	}
	p.spare.Put(w)
}

// move does a block of a line; at is where the line begins in source and result.
func (r *maskedRun[E]) move(w *maskedScratch[E], block int, at [2]int) {
	p := r.p
	k, end := min(r.before[block], p.count), min(r.before[block+1], p.count)
	if k == end && !p.expands {
		return
	}
	from, to := block*p.block, min((block+1)*p.block, p.body.size())
	small, rows := at[1-p.big], p.inner.size() > 1
	w.body.seek(&p.body, from/p.body.row)
	for col := from % p.body.row; from < to; col = 0 {
		n := min(p.body.row-col, to-from)
		s := maskedRow{
			big: at[p.big] + w.body.at[0] + col*p.body.step[0], bigStep: p.body.step[0],
			mask: w.body.at[1] + col*p.body.step[1], maskStep: p.body.step[1],
			small: small + k*p.step, smallStep: p.step, n: n, room: end - k,
		}
		switch {
		case rows:
			k += r.rows(w, s)
		case p.expands:
			k += expandRow(r.y, r.x, r.mask, s)
		case p.past:
			y := r.y[s.small:]
			w.kept = grown(w.kept, p.block+16) // room for a register more: none of the elements is moved alone
			s.small, s.room = 0, len(w.kept)
			n := min(compressRow(w.kept, r.x, r.mask, s), end-k)
			simd.CopyPast(y[:n], w.kept[:n])
			k += n
		default:
			k += compressRow(r.y, r.x, r.mask, s)
		}
		from += n
		w.body.next(&p.body)
	}
}

// rows is a row of the mask whose elements stand for rows of their own.
func (r *maskedRun[E]) rows(w *maskedScratch[E], s maskedRow) (k int) {
	for range s.n {
		switch {
		case r.mask[s.mask] != 0 && k < s.room:
			at := [2]int{s.big, s.small + k*s.smallStep}
			r.inner(w, at[r.p.big], at[1-r.p.big])
			k++
		case r.p.expands:
			r.clear(w, s.big)
		}
		s.big += s.bigStep
		s.mask += s.maskStep
	}
	return k
}

// inner copies what one element of the mask stands for.
func (r *maskedRun[E]) inner(w *maskedScratch[E], x, y int) {
	n := &r.p.inner
	w.inner.seek(n, 0)
	for range n.rows {
		moveLine(r.y, y+w.inner.at[1], n.step[1], r.x, x+w.inner.at[0], n.step[0], n.row)
		w.inner.next(n)
	}
}

// clear makes what one element of the mask stands for zero.
func (r *maskedRun[E]) clear(w *maskedScratch[E], y int) {
	var zero E
	n := &r.p.inner
	w.inner.seek(n, 0)
	for range n.rows {
		at := y + w.inner.at[1]
		for range n.row {
			r.y[at] = zero
			at += n.step[1]
		}
		w.inner.next(n)
	}
}

// pad makes zero what a mask of fewer places than were expected left of every line.
func (r *maskedRun[E]) pad(lines, total int) {
	p := r.p
	w := p.spare.Get()
	w.lead.seek(&p.lead, 1, 0)
	for range lines {
		for k := total; k < p.count; k++ {
			r.clear(w, p.start[1]+w.lead.at(1)+k*p.step)
		}
		w.lead.next()
	}
	p.spare.Put(w)
}
