package cuda

import (
	"slices"
	"strconv"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// searchArgs is the mirror of Search in sort.cu.
type searchArgs struct {
	V, A, Out uint64
	N, Length uint64
	Step      int64
	Right     uint32
	_         uint32
	Order     orderArgs
	Axes      axes3
}

// searcher finds places in ascending lines, a value a thread.
type searcher struct {
	operands planning.Operands
	fn       *function
	args     searchArgs
	states   planning.States[searchArgs]
}

// compileSearchSorted makes the kernel.
func compileSearchSorted(b *Backend, op ops.SearchSortedOp, out, in []graph.Operand) (graph.Kernel, error) {
	a, v, last, size := in[0], in[1], in[0].Rank()-1, in[0].DType.Size()
	p := &searcher{operands: b.operands(out, in), args: searchArgs{
		N: uint64(v.Layout.Size()), Length: uint64(a.Shape[last]), Step: int64(a.Strides[last] * size),
		Order: orderOf(a.DType, ops.Ascending),
	}}
	if op.Right {
		p.args.Right = 1
	}
	lines := tensor.Layout{Shape: v.Shape, Strides: slices.Clone(a.Strides)}
	lines.Strides[last] = 0 // every value of a line of v searches the same line of a
	n := newNest([]int{size, size, 8}, v.Layout, lines, out[0].Layout)
	err := n.set(&p.args.Axes.Rank, &p.args.Axes.By, p.args.Axes.Step[:])
	if err != nil {
		return nil, err
	}
	p.fn, err = b.function("sort", "search_"+strconv.Itoa(size))
	return p, err
}

func (p *searcher) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := p.operands.Check(out, in); err != nil {
		return err
	}
	if p.args.N == 0 {
		return nil
	}
	a := p.states.Get()
	defer p.states.Put(a)
	*a = p.args
	a.A, a.V, a.Out = addressOf(in[0].View()), addressOf(in[1].View()), addressOf(out[0].Read().View())
	e := x.(*Exec)
	return e.launch(p.fn, e.b.blocks(int(a.N), threads), dim3{threads, 1, 1}, 0, unsafe.Pointer(a))
}
