package cpu

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// indexBlock is how many index values are widened and resolved at a time: they and the offsets that they
// become stay in L1.
const indexBlock = 512

// indexOperand is one index operand and the axis of x that its values are starts on. A value v is start v,
// or v + wrap where −wrap ≤ v < 0; it is in bounds from 0 to last.
type indexOperand struct {
	own    tensor.Layout // its distinct elements, which the check reads
	ownAt  nest          // the same as a nest
	at     nest          // its elements position by position, repeated where it broadcasts
	shift  nest          // where each element of a window is judged alone: the element of the position
	shifts bool
	dtype  tensor.DType
	widen  func(dst []int64, src *tensor.Storage, at, step int)

	// Of neighbours; nil where they must be widened.
	inside func(s *tensor.Storage, at, n int, p *indexOperand) bool
	rows   func(at, from []uint32, s *tensor.Storage, first, n int, p simd.Rows, pos uint32) int

	wrap, last     int64
	axis           int
	extent, window int
	stride         int // of x along the axis
}

// widenIndex reads integers as int64; a uint64 above MaxInt64 becomes MaxInt64, which is out of bounds too.
func widenIndex[I integer](dst []int64, s *tensor.Storage, at, step int) {
	src := tensor.Elements[I](s)
	if step == 1 {
		for j, v := range src[at : at+len(dst)] {
			dst[j] = saturated(v)
		}
		return
	}
	for j := range dst {
		dst[j] = saturated(src[at])
		at += step
	}
}

func saturated[I integer](v I) int64 {
	w := int64(v)
	if w < 0 && v > 0 {
		return math.MaxInt64
	}
	return w
}

func widenerOf(dt tensor.DType) func([]int64, *tensor.Storage, int, int) {
	switch dt {
	case tensor.Int8:
		return widenIndex[int8]
	case tensor.Int16:
		return widenIndex[int16]
	case tensor.Int32:
		return widenIndex[int32]
	case tensor.Int64:
		return widenIndex[int64]
	case tensor.Uint8:
		return widenIndex[uint8]
	case tensor.Uint16:
		return widenIndex[uint16]
	case tensor.Uint32:
		return widenIndex[uint32]
	}
	return widenIndex[uint64]
}

func newIndexOperand(o graph.Operand, axis int, x tensor.Layout, window int, wrap bool) indexOperand {
	own := planning.Distinct(o.Layout)
	p := indexOperand{
		own: own, ownAt: newNest(own), dtype: o.DType, widen: widenerOf(o.DType), axis: axis,
		extent: x.Shape[axis], window: window, stride: x.Strides[axis], last: int64(x.Shape[axis] - window),
	}
	if wrap {
		p.wrap = int64(p.extent)
	}
	switch {
	case o.DType == tensor.Int64:
		p.inside, p.rows = insideOf[int64], rowsOfIndex[int64]
	case o.DType == tensor.Int32 && p.extent <= math.MaxInt32:
		p.inside, p.rows = insideOf[int32], rowsOfIndex[int32]
	}
	return p
}

func insideOf[I simd.Index](s *tensor.Storage, at, n int, p *indexOperand) bool {
	return simd.InBounds(tensor.Elements[I](s)[at:at+n], I(p.wrap), I(p.last))
}

func rowsOfIndex[I simd.Index](at, from []uint32, s *tensor.Storage, first, n int, p simd.Rows, pos uint32) int {
	return simd.RowsIn(at, from, tensor.Elements[I](s)[first:first+n], p, pos)
}

// wide reports whether its elements are int64 as they are.
func (p *indexOperand) wide() bool { return p.dtype == tensor.Int64 }

// read widens the values from element pos of a nest on.
func (p *indexOperand) read(r *runWalk, n *nest, s *tensor.Storage, pos int, vals []int64) {
	var at [1]int
	for r.seek(n, pos); len(vals) > 0; {
		m := r.next(n, len(vals), at[:])
		p.widen(vals[:m], s, at[0], n.step[0])
		vals = vals[m:]
	}
}

// values is the len(room) of its distinct elements from number pos on: where they lie if they are int64 side by
// side, else widened into room.
func (p *indexOperand) values(r *runWalk, s *tensor.Storage, pos int, room []int64) []int64 {
	if p.wide() && p.ownAt.rows == 1 && p.ownAt.step[0] == 1 {
		at := p.ownAt.offset[0] + pos
		return tensor.Elements[int64](s)[at : at+len(room)]
	}
	p.read(r, &p.ownAt, s, pos, room)
	return room
}

// firstBad is the first of vals that is out of bounds, len(vals) where none is.
func (p *indexOperand) firstBad(vals []int64) int {
	if simd.InBounds(vals, p.wrap, p.last) {
		return len(vals)
	}
	for j, v := range vals {
		if v < 0 { // below −wrap it stays negative
			v += p.wrap
		}
		if v < 0 || v > p.last {
			return j
		}
	}
	return len(vals)
}

// indexCheck finds the first bad value of one operand at a time, as the body of a parallel region. It is bound
// by memory: values that need not be widened are judged where they lie, and looked at one by one only where one
// of many is bad. Indices that are read once more after that may be left narrow: 2 bytes are read then, not 8.
type indexCheck windowRun

// checkBlock is how many values are judged at a time: they stay in the second-level cache.
const checkBlock = 1 << 14

func (c *indexCheck) chunk(lo, hi int) {
	p, s := &c.plan.index[c.operand], c.index[c.operand]
	direct := p.inside != nil && p.ownAt.rows == 1 && p.ownAt.step[0] == 1
	for ; lo < hi && int64(lo) < c.bad.Load(); lo += checkBlock {
		n := min(checkBlock, hi-lo)
		at := p.ownAt.offset[0] + lo
		if len(c.narrow) > 0 {
			if simd.Narrow(c.narrow[lo:lo+n], tensor.Elements[int64](s)[at:at+n], p.wrap, p.last) {
				continue
			}
		} else if direct && p.inside(s, at, n, p) {
			continue
		}
		if c.block(p, s, lo, lo+n) {
			return
		}
	}
	if len(c.narrow) > 0 {
		simd.FencePast()
	}
}

// block looks for the first bad value of some and reports whether there is one.
func (c *indexCheck) block(p *indexOperand, s *tensor.Storage, lo, hi int) bool {
	l := c.plan.lanes.Get()
	defer c.plan.lanes.Put(l)
	for ; lo < hi; lo += indexBlock {
		vals := p.values(&l.index, s, lo, l.vals[:min(indexBlock, hi-lo)])
		if j := p.firstBad(vals); j < len(vals) {
			lower(&c.bad, int64(lo+j))
			return true
		}
	}
	return false
}

// lower is an atomic minimum.
func lower(a *atomic.Int64, v int64) {
	for old := a.Load(); v < old && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

// checkIndices is the error of mode Error: every value of every operand is in bounds, whether it is read or
// not. The first bad position is that in the row-major order of the index shape; a value that broadcasts
// stands first where the axes that it is repeated along are 0. Where the index shape is empty, the operands
// are checked one after another, each in its own order.
func (r *windowRun) checkIndices(x *Exec) error {
	if r.plan.mode.OOB != ops.OOBError {
		return nil
	}
	var first *ops.IndexError
	empty := slices.Contains(r.plan.indexShape, 0)
	for k := range r.plan.index {
		r.operand = k
		r.bad.Store(math.MaxInt64)
		x.run(r.plan.index[k].ownAt.size(), tuning.grain, (*indexCheck)(r))
		bad := r.bad.Load()
		if bad == math.MaxInt64 {
			continue
		}
		if e := r.indexError(k, int(bad), empty); first == nil || slices.Compare(e.Position, first.Position) < 0 {
			first = e
		}
		if empty {
			break
		}
	}
	if first != nil {
		return first
	}
	return nil
}

// indexError describes value number bad of operand k.
func (r *windowRun) indexError(k, bad int, own bool) *ops.IndexError {
	p := &r.plan.index[k]
	var val [1]int64
	p.read(new(runWalk), &p.ownAt, r.index[k], bad, val[:])
	at := tensor.Unravel(bad, p.own.Shape)
	if !own {
		lead := make([]int, len(r.plan.indexShape)-len(at))
		at = append(lead, at...)
	}
	e := &ops.IndexError{
		Op: r.plan.name, Operand: k, Axis: p.axis, Position: at,
		Index: val[0], Extent: p.extent, Window: p.window,
	}
	if r.plan.origin != nil {
		r.plan.origin[k].Tell(e, r.plan.indexShape)
	}
	return e
}
