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

// skipped stands for the offset of a window that is out of bounds.
const skipped = math.MinInt

// windowPlan is how a Window is walked. The axes of U, the shape of the updates, are of two kinds: those of
// the positions, each of which has a start in x, and those of the window around a start. Positions are the
// axes of I and such window axes as were spread: there, each place of the window is a position of its own.
// Everything is a loop nest, normalised apart, so that each operand is walked in the longest rows it has.
type windowPlan struct {
	name       string
	mode       ops.Mode
	origin     []ops.Origin
	indexShape []int
	index      []indexOperand

	places []tensor.Layout // of u, x and the index by position, where there is one of each
	base   nest            // the offset in x of each position, starts apart
	pos    nest            // the offset of each position in the operands of shape U
	win    nest            // the offset of each element of a window, in x and in the operands of shape U

	positions, elements int // of I and spread axes; of the window
	operands            int // of shape U
	posStep, winStep    slotOffsets
	positionInner       bool // the memory of U varies faster along positions than along the window
	dense               bool // windows are rows in x and in the one operand of shape U
	reach               int  // the end of x's offsets
	lanes               planning.States[windowLane]
}

// windowLane is what one thread works with.
type windowLane struct {
	at, kept, from        []int
	vals, shift           []int64
	base, index, pos, win runWalk
	off, rel, loc         slotOffsets
	places                simd.Places
	rowAt, rowFrom        []uint32
}

func newWindowLane() *windowLane {
	ints := func() []int { return make([]int, indexBlock) }
	return &windowLane{
		at: ints(), kept: ints(), from: ints(),
		vals: make([]int64, indexBlock), shift: make([]int64, indexBlock),
		rowAt: make([]uint32, indexBlock+1), rowFrom: make([]uint32, indexBlock+1),
	}
}

// spread says which axes of a window that move with a start become positions. Windows that move may overlap,
// and what is written twice must be written in the row-major order of U.
type spread uint8

const (
	spreadNone  spread = iota
	spreadEarly        // those before an axis of I, which come first in the order of U
	spreadAll          // all: windows of different starts are then apart
)

// windowSpec is what a windowPlan is made from.
type windowSpec struct {
	name     string
	window   ops.Window
	mode     ops.Mode
	origin   []ops.Origin
	resolved ops.Resolved
	x        tensor.Layout   // of the operand that is addressed
	u        []tensor.Layout // of the operands of shape U
	index    []graph.Operand
	spread   spread
	ordered  bool // an element may be reached by several windows, in the order of the positions
	reverse  bool // that order is turned round
}

// newWindowSpec resolves the Window against its operands.
func newWindowSpec(
	name string, w ops.Window, m ops.Mode, origin []ops.Origin, x graph.Operand, idx []graph.Operand,
) (*windowSpec, error) {
	r, err := w.Resolve(x.Shape, specsOf(idx), m.OOB == ops.OOBClamp)
	if err != nil {
		return nil, err
	}
	if origin != nil && len(origin) != len(idx) {
		return nil, tensor.Errorf("", tensor.ErrShape, "%d origins for %d index operands", len(origin), len(idx))
	}
	return &windowSpec{name: name, window: w, mode: m, origin: origin, resolved: r, x: x.Layout, index: idx}, nil
}

// perElement reports whether each element of a window is judged by its own place.
func (s *windowSpec) perElement() bool { return s.mode.PerElement && s.mode.OOB == ops.OOBSkip }

// windowAxis is one axis of U.
type windowAxis struct {
	extent, stride int // stride in x: of a window axis, or of the axis that an axis of I is paired with
	index          int // the axis of I, −1 for a window axis
	moves          int // the index operand that moves this window axis, −1 for none
}

// axes lists the axes of U.
func (s *windowSpec) axes() []windowAxis {
	w, r := &s.window, &s.resolved
	axes := make([]windowAxis, len(r.Shape))
	for i, o := range r.IndexOut {
		axes[o] = windowAxis{extent: r.Shape[o], index: i, moves: -1}
		if j := slices.Index(w.IndexBatch, i); j >= 0 {
			axes[o].stride = s.x.Strides[w.XBatch[j]]
		}
	}
	for i, o := range r.WindowOut {
		a := r.WindowX[i]
		axes[o] = windowAxis{extent: r.Shape[o], stride: s.x.Strides[a], index: -1, moves: -1}
		if r.Shape[o] > 1 {
			axes[o].moves = slices.Index(w.IndexAxes, a)
		}
	}
	return axes
}

// plan divides the axes of U and makes the nests.
func (s *windowSpec) plan() *windowPlan {
	p := &windowPlan{
		name: s.name, mode: s.mode, origin: s.origin, indexShape: s.window.IndexShape, operands: len(s.u),
	}
	p.lanes.Make = newWindowLane
	if _, hi, err := s.x.Span(); err == nil {
		p.reach = hi
	} else {
		p.reach = math.MaxInt
	}
	axes := s.axes()
	last := -1 // the last axis of I that counts
	for o, a := range axes {
		if a.index >= 0 && a.extent > 1 {
			last = o
		}
	}
	var pos, win []int
	for o, a := range axes {
		spread := a.moves >= 0 && (s.perElement() || s.spread == spreadAll || s.spread == spreadEarly && o < last)
		if a.index >= 0 || spread {
			pos = append(pos, o)
		} else {
			win = append(win, o)
		}
	}
	s.positionNests(p, axes, pos)
	s.windowNest(p, axes, win)
	return p
}

// positionNests walks the positions: axes pos of U.
func (s *windowSpec) positionNests(p *windowPlan, axes []windowAxis, pos []int) {
	along := func(offset int, stride func(o int) int) tensor.Layout {
		l := tensor.Layout{Offset: offset}
		for _, o := range pos {
			d, st := axes[o].extent, stride(o)
			if s.reverse {
				l.Offset += max(d-1, 0) * st
				st = -st
			}
			l.Shape, l.Strides = append(l.Shape, d), append(l.Strides, st)
		}
		return l
	}
	x := along(s.x.Offset, func(o int) int { return axes[o].stride })
	p.base = newNest(x)
	p.positions = p.base.size()
	var u []tensor.Layout
	for _, l := range s.u {
		u = append(u, along(l.Offset, func(o int) int { return l.Strides[o] }))
	}
	p.pos = newNest(u...)
	for k, o := range s.index {
		operand := newIndexOperand(o, s.window.IndexAxes[k], s.x, s.window.SliceSizes[s.window.IndexAxes[k]], s.mode.Wrap)
		l := tensor.Must(o.Broadcast(s.window.IndexShape...)) // Resolve has checked it
		at := along(l.Offset, func(o int) int {
			if axes[o].index < 0 {
				return 0
			}
			return l.Strides[axes[o].index]
		})
		operand.at = newNest(at)
		if len(s.u) == 1 && len(s.index) == 1 {
			p.places = []tensor.Layout{u[0], x, at}
		}
		operand.shifts = s.perElement() && slices.ContainsFunc(axes, func(a windowAxis) bool { return a.moves == k })
		if operand.shifts {
			operand.shift = newNest(along(0, func(o int) int {
				if axes[o].moves == k {
					return 1
				}
				return 0
			}))
		}
		p.index = append(p.index, operand)
	}
}

// windowNest walks a window: axes win of U, in the order of the memory of the first operand of shape U,
// since elements of one window are apart.
func (s *windowSpec) windowNest(p *windowPlan, axes []windowAxis, win []int) {
	layouts := make([]tensor.Layout, 1+len(s.u))
	for _, o := range win {
		for k := range layouts {
			st := axes[o].stride
			if k > 0 {
				st = s.u[k-1].Strides[o]
			}
			layouts[k].Shape, layouts[k].Strides = append(layouts[k].Shape, axes[o].extent), append(layouts[k].Strides, st)
		}
	}
	p.win = newNestBySecond(layouts...)
	p.elements = p.win.size()
	copy(p.posStep[1:], p.pos.step)
	copy(p.winStep[:], p.win.step)
	p.dense = p.operands == 1 && p.win.rows == 1 && p.winStep[0] == 1 && p.winStep[1] == 1
	moves := slices.ContainsFunc(win, func(o int) bool { return axes[o].moves >= 0 })
	p.positionInner = p.elements > 1 && p.pos.row > 1 && planning.Magnitude(p.posStep[1]) < planning.Magnitude(p.winStep[1]) &&
		!(s.ordered && moves)
}

// windowRun is a run of a windowPlan.
type windowRun struct {
	plan    *windowPlan
	index   []*tensor.Storage
	operand int          // of the check at work
	bad     atomic.Int64 // the first bad value it found
	narrow  []uint16     // where the check leaves the indices of the one operand, wrapped; empty where it does not
}

func (r *windowRun) bind(idx []tensor.Read) {
	r.index = r.index[:0]
	for _, o := range idx {
		r.index = append(r.index, o.Storage())
	}
}

func (r *windowRun) release() { clear(r.index) }

// resolve turns the positions from pos on into offsets of x, skipped where mode Skip says so. It takes
// indexBlock of them at most.
func (r *windowRun) resolve(l *windowLane, pos int, at []int) {
	p := r.plan
	var o [1]int
	l.base.seek(&p.base, pos)
	for rest := at; len(rest) > 0; {
		n := l.base.next(&p.base, len(rest), o[:])
		for j := range rest[:n] {
			rest[j] = o[0]
			o[0] += p.base.step[0]
		}
		rest = rest[n:]
	}
	vals := l.vals[:len(at)]
	for k := range p.index {
		x := &p.index[k]
		x.read(&l.index, &x.at, r.index[k], pos, vals)
		if x.wrap > 0 {
			for j, v := range vals {
				if v < 0 && v >= -x.wrap {
					vals[j] = v + x.wrap
				}
			}
		}
		switch {
		case p.mode.OOB == ops.OOBClamp:
			for j, v := range vals {
				at[j] += int(max(0, min(v, x.last))) * x.stride
			}
		case p.mode.OOB == ops.OOBError: // checked before
			for j, v := range vals {
				at[j] += int(v) * x.stride
			}
		case x.shifts:
			x.readShift(l, pos, l.shift[:len(at)])
			x.addInside(at, vals, l.shift)
		default:
			x.addWhole(at, vals)
		}
	}
}

// addWhole skips the windows that do not fit.
func (p *indexOperand) addWhole(at []int, vals []int64) {
	for j, v := range vals {
		if v < 0 || v > p.last {
			at[j] = skipped
		}
		if at[j] != skipped {
			at[j] += int(v) * p.stride
		}
	}
}

// addInside skips the elements, each shift from its start, that are outside of x.
func (p *indexOperand) addInside(at []int, vals, shift []int64) {
	for j, v := range vals {
		// A shift is not negative, so a place that overflows is below 0, out of bounds as it should be.
		if place := v + shift[j]; place < 0 || place >= int64(p.extent) {
			at[j] = skipped
		}
		if at[j] != skipped {
			at[j] += int(v) * p.stride
		}
	}
}

// readShift is the element of the window that each position from pos on stands for.
func (p *indexOperand) readShift(l *windowLane, pos int, shift []int64) {
	var o [1]int
	for l.index.seek(&p.shift, pos); len(shift) > 0; {
		n := l.index.next(&p.shift, len(shift), o[:])
		for j := range shift[:n] {
			shift[j] = int64(o[0])
			o[0] += p.shift.step[0]
		}
		shift = shift[n:]
	}
}
