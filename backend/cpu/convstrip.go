package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

// pack packs a strip of the item's columns over a block. It is bound by the loads and stores of short runs.
func (r *convRun[E, A]) pack(w *convScratch[A], b convBlock, s int) {
	p, wide, depth := r.p, r.p.tile.size().columns, b.depth()
	w.packed = grown(w.packed, wide*depth)
	columns := w.columns[w.strips[s]:w.strips[s+1]]
	switch {
	case r.ph.gathered:
		from := w.xAt + b.channel*p.xChannel
		p.gather.Gather(w.packed, b.taps*wide, r.xa, from, p.xChannel, b.channels, &w.pieces[s])
	case r.ph.turned:
		packTurned(w, w.packed, columns, wide, depth)
	default: // in runs: all taps of one, then of the next
		for _, c := range columns {
			simd.CopyRuns(w.packed[c.at-s*wide:], wide, w.src, c.place, &w.places, c.n)
		}
	}
}

// packTurned packs a strip column by column, each the runs of its window, and turns it.
func packTurned[A any](w *convScratch[A], strip []A, columns []convColumns, wide, depth int) {
	line := depth + convApart
	w.lines = grown(w.lines, wide*line)
	step, n := w.windows[len(w.windows)-1].window, 0
	w.places.Reset()
	for _, c := range columns {
		for j := range c.n {
			w.places.Add(c.place + j*step)
		}
		n += c.n
	}
	for _, t := range w.taps {
		simd.CopyRuns(w.lines[t.at:], line, w.src, t.place, &w.places, t.n)
	}
	simd.Transpose(strip, wide, w.lines, line, n, depth)
}

// convApart keeps the lines of columns from beginning a power of two apart, where they would share cache sets.
const convApart = 16
