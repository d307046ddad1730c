package cuda

import (
	"slices"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/kernels"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The mirrors of sparseupdate.cu.
type (
	sparseArgs struct {
		Segments segmentsArgs
		Scale    uint64
		Adds     uint32
	}
	restArgs struct {
		Update sparseArgs
		N      uint64
		Inner  kernels.Divisor
		Axes   axes1
		Reach  [maxAxes]uint32
	}
)

// sparseUpdate is the kernel of ops.SparseUpdateOp: the updates of each place are summed from zero in
// order, and applied once. It is bound by memory: of y it touches what the indices name, once, and u is
// read once. Whether the other places change depends on the scale, which the device looks at.
type sparseUpdate struct {
	updates
	scaled bool
	update launcher
	long   launcher // of long segments
	others launcher
	start  restArgs
	states planning.States[sparseState]
}

type sparseState struct {
	updatesState
	rest restArgs
}

// compileSparseUpdate is the plan of a sparse update. Operands x, u, s (if Scaled), idx…; result y.
func compileSparseUpdate(b *Backend, op ops.SparseUpdateOp, out, in []graph.Operand) (graph.Kernel, error) {
	s, err := newWindowSpec("ops.Scatter", op.Window, op.Mode, op.Origin, in[0], in, op.Lead())
	if err != nil {
		return nil, err
	}
	k := &sparseUpdate{scaled: op.Scaled}
	var room *keysRoom
	if k.updates, room, err = newUpdates(b, s, out, in, true); err != nil {
		return nil, err
	}
	k.states.Make = func() *sparseState { return &sparseState{updatesState: room.state()} }
	if op.Plus {
		k.start.Update.Adds = 1
	}
	return k, k.plan(b, out[0], in[1])
}

func (k *sparseUpdate) plan(b *Backend, y, u graph.Operand) error {
	p, a := k.slots, &k.start.Update.Segments
	window := p.ofWindow([]graph.Operand{y}, []graph.Operand{u})
	if err := p.segments(a, p.ofSlots(y), p.ofPositions(u), window); err != nil {
		return err
	}
	k.update.grid = b.blocks(int(a.N), threads)
	if err := k.planRest(y); err != nil {
		return err
	}
	k.others.grid = b.blocks(int(k.start.N), threads)
	var err error
	if k.update.fn, err = b.function("sparseupdate", "update_"+kernelName(y.DType)); err != nil {
		return err
	}
	if k.long, err = p.longs(b, "sparseupdate", kernelName(y.DType)); err != nil {
		return err
	}
	k.others.fn, err = b.function("sparseupdate", "rest_"+kernelName(y.DType))
	return err
}

// planRest walks all of y, axis by axis, since each has a reach of its own.
func (k *sparseUpdate) planRest(y graph.Operand) error {
	r, inner := &k.start, nest{steps: make([][]int, 1)}
	for a, d := range y.Shape {
		if slices.Contains(k.slots.slotAxes, a) {
			continue
		}
		inner.shape = append(inner.shape, d)
		inner.steps[0] = append(inner.steps[0], y.Strides[a]*y.DType.Size())
	}
	if err := inner.set(&r.Axes.Rank, &r.Axes.By, r.Axes.Step[:]); err != nil {
		return err
	}
	at := len(inner.shape)
	for a := range y.Shape {
		if !slices.Contains(k.slots.slotAxes, a) {
			at--
			r.Reach[at] = uint32(k.slots.spec.window.SliceSizes[a])
		}
	}
	r.N = uint64(y.Size())
	var err error
	r.Inner, err = divisor(inner.size(), false)
	return err
}

// Run updates. A bad index is told at the end of the run, and then nothing was written.
func (k *sparseUpdate) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
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
	if k.start.N == 0 {
		return nil
	}
	work, err := x.scratch(k.slots.bytes())
	if err != nil {
		return err
	}
	defer x.free(work)
	st.rest = k.start
	s := &st.rest.Update
	if k.scaled {
		s.Scale = addressOf(in[2].View())
	}
	var sorted sortedRun
	if k.size == 0 {
		s.Segments.Count = 0 // windows of nothing name no place
	} else if sorted, err = k.slots.sorted(x, st.keys, &st.radix, in, work.at()); err != nil {
		return err
	}
	s.Segments.bind(sorted, addressOf(out[0].View()), addressOf(in[1].View()))
	for _, l := range [...]struct {
		launcher
		wanted bool
	}{{k.update, k.size > 0}, {k.long, sorted.longs != 0}} {
		if !l.wanted {
			continue
		}
		if err := x.launch(l.fn, l.grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(s)); err != nil {
			return err
		}
	}
	return x.launch(k.others.fn, k.others.grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(&st.rest))
}

// checkPlaces is the kernel of ops.CheckPlacesOp: the check of a scatter, alone.
type checkPlaces struct {
	operands planning.Operands
	check    *indexCheck
	done     *function
	states   planning.States[checkState]
}

type checkState struct {
	check checkArgs
	at    uint64 // gather.cu's Done
}

func compileCheckPlaces(b *Backend, op ops.CheckPlacesOp, out, in []graph.Operand) (graph.Kernel, error) {
	x := graph.Operand{DType: tensor.Bool, Layout: tensor.RowMajor(op.Shape)}
	s, err := newWindowSpec("ops.Scatter", op.Window, op.Mode, op.Origin, x, in, 0)
	if err != nil {
		return nil, err
	}
	k := &checkPlaces{operands: b.operands(out, in)}
	if k.check, err = newIndexCheck(b, s); err != nil {
		return nil, err
	}
	k.done, err = b.function("gather", "checked")
	return k, err
}

// Run checks. A bad index is told at the end of the run.
func (k *checkPlaces) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	x, st := ex.(*Exec), k.states.Get()
	defer k.states.Put(st)
	if err := k.check.run(x, in, &st.check); err != nil {
		return err
	}
	st.at = addressOf(out[0].View())
	return x.launch(k.done, dim3{1, 1, 1}, dim3{32, 1, 1}, 0, unsafe.Pointer(&st.at))
}
