package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// reduction is what is done to a line, in the type A. For LogSumExp and norms top, an extreme, comes first and
// fold sums terms.
type reduction[A any] struct {
	fold, top *fold[A]
	terms     *terms[A]
	one       func(x, m A) A   // the term of the init element
	quiet     func(values []A) // gives NaNs one form; nil where there are none
}

// reducer folds lines of elements E and writes a value a line.
type reducer[E tensor.Element, A summable] struct {
	reduction[A]
	operands planning.Operands
	folder   folder[E, A]
	rows     rowsOf[E, A] // its store is not used
	store    func(dst *tensor.Storage, at, step int, values []A)
	kept     nest // of the results: operand 0 the source, 1 the destination
	initAt   int  // where the init element lies; −1 where there is none
	initIn   int  // and in which operand
	feed     *feed
	soft     bool // lines may be softSums: none that are fed

	states planning.States[reduceRun[E, A]]
	spare  planning.States[reduceScratch[E, A]]
}

// reduceScratch is what a chunk works with.
type reduceScratch[E tensor.Element, A summable] struct {
	lineReader[E, A]
	s           strips
	values, top []A
	fed         fedScratch
	soft        softSums
}

// reduceRun is one run. An item is a piece of a line, or of the lines of a strip; where lines are not cut an
// item goes all the way to the stored result.
type reduceRun[E tensor.Element, A summable] struct {
	p        *reducer[E, A]
	src, dst *tensor.Storage
	memory   []*tensor.Storage // of the operands of a feed
	init     [1]A
	pieces   int
	size     int // elements of a piece
	pass     *fold[A]
	partial  []A // an item's values
	tops     []A // of each strip, in the second pass of LogSumExp
}

func newReducer[E tensor.Element, A summable](op ops.ReduceOp, out graph.Operand, in []graph.Operand,
	rows rowsOf[E, A], how reduction[A]) *reducer[E, A] {
	kept, folded := planning.Split(in[0].Layout, op.Axes)
	p := &reducer[E, A]{reduction: how, rows: rows, kept: newNestByStride(kept, out.Layout), initAt: -1}
	p.store = func(dst *tensor.Storage, at, step int, values []A) {
		rows.store(tensor.Elements[E](dst), at, step, values)
	}
	p.operands = planning.Operands{Out: []graph.Operand{out}, In: slices.Clone(in)}
	if op.Init {
		p.initAt, p.initIn = in[1].Offset, 1
	}
	p.folder = newFolder(rows, folded, &p.kept, how.fold.anyOrder, how.terms)
	p.soft = p.sumsSoftly()
	return p
}

// newFolder plans how lines laid out as line, which begin where kept says, are folded.
func newFolder[E tensor.Element, A summable](rows rowsOf[E, A], line tensor.Layout, kept *nest, anyOrder bool,
	terms *terms[A]) folder[E, A] {
	p := folder[E, A]{load: rows.load, direct: rows.same, line: newNest(line), length: line.Size(),
		column: kept.step[0], width: 1, terms: terms}
	if anyOrder {
		p.line = newNestByStride(line)
	}
	if sideBySide(kept, p.length, p.line.step[0]) {
		p.width = stripWidth(kept, p.length, sizeOf[A]())
	}
	return p
}

func (p *reducer[E, A]) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	units := p.kept.rows * stripsPerRow(&p.kept, p.folder.width)
	if units == 0 {
		return nil
	}
	r := p.states.Get()
	r.p, r.dst = p, out[len(out)-1].Storage()
	if p.feed == nil {
		r.src = in[0].Storage()
	} else {
		r.memory = memoryOf(r.memory[:0], out[:p.feed.results], in, len(p.feed.layouts))
	}
	if p.initAt >= 0 {
		p.rows.load(r.init[:], tensor.Elements[E](in[p.initIn].Storage()), p.initAt, 1)
	}
	r.all(x.(*Exec), units)
	r.src, r.dst = nil, nil
	clear(r.memory)
	p.states.Put(r)
	return nil
}

// all runs the items, once or, for LogSumExp of lines in pieces, twice.
func (r *reduceRun[E, A]) all(x *Exec, units int) {
	p := r.p
	work := p.folder.length * min(p.folder.width, p.kept.row)
	if p.top != nil {
		work *= 4 // a term costs more than an addition
	}
	if p.feed != nil {
		work *= 1 + p.feed.weight
	}
	r.size, r.pieces = treePieces(p.folder.length, piecesPerLine(units, work, x.NumThreads()))
	items, grain := units*r.pieces, grainOf(work/r.pieces)
	if r.pieces == 1 {
		x.run(items, grain, r)
		return
	}
	r.partial = grown(r.partial, items*p.folder.width)
	if p.top != nil {
		r.tops = grown(r.tops, units*p.folder.width)
		r.pass = p.top
		x.run(items, grain, r)
		r.join(units)
	}
	r.pass = p.fold
	x.run(items, grain, r)
	r.join(units)
}

func (r *reduceRun[E, A]) chunk(lo, hi int) {
	p := r.p
	w := p.spare.Get()
	if p.feed == nil {
		p.folder.prepare(&w.lineReader, r.src)
	} else {
		p.open(w, r.memory)
	}
	if p.soft {
		w.soft.prepare(r.src, p.folder.line.step[0])
	}
	most := max(p.folder.width, resultsAtOnce)
	w.values, w.top = grown(w.values, most), grown(w.top, most)
	w.s.seek(&p.kept, p.folder.width, lo/r.pieces)
	for item := lo; item < hi; item++ {
		unit, piece, n := item/r.pieces, item%r.pieces, w.s.size()
		switch {
		case r.pieces > 1:
		case p.folder.width == 1 && p.feed == nil:
			n = min(hi-item, p.kept.row-w.s.i, resultsAtOnce)
			r.lines(w, w.values[:n], w.top[:n])
			w.s.advance(n)
			item += n - 1
			continue
		default:
			r.whole(w, w.values[:n], w.top[:n])
			w.s.next()
			continue
		}
		var top []A
		if p.top != nil && r.pass == p.fold {
			top = r.tops[unit*p.folder.width:][:n]
		}
		from := piece * r.size
		to := min(from+r.size, p.folder.length)
		p.foldPart(w, r.pass, r.partial[item*p.folder.width:][:n], from, to, top)
		if piece == r.pieces-1 {
			w.s.next()
		}
	}
	w.release()
	w.soft.release()
	w.fed.machine.release()
	p.spare.Put(w)
}

// foldPart folds elements from to to − 1 of the lines of the strip that w stands on: where they lie, or as they are
// made.
func (p *reducer[E, A]) foldPart(w *reduceScratch[E, A], f *fold[A], out []A, from, to int, top []A) {
	if p.feed != nil {
		p.foldFed(w, f, out, from, to)
		return
	}
	p.folder.fold(&w.lineReader, f, out, w.s.at(0), from, to, top)
}

// fold folds a strip, or the one line that it is.
func (p *folder[E, A]) fold(w *lineReader[E, A], f *fold[A], out []A, base, from, to int, top []A) {
	if p.width == 1 {
		out[0] = p.foldLine(w, f, base, from, to, top)
		return
	}
	p.foldStrip(w, f, out, base, from, to, top)
}

// resultsAtOnce is how many neighbouring lines are folded before their results are stored: what is done once for
// them would cost a line of 16 KB a tenth of its time.
const resultsAtOnce = 64

// lines reduces neighbouring lines one after another.
func (r *reduceRun[E, A]) lines(w *reduceScratch[E, A], values, top []A) {
	p := r.p
	base, n := w.s.at(0), p.folder.length
	if p.top == nil {
		for c := range values {
			values[c] = p.folder.foldLine(&w.lineReader, p.fold, base+c*p.kept.step[0], 0, n, nil)
		}
		r.finish(values, nil, w.s.at(1))
		return
	}
	for c := range values {
		at, m := base+c*p.kept.step[0], top[c:c+1]
		if p.soft {
			p.sumSoftly(w, values[c:c+1], m, at)
			continue
		}
		m[0] = p.folder.foldLine(&w.lineReader, p.top, at, 0, n, nil)
		r.withInit(p.top, m)
		values[c] = p.folder.foldLine(&w.lineReader, p.fold, at, 0, n, m)
	}
	r.finish(values, top, w.s.at(1))
}

// whole reduces the lines of a strip from the first element to the stored result.
func (r *reduceRun[E, A]) whole(w *reduceScratch[E, A], values, top []A) {
	p := r.p
	n := p.folder.length
	if p.soft {
		p.sumSoftly(w, values, top, w.s.at(0))
		r.finish(values, top, w.s.at(1))
		return
	}
	if p.top == nil {
		top = nil
	} else {
		p.foldPart(w, p.top, top, 0, n, nil)
		r.withInit(p.top, top)
	}
	p.foldPart(w, p.fold, values, 0, n, top)
	r.finish(values, top, w.s.at(1))
}

// join folds the pieces of each line by the tree: into tops after the first pass of two, else to the end.
func (r *reduceRun[E, A]) join(units int) {
	p := r.p
	width := p.folder.width
	w := p.spare.Get()
	w.values = grown(w.values, width)
	w.s.seek(&p.kept, width, 0)
	for unit := range units {
		n := w.s.size()
		w.trees.reset(width, r.pieces)
		for piece := range r.pieces {
			w.trees.push(r.pass, r.partial[(unit*r.pieces+piece)*width:][:n])
		}
		var top []A
		if p.top != nil {
			top = r.tops[unit*width:][:n]
		}
		if r.pass == p.fold {
			w.trees.total(r.pass, w.values[:n])
			r.finish(w.values[:n], top, w.s.at(1))
		} else {
			w.trees.total(r.pass, top)
			r.withInit(r.pass, top)
		}
		w.s.next()
	}
	p.spare.Put(w)
}

// withInit joins the init element, where there is one, to each of the values.
func (r *reduceRun[E, A]) withInit(f *fold[A], values []A) {
	if r.p.initAt < 0 {
		return
	}
	for c, v := range values {
		values[c] = f.join(r.init[0], v)
	}
}

// finish turns folds into results and stores them.
func (r *reduceRun[E, A]) finish(values, top []A, at int) {
	p := r.p
	if top == nil {
		r.withInit(p.fold, values)
	}
	for c, m := range top {
		s := values[c]
		if p.initAt >= 0 {
			s = p.one(r.init[0], m) + s
		}
		values[c] = p.terms.total(s, m)
	}
	if p.quiet != nil {
		p.quiet(values)
	}
	p.store(r.dst, at, p.kept.step[1], values)
}
