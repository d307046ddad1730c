package cpu

import (
	"math/bits"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/tensor"
)

// folder folds lines of E in the type A: one after another, or a strip of neighbouring lines side by side.
// Both loops follow the tree, so a line has the same bits either way.
type folder[E tensor.Element, A any] struct {
	load   func(dst []A, src []E, at, step int)
	direct bool      // E is A
	line   nest      // of the folded axes, from offset 0; its rows are walked in order
	length int       // elements of a line
	column int       // distance of neighbouring lines of a strip
	width  int       // lines of a strip
	terms  *terms[A] // of a fold of two passes
}

// lineReader is the memory that a folder works with.
type lineReader[E tensor.Element, A any] struct {
	src    []E
	direct []A // src, where the folder is direct

	runs    runs
	tree    cascade[A]
	block   [blockSize]A
	offsets [blockSize]int
	rows    []A // 4 rows of a strip
	lanes   []A // a row a lane
	trees   rowCascade[A]
	terms   []A // of some blocks, behind their sums
}

// prepare readies w for the elements in a storage.
func (p *folder[E, A]) prepare(w *lineReader[E, A], s *tensor.Storage) {
	w.src = tensor.Elements[E](s)
	if p.direct {
		w.direct = elementsOf[A](s)
	}
	if p.width > 1 {
		w.rows, w.lanes = grown(w.rows, 4*p.width), grown(w.lanes, lanes*p.width)
	}
}

func (w *lineReader[E, A]) release() { w.src, w.direct = nil, nil }

// foldLine folds elements from to to − 1 of the line that begins at base. Where top is given, every element
// x stands for its term.
//
// It is bound by memory for contiguous lines (20 GB/s from the second-level cache), by the exponential, or by
// the gathering load of a block.
func (p *folder[E, A]) foldLine(w *lineReader[E, A], f *fold[A], base, from, to int, top []A) A {
	step := p.line.step[0]
	direct := p.direct && top == nil && step == 1
	if n := to - from; direct && to <= p.line.row && n > 0 { // most lines of most tensors
		switch x := w.direct[base+from:][:n]; {
		case n <= blockSize || f.anyOrder:
			return f.block(x)
		case f.line != nil:
			return f.line(x)
		}
	}
	most, least := blockSize, blockSize // elements that make a block where they lie
	if f.anyOrder {
		most, least = to-from, blockSize/2
	}
	value, filled := f.identity, 0
	w.runs.seek(&p.line, from)
	for i := from; i < to; {
		at, n := w.runs.next(to - i)
		at += base
		for n > 0 {
			var x []A
			if direct && filled == 0 && f.line != nil && n >= 2*blockSize {
				m := w.pushTree(f, w.direct[at:][:n])
				i, n, at = i+m, n-m, at+m
				continue
			}
			if top != nil && p.direct && step == 1 && filled == 0 && p.terms.sums != nil && n >= blockSize {
				m := p.pushTerms(w, f, w.direct[at:][:n], top[0])
				i, n, at = i+m, n-m, at+m
				continue
			}
			if m := min(n, most); direct && filled == 0 && (m >= least || i+m == to) {
				x = w.direct[at:][:m]
				i, n, at = i+m, n-m, at+m
			} else {
				m = min(n, blockSize-filled)
				p.load(w.block[filled:filled+m], w.src, at, step)
				i, n, at, filled = i+m, n-m, at+m*step, filled+m
				if filled < blockSize && i < to {
					continue
				}
				x = w.block[:filled]
				filled = 0
			}
			if top != nil {
				p.terms.line(x, top[0])
			}
			if f.anyOrder {
				value = f.join(value, f.block(x))
			} else {
				w.tree.push(f, f.block(x))
			}
		}
	}
	if f.anyOrder {
		return value
	}
	return w.tree.total(f)
}

// pushTree pushes the largest subtree that begins x, whose elements are whole blocks, and returns how many
// elements it has.
func (w *lineReader[E, A]) pushTree(f *fold[A], x []A) int {
	level := min(bits.Len(uint(len(x)/blockSize))-1, bits.TrailingZeros(w.tree.n))
	n := blockSize << level
	w.tree.pushTree(f, f.line(x[:n]), level)
	return n
}

// pushTerms pushes the sums of the terms of whole blocks of x and returns how many elements they are. The terms go
// to scratch that stays in the nearest cache.
func (p *folder[E, A]) pushTerms(w *lineReader[E, A], f *fold[A], x []A, m A) int {
	n := min(len(x)/blockSize, 16)
	w.terms = grown(w.terms, n*(blockSize+1))
	sums, terms := w.terms[:n], w.terms[n:]
	p.terms.sums(sums, terms, x[:len(terms)], m)
	for _, v := range sums {
		w.tree.push(f, v)
	}
	return len(terms)
}

// foldStrip does what foldLine does for len(out) lines at a time, row by row; top has an element a line. It
// is bound by memory: rows are read once, in runs of a kilobyte, and the lanes stay in the nearest cache.
func (p *folder[E, A]) foldStrip(w *lineReader[E, A], f *fold[A], out []A, base, from, to int, top []A) {
	w.runs.seek(&p.line, from)
	if f.anyOrder {
		setAll(out, f.identity)
	} else {
		w.trees.reset(p.width, (to-from)/blockSize+1)
	}
	if f.stack != nil && p.direct && p.column == 1 && top == nil && p.line.row == p.length {
		step := p.line.step[0]
		f.stack(out, w.direct, simd.Stack{Begin: base + from*step, Step: step, N: to - from})
		return
	}
	for i := from; i < to; i += blockSize {
		offsets := w.offsets[:min(blockSize, to-i)]
		p.offsets(w, offsets, base)
		if f.anyOrder {
			p.foldRows(w, f, out, offsets, 0, 1, top)
			continue
		}
		used := lanesOf(len(offsets))
		for j := range used {
			lane := w.lanes[j*p.width:][:len(out)]
			setAll(lane, f.identity)
			p.foldRows(w, f, lane, offsets, j, used, top)
		}
		p.pushLanes(w, f, used, len(out))
	}
	if !f.anyOrder {
		w.trees.total(f, out)
	}
}

// pushLanes joins the lanes of a block and pushes its values.
func (p *folder[E, A]) pushLanes(w *lineReader[E, A], f *fold[A], used, columns int) {
	for half := used / 2; half > 0; half /= 2 {
		for j := range half {
			lane := w.lanes[j*p.width:][:columns]
			f.row(lane, lane, w.lanes[(j+half)*p.width:])
		}
	}
	w.trees.push(f, w.lanes[:columns])
}

// offsets finds where the next rows begin.
func (p *folder[E, A]) offsets(w *lineReader[E, A], offsets []int, base int) {
	for done := 0; done < len(offsets); {
		at, n := w.runs.next(len(offsets) - done)
		for k := range n {
			offsets[done+k] = base + at + k*p.line.step[0]
		}
		done += n
	}
}

// foldRows joins rows first, first + stride, … into acc.
func (p *folder[E, A]) foldRows(w *lineReader[E, A], f *fold[A], acc []A, offsets []int, first, stride int,
	top []A) {
	j, n := first, len(acc)
	if top != nil && p.terms.rows != nil {
		for ; j < len(offsets); j += stride {
			p.terms.rows(acc, w.rows[:n], p.row(w, 0, n, offsets[j], nil), top)
		}
		return
	}
	for ; j+3*stride < len(offsets); j += 4 * stride {
		a, b := p.row(w, 0, n, offsets[j], top), p.row(w, 1, n, offsets[j+stride], top)
		c, d := p.row(w, 2, n, offsets[j+2*stride], top), p.row(w, 3, n, offsets[j+3*stride], top)
		f.rows(acc, a, b, c, d)
	}
	for ; j < len(offsets); j += stride {
		f.row(acc, acc, p.row(w, 0, n, offsets[j], top))
	}
}

// row is n elements of a row that begins at an offset: where they lie, or loaded into slot k.
func (p *folder[E, A]) row(w *lineReader[E, A], k, n, at int, top []A) []A {
	if p.direct && p.column == 1 && top == nil {
		return w.direct[at:][:n]
	}
	x := w.rows[k*p.width:][:n]
	p.load(x, w.src, at, p.column)
	if top != nil {
		p.terms.columns(x, top)
	}
	return x
}
