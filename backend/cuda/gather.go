package cuda

import (
	"fmt"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// gatherArgs is the mirror of gather.cu's Gather.
type gatherArgs[I any] struct {
	U, X, N uint64
	Places  placesArgs[I]
}

// gather is the kernel of ops.GatherOp: after the check of the indices, one thread an element of u, in the
// order of u's memory. It is bound by the bytes of u and of what it reads of x; where windows are rows,
// elements are as wide as the alignment of both sides allows.
type gather struct {
	operands planning.Operands
	check    *indexCheck
	lead     int
	size     int // elements of u
	plans    [2]gatherPlan
	states   planning.States[gatherState]
}

// gatherPlan is the launch for elements of a width, by the number of index operands.
type gatherPlan struct {
	launcher
	width int // 0: none
	one   *gatherArgs[[1]indexArgs]
	many  *gatherArgs[[mostIndices]indexArgs]
}

type gatherState struct {
	check checkArgs
	one   gatherArgs[[1]indexArgs]
	many  gatherArgs[[mostIndices]indexArgs]
}

// compileGather is the plan of a gather. Operands x, idx…; result u.
func compileGather(b *Backend, op ops.GatherOp, out, in []graph.Operand) (graph.Kernel, error) {
	s, err := newWindowSpec("ops.Gather", op.Window, op.Mode, op.Origin, in[0], in, 1)
	if err != nil {
		return nil, err
	}
	k := &gather{operands: b.operands(out, in), lead: 1, size: out[0].Size()}
	if k.check, err = newIndexCheck(b, s); err != nil || k.size == 0 {
		return k, err
	}
	size := out[0].DType.Size()
	p := s.places(s.axes(), everyAxis(out[0].Layout), out[0].Layout, size, strideBytes(s.x))
	if k.plans[0], err = newGatherPlan(b, p, size); err != nil {
		return nil, err
	}
	if w, width := p.rows(size); width > size {
		k.plans[1], err = newGatherPlan(b, w, width)
	}
	return k, err
}

// rows is the places with wider elements where the innermost axis is a row in own and in x that no index
// moves.
func (p *placesPlan) rows(size int) (*placesPlan, int) {
	k := len(p.shape) - 1
	for _, steps := range p.steps[2:] {
		if k < 0 || steps[k] != 0 {
			return p, size
		}
	}
	both := nest{p.shape, p.steps[:2]}
	w, width := both.widened(size, p.strides()...)
	if width == size {
		return p, size
	}
	wide := *p
	wide.nest = nest{w.shape, append(w.steps[:2:2], p.steps[2:]...)}
	return &wide, width
}

// strides is what the index operands move x by.
func (p *placesPlan) strides() []int {
	var all []int
	for _, i := range p.index {
		all = append(all, int(i.Stride))
	}
	return all
}

func newGatherPlan(b *Backend, p *placesPlan, size int) (g gatherPlan, err error) {
	g.width = size
	most := 1
	if len(p.index) <= 1 {
		g.one = &gatherArgs[[1]indexArgs]{N: uint64(p.size())}
		err = p.set(&g.one.Places.placesHead, g.one.Places.Index[:])
		g.grid = b.blocks(p.size(), copyItems)
	} else {
		most = mostIndices
		g.many = &gatherArgs[[mostIndices]indexArgs]{N: uint64(p.size())}
		err = p.set(&g.many.Places.placesHead, g.many.Places.Index[:])
		g.grid = b.blocks(p.size(), threads)
	}
	if err != nil {
		return g, err
	}
	g.fn, err = b.function("gather", fmt.Sprintf("gather_%d_%d", size*8, most))
	return g, err
}

// Run gathers. A bad index is told at the end of the run.
func (k *gather) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	x, st := ex.(*Exec), k.states.Get()
	defer k.states.Put(st)
	if err := k.check.run(x, in, &st.check); err != nil || k.size == 0 {
		return err
	}
	u, from := addressOf(out[0].View()), addressOf(in[0].View())
	p := &k.plans[0]
	if w := &k.plans[1]; w.width > 0 && aligned(w.width, u, from) {
		p = w
	}
	var args unsafe.Pointer
	if p.one != nil {
		st.one = *p.one
		st.one.U, st.one.X = u, from
		bindIndices(st.one.Places.Index[:], in[k.lead:])
		args = unsafe.Pointer(&st.one)
	} else {
		st.many = *p.many
		st.many.U, st.many.X = u, from
		bindIndices(st.many.Places.Index[:], in[k.lead:])
		args = unsafe.Pointer(&st.many)
	}
	return x.launch(p.fn, p.grid, dim3{threads, 1, 1}, 0, args)
}
