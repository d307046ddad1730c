package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/tensor"
)

// heldBytes is what a line or a strip may take to be worked on in scratch. Strips of a megabyte would stay in the
// second-level cache, but it takes longer to read and write such narrow ones.
const heldBytes = 4 << 20

const cacheLine = 64

// holds reports whether a line, or a strip of columns, is held in scratch, and makes strips as narrow as that
// takes. Below a cache line a strip would read more than it uses.
func (p *softmax[E, A]) holds() bool {
	most := heldBytes / (max(p.folder.length, 1) * sizeOf[A]())
	if p.folder.width == 1 {
		return most > 0
	}
	least := cacheLine / sizeOf[E]()
	if most < least {
		return false
	}
	p.folder.width = min(p.folder.width, most/least*least)
	return true
}

// heldScratch is a line or a strip, row after row, and the values of the blocks of a line.
type heldScratch[A any] struct {
	x, values []A
	out       []A // the elements of the result, where that is what they are
	divisors  simd.Divisors
	past      bool // the result of a strip is written past the caches
}

func (p *softmax[E, A]) prepareHeld(h *heldScratch[A], src, dst *tensor.Storage) {
	h.past = p.past && src != dst && p.folder.width > 1
	h.x = grown(h.x, p.folder.length*p.folder.width)
	h.values = grown(h.values, ceilDiv(p.folder.length, blockSize))
	if p.rows.same {
		h.out = elementsOf[A](dst)
	}
}

// heldLine reads a line once, where it lies or loaded, and writes it once.
func (p *softmax[E, A]) heldLine(w *softmaxScratch[E, A], src, dst int) {
	step, n := p.folder.line.step[0], p.folder.length
	x, y := w.held.x, w.held.x
	if p.rows.same && step == 1 {
		x = w.direct[src:][:n]
	} else {
		p.rows.load(x, w.src, src, step)
	}
	w.top[0] = p.top.block(x)
	quietNaN(w.top[:1])
	top, direct := w.top[0], p.rows.same && p.outStep == 1
	if p.log {
		for i := 0; i < n; i += blockSize {
			e := w.block[:min(blockSize, n-i)]
			p.exps.sums(w.held.values[i/blockSize:], e, x[i:], top)
		}
	} else {
		p.exps.sums(w.held.values, y, x, top)
	}
	for _, v := range w.held.values {
		w.tree.push(p.sum, v)
	}
	divisor := p.divisor(w.tree.total(p.sum))
	z := y
	if direct {
		z = w.held.out[dst:][:n]
	}
	if p.log {
		p.exps.shift(y, x, top)
		p.exps.shift(z, y, divisor)
	} else {
		p.floats.DivBy(z, y, divisor)
	}
	if !direct {
		p.rows.store(w.dst, dst, p.outStep, z)
	}
}

// heldStrip reads a strip once and writes it once: rows that are powers of two apart would drive each other out of
// the cache where they lie.
func (p *softmax[E, A]) heldStrip(w *softmaxScratch[E, A], src, dst int, top, sum []A) {
	n, length, step, column := len(top), p.folder.length, p.folder.line.step[0], p.folder.column
	x := w.held.x[:n*length]
	row := func(j int) []A { return x[j*n:][:n] }
	setAll(top, p.top.identity)
	for j := range length {
		p.rows.load(row(j), w.src, src+j*step, column)
		if j&3 == 3 {
			p.top.rows(top, row(j-3), row(j-2), row(j-1), row(j))
		}
	}
	for j := length &^ 3; j < length; j++ {
		p.top.row(top, top, row(j))
	}
	quietNaN(top)
	w.trees.reset(p.folder.width, length/blockSize+1)
	for i := 0; i < length; i += blockSize {
		setAll(w.lanes, 0)
		rows := min(blockSize, length-i)
		used := lanesOf(rows)
		for j := range rows {
			e := row(i + j)
			if p.log {
				e = w.rows[:n]
			}
			p.exps.rows(w.lanes[j%used*p.folder.width:][:n], e, row(i+j), top)
		}
		p.folder.pushLanes(&w.lineReader, p.sum, used, n)
	}
	w.trees.total(p.sum, sum)
	for c, s := range sum {
		sum[c] = p.divisor(s)
	}
	p.finishStrip(w, x, dst, top, sum)
}

// finishStrip turns the exponentials of a strip, or what they are taken of, into results.
func (p *softmax[E, A]) finishStrip(w *softmaxScratch[E, A], x []A, dst int, top, sum []A) {
	n, length, column := len(top), p.folder.length, p.kept.step[1]
	direct := p.rows.same && column == 1
	by, fast := &w.held.divisors, false
	if divisors, ok := any(sum).([]float32); ok && !p.log && simd.HasSoftLines() {
		fast = by.Of(divisors)
	}
	for j := range length {
		e := x[j*n:][:n]
		z := e
		if direct {
			z = w.held.out[dst+j*p.outStep:][:n]
		}
		switch {
		case p.log:
			p.exps.shifts(e, e, top)
			p.exps.shifts(z, e, sum)
		case fast:
			by.Divide(bitsAs[float32](z), bitsAs[float32](e), w.held.past && direct)
		default:
			p.floats.Div(z, e, sum)
		}
		if !direct {
			p.rows.store(w.dst, dst+j*p.outStep, column, z)
		}
	}
}
