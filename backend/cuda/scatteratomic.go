package cuda

import (
	"fmt"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// atomicArgs is the mirror of scatteratomic.cu's Atomic.
type atomicArgs[I any] struct {
	Y, U, N uint64
	How     uint32
	Places  placesArgs[I]
}

// scatterAtomic is the kernel of scatters of integers whose order does not matter, and of sums of floats where
// Options.AtomicScatter asks for it: every update combines itself with y. It is bound by a sector of y an
// update.
type scatterAtomic struct {
	operands planning.Operands
	check    *indexCheck
	size     int // updates
	copies   *mover
	apply    launcher
	many     bool // more than one index operand
	start    atomicState
	states   planning.States[atomicState]
}

type atomicState struct {
	check checkArgs
	move  moveArgs
	one   atomicArgs[[1]indexArgs]
	many  atomicArgs[[mostIndices]indexArgs]
}

// orderless reports whether the order of a combination shows in no bit, or nobody minds, and the hardware has it.
func (b *Backend) orderless(dt tensor.DType, how ops.Combine) bool {
	if how == ops.CombineAdd && (dt == tensor.Float32 || dt == tensor.Float64) {
		return b.atomicScatter
	}
	return dt.IsInteger() && dt.Size() >= 4 && how != ops.CombineSet && how != ops.CombineMul
}

func newScatterAtomic(b *Backend, s *windowSpec, how ops.Combine, out, in []graph.Operand) (graph.Kernel, error) {
	y, u := out[0], in[1]
	k := &scatterAtomic{operands: b.operands(out, in, true), size: u.Size(), many: len(s.index) > 1}
	var err error
	if k.check, err = newIndexCheck(b, s); err != nil {
		return nil, err
	}
	if k.copies, err = b.newMover(y.DType.Size(), y.Layout, in[0].Layout); err != nil || k.size == 0 {
		return k, err
	}
	p := s.places(s.axes(), everyAxis(u.Layout), u.Layout, u.DType.Size(), strideBytes(y))
	k.start.one.N, k.start.one.How = uint64(k.size), uint32(how)
	k.start.many.N, k.start.many.How = uint64(k.size), uint32(how)
	most := 1
	if k.many {
		most = mostIndices
		err = p.set(&k.start.many.Places.placesHead, k.start.many.Places.Index[:])
	} else {
		err = p.set(&k.start.one.Places.placesHead, k.start.one.Places.Index[:])
	}
	if err != nil {
		return nil, err
	}
	k.states.Make = func() *atomicState {
		st := k.start
		return &st
	}
	k.apply.grid = b.blocks(k.size, threads)
	k.apply.fn, err = b.function("scatteratomic", fmt.Sprintf("atomic_%s_%d", kernelName(y.DType), most))
	return k, err
}

// Run scatters. A bad index is told at the end of the run, and then nothing was written.
func (k *scatterAtomic) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	x, st := ex.(*Exec), k.states.Get()
	defer k.states.Put(st)
	if err := k.check.run(x, in, &st.check); err != nil {
		return err
	}
	y, u := addressOf(out[0].View()), addressOf(in[1].View())
	if !tensor.Overlaps(out[0].View(), in[0].View()) {
		if err := k.copies.run(x, &st.move, y, addressOf(in[0].View())); err != nil {
			return err
		}
	}
	if k.size == 0 {
		return nil
	}
	args := unsafe.Pointer(&st.one)
	if k.many {
		args = unsafe.Pointer(&st.many)
		st.many.Y, st.many.U = y, u
		bindIndices(st.many.Places.Index[:], in[2:])
	} else {
		st.one.Y, st.one.U = y, u
		bindIndices(st.one.Places.Index[:], in[2:])
	}
	return x.launch(k.apply.fn, k.apply.grid, dim3{threads, 1, 1}, 0, args)
}
