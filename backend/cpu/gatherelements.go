package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// elementGather is a gather whose windows are single elements, each found by one index that the check has
// let pass: u[p] = x[base(p) + index(p)·stride]. Along the last axis of x it is bound by memory: the line that
// indices choose from is in the first-level cache, the next one is fetched meanwhile.
//
// Along any axis of x but the last, neighbours of u are neighbours of x, and what an index chooses is the
// line: each read then touches another page, and where lines are a power of two apart, few sets of a cache.
// So a strip of columns of x is packed first, and the elements of all lines of u are found in the strip. It is
// bound by the second-level cache, a load an element, and by rows that are short and far apart, which are fetched
// rows ahead.
type elementGather struct {
	nest  nest // of u, x at index 0, the index
	index *indexOperand
	take  func(dst, src, index *tensor.Storage, p *takePiece) // indices as they are stored, of int32 or int64; or nil
	widen func(dst, src *tensor.Storage, vals []int64, p *takePiece)
	size  int  // bytes of an element
	past  bool // u is too large to be found in a cache later

	// narrow is take by the indices that the check leaves narrow; nil where it does not. from is the place of the
	// first of them.
	narrow func(dst, src *tensor.Storage, index []uint16, p *takePiece)
	from   int

	// Where strips are packed: the outer axes of nest but the last few move x, the last few do not.
	wide   int  // columns of a strip; 0 where there are no strips
	strips nest // the outer axes that move x, and the strips of a row
	lines  nest // the lines of u that read one strip, the last axis of them as a row
	pack   packer
	spare  planning.States[elementStrip]
}

// elementStrip is a strip of x and what else a thread needs for one.
type elementStrip struct {
	packed *tensor.Storage
	rows   simd.Places // those of x that are packed
	place  cursor
	line   cursor
	vals   []int64
	piece  takePiece
}

// takePiece is rows of u that read one part of x: where u and the index begin, and the step of u's columns.
type takePiece struct {
	simd.Take
	to, toStep, index int
}

// newElementGather is nil for a gather of another kind.
func newElementGather(s *windowSpec, p *windowPlan, size int) *elementGather {
	if p.elements != 1 || len(s.index) != 1 || p.mode.OOB != ops.OOBError || p.positions == 0 {
		return nil
	}
	e := &elementGather{
		nest:  newNestByStride(p.places[0], p.places[1], p.places[2]),
		index: &p.index[0], size: size, past: p.positions*size >= tuning.past,
	}
	e.choose()
	e.cut()
	e.chooseNarrow()
	e.spare.Make = func() *elementStrip {
		w := &elementStrip{vals: make([]int64, max(indexBlock, e.wide))}
		if e.wide > 0 {
			w.packed = tensor.NewStorage(e.wide * e.index.extent * e.size)
			for r := range e.index.extent {
				w.rows.At, w.rows.From = append(w.rows.At, uint32(r)), append(w.rows.From, uint32(r))
			}
		}
		return w
	}
	return e
}

// choose finds the functions for the elements and the indices.
func (e *elementGather) choose() {
	wide := e.index.wide()
	switch e.size {
	case 1:
		e.take, e.widen, e.pack = takeOf[uint8](wide), takeWidened[uint8], packRows[uint8]
	case 2:
		e.take, e.widen, e.pack = takeOf[uint16](wide), takeWidened[uint16], packRows[uint16]
	case 4:
		e.take, e.widen, e.pack = takeOf[uint32](wide), takeWidened[uint32], packRows[uint32]
	case 8:
		e.take, e.widen, e.pack = takeOf[uint64](wide), takeWidened[uint64], packRows[uint64]
	default:
		e.take, e.widen, e.pack = takeOf[complex128](wide), takeWidened[complex128], packRows[complex128]
	}
	if e.index.inside == nil || e.nest.step[0] != 1 || e.nest.step[2] != 1 {
		e.take = nil
	}
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
	line := 64 / e.size
	wide := min(tuning.strip/e.size/max(e.index.extent, 1), n.row) // an extent may be any
	if n.step[1] == 0 || planning.Magnitude(e.index.stride) < line || lines < e.index.extent/4 || wide < min(line, n.row) {
		return
	}
	if wide < n.row {
		wide = wide / line * line
	}
	e.wide = wide
	e.lines = nest{rows: 1, row: 1, offset: make([]int, 3), step: make([]int, 3), strides: make([][]int, 3)}
	e.strips = nest{
		outer:  append(slices.Clone(n.outer[:still]), ceilDiv(n.row, wide)),
		offset: n.offset, row: 1, step: make([]int, 3),
	}
	last := len(n.outer) - 1
	if still <= last {
		e.lines.outer, e.lines.row, e.lines.rows = n.outer[still:last], n.outer[last], tensor.Size(n.outer[still:last])
	}
	for k := range n.strides {
		if still <= last {
			e.lines.strides[k], e.lines.step[k] = n.strides[k][still:last], n.strides[k][last]
		}
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
	return e.strips.rows, max(1, tuning.grain/(2*e.wide*e.lines.size()))
}

func (r *elementRun) chunk(lo, hi int) {
	e := r.kernel.single
	w := e.spare.Get()
	if e.wide == 0 {
		e.direct(w, r, lo, hi)
	} else {
		w.place.seek(&e.strips, lo)
		for range hi - lo {
			e.strip(w, r)
			w.place.next(&e.strips)
		}
	}
	if e.past {
		simd.FencePast()
	}
	e.spare.Put(w)
}

// direct does the positions lo to hi − 1.
func (e *elementGather) direct(w *elementStrip, r *elementRun, lo, hi int) {
	n := &e.nest
	ahead := 0
	if last := len(n.outer) - 1; last >= 0 && n.step[1] == 0 {
		ahead = n.strides[1][last]
	}
	w.line.seek(n, lo/n.row)
	col := lo % n.row
	for lo < hi {
		m := min(hi-lo, n.row-col)
		at := w.line.at
		w.piece = takePiece{
			Take: simd.Take{
				Rows: 1, N: m, X: at[1] + col*n.step[1], Step: n.step[1], Stride: e.index.stride,
				Wrap: int(e.index.wrap), Extent: e.index.extent, Ahead: ahead, Past: e.past,
			},
			to: at[0] + col*n.step[0], toStep: n.step[0], index: at[2] + col*n.step[2],
		}
		e.rows(w, r, r.source)
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
	w.rows.Begin, w.rows.Stride, w.rows.Step, w.rows.Size = at[1], e.index.stride, m, m
	e.pack(w.packed, r.source, &w.rows, n.step[1])
	w.line.seek(&e.lines, 0)
	for range e.lines.rows {
		w.piece = takePiece{
			Take: simd.Take{
				Rows: e.lines.row, N: m, URow: e.lines.step[0], IndexRow: e.lines.step[2], Step: 1, Stride: m,
				Wrap: int(e.index.wrap), Extent: e.index.extent, Past: e.past,
			},
			to: at[0] + w.line.at[0], toStep: n.step[0], index: at[2] + w.line.at[2],
		}
		e.rows(w, r, w.packed)
		w.line.next(&e.lines)
	}
}

// rows does the rows of w's piece out of src.
func (e *elementGather) rows(w *elementStrip, r *elementRun, src *tensor.Storage) {
	p := &w.piece
	if e.narrow != nil {
		e.narrow(r.result, src, r.narrow[p.index-e.from:], p)
		return
	}
	if e.take != nil && (p.Rows == 1 || p.URow >= 0 && p.IndexRow >= 0) {
		e.take(r.result, src, r.index[0], p)
		return
	}
	rows, n, to, index, from := p.Rows, p.N, p.to, p.index, p.X
	p.Rows = 1
	for range rows {
		p.to, p.X = to, from
		for at, left := index, n; left > 0; left -= p.N {
			p.N = min(left, len(w.vals))
			e.index.widen(w.vals[:p.N], r.index[0], at, e.nest.step[2])
			e.widen(r.result, src, w.vals[:p.N], p)
			at, p.to, p.X = at+p.N*e.nest.step[2], p.to+p.N*p.toStep, p.X+p.N*p.Step
		}
		to, index = to+p.URow, index+p.IndexRow
	}
}

// packer packs rows of x, whose elements are step apart.
type packer func(dst, src *tensor.Storage, rows *simd.Places, step int)

func packRows[E tensor.Element](dst, src *tensor.Storage, rows *simd.Places, step int) {
	if step == 1 {
		simd.GatherRows(tensor.Elements[E](dst), tensor.Elements[E](src), rows)
		return
	}
	for r := range rows.At {
		at := rows.Begin + r*rows.Stride
		moveLine(tensor.Elements[E](dst), r*rows.Step, 1, tensor.Elements[E](src), at, step, rows.Size)
	}
}

func takeOf[E tensor.Element](wide bool) func(dst, src, index *tensor.Storage, p *takePiece) {
	if wide {
		return takeStored[E, int64]
	}
	return takeStored[E, int32]
}

// takeStored reads the indices where they lie.
func takeStored[E tensor.Element, I simd.Index](dst, src, index *tensor.Storage, p *takePiece) {
	simd.TakeRows(tensor.Elements[E](dst)[p.to:], tensor.Elements[E](src), tensor.Elements[I](index)[p.index:], &p.Take)
}

// takeWidened is one row by indices that were widened.
func takeWidened[E tensor.Element](dst, src *tensor.Storage, vals []int64, p *takePiece) {
	u, x := tensor.Elements[E](dst), tensor.Elements[E](src)
	if p.toStep == 1 {
		simd.TakeRows(u[p.to:], x, vals, &p.Take)
		return
	}
	to, from := p.to, p.X
	for _, v := range vals {
		u[to] = x[from+int(v+int64(p.Wrap)&(v>>63))*p.Stride]
		from += p.Step
		to += p.toStep
	}
}
