package cpu

// The loops of Max and Min: the first element met of those that tie keeps its place, −0 and +0 tie, and NaN,
// which is beyond both ends, keeps its place from the first on. In a line, what cannot change h costs a
// comparison that is foreseen; columns are compared without branches.

func maxScan[A number](least A) scanLoops[A] {
	r := scanLoops[A]{identity: least, line: maxLine[A], row: maxScanColumns[A], cost: 1}
	r.start[0] = least
	return r
}

func minScan[A number](greatest A) scanLoops[A] {
	r := scanLoops[A]{identity: greatest, line: minLine[A], row: minScanColumns[A], cost: 1}
	r.start[0] = greatest
	return r
}

func maxLine[A number](s *scanStep[A]) {
	x, y, at, h, k, place := s.x, s.y[:len(s.x)], s.at, s.h[0][0], s.k[0], s.place
	for i, v := range x {
		if !(v < h) {
			switch {
			case v > h:
				h, k = v, int64(place)
			case v == h:
				if v == 0 {
					h += v // +0, unless both are −0
				}
			case h == h: // and v is NaN
				h, k = v, int64(place)
			}
		}
		y[i] = h
		if at != nil {
			at[i] = k
		}
		place += s.along
	}
	s.h[0][0], s.k[0] = h, k
}

func minLine[A number](s *scanStep[A]) {
	x, y, at, h, k, place := s.x, s.y[:len(s.x)], s.at, s.h[0][0], s.k[0], s.place
	for i, v := range x {
		if !(v > h) {
			switch {
			case v < h:
				h, k = v, int64(place)
			case v == h:
				if v == 0 {
					h = -(-h + -v) // −0, unless both are +0
				}
			case h == h: // and v is NaN
				h, k = v, int64(place)
			}
		}
		y[i] = h
		if at != nil {
			at[i] = k
		}
		place += s.along
	}
	s.h[0][0], s.k[0] = h, k
}

func maxScanColumns[A number](s *scanStep[A]) {
	x := s.x
	y, h, place := s.y[:len(x)], s.h[0][:len(x)], int64(s.place)
	if s.at == nil {
		for c, v := range x {
			v = max(h[c], v)
			h[c], y[c] = v, v
		}
		return
	}
	at, k := s.at[:len(x)], s.k[:len(x)]
	for c, v := range x {
		old := h[c]
		if v > old || v != v && old == old {
			k[c] = place
		}
		v = max(old, v)
		h[c], y[c], at[c] = v, v, k[c]
	}
}

func minScanColumns[A number](s *scanStep[A]) {
	x := s.x
	y, h, place := s.y[:len(x)], s.h[0][:len(x)], int64(s.place)
	if s.at == nil {
		for c, v := range x {
			v = min(h[c], v)
			h[c], y[c] = v, v
		}
		return
	}
	at, k := s.at[:len(x)], s.k[:len(x)]
	for c, v := range x {
		old := h[c]
		if v < old || v != v && old == old {
			k[c] = place
		}
		v = min(old, v)
		h[c], y[c], at[c] = v, v, k[c]
	}
}
