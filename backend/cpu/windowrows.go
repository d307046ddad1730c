package cpu

// windowRower is what is done to windows. Operand 0 is x, the others have the shape of the updates.
type windowRower interface {
	// row does n elements of a window, from at[k], step[k] apart in operand k.
	row(at, step *slotOffsets, n int)
	// each does one element of each window: at[j] + off[0] in x and off[k] + j·step[k] in operand k. Where
	// at[j] − lo is not below width, it does what miss does.
	each(at []int, lo int, width uint, off, step *slotOffsets)
	// miss does n elements of a window that is skipped.
	miss(at, step *slotOffsets, n int)
}

// windowPart is the work of one thread: positions, elements of their windows, and the offsets of x at which the
// windows start that it is to do; it skips the others.
type windowPart struct{ pos, win, starts bounds }

// bounds is lo to hi − 1.
type bounds struct{ lo, hi int }

// apply does a part. at holds the offsets of its positions, in order, and so they are visited for any one
// element of x.
func (p *windowPlan) apply(l *windowLane, rows windowRower, at []int, do *windowPart) {
	limit := len(at)
	if do.win.lo >= do.win.hi {
		return
	}
	if p.positionInner {
		limit = blockSize // many passes over these offsets: keep them in L1
	}
	for l.pos.seek(&p.pos, do.pos.lo); len(at) > 0; {
		n := l.pos.next(&p.pos, min(limit, len(at)), l.off[1:])
		switch {
		case p.elements == 1:
			l.off[0] = 0
			rows.each(at[:n], do.starts.lo, uint(do.starts.hi-do.starts.lo), &l.off, &p.posStep)
		case p.positionInner:
			p.elementByElement(l, rows, at[:n], do)
		default:
			p.windowByWindow(l, rows, at[:n], do)
		}
		at = at[n:]
	}
}

// windowByWindow has the window as the inner loop.
func (p *windowPlan) windowByWindow(l *windowLane, rows windowRower, at []int, do *windowPart) {
	lo, width := do.starts.lo, uint(do.starts.hi-do.starts.lo)
	for _, o := range at {
		miss := uint(o-lo) >= width
		l.off[0] = o
		if miss {
			l.off[0] = 0
		}
		p.window(l, rows, do.win, miss)
		for k := 1; k <= p.operands; k++ {
			l.off[k] += p.posStep[k]
		}
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
func (p *windowPlan) elementByElement(l *windowLane, rows windowRower, at []int, do *windowPart) {
	width := uint(do.starts.hi - do.starts.lo)
	l.win.seek(&p.win, do.win.lo)
	for lo := do.win.lo; lo < do.win.hi; {
		n := l.win.next(&p.win, do.win.hi-lo, l.rel[:])
		for range n {
			l.loc[0] = l.rel[0]
			for k := 1; k <= p.operands; k++ {
				l.loc[k] = l.off[k] + l.rel[k]
			}
			rows.each(at, do.starts.lo, width, &l.loc, &p.posStep)
			for k := 0; k <= p.operands; k++ {
				l.rel[k] += p.winStep[k]
			}
		}
		lo += n
	}
}

// each gathers one element a position. It is bound by the latency of the reads from x.
func (m *windowMover[E]) each(at []int, lo int, width uint, off, step *slotOffsets) {
	from, to, w, j, s := m.from, m.to, off[0], off[1], step[1]
	var zero E
	for _, o := range at {
		if uint(o-lo) < width {
			to[j] = from[o+w]
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
