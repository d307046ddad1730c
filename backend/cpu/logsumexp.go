package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/tensor"
)

// softSums is lines of float32 whose exponentials are summed as those of a softmax, where they are finite and not far
// apart: a line while the next one is fetched, or panels of columns. It is bound by the exponentials.
type softSums struct {
	line    simd.SoftLine
	columns softColumns
	x       []float32 // the operand
}

const (
	sumBlocks = 16  // of a line, whose exponentials the nearest cache holds
	sumPanels = 256 // columns: 8 lanes of them stay in the nearest cache
)

// sumsSoftly reports whether lines may be softSums.
func (p *reducer[E, A]) sumsSoftly() bool {
	if !simd.HasSoftLines() || p.terms == nil || p.terms.sums == nil || !p.rows.same || sizeOf[A]() != 4 ||
		p.initAt >= 0 || p.folder.line.rows != 1 {
		return false
	}
	if p.folder.width > 1 {
		return p.folder.column == 1
	}
	return p.folder.line.step[0] == 1 && p.folder.length > 0 && p.folder.length%blockSize == 0
}

func (s *softSums) prepare(x *tensor.Storage, step int) {
	s.x = tensor.Elements[float32](x)
	s.line.Y, s.line.Sums = grown(s.line.Y, sumBlocks*blockSize), grown(s.line.Sums, sumBlocks)
	l := &s.columns
	l.X, l.Step, l.keep = s.x, step, grown(l.keep, sumPanels)
	l.low, l.high = grown(l.low, stripBytes/4), grown(l.high, stripBytes/4)
}

func (s *softSums) release() { s.x, s.columns.X, s.line.X, s.line.Next = nil, nil, nil, nil }

// sumSoftly makes values the sums of exponentials of the lines at at, and top their greatest elements.
func (p *reducer[E, A]) sumSoftly(w *reduceScratch[E, A], values, top []A, at int) {
	if p.folder.width > 1 {
		p.sumColumns(w, values, top, at)
	} else if !p.sumLine(w, values, top, at) {
		p.sumTerms(w, values, top, at)
	}
}

// sumTerms is sumSoftly for lines of all kinds.
func (p *reducer[E, A]) sumTerms(w *reduceScratch[E, A], values, top []A, at int) {
	p.folder.fold(&w.lineReader, p.top, top, at, 0, p.folder.length, nil)
	p.folder.fold(&w.lineReader, p.fold, values, at, 0, p.folder.length, top)
}

func (p *reducer[E, A]) sumLine(w *reduceScratch[E, A], values, top []A, at int) bool {
	s, n := &w.soft, p.folder.length
	l, x := &s.line, s.x[at:][:n]
	m, ok := simd.Soft(x)
	if !ok {
		return false
	}
	l.M, bitsAs[float32](top)[0] = m, m
	for i := 0; i < n; i += len(l.Y) {
		k := min(n-i, len(l.Y))
		l.X, l.Next = x[i:][:k], nil
		if next := at + i + p.kept.step[0]; next >= 0 && next+k <= len(s.x) {
			l.Next = s.x[next:][:k]
		}
		l.Do()
		for _, v := range bitsAs[A](l.Sums[:k/blockSize]) {
			w.tree.push(p.fold, v)
		}
	}
	values[0] = w.tree.total(p.fold)
	return values[0] == values[0]
}

// sumColumns does panels, and what is no panel or has elements too far apart as lines of all kinds.
func (p *reducer[E, A]) sumColumns(w *reduceScratch[E, A], values, top []A, at int) {
	l, length := &w.soft.columns, p.folder.length
	whole := 0
	if length > 0 {
		whole = len(values) &^ (cacheLine/4 - 1)
	}
	if whole > 0 {
		simd.SpanRows(l.low[:whole], l.high, l.X, at, l.Step, length)
	}
	for c := 0; c < len(values); {
		k := len(values) - c
		if c < whole {
			k = min(sumPanels, whole-c)
		}
		v, m := values[c:][:k], top[c:][:k]
		soft := c < whole && simd.SoftRows(l.low[c:][:k], l.high[c:])
		if soft {
			copy(bitsAs[float32](m), l.high[c:])
			sumPanel(l, &w.lineReader, p.fold, v, l.high[c:], at+c, length)
		}
		if !soft || hasNaN(bitsAs[float32](v)) {
			p.sumTerms(w, v, m, at+c)
		}
		c += k
	}
}

func hasNaN(x []float32) bool {
	for _, v := range x {
		if v != v {
			return true
		}
	}
	return false
}
