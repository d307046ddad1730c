package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

// pack packs strips s0 to s1 − 1 of a block of y: depth rows as wide as a tile, strip by strip, filled up with
// zeros at the right edge. It is bound by memory, or by the loads of strided rows.
func (r *gemmRun[E, A]) pack(b *gemmBlock[A], w *gemmScratch[A], s0, s1 int) {
	wide := r.p.tile.Columns
	for s := s0; s < s1; s++ {
		r.packStrip(b, w, b.packed[s*wide*b.depth:][:wide*b.depth], s*wide, min(wide, b.columns-s*wide))
	}
}

func (r *gemmRun[E, A]) packStrip(b *gemmBlock[A], w *gemmScratch[A], dst []A, j, columns int) {
	p, wide := r.p, r.p.tile.Columns
	at := b.yAt + b.k0*p.y.row + (b.j0+j)*p.y.col
	if p.gathered {
		pieces := &p.whole
		if columns < wide {
			pieces = &p.rest
		}
		p.tile.Gather(dst, wide, r.ya, at, p.y.row, b.depth, pieces)
		return
	}
	if columns < wide {
		clear(dst)
	}
	switch {
	case p.rows.same && p.y.col == 1:
		for k := range b.depth {
			copy(dst[k*wide:][:columns], r.ya[at:])
			at += p.y.row
		}
	case p.rows.same && p.y.row == 1 && p.y.col >= 0:
		p.turn(dst, wide, r.ya[at:], p.y.col, columns, b.depth)
	case p.y.row == 1: // columns are dense
		w.line = grown(w.line, b.depth)
		for c := range columns {
			p.rows.load(w.line, r.y, at+c*p.y.col, 1)
			for k, v := range w.line {
				dst[k*wide+c] = v
			}
		}
	default:
		for k := range b.depth {
			p.rows.load(dst[k*wide:][:columns], r.y, at+k*p.y.row, p.y.col)
		}
	}
}

// piecesOf lists the registers of some columns that lie side by side.
func piecesOf[A float](t *simd.Tile[A], columns int) (p simd.Pieces) {
	lanes := t.Lanes()
	p.Reset()
	for j := 0; j < t.Columns; j += lanes {
		within := max(0, min(lanes, columns-j))
		p.Add(simd.Piece{At: j, To: int32(j), Of: uint16(1<<within - 1), Into: uint16(1<<lanes - 1)})
	}
	return p
}

// packBlocks packs panels p0 to p1 − 1, for all of its depth: block by block of k, those of a block panel
// by panel.
func (r *gemmRun[E, A]) packBlocks(b gemmBlock[A], w *gemmScratch[A], to []A, p0, p1 int) {
	p := r.p
	panels := ceilDiv(p.m, p.tile.Rows)
	for end := b.k0 + b.depth; b.k0 < end; b.k0 += b.depth {
		b.depth = min(gemmDepth, end-b.k0)
		r.packPanels(&b, w, to[p0*b.depth*p.tile.Apart:], p0, p1)
		to = to[panels*b.depth*p.tile.Apart:]
	}
}

// packPanels packs panels of x: a block's depth of columns, tile.Apart apart, panel by panel.
func (r *gemmRun[E, A]) packPanels(b *gemmBlock[A], w *gemmScratch[A], to []A, p0, p1 int) {
	p := r.p
	tall, apart := p.tile.Rows, p.tile.Apart
	size := b.depth * apart
	for panel := p0; panel < p1; panel++ {
		i := panel * tall
		dst, rows := to[(panel-p0)*size:][:size], min(tall, p.m-i)
		at := b.xAt + i*p.x.row + b.k0*p.x.col
		switch {
		case p.rows.same && p.x.col == 1 && p.x.row >= 0 && rows == tall:
			p.tile.Pack(dst, r.xa[at:], p.x.row, b.depth)
		case p.rows.same && p.x.row == 1 && rows == tall:
			for k := range b.depth {
				to, from := dst[k*apart:][:tall], r.xa[at+k*p.x.col:][:tall]
				for i := 0; i < tall; i += simd.RowUnit {
					*(*[simd.RowUnit]A)(to[i:]) = *(*[simd.RowUnit]A)(from[i:])
				}
			}
		default:
			w.line = grown(w.line, b.depth)
			for row := range rows {
				p.rows.load(w.line, r.x, at+row*p.x.row, p.x.col)
				for k, v := range w.line {
					dst[k*apart+row] = v
				}
			}
		}
	}
}
