package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// scanner scans lines of elements E in the type A: four or more lines together, block by block, or, where
// neighbouring lines are closer in memory than the elements of one, a strip of them side by side, row by row.
// A line has the same bits either way. A long line is not divided: its elements wait for one another.
//
// Contiguous lines are bound by the latency of the loop (an addition is 4 cycles), which four lines hide from
// one another; eight or 16, which registers take side by side, and strips are bound by memory. A large result is
// written past the caches, from a block or a row that stays in the nearest, or at once: nothing reads it soon.
type scanner[E tensor.Element, A summable] struct {
	scanPlan
	scanLoops[A]
	rows rowsOf[E, A]

	states planning.States[scanRun[E, A]]
	spare  planning.States[scanScratch[E, A]]
}

const (
	scanBlock   = 256          // elements of a line that are scanned at a time, a multiple of settleEvery
	longBlock   = 2048         // where calls take longer than what is around them
	settleEvery = simd.Settled // elements between two settlements
	linesAtOnce = simd.LinesAtOnce
	fourLines   = 4
	leastStrip  = 16 // columns: a cache line or more, so that threads do not share one
)

// scanLoops is a scan as the loops use it. Each function takes a block of a line, or a row of neighbouring
// lines, and leaves h behind the last element.
type scanLoops[A any] struct {
	identity A
	start    [scanState]A                    // of h
	line     func(s *scanStep[A])            // a block of a line
	four     func(s *[fourLines]scanStep[A]) // of four lines; nil: one after another is as fast
	many     func(s *simd.Lines[A])          // of more, from 0 on; nil: there is none
	row      func(s *scanStep[A])            // a row
	settle   func(h *[scanState][]A)         // behind every settleEvery rows; nil: there is nothing to do
	quiet    func(values []A)                // gives NaNs one form; nil where there are none
	quietRow bool                            // row does so by itself
	cost     int                             // of an element, in additions
}

// scanState is the number of words of h, at most.
const scanState = 3

// scanStep is a block of a line or a row of a strip, and the state of its lines.
type scanStep[A any] struct {
	y, x, a []A     // results and operands; y may be x or a
	at      []int64 // indices; nil where they are not wanted
	h       [scanState][]A
	k       []int64 // the place of the element that h is
	spare   [3][]A  // room for as many elements as x
	place   int     // of the first element along the axis
	along   int     // from one element of a block to the next
	first   bool    // the first element is the first of its line
}

// scanRun is one run. An item is a strip of lines.
type scanRun[E tensor.Element, A summable] struct {
	p           *scanner[E, A]
	y, x, a, at *tensor.Storage
	width       int  // lines of a strip
	past        bool // y is written past the caches
}

// scanScratch is what a chunk works with.
type scanScratch[E tensor.Element, A summable] struct {
	s      strips
	steps  [linesAtOnce]scanStep[A] // of lines; the first is that of a row
	many   simd.Lines[A]
	edge   []A         // a row of the identity
	nought []int64     // and of its index
	stored [scanAt][]E // the operands' memory
	direct [scanAt][]A // the same where E is A
	at     []int64
	past   bool
	atOnce bool                     // lines that are scanned together go past the caches at once
	room   [linesAtOnce][scanAt][]A // for elements that are not used where they lie
	roomAt [linesAtOnce][]int64
}

func newScanner[E tensor.Element, A summable](s scanPlan, rows rowsOf[E, A], how scanLoops[A]) graph.Kernel {
	return &scanner[E, A]{scanPlan: s, scanLoops: how, rows: rows}
}

func (p *scanner[E, A]) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	out = out[:min(len(out), len(p.operands.Out))] // a result that is not wanted may be anything
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	if p.length == 0 {
		return nil
	}
	ex := x.(*Exec)
	r := p.states.Get()
	r.p, r.y, r.x, r.a = p, out[0].Storage(), in[len(in)-1].Storage(), in[0].Storage()
	if p.indices {
		r.at = out[1].Storage()
	}
	r.past = p.past && r.y != r.x && r.y != r.a
	least, enough := 1, ex.NumThreads()
	if r.width = fourLines; p.many != nil {
		r.width = cacheLine / sizeOf[A]()
	}
	if p.sideBySide {
		r.width, least, enough = stripBytes/sizeOf[A](), leastStrip, 2*enough
	}
	for r.width > least && p.lines.rows*stripsPerRow(&p.lines, r.width) < enough {
		r.width /= 2
	}
	units := p.lines.rows * stripsPerRow(&p.lines, r.width)
	ex.run(units, grainOf(p.cost*p.length*min(r.width, p.lines.row)), r)
	r.y, r.x, r.a, r.at = nil, nil, nil, nil
	p.states.Put(r)
	return nil
}

func (r *scanRun[E, A]) chunk(lo, hi int) {
	p := r.p
	w := p.spare.Get()
	w.prepare(r)
	w.s.seek(&p.lines, r.width, lo)
	for range hi - lo {
		n := w.s.size()
		if p.exclusive {
			p.rows.store(w.stored[scanY], w.s.at(scanY), p.lines.step[scanY], w.edge[:n])
			if p.indices {
				storeSame(w.at, w.s.at(scanAt), p.lines.step[scanAt], w.nought[:n])
			}
		}
		if p.sideBySide {
			p.strip(w, n)
		} else {
			p.together(w, n)
		}
		w.s.next()
	}
	if w.past {
		simd.FencePast()
	}
	w.release()
	p.spare.Put(w)
}

// prepare readies w for a run.
func (w *scanScratch[E, A]) prepare(r *scanRun[E, A]) {
	p := r.p
	w.past = r.past
	for k, s := range [scanAt]*tensor.Storage{r.y, r.x, r.a} {
		w.stored[k] = tensor.Elements[E](s)
		if p.rows.same {
			w.direct[k] = elementsOf[A](s)
		}
	}
	if p.indices {
		w.at = tensor.Elements[int64](r.at)
	}
	w.edge, w.nought = grown(w.edge, r.width), grown(w.nought, r.width)
	setAll(w.edge, p.identity)
	setAll(w.nought, -1)
	steps, elements, lines := linesAtOnce, scanBlock, 1
	if p.sideBySide {
		steps, elements, lines = 1, r.width, r.width
	}
	for c := range steps {
		s := &w.steps[c]
		for k := range w.room[c] {
			w.room[c][k] = grown(w.room[c][k], elements)
		}
		w.roomAt[c] = grown(w.roomAt[c], elements)
		for k := range s.h {
			s.h[k] = grown(s.h[k], lines)
		}
		s.k = grown(s.k, lines)
		for k := range s.spare {
			s.spare[k] = grown(s.spare[k], elements)
		}
		s.along = p.along
	}
}

func (w *scanScratch[E, A]) release() {
	w.stored, w.direct, w.at = [scanAt][]E{}, [scanAt][]A{}, nil
	w.many, w.atOnce = simd.Lines[A]{}, false
	for c := range w.steps {
		s := &w.steps[c]
		s.y, s.x, s.a, s.at = nil, nil, nil, nil
	}
}

// begin puts h at the start of n lines.
func (p *scanner[E, A]) begin(s *scanStep[A], n int) {
	for k, v := range p.start {
		s.h[k] = s.h[k][:n]
		setAll(s.h[k], v)
	}
	s.k = s.k[:n]
	setAll(s.k, int64(p.first))
}

// places is where the operands of line c of the current strip begin. A result that leaves its own element out is
// written one element ahead.
func (p *scanner[E, A]) places(w *scanScratch[E, A], c int) (at [scanSlots]int) {
	for k := range at {
		at[k] = w.s.at(k) + c*p.lines.step[k]
	}
	if p.exclusive {
		at[scanY], at[scanAt] = at[scanY]+p.step[scanY], at[scanAt]+p.step[scanAt]
	}
	return at
}

// strip scans n lines side by side, row by row.
func (p *scanner[E, A]) strip(w *scanScratch[E, A], n int) {
	s, at := &w.steps[0], p.places(w, 0)
	p.begin(s, n)
	for i := range p.met {
		p.open(w, 0, n, &at, p.lines.step)
		s.place, s.first = p.first+i*p.along, i == 0
		p.row(s)
		if p.quiet != nil && !p.quietRow {
			p.quiet(s.y)
		}
		p.close(w, 0, &at, p.lines.step)
		if p.settle != nil && (i+1)%settleEvery == 0 {
			p.settle(&s.h)
		}
		for k, step := range p.step {
			at[k] += step
		}
	}
}

// together scans n lines, a block of each in turn.
func (p *scanner[E, A]) together(w *scanScratch[E, A], n int) {
	var at [linesAtOnce][scanSlots]int
	w.many = simd.Lines[A]{}
	for c := range n {
		p.begin(&w.steps[c], 1)
		at[c] = p.places(w, c)
		if p.many != nil && w.past && p.rows.same && p.step[scanY] == 1 && p.met > 0 {
			w.many.Y[c] = w.direct[scanY][at[c][scanY]:]
		}
	}
	w.atOnce = w.many.CanPast()
	w.many.Past = w.atOnce
	block := p.blockOf(w, n)
	for i := 0; i < p.met; i += block {
		m := min(block, p.met-i)
		for c := range n {
			p.open(w, c, m, &at[c], p.step[:])
			w.steps[c].place, w.steps[c].first = p.first+i*p.along, i == 0
		}
		switch {
		case n > 1 && p.many != nil:
			for c := range ceilDiv(n, simd.LineGroup) * simd.LineGroup {
				if w.many.X[c], w.many.Y[c] = w.steps[c].x, w.steps[c].y; c >= n { // a line that is not there
					w.many.X[c], w.many.Y[c] = w.room[c][scanY][:m], w.room[c][scanY][:m]
				}
			}
			p.many(&w.many)
		case n == fourLines && p.four != nil:
			p.four((*[fourLines]scanStep[A])(w.steps[:]))
		default:
			for c := range n {
				p.line(&w.steps[c])
			}
		}
		for c := range n {
			if last := w.last(c, m); last != last { // a line that has become NaN stays so
				p.quiet(w.steps[c].y)
			}
			p.close(w, c, &at[c], p.step[:])
			for k, step := range p.step {
				at[c][k] += m * step
			}
		}
	}
}

// blockOf is how many elements of n lines are scanned at a time. Where none needs room there may be more.
func (p *scanner[E, A]) blockOf(w *scanScratch[E, A], n int) int {
	if p.many != nil && n%simd.LineGroup == 0 && p.rows.same && p.step[scanX] == 1 && p.step[scanY] == 1 &&
		(w.atOnce || !w.past) {
		return longBlock
	}
	return scanBlock
}

// last is the last of m results of line c. What went past the caches is not read for it: it is the state.
func (w *scanScratch[E, A]) last(c, m int) A {
	if w.atOnce {
		return w.many.Hi[c] + w.many.R[c]
	}
	return w.steps[c].y[m-1]
}

// open brings in n elements of the operands, which begin at at, and room for the results.
func (p *scanner[E, A]) open(w *scanScratch[E, A], c, n int, at *[scanSlots]int, step []int) {
	s := &w.steps[c]
	s.x = p.load(w, c, scanX, n, at, step)
	if p.affine {
		s.a = p.load(w, c, scanA, n, at, step)
	}
	if p.rows.same && step[scanY] == 1 && (!w.past || w.atOnce) {
		s.y = w.direct[scanY][at[scanY]:][:n]
	} else {
		s.y = w.room[c][scanY][:n]
	}
	if p.indices {
		s.at = w.roomAt[c][:n]
	}
}

func (p *scanner[E, A]) load(w *scanScratch[E, A], c, slot, n int, at *[scanSlots]int, step []int) []A {
	if p.rows.same && step[slot] == 1 {
		return w.direct[slot][at[slot]:][:n]
	}
	r := w.room[c][slot][:n]
	p.rows.load(r, w.stored[slot], at[slot], step[slot])
	return r
}

// close stores what was not computed where it belongs.
func (p *scanner[E, A]) close(w *scanScratch[E, A], c int, at *[scanSlots]int, step []int) {
	s := &w.steps[c]
	switch {
	case !p.rows.same || step[scanY] != 1:
		p.rows.store(w.stored[scanY], at[scanY], step[scanY], s.y)
	case w.past && !w.atOnce:
		simd.CopyPast(w.direct[scanY][at[scanY]:][:len(s.y)], s.y)
	}
	if p.indices {
		storeSame(w.at, at[scanAt], step[scanAt], s.at)
	}
}
