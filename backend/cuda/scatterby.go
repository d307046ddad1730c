package cuda

import (
	"math"
	"slices"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scatterBy is a scatter by a function of the user's. The positions are sorted by their slots, and each element of a
// segment is one thread's, in a kernel that is written for the function: what y holds goes through all updates in
// registers, and is written once.
type scatterBy struct {
	operands planning.Operands
	check    *indexCheck
	size     int      // updates
	copies   []*mover // of each x to its y
	slots    *slotPlan
	fn       *function
	grid     dim3
	start    []uint64
	at       []int // the slots of addresses: those of y…, then of u…
	states   planning.States[scatterByState]
}

type scatterByState struct {
	updatesState
	slots []uint64
}

// scattersBy is the error for what cannot be compiled: see Composes.
func scattersBy(b *Backend, op ops.ScatterByOp, in []tensor.Spec) error {
	lead := op.Lead()
	x, u := in[0], in[len(op.F.Out())]
	if lead > 2*mostCombined || max(x.Rank(), u.Rank()) > mostCombinedAxes || len(in)-lead > mostIndices ||
		max(x.Size(), u.Size()) >= math.MaxInt32 {
		return tensor.Errorf("", tensor.ErrUnsupported,
			"%d values by %d index operands, %s and %s: more than cuda's kernels take", lead, len(in)-lead, x, u)
	}
	_, err := newScalarFunc(b, op.F)
	return err
}

// compileScatterBy is the plan of a scatter by a function. Operands x…, u…, idx…; results y….
func compileScatterBy(b *Backend, op ops.ScatterByOp, out, in []graph.Operand) (graph.Kernel, error) {
	k, lead := len(out), op.Lead()
	var all []tensor.Spec
	for _, o := range in {
		all = append(all, o.Spec())
	}
	if err := scattersBy(b, op, all); err != nil {
		return nil, err
	}
	first := "ops.Gather" // of the calls that look at the indices
	if in[k].Size() == 0 || in[0].Size() == 0 {
		first = "ops.Scatter"
	}
	s, err := newWindowSpec(first, op.Window, op.Mode, nil, in[0], in, lead)
	if err != nil {
		return nil, err
	}
	r := &scatterBy{operands: b.operands(out, in), size: in[k].Size()}
	r.operands.Over = make([][]bool, k)
	for i := range out {
		r.operands.Over[i] = make([]bool, len(in))
		r.operands.Over[i][i] = true
		m, err := b.newMover(out[i].DType.Size(), out[i].Layout, in[i].Layout)
		if err != nil {
			return nil, err
		}
		r.copies = append(r.copies, m)
	}
	if r.check, err = newIndexCheck(b, s); err != nil || r.size == 0 {
		return r, err
	}
	if r.slots, err = newSlotPlan(b, s, false); err != nil {
		return nil, err
	}
	room, err := r.slots.newRoom()
	if err != nil {
		return nil, err
	}
	if err := r.write(b, op.F, out, in[k:lead]); err != nil {
		return nil, err
	}
	r.states.Make = func() *scatterByState { return &scatterByState{room.state(), slices.Clone(r.start)} }
	return r, nil
}

// The parameters of the kernel; the walks follow, extents first, then for each operand its address and its steps.
const (
	slotItems  = iota // the elements of all windows
	slotCount         // positions
	slotNone          // the key of what is skipped
	slotKeys          // addresses
	slotValues        // 0: the position of each item is its number
	slotWindow        // the elements of one
	slotWalks
)

// write plans the walks, and finds or writes the kernel.
func (r *scatterBy) write(b *Backend, f *graph.Func, ys, us []graph.Operand) error {
	p := r.slots
	scalar, err := newScalarFunc(b, f)
	if err != nil {
		return err
	}
	w := &scatterByWriter{f: scalar, ys: len(ys)}
	w.slots, w.positions, w.window = p.ofSlots(ys...), p.ofPositions(us...), p.ofWindow(ys, us)
	items := uint64(p.count) * uint64(w.window.size())
	r.start = []uint64{items, uint64(p.count), uint64(p.slots), 0, 0, uint64(w.window.size())}
	for _, n := range []nest{w.slots, w.positions, w.window} {
		for _, d := range n.shape {
			r.start = append(r.start, uint64(d))
		}
	}
	for o := range len(ys) + len(us) {
		r.at = append(r.at, len(r.start))
		outer := w.slots.steps
		if o >= len(ys) {
			outer = w.positions.steps[o-len(ys):]
		} else {
			outer = outer[o:]
		}
		r.start = append(r.start, 0)
		for _, s := range append(slices.Clone(outer[0]), w.window.steps[o]...) {
			r.start = append(r.start, uint64(s))
		}
	}
	w.at, w.size = r.at, len(r.start)
	r.grid = b.blocks(int(items), threads)
	r.fn, err = b.generated(w.key(), "scatterby", w.text)
	return err
}

// Run scatters. A bad index is told at the end of the run, and then nothing was written.
func (r *scatterBy) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := r.operands.Check(out, in); err != nil {
		return err
	}
	x, st := ex.(*Exec), r.states.Get()
	defer r.states.Put(st)
	if err := r.check.run(x, in, &st.check); err != nil {
		return err
	}
	for i, y := range out {
		if tensor.Overlaps(y.View(), in[i].View()) {
			continue
		}
		if err := r.copies[i].run(x, &st.move, addressOf(y.View()), addressOf(in[i].View())); err != nil {
			return err
		}
	}
	if r.size == 0 {
		return nil
	}
	work, err := x.scratch(r.slots.bytes())
	if err != nil {
		return err
	}
	defer x.free(work)
	sorted, err := r.slots.sorted(x, st.keys, &st.radix, in, work.at())
	if err != nil {
		return err
	}
	st.slots[slotKeys], st.slots[slotValues] = sorted.keys, sorted.values
	for o, slot := range r.at {
		if o < len(out) {
			st.slots[slot] = addressOf(out[o].View())
		} else {
			st.slots[slot] = addressOf(in[o].View())
		}
	}
	return x.launch(r.fn, r.grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(&st.slots[0]))
}
