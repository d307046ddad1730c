package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

// pack packs the item's columns over a block: strips as wide as a tile, one after another. It is bound by the
// loads and stores of short runs.
func (r *convRun[E, A]) pack(w *convScratch[A], depth int) {
	wide := r.p.tile.size().columns
	w.packed = grown(w.packed, (len(w.strips)-1)*wide*depth)
	for s := range len(w.strips) - 1 {
		columns := w.columns[w.strips[s]:w.strips[s+1]]
		strip := w.packed[s*wide*depth:][:wide*depth]
		if r.ph.turned {
			packTurned(w, strip, columns, wide, depth)
			continue
		}
		for _, c := range columns { // in runs: all taps of one, then of the next
			simd.CopyRuns(strip[c.at-s*wide:], wide, w.src, c.place, &w.places, c.n)
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

// packPanel packs the weight of some features over a block.
func (r *convRun[E, A]) packPanel(w *convScratch[A], b convBlock, panel []A, i, rows int) {
	p, ph := r.p, r.ph
	depth, from := b.depth(), b.channel*ph.Taps+b.tap
	if p.copied {
		row := p.channels * ph.Taps
		p.tile.pack(panel, depth, 0, r.weights[w.wAt+i*row+from:], row, depth, rows)
		return
	}
	n := &ph.weight
	w.cursor.seek(n, from/n.row)
	from %= n.row
	for k := 0; k < depth; {
		run := min(n.row-from, depth-k)
		p.tile.pack(panel, depth, k, r.wa[w.wAt+i*p.wFeature+w.cursor.at[0]+from:], p.wFeature, run, rows)
		w.cursor.next(n)
		k, from = k+run, 0
	}
}
