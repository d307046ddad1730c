package cpu

// columns does the block's depth of strips s0 to s1 − 1, some strips at a time: all of the depth for them,
// so that their sums stay near. panels is the packed x, where that is packed ahead.
func (r *gemmRun[E, A]) columns(b *gemmBlock[A], w *gemmScratch[A], panels []A, s0, s1 int) {
	p, wide := r.p, r.p.tile.Columns
	from, to := b.k0, b.k0+b.depth
	apart := ceilDiv(p.m, p.tile.Rows) * p.tile.Apart
	for ; s0 < s1; s0 += gemmGroup {
		b.j0 = s0 * wide
		b.columns = min(p.n, min(s1, s0+gemmGroup)*wide) - b.j0
		if !p.direct {
			b.sums = grown(b.sums, p.m*b.columns)
		}
		for b.k0 = from; b.k0 < to; b.k0 += b.depth {
			b.depth = min(gemmDepth, to-b.k0)
			var x []A
			switch {
			case p.ahead:
				x = panels[(b.k0-from)*apart:]
			case p.packX:
				w.panels = grown(w.panels, apart*b.depth)
				r.packPanels(b, w, w.panels, 0, ceilDiv(p.m, p.tile.Rows))
				x = w.panels
			}
			for s := range ceilDiv(b.columns, wide) {
				y, yRow := r.strip(b, w, s)
				r.tiles(b, w, x, 0, p.m, y, yRow, s)
			}
		}
		if !p.direct {
			r.storeRows(b, 0, p.m)
		}
	}
	b.k0, b.depth = from, to-from
}

// strip is a strip of the block's y: packed, or where it lies.
func (r *gemmRun[E, A]) strip(b *gemmBlock[A], w *gemmScratch[A], s int) (y []A, yRow int) {
	p, wide := r.p, r.p.tile.Columns
	j := s * wide
	columns := min(wide, b.columns-j)
	if p.packY || columns < wide {
		w.strip = grown(w.strip, wide*b.depth)
		r.packStrip(b, w, w.strip, j, columns)
		return w.strip, wide
	}
	return r.ya[b.yAt+b.k0*p.y.row+b.j0+j:], p.y.row
}

// multiplyRows does panels p0 to p1 − 1 of all rows by all strips of a block.
func (r *gemmRun[E, A]) multiplyRows(b *gemmBlock[A], w *gemmScratch[A], p0, p1 int) {
	p, wide, tall := r.p, r.p.tile.Columns, r.p.tile.Rows
	groups := ceilDiv(p1-p0, max(1, gemmBytes/(gemmDepth*p.tile.Apart*sizeOf[A]())))
	for g := range groups { // as equal as can be
		g0, g1 := pieceOf(p1-p0, g, groups)
		g0, g1 = p0+g0, p0+g1
		var x []A
		if p.packX {
			w.panels = grown(w.panels, (g1-g0)*p.tile.Apart*b.depth)
			r.packPanels(b, w, w.panels, g0, g1)
			x = w.panels
		}
		i0, i1 := g0*tall, min(p.m, g1*tall)
		for s := range ceilDiv(b.columns, wide) {
			y, yRow := b.packed, wide
			if p.packY {
				y = y[s*wide*b.depth:]
			} else {
				y, yRow = r.strip(b, w, s)
			}
			r.tiles(b, w, x, i0, i1, y, yRow, s)
		}
		if !p.direct && b.k0+b.depth == p.k {
			r.storeRows(b, i0, i1)
		}
	}
}

// tiles does rows i0 to i1 − 1, whole panels but at the lower edge, of a strip: x is their panels, or nil.
func (r *gemmRun[E, A]) tiles(b *gemmBlock[A], w *gemmScratch[A], x []A, i0, i1 int, y []A, yRow, strip int) {
	p, wide, tall := r.p, r.p.tile.Columns, r.p.tile.Rows
	j, rows, add := strip*wide, i1-i0, b.k0 > 0
	columns := min(wide, b.columns-j)
	c, cRow := b.sums, b.columns
	at := i0*cRow + j
	if p.direct {
		c, cRow = r.ca, p.c.row
		at = b.cAt + i0*cRow + b.j0 + j
	}
	c = c[at:]
	to, toRow := c, cRow
	if columns < wide {
		w.edge = grown(w.edge, rows*wide)
		to, toRow = w.edge, wide
	}
	onto := add && columns == wide
	if x != nil && yRow == wide {
		p.tile.Panels(rows, to, toRow, x, y, b.depth, onto)
	} else {
		for i := 0; i < rows; i += tall {
			from, row, col := x, 1, p.tile.Apart
			if x != nil {
				from = x[i/tall*b.depth*p.tile.Apart:]
			} else {
				from, row, col = r.xa[b.xAt+(i0+i)*p.x.row+b.k0*p.x.col:], p.x.row, p.x.col
			}
			p.tile.Multiply(min(tall, rows-i), to[i*toRow:], toRow, from, row, col, y, yRow, b.depth, onto)
		}
	}
	if columns < wide {
		storeEdge(c, cRow, w.edge, wide, rows, columns, p.add, add)
	}
}

// storeEdge stores the columns of tiles at the right edge, whose rows are wide, in c, or adds them there.
func storeEdge[A any](c []A, cRow int, edge []A, wide, rows, columns int, sum func(out, a, b []A), add bool) {
	for k := range rows {
		to, from := c[k*cRow:][:columns], edge[k*wide:][:columns]
		if add {
			sum(to, to, from)
		} else {
			copy(to, from)
		}
	}
}

// storeRows stores finished sums of rows i0 to i1 − 1, rounded where they are halves.
func (r *gemmRun[E, A]) storeRows(b *gemmBlock[A], i0, i1 int) {
	p := r.p
	for i := i0; i < i1; i++ {
		at := b.cAt + i*p.c.row + b.j0*p.c.col
		p.rows.store(r.c, at, p.c.col, b.sums[i*b.columns:][:b.columns])
	}
}
