package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// searcher finds places in ascending lines by halving. It is bound by the latency of a chain of log₂ n reads
// per value.
type searcher[E word] struct {
	operands planning.Operands
	order    keyOrder[E]
	values   nest // v, a without its last axis, and the result
	step     int  // along a line of a
	length   int
	right    bool
	states   planning.States[searchRun[E]]
	cursors  planning.States[cursor]
}

// searchRun is one run; its items are values.
type searchRun[E word] struct {
	p    *searcher[E]
	a, v []E
	out  []int64
}

// compileSearchSorted is the plan of a search.
//
// Errors: those of op.Infer; tensor.ErrDType and tensor.ErrShape where the result is not what op gives.
func compileSearchSorted(op ops.SearchSortedOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	if err := planning.Valid(op, []graph.Operand{out}, in, []bool{true}); err != nil {
		return nil, err
	}
	switch in[0].DType.Size() {
	case 1:
		return newSearcher[uint8](op, out, in), nil
	case 2:
		return newSearcher[uint16](op, out, in), nil
	case 4:
		return newSearcher[uint32](op, out, in), nil
	}
	return newSearcher[uint64](op, out, in), nil
}

func newSearcher[E word](op ops.SearchSortedOp, out graph.Operand, in []graph.Operand) graph.Kernel {
	a, v, last := in[0], in[1], in[0].Rank()-1
	lines := tensor.Layout{Shape: slices.Clone(v.Shape), Strides: slices.Clone(a.Strides), Offset: a.Offset}
	lines.Strides[last] = 0 // every value of a line of v searches the same line of a
	p := &searcher[E]{
		operands: planning.Operands{Out: []graph.Operand{out}, In: slices.Clone(in)},
		order:    newKeyOrder[E](a.DType, ops.Ascending), values: newNest(v.Layout, lines, out.Layout),
		step: a.Strides[last], length: a.Shape[last], right: op.Right,
	}
	p.states.Make = func() *searchRun[E] { return &searchRun[E]{p: p} }
	return p
}

func (p *searcher[E]) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	r := p.states.Get()
	r.a, r.v = tensor.Elements[E](in[0].Storage()), tensor.Elements[E](in[1].Storage())
	r.out = tensor.Elements[int64](out[0].Storage())
	ex.(*Exec).run(p.values.size(), 256, r)
	r.a, r.v, r.out = nil, nil, nil
	p.states.Put(r)
	return nil
}

func (r *searchRun[E]) chunk(lo, hi int) {
	n := &r.p.values
	c := r.p.cursors.Get()
	c.seek(n, lo/n.row)
	for lo < hi {
		col := lo % n.row
		for ; col < n.row && lo < hi; col, lo = col+1, lo+1 {
			v := r.v[c.at[0]+col*n.step[0]]
			r.out[c.at[2]+col*n.step[2]] = int64(r.search(v, c.at[1]+col*n.step[1]))
		}
		c.next(n)
	}
	r.p.cursors.Put(c)
}

// search is the number of elements before v on the line that begins at an offset.
func (r *searchRun[E]) search(v E, line int) int {
	p := r.p
	limit, n := p.order.key(v), p.length
	if p.right { // what is not above v is below the key after its own
		if limit++; limit == 0 {
			return n
		}
	}
	first := 0
	for n > 0 {
		half := (n + 1) / 2
		if p.order.key(r.a[line+(first+half-1)*p.step]) < limit {
			first += half
		}
		n -= half
	}
	return first
}
