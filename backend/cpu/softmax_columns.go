package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/tensor"
)

// softColumns is lines of float32 side by side, a panel of columns at a time: while the exponentials of a panel are made
// and kept, those of the panel before, row by row in the same place, are divided and written. Memory is read twice, the
// first time for the ends of columns in rows as long as it likes them, and written once. A panel stays in the second
// cache: it is read from there sooner than larger ones from further away, though its rows are two cache lines.
type softColumns struct {
	simd.SoftColumns
	out       []float32
	keep      []float32 // of a panel, or room for a row of it
	kept      bool
	low, high []float32 // the ends of the columns of a strip
	to        int       // where the results of the panel before begin
	before    bool      // there is one
}

const (
	columnStrip = 512     // columns whose ends are found together
	panelBytes  = 1 << 19 // of a panel, unless it has two cache lines a row, or one: then it is three times that
	panelLeast  = 2 * cacheLine / 4
	columnRows  = 32 // rows at a time: those of the next time are fetched
)

// panelWidth is how many columns of some length make a panel; 0 where they are too long.
func panelWidth(length int) int {
	switch w := panelBytes / 4 / length &^ (panelLeast - 1); {
	case w > 0:
		return min(w, columnStrip)
	case length*panelLeast <= 3*panelBytes/4:
		return panelLeast
	case length*panelLeast/2 <= 3*panelBytes/4:
		return panelLeast / 2
	}
	return 0
}

// panels is the width of a panel where lines can be done so, as they lie side by side, else 0.
func (p *softmax[E, A]) panels() int {
	if !simd.HasSoftLines() || !p.held || p.folder.width == 1 || !p.rows.same || sizeOf[A]() != 4 ||
		p.folder.column != 1 || p.kept.step[1] != 1 || p.folder.length == 0 {
		return 0
	}
	return min(panelWidth(p.folder.length), p.folder.width&^(cacheLine/4-1))
}

// stripOf is how many columns make a strip, if there are to be so many of them at least.
func (p *softmax[E, A]) stripOf(wanted int) int {
	width := columnStrip
	for width > panelLeast && p.kept.rows*stripsPerRow(&p.kept, width) < wanted {
		width /= 2
	}
	return width
}

func (p *softmax[E, A]) prepareColumns(l *softColumns, src, dst *tensor.Storage) {
	l.X, l.out = tensor.Elements[float32](src), tensor.Elements[float32](dst)
	l.keep, l.kept = grown(l.keep, p.panel*p.folder.length), true
	l.low, l.high = grown(l.low, columnStrip), grown(l.high, columnStrip)
	l.Step, l.ToStep = p.folder.line.step[0], p.outStep
	l.Log, l.Past = p.log, p.past && src != dst
}

func (l *softColumns) release() {
	if l.Past {
		simd.FencePast()
	}
	l.Past, l.X, l.Result, l.out = false, nil, nil, nil
}

// softStrip does the n columns at src: panels, and what is no panel or has elements too far apart as a heldStrip.
func (p *softmax[E, A]) softStrip(w *softmaxScratch[E, A], src, dst, n int) {
	l := &w.columns
	whole := n &^ (cacheLine/4 - 1)
	if whole > 0 {
		simd.SpanRows(l.low[:whole], l.high, l.X, src, l.Step, p.folder.length)
	}
	for c := 0; c < whole; c += p.panel {
		k := min(p.panel, whole-c)
		if l.before && k < p.panel { // a panel of another width
			p.endPanel(l)
		}
		if !p.softPanel(w, c, k, src+c, dst+c) {
			p.heldStrip(w, src+c, dst+c, w.top[:k], w.sum[:k])
		}
	}
	if l.before {
		p.endPanel(l)
	}
	for c := whole; c < n; c += p.folder.width {
		k := min(p.folder.width, n-c)
		p.heldStrip(w, src+c, dst+c, w.top[:k], w.sum[:k])
	}
}

// softPanel does the k columns at src, of which the first is column c of the strip, but for their division, and that of
// the panel before. It reports whether it could; where it could not, nothing of these columns is written.
func (p *softmax[E, A]) softPanel(w *softmaxScratch[E, A], c, k, src, dst int) bool {
	l := &w.columns
	if !simd.SoftRows(l.low[c:][:k], l.high[c:]) {
		return false
	}
	sum := w.sum[:k]
	sumPanel(l, &w.lineReader, p.sum, sum, l.high[c:], src, p.folder.length)
	l.before = false
	for c, s := range sum {
		if s != s {
			return false
		}
		sum[c] = p.divisor(s)
	}
	l.Ends(bitsAs[float32](sum))
	l.before, l.to = true, dst
	return true
}

// sumPanel does a panel of columns at src, whose greatest elements are top, and the results of the panel before; sum is
// that of the exponentials.
func sumPanel[E tensor.Element, A any](l *softColumns, w *lineReader[E, A], f *fold[A], sum []A, top []float32,
	src, length int) {
	k := len(sum)
	l.Tops(top[:k])
	w.trees.reset(k, length/blockSize+1)
	for i := 0; i < length; i += blockSize {
		rows := min(blockSize, length-i)
		lanes := w.lanes[:lanesOf(rows)*k]
		clear(lanes)
		l.Lanes = bitsAs[float32](lanes)
		for j := 0; j < rows; j += columnRows {
			l.rows(src, k, i+j, min(columnRows, rows-j), length)
		}
		for n := len(lanes) / 2; n >= k; n /= 2 {
			f.row(lanes[:n], lanes[:n], lanes[n:])
		}
		w.trees.push(f, lanes[:k])
	}
	w.trees.total(f, sum)
}

// rows does some rows of a panel, and of the one before. What is read next is rows of these columns or, in the end, of
// the next ones.
func (l *softColumns) rows(src, k, i, rows, length int) {
	l.At, l.Keep, l.Result = src+i*l.Step, l.keep[:k], nil
	if l.kept {
		l.Keep = l.keep[i*k:][:rows*k]
	}
	if l.Ahead = columnRows * l.Step; i+columnRows >= length {
		l.Ahead = k - i*l.Step
	}
	if l.before {
		l.Result, l.To = l.out, l.to+i*l.ToStep
	}
	l.Do(rows)
}

// endPanel is the end of the panel before, when none follows.
func (p *softmax[E, A]) endPanel(l *softColumns) {
	x := l.X
	l.X, l.Keep, l.Result, l.To = nil, l.keep, l.out, l.to
	l.Do(p.folder.length)
	l.X, l.before = x, false
}
