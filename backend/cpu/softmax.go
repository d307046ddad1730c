package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// softmax is out = exp(x − m) / s along an axis, or x − m − log s with Log; m is the greatest element of the
// line and s the sum of exp(x − m) by the tree of fold.go, so s is the one inside LogSumExp. Halves are
// computed in float32 and rounded once.
//
// A line of −∞ gives 0 (Log: −∞) everywhere. k elements +∞ share: 1/k (−log k), beside 0 (−∞). A NaN makes
// its line NaN.
//
// It is bound by the exponential. Where elements are of the type computed with, exponentials wait for s in
// the result's memory; halves compute them twice, since a half cannot hold them.
type softmax[E tensor.Element, A float] struct {
	operands planning.Operands
	folder   folder[E, A]
	exps     *exponentials[A]
	top, sum *fold[A]
	rows     rowsOf[E, A]
	kept     nest // of the lines: operand 0 the source, 1 the destination
	outStep  int  // along a line of the destination
	log      bool
	held     bool
	softly   bool           // lines are softLines
	panel    int            // columns of a panel of softColumns, or 0
	past     bool           // the result is so large that it is written past the caches
	floats   simd.Floats[A] // for the division

	states planning.States[softmaxRun[E, A]]
	spare  planning.States[softmaxScratch[E, A]]
}

type softmaxRun[E tensor.Element, A float] struct {
	p        *softmax[E, A]
	src, dst *tensor.Storage
	width    int // lines of an item
}

type softmaxScratch[E tensor.Element, A float] struct {
	lineReader[E, A]
	s        strips
	held     heldScratch[A]
	soft     softLines
	columns  softColumns
	dst      []E
	top, sum []A
}

// compileSoftmax makes the kernel. It may run in place. Errors: ErrUnsupported for dtypes that are no float,
// ErrDType, ErrShape, ErrAxis.
func compileSoftmax(op ops.SoftmaxOp, out, in graph.Operand) (graph.Kernel, error) {
	switch {
	case !in.DType.IsFloat():
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "softmax does not take %s", in.DType)
	case out.DType != in.DType:
		return nil, tensor.Errorf("", tensor.ErrDType, "the result has dtype %s, the operand %s",
			out.DType, in.DType)
	case !tensor.EqualShapes(out.Shape, in.Shape):
		return nil, tensor.Errorf("", tensor.ErrShape, "the result has shape %v, the operand %v",
			out.Shape, in.Shape)
	case op.Axis < 0 || op.Axis >= in.Rank():
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of shape %v", op.Axis, in.Shape)
	}
	switch in.DType {
	case tensor.Float16:
		return newSoftmax(op, out, in, float16Rows, exponentials32), nil
	case tensor.BFloat16:
		return newSoftmax(op, out, in, bfloat16Rows, exponentials32), nil
	case tensor.Float32:
		return newSoftmax(op, out, in, sameRows[float32](), exponentials32), nil
	}
	return newSoftmax(op, out, in, sameRows[float64](), exponentials64), nil
}

func newSoftmax[E tensor.Element, A float](op ops.SoftmaxOp, out, in graph.Operand, rows rowsOf[E, A],
	exps *exponentials[A]) graph.Kernel {
	keptIn, line := planning.Split(in.Layout, []int{op.Axis})
	keptOut, _ := planning.Split(out.Layout, []int{op.Axis})
	p := &softmax[E, A]{
		operands: planning.Operands{Out: []graph.Operand{out}, In: []graph.Operand{in}, Over: [][]bool{{true}}},
		exps:     exps,
		top:      maxOf(A(math.Inf(-1))), sum: sumOf[A](false),
		rows: rows, kept: newNestByStride(keptIn, keptOut), outStep: out.Strides[op.Axis], log: op.Log,
		floats: simd.FloatsOf[A](),
	}
	p.folder = newFolder(rows, line, &p.kept, false, &exps.terms)
	p.held = p.holds()
	p.softly, p.panel, p.past = p.soft(), p.panels(), out.Size()*sizeOf[E]() >= tuning.past
	return p
}

func (p *softmax[E, A]) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	if p.folder.length == 0 {
		return nil // of lines without elements there may be any number
	}
	ex := x.(*Exec)
	r := p.states.Get()
	r.p, r.src, r.dst, r.width = p, in[0].Storage(), out[0].Storage(), p.folder.width
	if p.panel > 0 {
		r.width = p.stripOf(4 * ex.NumThreads())
	}
	ex.run(p.kept.rows*stripsPerRow(&p.kept, r.width), grainOf(8*p.folder.length*min(r.width, p.kept.row)), r)
	r.src, r.dst = nil, nil
	p.states.Put(r)
	return nil
}

func (r *softmaxRun[E, A]) chunk(lo, hi int) {
	p := r.p
	w := p.spare.Get()
	p.folder.prepare(&w.lineReader, r.src)
	w.dst = tensor.Elements[E](r.dst)
	w.top, w.sum = grown(w.top, p.folder.width), grown(w.sum, p.folder.width)
	if p.held {
		p.prepareHeld(&w.held, r.src, r.dst)
	}
	if p.softly {
		w.soft.prepare(p.folder.length, p.kept.step[0], r.src, r.dst)
		w.soft.Log, w.soft.Past = p.log, p.past && r.src != r.dst
	}
	if p.panel > 0 {
		p.prepareColumns(&w.columns, r.src, r.dst)
	}
	w.s.seek(&p.kept, r.width, lo)
	for range hi - lo {
		n := w.s.size()
		if p.panel > 0 {
			p.softStrip(w, w.s.at(0), w.s.at(1), n)
			w.s.next()
			continue
		}
		top, sum := w.top[:n], w.sum[:n]
		switch {
		case p.held && p.folder.width == 1:
			if !p.softly || !p.softLine(w, w.s.at(0), w.s.at(1)) {
				p.heldLine(w, w.s.at(0), w.s.at(1))
			}
			w.s.next()
			continue
		case p.held:
			p.heldStrip(w, w.s.at(0), w.s.at(1), top, sum)
			w.s.next()
			continue
		}
		p.folder.fold(&w.lineReader, p.top, top, w.s.at(0), 0, p.folder.length, nil)
		quietNaN(top)
		if p.folder.width == 1 {
			p.line(w, w.s.at(0), w.s.at(1), top, sum)
		} else {
			p.strip(w, w.s.at(0), w.s.at(1), top, sum)
		}
		w.s.next()
	}
	if p.softly {
		w.soft.release()
	} else if w.held.past {
		simd.FencePast()
	}
	w.columns.release()
	w.release()
	w.dst, w.held.out = nil, nil
	p.spare.Put(w)
}

// line does one line, block by block.
func (p *softmax[E, A]) line(w *softmaxScratch[E, A], src, dst int, top, sum []A) {
	step, length := p.folder.line.step[0], p.folder.length
	for i := 0; i < length; i += blockSize {
		x := w.block[:min(blockSize, length-i)]
		p.rows.load(x, w.src, src+i*step, step)
		p.exp(x, top)
		if p.keeps() {
			p.rows.store(w.dst, dst+i*p.outStep, p.outStep, x)
		}
		w.tree.push(p.sum, p.sum.block(x))
	}
	sum[0] = p.divisor(w.tree.total(p.sum))
	for i := 0; i < length; i += blockSize {
		x := w.block[:min(blockSize, length-i)]
		p.finish(w, x, src+i*step, step, dst+i*p.outStep, p.outStep, top, sum)
	}
}

// strip does neighbouring lines, row by row.
func (p *softmax[E, A]) strip(w *softmaxScratch[E, A], src, dst int, top, sum []A) {
	step, length, outColumn := p.folder.line.step[0], p.folder.length, p.kept.step[1]
	x := w.rows[:len(top)]
	w.trees.reset(p.folder.width, length/blockSize+1)
	for i := 0; i < length; i += blockSize {
		setAll(w.lanes, 0)
		rows := min(blockSize, length-i)
		used := lanesOf(rows)
		for j := range rows {
			p.rows.load(x, w.src, src+(i+j)*step, p.folder.column)
			p.exp(x, top)
			if p.keeps() {
				p.rows.store(w.dst, dst+(i+j)*p.outStep, outColumn, x)
			}
			lane := w.lanes[j%used*p.folder.width:][:len(x)]
			p.sum.row(lane, lane, x)
		}
		p.folder.pushLanes(&w.lineReader, p.sum, used, len(x))
	}
	w.trees.total(p.sum, sum)
	for c, s := range sum {
		sum[c] = p.divisor(s)
	}
	for i := range length {
		p.finish(w, x, src+i*step, p.folder.column, dst+i*p.outStep, outColumn, top, sum)
	}
}

// keeps reports whether exponentials wait in the result's memory.
func (p *softmax[E, A]) keeps() bool { return p.rows.same && !p.log }

// divisor is what a line's exponentials are divided by, or the logarithm that is subtracted. A sum of 0 is
// that of a line of −∞.
func (p *softmax[E, A]) divisor(sum A) A {
	if sum == 0 {
		sum = 1
	}
	if p.log {
		return p.exps.log(sum)
	}
	return sum
}

// exp makes exponentials of a block of one line or of a row of a strip.
func (p *softmax[E, A]) exp(x, top []A) {
	if p.folder.width == 1 {
		p.exps.line(x, top[0])
	} else {
		p.exps.columns(x, top)
	}
}

// finish writes the results of a block of one line or of a row of a strip; x is room for it.
func (p *softmax[E, A]) finish(w *softmaxScratch[E, A], x []A, src, srcStep, dst, dstStep int, top, sum []A) {
	if p.keeps() {
		p.rows.load(x, w.dst, dst, dstStep)
	} else {
		p.rows.load(x, w.src, src, srcStep)
	}
	switch single := p.folder.width == 1; {
	case p.log && single:
		p.exps.shift(x, x, top[0])
		p.exps.shift(x, x, sum[0])
	case p.log:
		p.exps.shifts(x, x, top)
		p.exps.shifts(x, x, sum)
	default:
		if !p.keeps() {
			p.exp(x, top)
		}
		if single {
			p.floats.DivBy(x, x, sum[0])
		} else {
			p.floats.Div(x, x, sum)
		}
	}
	p.rows.store(w.dst, dst, dstStep, x)
}
