package cpu

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

// runsRower is a windowRower of scatters, to which no window comes that is skipped.
type runsRower interface {
	windowRower
	// runs does windows that are one run of n elements in both operands, all in one call, since row is far from
	// the data for windows of a cache line: at at[k] + off[0] in x and off[1] + from[k]·step in operand 1.
	runs(at, from []int, off *slotOffsets, step, n int)
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
	runs, ok := rows.(runsRower)
	ok = ok && p.runs && !p.positionInner
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
		case ok:
			l.loc[0], l.loc[1] = do.win.lo, l.off[1]+do.win.lo
			runs.runs(block, from, &l.loc, p.posStep[1], do.win.hi-do.win.lo)
		case p.positionInner:
			p.elementByElement(l, rows, block, from, do)
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
