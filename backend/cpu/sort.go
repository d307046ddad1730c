package cpu

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// sorter sorts lines: it finds the permutation of a line from its keys, and then moves the elements of every
// operand, of any dtype, that is wanted. Finding it is bound by the memory of the keys (see ranker.sort),
// moving by the latency of reading a line in another order, which a line in the cache hides.
type sorter struct {
	operands     planning.Operands
	lines        nest  // operands, then results, then the permutation
	from, to     []int // steps along a line, of the operands and of the results
	length, size int
	keys         []func() lineRanker
	whole        func() wholeLine // where threads may work on one line together
	moves        []lineMove       // per operand
	used         []bool           // per result
	states       planning.States[sortRun]
	spare        planning.States[sortScratch]
}

// sortRun is one run; its items are lines.
type sortRun struct {
	p        *sorter
	src, dst []*tensor.Storage
	line     wholeLine
	scratch  sortScratch // of the line that all threads work on
}

// sortScratch is what a chunk works with.
type sortScratch struct {
	s    strips
	perm []uint32
	keys []lineRanker
}

// lineRanker finds the order of the elements of a line.
type lineRanker interface {
	// first writes to perm the places of the first len(perm) of the length elements, in order.
	first(perm []uint32, src *tensor.Storage, at, step, length int)
	// again sorts places by the elements that they name; those that tie stay as they are.
	again(perm []uint32, src *tensor.Storage, at, step int)
}

// compileSort is the plan of a sort.
//
// Errors: those of op.Infer; tensor.ErrDType and tensor.ErrShape where results are not what op gives,
// tensor.ErrOverflow for a line of 2³² elements or more.
func compileSort(op ops.SortOp, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	p, err := newSorter(op, out, in, used)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func newSorter(op ops.SortOp, out, in []graph.Operand, used []bool) (*sorter, error) {
	want, err := op.Infer(specsOf(in))
	if err != nil {
		return nil, err
	}
	if len(out) != len(want) {
		return nil, tensor.Errorf("", tensor.ErrShape, "%d results for %d operands", len(out), len(in))
	}
	for k, s := range want {
		if err := checkSpec("result", out[k], s.DType, s.Shape); err != nil {
			return nil, err
		}
	}
	p := &sorter{
		operands: planning.Operands{Out: slices.Clone(out), In: slices.Clone(in)},
		length:   in[0].Shape[op.Axis], size: op.Size, used: slices.Clone(used),
	}
	if p.length > math.MaxUint32 {
		return nil, tensor.Errorf("", tensor.ErrOverflow,
			"axis %d of shape %v is too long to sort", op.Axis, in[0].Shape)
	}
	var kept []tensor.Layout
	for _, o := range slices.Concat(in, out) {
		l, _ := planning.Split(o.Layout, []int{op.Axis})
		kept = append(kept, l)
	}
	p.lines = newNestByStride(kept...)
	for k, o := range in {
		p.from, p.to = append(p.from, o.Strides[op.Axis]), append(p.to, out[k].Strides[op.Axis])
		p.moves = append(p.moves, newLineMove(o.DType.Size()))
		if k < op.Keys {
			p.keys = append(p.keys, newLineRanker(o.DType, op.Order))
		}
	}
	p.to = append(p.to, out[len(in)].Strides[op.Axis])
	if op.Keys == 1 && p.size >= max(longLine, p.length/8) { // of few, selecting is the smaller part
		p.whole = newWholeLine(in[0].DType, op.Order)
	}
	p.states.Make = func() *sortRun {
		r := &sortRun{p: p, src: make([]*tensor.Storage, len(in)), dst: make([]*tensor.Storage, len(out))}
		if p.whole != nil {
			r.line = p.whole()
		}
		return r
	}
	p.spare.Make = func() *sortScratch {
		w := new(sortScratch)
		for _, k := range p.keys {
			w.keys = append(w.keys, k())
		}
		return w
	}
	return p, nil
}

func (p *sorter) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	p.run(ex.(*Exec), out, in)
	return nil
}

// run sorts operands that have been checked. A result that is not used may be anything.
func (p *sorter) run(x *Exec, out []tensor.Write, in []tensor.Read) {
	lines := p.lines.size()
	if lines == 0 || p.size == 0 {
		return
	}
	r := p.states.Get()
	for k, v := range in {
		r.src[k] = v.Storage()
	}
	for k, v := range out {
		r.dst[k] = v.Storage()
	}
	if r.line != nil && lines < x.threads {
		r.together(x, lines)
	} else {
		x.run(lines, grainOf(16*p.length), r)
	}
	clear(r.src)
	clear(r.dst)
	p.states.Put(r)
}

func (r *sortRun) chunk(lo, hi int) {
	p := r.p
	w := p.spare.Get()
	w.s.seek(&p.lines, 1, lo)
	for range hi - lo {
		perm := r.order(w)
		r.move(w, perm, 0)
		w.s.next()
	}
	p.spare.Put(w)
}

// together sorts line by line, each on all threads.
func (r *sortRun) together(x *Exec, lines int) {
	p, w := r.p, &r.scratch
	w.s.seek(&p.lines, 1, 0)
	for range lines {
		w.perm = grown(w.perm, p.size)
		r.line.sort(x, w.perm, r.src[0], w.s.at(0), p.from[0], p.length)
		x.run(p.size, 1<<12, (*sortMoves)(r))
		w.s.next()
	}
}

// sortMoves is the region that moves the elements of the line that all threads work on.
type sortMoves sortRun

func (m *sortMoves) chunk(lo, hi int) {
	r := (*sortRun)(m)
	r.move(&r.scratch, r.scratch.perm[lo:hi], lo)
}

// order is the permutation of the line that the strips stand at. By several keys, the last one sorts first.
func (r *sortRun) order(w *sortScratch) []uint32 {
	p, last := r.p, len(w.keys)-1
	n := p.length
	if last == 0 {
		n = p.size
	}
	w.perm = grown(w.perm, n)
	w.keys[last].first(w.perm, r.src[last], w.s.at(last), p.from[last], p.length)
	for k := last - 1; k >= 0; k-- {
		w.keys[k].again(w.perm, r.src[k], w.s.at(k), p.from[k])
	}
	return w.perm[:p.size]
}

// move writes the results of a line that are wanted, from element i on.
func (r *sortRun) move(w *sortScratch, perm []uint32, i int) {
	p, n := r.p, len(r.src)
	for k, move := range p.moves {
		if p.used[k] {
			move(r.dst[k], w.s.at(n+k)+i*p.to[k], p.to[k], r.src[k], w.s.at(k), p.from[k], perm)
		}
	}
	if p.used[n] {
		dst, at := tensor.Elements[int64](r.dst[n]), w.s.at(2*n)+i*p.to[n]
		for _, from := range perm {
			dst[at] = int64(from)
			at += p.to[n]
		}
	}
}

// lineMove moves the elements of a line to the order of perm.
type lineMove func(dst *tensor.Storage, to, toStep int, src *tensor.Storage, from, fromStep int, perm []uint32)

func newLineMove(size int) lineMove {
	switch size {
	case 1:
		return permuteLine[uint8]
	case 2:
		return permuteLine[uint16]
	case 4:
		return permuteLine[uint32]
	case 8:
		return permuteLine[uint64]
	}
	return permuteLine[complex128]
}

func permuteLine[E tensor.Element](dst *tensor.Storage, to, toStep int, src *tensor.Storage, from, fromStep int,
	perm []uint32) {
	y, x := tensor.Elements[E](dst), tensor.Elements[E](src)
	for _, i := range perm {
		y[to] = x[from+int(i)*fromStep]
		to += toStep
	}
}
