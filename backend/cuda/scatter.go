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

// The mirrors of scatter.cu.
type (
	tableArgs struct {
		Y, U, X, N, Table uint64
		Copies            uint32
		Window            kernels.Divisor
		Slots             axes2
		Positions         axes1
		Elements          axes3
	}
	combineArgs struct {
		Segments segmentsArgs
		How      uint32
	}
)

// scatter is the kernel of ops.ScatterOp. It checks the indices, and then copies x to y unless they are
// one. Of a Set the last writers are found in a table of the slots, and where y is another memory than x
// one pass copies and writes; where slots are many more than positions, and for all other combinations
// whose order shows, the positions are sorted.
type scatter struct {
	updates
	how    ops.Combine
	table  [2]setTable  // narrow, wide
	sorted [2]setSorted // narrow, wide
	apply  launcher
	start  combineArgs
	rows   setSorted // sums of rows, 16 bytes a thread
	long   launcher  // of long segments
	states planning.States[scatterState]
}

type setTable struct {
	launcher
	width int
	args  tableArgs
}

type setSorted struct {
	launcher
	width int
	args  segmentsArgs
}

type scatterState struct {
	updatesState
	table   tableArgs
	sorted  segmentsArgs
	combine combineArgs
}

// manySlots times as many slots as positions are not worth a table.
const manySlots = 8

// compileScatter is the plan of a scatter. Operands x, u, idx…; result y.
func compileScatter(b *Backend, op ops.ScatterOp, out, in []graph.Operand) (graph.Kernel, error) {
	s, err := newWindowSpec("ops.Scatter", op.Window, op.Mode, op.Origin, in[0], in, 2)
	if err != nil {
		return nil, err
	}
	if b.orderless(out[0].DType, op.Combine) {
		return newScatterAtomic(b, s, op.Combine, out, in)
	}
	k := &scatter{how: op.Combine}
	var room *keysRoom
	if k.updates, room, err = newUpdates(b, s, out, in, false); err != nil || room == nil {
		return k, err
	}
	k.states.Make = func() *scatterState { return &scatterState{updatesState: room.state()} }
	if op.Combine == ops.CombineSet {
		return k, k.planSet(b, out[0], in[0], in[1])
	}
	return k, k.planCombine(b, out[0], in[1])
}

func (k *scatter) planSet(b *Backend, y, x, u graph.Operand) error {
	p, size := k.slots, y.DType.Size()
	slots, positions := p.ofSlots(y, x), p.ofPositions(u)
	window := p.ofWindow([]graph.Operand{y, x}, []graph.Operand{u})
	further := append(slots.all(), positions.all()...)
	for i := range k.table {
		w, width := window, size
		if i == 1 {
			if w, width = window.widened(size, further...); width == size {
				break
			}
		}
		t := &k.table[i]
		t.width = width
		a := &t.args
		a.N = uint64(p.slots) * uint64(w.size())
		a.Window = kernels.NewDivisor(uint32(w.size()))
		for _, err := range []error{
			slots.set(&a.Slots.Rank, &a.Slots.By, a.Slots.Step[:]),
			positions.set(&a.Positions.Rank, &a.Positions.By, a.Positions.Step[:]),
			w.set(&a.Elements.Rank, &a.Elements.By, a.Elements.Step[:]),
		} {
			if err != nil {
				return err
			}
		}
		t.grid = b.blocks(int(a.N), copyItems)
		var err error
		if t.fn, err = b.function("scatter", fmt.Sprintf("set_table_%d", width*8)); err != nil {
			return err
		}
		yu := nest{w.shape, [][]int{w.steps[0], w.steps[2]}}
		if err := k.planSorted(b, &k.sorted[i], y, u, yu, width); err != nil {
			return err
		}
	}
	return nil
}

func (k *scatter) planSorted(b *Backend, t *setSorted, y, u graph.Operand, w nest, width int) (err error) {
	t.width = width
	if err := k.slots.segments(&t.args, k.slots.ofSlots(y), k.slots.ofPositions(u), w); err != nil {
		return err
	}
	t.grid = b.blocks(int(t.args.N), threads)
	t.fn, err = b.function("scatter", fmt.Sprintf("set_sorted_%d", width*8))
	return err
}

// combineName is the element type that a combination is made in. For bool, which is 0 or 1, or is the
// maximum and and the minimum; products do not depend on a sign.
func combineName(dt tensor.DType, how ops.Combine) (string, ops.Combine) {
	switch {
	case dt.IsInteger() && how == ops.CombineMul:
		return fmt.Sprintf("u%d", dt.Size()*8), how
	case dt != tensor.Bool:
		return kernelName(dt), how
	}
	switch how {
	case ops.CombineAdd:
		how = ops.CombineMax
	case ops.CombineMul:
		how = ops.CombineMin
	}
	return "u8", how
}

// kernelName is how kernels call an element type.
func kernelName(dt tensor.DType) string {
	switch bits := dt.Size() * 8; {
	case dt == tensor.BFloat16:
		return "bf16"
	case dt.IsComplex():
		return fmt.Sprintf("c%d", bits)
	case dt.IsFloat():
		return fmt.Sprintf("f%d", bits)
	case dt == tensor.Int8 || dt == tensor.Int16 || dt == tensor.Int32 || dt == tensor.Int64:
		return fmt.Sprintf("i%d", bits)
	default:
		return fmt.Sprintf("u%d", bits)
	}
}

func (k *scatter) planCombine(b *Backend, y, u graph.Operand) error {
	p := k.slots
	name, how := combineName(y.DType, k.how)
	k.start.How = uint32(how)
	window := p.ofWindow([]graph.Operand{y}, []graph.Operand{u})
	if err := p.segments(&k.start.Segments, p.ofSlots(y), p.ofPositions(u), window); err != nil {
		return err
	}
	k.apply.grid = b.blocks(int(k.start.Segments.N), threads)
	var err error
	if k.apply.fn, err = b.function("combine", "combine_"+name); err != nil {
		return err
	}
	if k.long, err = p.longs(b, "combine", name); err != nil {
		return err
	}
	return k.planRows(b, y, u, window)
}

// planRows lets a thread sum 16 bytes of a row where its elements lie side by side.
func (k *scatter) planRows(b *Backend, y, u graph.Operand, window nest) error {
	p, size := k.slots, y.DType.Size()
	slots, positions := p.ofSlots(y), p.ofPositions(u)
	w, width := window.widened(size, append(slots.all(), positions.all()...)...)
	if k.how != ops.CombineAdd || !y.DType.IsFloat() || width < 16 {
		return nil
	}
	k.rows.width = width
	if err := p.segments(&k.rows.args, slots, positions, w); err != nil {
		return err
	}
	k.rows.grid = b.blocks(int(k.rows.args.N), threads)
	var err error
	k.rows.fn, err = b.function("combine", "sum_rows_"+kernelName(y.DType))
	return err
}

// Run scatters. A bad index is told at the end of the run, and then nothing was written.
func (k *scatter) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	x, st := ex.(*Exec), k.states.Get()
	defer k.states.Put(st)
	if err := k.checked(x, &st.updatesState, in); err != nil {
		return err
	}
	apart := !tensor.Overlaps(out[0].View(), in[0].View())
	tabled := k.size > 0 && k.how == ops.CombineSet && k.slots.worthTable(apart)
	fused := tabled && apart && k.slots.covers
	if apart && !fused {
		if err := k.copied(x, &st.updatesState, out[0], in[0]); err != nil {
			return err
		}
	}
	switch {
	case k.size == 0:
		return nil
	case tabled:
		return k.runTable(x, st, out, in, fused)
	}
	return k.runSorted(x, st, out, in)
}

// worthTable reports whether the last writers of a Set are best found in a table: the sort costs some 40
// bytes a position, the table 8 a slot and two sectors a position.
func (p *slotPlan) worthTable(apart bool) bool {
	return p.sort.passes > 0 && (p.slots/manySlots <= p.count || apart && p.covers && p.count > 1)
}

func (k *scatter) runTable(x *Exec, st *scatterState, out []tensor.Write, in []tensor.Read, fused bool) error {
	p := k.slots
	table, err := x.scratch(4 * p.slots)
	if err != nil {
		return err
	}
	defer x.free(table)
	if err := x.zero(table.at(), 4*p.slots); err != nil {
		return err
	}
	if err := p.walk(x, &p.winnersOf, st.keys, in, table.at(), 0); err != nil {
		return err
	}
	y, u, from := addressOf(out[0].View()), addressOf(in[1].View()), addressOf(in[0].View())
	t := &k.table[0]
	if w := &k.table[1]; w.width > 0 && aligned(w.width, y, u, from) {
		t = w
	}
	st.table = t.args
	st.table.Y, st.table.U, st.table.X, st.table.Table = y, u, from, table.at()
	if fused {
		st.table.Copies = 1
	}
	return x.launch(t.fn, t.grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(&st.table))
}

func (k *scatter) runSorted(x *Exec, st *scatterState, out []tensor.Write, in []tensor.Read) error {
	p := k.slots
	work, err := x.scratch(p.bytes())
	if err != nil {
		return err
	}
	defer x.free(work)
	sorted, err := p.sorted(x, st.keys, &st.radix, in, work.at())
	if err != nil {
		return err
	}
	y, u := addressOf(out[0].View()), addressOf(in[1].View())
	if k.how == ops.CombineSet {
		t := &k.sorted[0]
		if w := &k.sorted[1]; w.width > 0 && aligned(w.width, y, u) {
			t = w
		}
		return t.run(x, &st.sorted, sorted, y, u)
	}
	st.combine = k.start
	st.combine.Segments.bind(sorted, y, u)
	args := unsafe.Pointer(&st.combine)
	if k.rows.width > 0 && aligned(k.rows.width, y, u) {
		err = k.rows.run(x, &st.sorted, sorted, y, u)
	} else {
		err = x.launch(k.apply.fn, k.apply.grid, dim3{threads, 1, 1}, 0, args)
	}
	if err != nil || sorted.longs == 0 {
		return err
	}
	return x.launch(k.long.fn, k.long.grid, dim3{threads, 1, 1}, 0, args)
}

func (t *setSorted) run(x *Exec, room *segmentsArgs, sorted sortedRun, y, u uint64) error {
	*room = t.args
	room.bind(sorted, y, u)
	return x.launch(t.fn, t.grid, dim3{threads, 1, 1}, 0, unsafe.Pointer(room))
}
