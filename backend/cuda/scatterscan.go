package cuda

import (
	"fmt"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scanArgs is the mirror of scatterscan.cu's Scan.
type scanArgs struct {
	Y, B, A, Before, N          uint64
	Keys, Values                uint64
	Count, None, Reverse, Keeps uint32
	Window                      kernels.Divisor
	Slots                       axes1
	Positions                   axes3
	Elements                    axes[[4][maxAxes]int64]
}

// scatterScan is the kernel of ops.ScatterScanOp: a scatter whose writers also tell what they found. The
// positions are sorted by their slots, and each element of a segment is one thread's.
type scatterScan struct {
	updates
	affine bool
	apply  launcher
	start  scanArgs
	states planning.States[scanState]
}

type scanState struct {
	updatesState
	scan scanArgs
}

// compileScatterScan is the plan of a scatter-scan. Operands x, [a], b, idx…; results y and, where used[1],
// before.
func compileScatterScan(b *Backend, op ops.ScatterScanOp, out, in []graph.Operand, used []bool) (
	graph.Kernel, error) {
	lead := 2
	if op.Affine {
		lead = 3
	}
	s, err := newWindowSpec("ops.ScatterScan", op.Window, op.Mode, op.Origin, in[0], in, lead)
	if err != nil {
		return nil, err
	}
	if !used[1] {
		out = out[:1]
	}
	k := &scatterScan{affine: op.Affine}
	var room *keysRoom
	if k.updates, room, err = newUpdates(b, s, out, in, false); err != nil || room == nil {
		return k, err
	}
	k.states.Make = func() *scanState { return &scanState{updatesState: room.state()} }
	if op.Reverse {
		k.start.Reverse = 1
	}
	if used[1] {
		k.start.Keeps = 1
	}
	return k, k.plan(b, out, in[lead-1], in[1])
}

func (k *scatterScan) plan(b *Backend, out []graph.Operand, with, factor graph.Operand) error {
	y, before := out[0], with
	if len(out) > 1 {
		before = out[1]
	}
	p, a := k.slots, &k.start
	window := p.ofWindow([]graph.Operand{y}, []graph.Operand{with, factor, before})
	slots, positions := p.ofSlots(y), p.ofPositions(with, factor, before)
	a.Count, a.None = uint32(p.count), uint32(p.slots)
	a.N = uint64(p.count) * uint64(window.size())
	a.Window = kernels.NewDivisor(uint32(window.size()))
	for _, err := range []error{
		slots.set(&a.Slots.Rank, &a.Slots.By, a.Slots.Step[:]),
		positions.set(&a.Positions.Rank, &a.Positions.By, a.Positions.Step[:]),
		window.set(&a.Elements.Rank, &a.Elements.By, a.Elements.Step[:]),
	} {
		if err != nil {
			return err
		}
	}
	k.apply.grid = b.blocks(int(a.N), threads)
	name := fmt.Sprintf("exchange_%d", y.DType.Size()*8)
	switch {
	case k.affine && y.DType == tensor.Bool:
		name = "affine_bool"
	case k.affine && y.DType.IsInteger(): // whose sums and products do not depend on a sign
		name = fmt.Sprintf("affine_u%d", y.DType.Size()*8)
	case k.affine:
		name = "affine_" + kernelName(y.DType)
	}
	var err error
	k.apply.fn, err = b.function("scatterscan", name)
	return err
}

// Run scans. A bad index is told at the end of the run, and then nothing was written.
func (k *scatterScan) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	out = out[:min(len(out), len(k.operands.Out))] // a result that is not wanted may be anything
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	x, st := ex.(*Exec), k.states.Get()
	defer k.states.Put(st)
	if err := k.checked(x, &st.updatesState, in); err != nil {
		return err
	}
	if err := k.copied(x, &st.updatesState, out[0], in[0]); err != nil {
		return err
	}
	if k.size == 0 {
		return nil
	}
	work, err := x.scratch(k.slots.bytes())
	if err != nil {
		return err
	}
	defer x.free(work)
	sorted, err := k.slots.sorted(x, st.keys, &st.radix, in, work.at())
	if err != nil {
		return err
	}
	st.scan = k.start
	a := &st.scan
	a.Keys, a.Values = sorted.keys, sorted.values
	a.Y, a.B = addressOf(out[0].View()), addressOf(in[k.slots.spec.lead-1].View())
	a.A = addressOf(in[1].View())
	if a.Keeps != 0 {
		a.Before = addressOf(out[1].View())
	}
	return x.launch(k.apply.fn, k.apply.grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(a))
}
