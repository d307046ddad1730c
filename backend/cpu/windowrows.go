package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/ops"
)

// windowRower is what is done to windows. Operand 0 is x, the others have the shape of the updates.
type windowRower interface {
	// row does n elements of a window, from at[k], step[k] apart in operand k.
	row(at, step *slotOffsets, n int)
	// each does one element of each of several windows: at[k] + off[0] in x and off[o] + from[k]·step[o] in
	// operand o.
	each(at, from []int, off, step *slotOffsets)
	// miss does n elements of a window that is skipped.
	miss(at, step *slotOffsets, n int)
}

// placesRower does dense windows of several positions in one call: windows that are rows in x and in the one
// operand of shape U, none of them skipped. It may refuse.
type placesRower interface {
	windowRower
	places(p *simd.Places) bool
}

// windowPart is the work of one thread: positions, elements of their windows, and, where filter is set, the
// offsets of x at which the windows start that it is to do. It leaves out the others and what is skipped.
type windowPart struct {
	pos, win, starts bounds
	filter           bool
}

// bounds is lo to hi − 1.
type bounds struct{ lo, hi int }

// everyPosition is the numbers of the positions of a block of which none is left out.
var everyPosition = func() (from [indexBlock]int) {
	for j := range from {
		from[j] = j
	}
	return from
}()

// apply does a part. at holds the offsets of its positions, in the order in which they are visited for any
// one element of x.
func (p *windowPlan) apply(l *windowLane, rows windowRower, at []int, do *windowPart) {
	if do.win.lo >= do.win.hi {
		return
	}
	for l.pos.seek(&p.pos, do.pos.lo); len(at) > 0; {
		n := l.pos.next(&p.pos, min(indexBlock, len(at)), l.off[1:])
		block, from := at[:n], everyPosition[:n]
		if do.filter {
			block, from = l.filter(block, do.starts)
		}
		switch {
		case p.elements == 1:
			l.off[0] = 0
			rows.each(block, from, &l.off, &p.posStep)
		case p.positionInner:
			p.elementByElement(l, rows, block, from, do)
		case p.dense && (do.filter || p.mode.OOB != ops.OOBSkip) && p.denseWindows(l, rows, block, from, do):
		default:
			p.windowByWindow(l, rows, block, from, do)
		}
		at = at[n:]
	}
}

// filter keeps the windows that start within bounds, and their numbers. It has no branch to mispredict: half
// of them are some other thread's.
func (l *windowLane) filter(at []int, starts bounds) (kept, from []int) {
	width, n := uint(starts.hi-starts.lo), 0
	kept, from = l.kept[:len(at)], l.from[:len(at)]
	for j, o := range at {
		kept[n], from[n] = o, j
		d := uint(o - starts.lo)
		n += int((d - width) &^ d >> 63) // 1 where d < width
	}
	return kept[:n], from[:n]
}

// denseWindows does the windows of a block at once where the rows can, and where lists name their offsets.
func (p *windowPlan) denseWindows(l *windowLane, rows windowRower, at, from []int, do *windowPart) bool {
	r, ok := rows.(placesRower)
	if !ok || p.reach > math.MaxUint32 {
		return false
	}
	for j, o := range at {
		l.rowAt[j], l.rowFrom[j] = uint32(o), uint32(from[j])
	}
	l.places = simd.Places{
		At: l.rowAt[:len(at)], From: l.rowFrom[:len(at)], Begin: do.win.lo, Stride: 1, First: l.off[1] + do.win.lo,
		Step: p.posStep[1], Size: do.win.hi - do.win.lo,
	}
	ok = r.places(&l.places)
	l.places = simd.Places{}
	return ok
}

// windowByWindow has the window as the inner loop.
func (p *windowPlan) windowByWindow(l *windowLane, rows windowRower, at, from []int, do *windowPart) {
	first := l.off
	for j, o := range at {
		miss := o == skipped
		l.off[0] = o
		if miss {
			l.off[0] = 0
		}
		for k := 1; k <= p.operands; k++ {
			l.off[k] = first[k] + from[j]*p.posStep[k]
		}
		p.window(l, rows, do.win, miss)
	}
}

// window does one window from l.off on, row by row.
func (p *windowPlan) window(l *windowLane, rows windowRower, do bounds, miss bool) {
	if p.win.rows > 1 {
		l.win.seek(&p.win, do.lo)
	}
	for lo := do.lo; lo < do.hi; {
		n := do.hi - lo
		if p.win.rows > 1 {
			n = l.win.next(&p.win, n, l.rel[:])
			for k := 0; k <= p.operands; k++ {
				l.loc[k] = l.off[k] + l.rel[k]
			}
		} else {
			for k := 0; k <= p.operands; k++ {
				l.loc[k] = l.off[k] + lo*p.winStep[k]
			}
		}
		if miss {
			rows.miss(&l.loc, &p.winStep, n)
		} else {
			rows.row(&l.loc, &p.winStep, n)
		}
		lo += n
	}
}

// elementByElement has the positions as the inner loop: one pass over them for each element of the window.
func (p *windowPlan) elementByElement(l *windowLane, rows windowRower, at, from []int, do *windowPart) {
	l.win.seek(&p.win, do.win.lo)
	for lo := do.win.lo; lo < do.win.hi; {
		n := l.win.next(&p.win, do.win.hi-lo, l.rel[:])
		for range n {
			l.loc[0] = l.rel[0]
			for k := 1; k <= p.operands; k++ {
				l.loc[k] = l.off[k] + l.rel[k]
			}
			rows.each(at, from, &l.loc, &p.posStep)
			for k := 0; k <= p.operands; k++ {
				l.rel[k] += p.winStep[k]
			}
		}
		lo += n
	}
}

// places gathers whole rows.
func (m *windowMover[E]) places(p *simd.Places) bool {
	simd.GatherRows(m.to, m.from, p)
	return true
}

// each gathers one element a position, 0 where it is skipped; none is ever left out. It is bound by the
// latency of the reads from x.
func (m *windowMover[E]) each(at, _ []int, off, step *slotOffsets) {
	x, to, w, j, s := m.from, m.to, off[0], off[1], step[1]
	var zero E
	for _, o := range at {
		if o != skipped {
			to[j] = x[o+w]
		} else {
			to[j] = zero
		}
		j += s
	}
}

// miss reads as 0.
func (m *windowMover[E]) miss(at, step *slotOffsets, n int) {
	to, j := m.to, at[1]
	if step[1] == 1 {
		clear(to[j : j+n])
		return
	}
	var zero E
	for range n {
		to[j] = zero
		j += step[1]
	}
}
