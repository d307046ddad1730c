package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/tensor"
)

// runWalk walks the elements of a nest in row-major order, a piece of a row at a time, from any element on.
type runWalk struct {
	cur cursor
	col int
}

// seek puts the walk on element pos of a nest that is not empty.
func (r *runWalk) seek(n *nest, pos int) {
	r.cur.seek(n, pos/n.row)
	r.col = pos % n.row
}

// next moves over the coming elements of one row, at most limit, and returns how many they are; at[k] is
// where the first lies in operand k, the others follow at the nest's step.
func (r *runWalk) next(n *nest, limit int, at []int) int {
	m := min(limit, n.row-r.col)
	for k, o := range r.cur.at {
		at[k] = o + r.col*n.step[k]
	}
	if r.col += m; r.col == n.row {
		r.col = 0
		r.cur.next(n)
	}
	return m
}

// newNestBySecond is newNestByStride with the axes in the order of the second operand's strides.
func newNestBySecond(layouts ...tensor.Layout) nest {
	layouts = slices.Clone(layouts)
	layouts[0], layouts[1] = layouts[1], layouts[0]
	n := newNestByStride(layouts...)
	n.offset[0], n.offset[1] = n.offset[1], n.offset[0]
	n.step[0], n.step[1] = n.step[1], n.step[0]
	n.strides[0], n.strides[1] = n.strides[1], n.strides[0]
	return n
}

// size is the number of elements.
func (n *nest) size() int { return n.rows * n.row }

// slots is how many operands a row addresses at most.
const slots = 4

// slotOffsets holds an offset or a step per operand.
type slotOffsets = [slots]int

// rower is what is done to rows of elements: to n of them from at[k], step[k] apart in operand k.
type rower interface {
	row(at, step *slotOffsets, n int)
}

// sweep runs a rower over every element of a nest, in parallel. Rows must not depend on one another.
type sweep struct {
	nest  nest
	lanes planning.States[sweepLane]
}

type sweepLane struct {
	walk     runWalk
	at, step slotOffsets
}

// sweepRun is a sweep at work.
type sweepRun struct {
	*sweep
	rows rower
}

// tuning is the sizes at which the kernels of this family change course. Results do not depend on them;
// tests lower them to take every course with little data.
var tuning = struct {
	grain   int  // elements that make a chunk worth a thread
	few     int  // a gather of fewer positions divides the windows among threads
	wide    int  // a scatter of windows of this size divides them, and not the places where they start
	rows    int  // a scatter of so many whole rows divides those, however wide they are
	batches int  // a scatter with so many leading batches divides those
	strip   int  // bytes of x that a gather of elements packs
	past    int  // bytes of a result from which on it is written past the caches
	chains  bool // fused steps are chained
}{grain: 16 << 10, few: 64, wide: 128, rows: 1024, batches: 16, strip: 768 << 10, past: 32 << 20, chains: simd.HasChains()}

func (s *sweepRun) chunk(lo, hi int) {
	l := s.lanes.Get()
	copy(l.step[:], s.nest.step)
	for l.walk.seek(&s.nest, lo); lo < hi; {
		n := l.walk.next(&s.nest, hi-lo, l.at[:])
		s.rows.row(&l.at, &l.step, n)
		lo += n
	}
	s.lanes.Put(l)
}

// windowMover copies elements of one width: operand 0 to operand 1.
type windowMover[E tensor.Element] struct{ from, to []E }

// movement is a windowMover of some width.
type movement interface {
	windowRower
	bind(from, to *tensor.Storage)
}

func (m *windowMover[E]) bind(from, to *tensor.Storage) {
	m.from, m.to = nil, nil
	if from != nil {
		m.from = tensor.Elements[E](from)
	}
	if to != nil {
		m.to = tensor.Elements[E](to)
	}
}

// row is bound by memory: each element is read once and written once.
func (m *windowMover[E]) row(at, step *slotOffsets, n int) {
	from, to, i, j := m.from, m.to, at[0], at[1]
	if step[0] == 1 && step[1] == 1 {
		copy(to[j:j+n], from[i:i+n])
		return
	}
	for range n {
		to[j] = from[i]
		i += step[0]
		j += step[1]
	}
}

// newMovement is a windowMover for elements of size bytes.
func newMovement(size int) movement {
	switch size {
	case 1:
		return new(windowMover[uint8])
	case 2:
		return new(windowMover[uint16])
	case 4:
		return new(windowMover[uint32])
	case 8:
		return new(windowMover[uint64])
	}
	return new(windowMover[complex128])
}

// copyRun is a sweep that copies operand 0 to operand 1.
type copyRun struct {
	sweepRun
	move movement
}

func newCopyRun(s *sweep, size int) copyRun {
	m := newMovement(size)
	return copyRun{sweepRun{s, m}, m}
}

// do copies, unless from is to already.
func (c *copyRun) do(x *Exec, to tensor.Write, from tensor.Read) {
	if tensor.Same(to.View(), from.View()) {
		return
	}
	c.move.bind(from.Storage(), to.Storage())
	x.run(c.nest.size(), tuning.grain, &c.sweepRun)
	c.move.bind(nil, nil)
}

// zeroRows clears the elements of operand 1.
type zeroRows struct{ movement }

func (z *zeroRows) row(at, step *slotOffsets, n int) { z.miss(at, step, n) }
