package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// elementGather is a gather whose windows are single elements, each found by one index that the check has
// let pass: u[p] = x[base(p) + index(p)·stride]. It is bound by the latency of reading x, which the processor
// hides by running ahead of it, if nothing but the index decides where to read: so base and index become an
// offset in the very loop that moves, without a branch. 1.5 ns an element from the first-level cache.
//
// Along any axis of x but the last, neighbours of u are neighbours of x, and what an index chooses is the
// line: each read then touches another page, and where lines are a power of two apart, few sets of a cache.
// So a strip of columns of x is packed first, and the elements of all lines of u are found in the strip.
type elementGather struct {
	nest  nest // of u, x at index 0, the index
	index *indexOperand
	take  func(dst *tensor.Storage, to, toStep int, src *tensor.Storage, from, fromStep int, vals []int64,
		wrap int64, stride int)
	size int // bytes of an element

	// Where strips are packed: the outer axes of nest but the last few move x, the last few do not.
	wide   int  // columns of a strip; 0 where there are no strips
	strips nest // the outer axes that move x, and the strips of a row
	lines  nest // the lines of u that read one strip
	pack   mover
	spare  states[elementStrip]
}

// elementStrip is a strip of x and what else a thread needs for one.
type elementStrip struct {
	packed *tensor.Storage
	place  cursor
	line   cursor
	vals   []int64
}

// newElementGather is nil for a gather of another kind.
func newElementGather(s *windowSpec, p *windowPlan, size int) *elementGather {
	if p.elements != 1 || len(s.index) != 1 || p.mode.OOB != ops.OOBError || p.positions == 0 {
		return nil
	}
	e := &elementGather{
		nest:  newNestByStride(p.places[0], p.places[1], p.places[2]),
		index: &p.index[0], take: takerOf(size), size: size, pack: moverOf(size),
	}
	e.cut()
	e.spare.make = func() *elementStrip {
		w := &elementStrip{vals: make([]int64, max(indexBlock, e.wide))}
		if e.wide > 0 {
			w.packed = tensor.NewStorage(e.wide * e.index.extent * e.size)
		}
		return w
	}
	return e
}

// cut makes strips where they pay: x moves along a row of u, the index moves it further than a cache line, the
// lines that read a strip are enough to be worth packing it, and at least a cache line of each line of x fits
// tuning.strip bytes.
func (e *elementGather) cut() {
	n := &e.nest
	still := len(n.outer) // the outer axes from here on do not move x
	lines := 1
	for still > 0 && n.strides[1][still-1] == 0 {
		still--
		lines *= n.outer[still]
	}
	wide := min(tuning.strip/e.size/max(e.index.extent, 1), n.row) // an extent may be any
	if n.step[1] == 0 || magnitude(e.index.stride) < 64/e.size || lines < e.index.extent/4 ||
		wide < min(64/e.size, n.row) {
		return
	}
	e.wide = wide
	e.lines = nest{outer: n.outer[still:], rows: lines, row: 1, offset: make([]int, 3), step: make([]int, 3)}
	e.strips = nest{
		outer:  append(slices.Clone(n.outer[:still]), ceilDiv(n.row, wide)),
		offset: n.offset, row: 1, step: make([]int, 3),
	}
	for k := range n.strides {
		e.lines.strides = append(e.lines.strides, n.strides[k][still:])
		e.strips.strides = append(e.strips.strides, append(slices.Clone(n.strides[k][:still]), wide*n.step[k]))
	}
	e.strips.rows = tensor.Size(e.strips.outer)
}

// elementRun is the parallel region of a gather of elements: its items are strips, or else positions.
type elementRun gatherRun

func (r *elementRun) items() (n, grain int) {
	e := r.kernel.single
	if e.wide == 0 {
		return e.nest.size(), tuning.grain / 2
	}
	return e.strips.rows, max(1, tuning.grain/(2*e.wide*e.lines.rows))
}

func (r *elementRun) chunk(lo, hi int) {
	e := r.kernel.single
	w := e.spare.get()
	if e.wide == 0 {
		e.direct(w, r, lo, hi)
	} else {
		w.place.seek(&e.strips, lo)
		for range hi - lo {
			e.strip(w, r)
			w.place.next(&e.strips)
		}
	}
	e.spare.put(w)
}

// direct does the positions lo to hi − 1.
func (e *elementGather) direct(w *elementStrip, r *elementRun, lo, hi int) {
	n := &e.nest
	w.line.seek(n, lo/n.row)
	col := lo % n.row
	for lo < hi {
		m := min(hi-lo, n.row-col)
		at := w.line.at
		e.row(w, r, m, at[0]+col*n.step[0], r.source, at[1]+col*n.step[1], n.step[1], at[2]+col*n.step[2],
			e.index.stride)
		lo += m
		if col += m; col == n.row {
			col = 0
			w.line.next(n)
		}
	}
}

// strip packs the strip that w stands at and does the lines that read it.
func (e *elementGather) strip(w *elementStrip, r *elementRun) {
	n, at := &e.nest, w.place.at
	m := min(e.wide, n.row-w.place.idx[len(w.place.idx)-1]*e.wide)
	e.pack(w.packed, walk{0, m, 1}, r.source, walk{at[1], e.index.stride, n.step[1]}, e.index.extent, m)
	w.line.seek(&e.lines, 0)
	for range e.lines.rows {
		e.row(w, r, m, at[0]+w.line.at[0], w.packed, 0, 1, at[2]+w.line.at[2], m)
		w.line.next(&e.lines)
	}
}

// row does n neighbouring positions. Indices of int64 that lie side by side are used where they are.
func (e *elementGather) row(w *elementStrip, r *elementRun, n, to int, src *tensor.Storage, from, fromStep, index, stride int) {
	u, step := e.nest.step[0], e.nest.step[2]
	if e.index.wide && step == 1 {
		e.take(r.result, to, u, src, from, fromStep, tensor.Elements[int64](r.index[0])[index:index+n], e.index.wrap, stride)
		return
	}
	for n > 0 {
		vals := w.vals[:min(n, len(w.vals))]
		e.index.widen(vals, r.index[0], index, step)
		e.take(r.result, to, u, src, from, fromStep, vals, e.index.wrap, stride)
		m := len(vals)
		n, to, from, index = n-m, to+m*u, from+m*fromStep, index+m*step
	}
}

func takerOf(size int) func(*tensor.Storage, int, int, *tensor.Storage, int, int, []int64, int64, int) {
	switch size {
	case 1:
		return takeElements[uint8]
	case 2:
		return takeElements[uint16]
	case 4:
		return takeElements[uint32]
	case 8:
		return takeElements[uint64]
	}
	return takeElements[complex128]
}

// takeElements moves the elements that vals name along an axis of some stride. A negative one has wrap added,
// which is 0 only where there is none.
func takeElements[E tensor.Element](dst *tensor.Storage, to, toStep int, src *tensor.Storage, from, fromStep int,
	vals []int64, wrap int64, stride int) {
	u, x := tensor.Elements[E](dst), tensor.Elements[E](src)
	if toStep == 1 {
		u = u[to : to+len(vals)]
		for j, v := range vals {
			u[j] = x[from+int(v+wrap&(v>>63))*stride]
			from += fromStep
		}
		return
	}
	for _, v := range vals {
		u[to] = x[from+int(v+wrap&(v>>63))*stride]
		from += fromStep
		to += toStep
	}
}
