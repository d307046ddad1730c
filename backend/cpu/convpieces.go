package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

// convGathering is what pieces are of: a phase, some of its columns and some taps. They count from a product's
// first element of x and channel on, so they hold for every product and every channel.
type convGathering struct {
	ph                *convPhase
	j0, j1, tap, taps int
}

// locatePieces lists the pieces of each strip, for the taps of a channel, if they are not those of the item before.
func (r *convRun[E, A]) locatePieces(w *convScratch[A], b convBlock) {
	p, ph := r.p, r.ph
	g := convGathering{ph, w.j0, w.j1, b.tap, b.taps}
	if g == w.gathering {
		return
	}
	w.gathering = g
	w.windows = grown(w.windows, len(ph.Axes))
	r.locateColumns(w, inPlace(w, ph), p.xImage)
	strips := len(w.strips) - 1
	w.pieces = grown(w.pieces, strips)
	for s := range strips {
		w.pieces[s].Reset()
		columns := w.columns[w.strips[s]:w.strips[s+1]]
		w.starts = grown(w.starts, len(columns)*len(ph.Axes))
		for k, c := range columns {
			ph.windowAt(w.starts[k*len(ph.Axes):][:len(ph.Axes)], w.j0+c.at)
		}
		for tap := range b.taps {
			r.piecesOf(w, s, columns, b.tap+tap, tap*p.tile.size().columns)
		}
	}
}

// inPlace makes w.windows those of x itself, and gives the place of the first: it may be in the padding.
func inPlace[A any](w *convScratch[A], ph *convPhase) (place int) {
	for k := range ph.Axes {
		w.windows[k] = inX(&ph.Axes[k])
		place += w.windows[k].from * ph.Axes[k].X
	}
	return place
}

// windowAt is where a column's window is along each axis.
func (p *convPhase) windowAt(at []int, column int) {
	for k := len(p.Axes) - 1; k >= 0; k-- {
		at[k], column = column%p.Axes[k].Count, column/p.Axes[k].Count
	}
}

// piecesOf adds the registers of a strip for one tap: where runs of columns meet elements of x.
func (r *convRun[E, A]) piecesOf(w *convScratch[A], s int, columns []convColumns, tap, to int) {
	ph, lanes, wide := r.ph, r.p.gather.Lanes(), r.p.tile.size().columns
	last := len(ph.Axes) - 1
	w.index = grown(w.index, len(ph.Axes))
	shift := 0 // of the tap, from a window's first element
	for k, rest := last, tap; k >= 0; k-- {
		a := &ph.Axes[k]
		w.index[k], rest = rest%a.Size*a.Dilation-a.Low, rest/a.Size
		shift += (w.index[k] + a.Low) * a.X
	}
	for first := 0; first < wide; first += lanes {
		piece := simd.Piece{To: int32(to + first), Into: 1<<lanes - 1}
		runs := 0
		for k, c := range columns {
			at := c.at - s*wide
			if at >= first+lanes || at+c.n <= first {
				continue
			}
			lo, hi := ph.reach(w.starts[k*(last+1):][:last+1], w.index, c.n)
			lo, hi = max(at+lo, first)-first, min(at+hi, first+lanes)-first
			if lo >= hi {
				continue
			}
			mask, from := uint16(1<<hi-1<<lo), c.place+shift+first-at
			switch {
			case runs == 0:
				piece.At, piece.Of = from, mask
			case runs%2 == 1:
				piece.Rest, piece.More = from, mask
				if runs > 1 {
					piece.Into |= mask
				}
			default:
				w.pieces[s].Add(piece)
				piece = simd.Piece{At: from, Of: mask, To: piece.To, Into: mask}
			}
			runs++
		}
		w.pieces[s].Add(piece)
	}
}

// reach is the part of a run of n windows, the first of them at start, whose element that lies so far from the
// window's place is in x.
func (p *convPhase) reach(start, element []int, n int) (lo, hi int) {
	last := len(p.Axes) - 1
	for k := range last {
		a := &p.Axes[k]
		if at := start[k]*a.Stride + element[k]; at < 0 || at >= a.Extent {
			return 0, 0
		}
	}
	at := start[last] + element[last]
	return max(0, -at), min(n, p.Axes[last].Extent-at)
}
