package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

// pack packs the item's columns over a block: strips as wide as a tile, one after another. It is bound by the
// loads and stores of short runs. A run is copied in whole units, which reach beyond its end: what comes there
// is packed later, and behind the last strip there is room.
func (r *convRun[E, A]) pack(w *convScratch[A], depth int) {
	wide := r.p.tile.size().columns
	w.packed = grown(w.packed, (len(w.strips)-1)*wide*depth+convOver)
	for s := range len(w.strips) - 1 {
		columns := w.columns[w.strips[s]:w.strips[s+1]]
		strip := w.packed[s*wide*depth:]
		if r.ph.turned {
			packTurned(w, strip, columns, s*wide, wide, depth)
		} else {
			packRuns(strip, w.src, w.places, columns, s*wide, wide)
		}
	}
}

// packRuns packs a strip row by row: tap by tap, the columns in runs.
func packRuns[A any](strip, src []A, places []int, columns []convColumns, first, wide int) {
	for k, place := range places {
		row := strip[k*wide:]
		for _, c := range columns {
			to, from := row[c.at-first:], src[place+c.place:]
			if units := (c.n + convOver - 1) / convOver * convOver; units <= len(from) && units <= len(to) {
				for i := 0; i < units; i += convOver {
					*(*[convOver]A)(to[i:]) = *(*[convOver]A)(from[i:])
				}
				continue
			}
			copy(to[:c.n], from)
		}
	}
}

// packTurned packs a strip column by column, each the runs of its window, and turns it.
func packTurned[A any](w *convScratch[A], strip []A, columns []convColumns, first, wide, depth int) {
	line := depth + convOver
	w.lines = grown(w.lines, wide*line)
	step := w.windows[len(w.windows)-1].window
	for _, c := range columns {
		for j := range c.n {
			to, place := w.lines[(c.at-first+j)*line:][:line], c.place+j*step
			for _, t := range w.taps {
				copy(to[t.at:][:t.n], w.src[place+t.place:])
			}
		}
	}
	last := columns[len(columns)-1]
	simd.Transpose(strip, wide, w.lines, line, last.at-first+last.n, depth)
}

// packPanel packs the weight of some features over a block.
func (r *convRun[E, A]) packPanel(w *convScratch[A], b convBlock, panel []A, i, rows int) {
	p, ph := r.p, r.ph
	depth, from := b.depth(), b.channel*ph.taps+b.tap
	if p.copied {
		row := p.channels * ph.taps
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
