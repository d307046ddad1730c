package cuda

import (
	"slices"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// combine folds or scans lines by a function of the user's, in kernels that are written for it. Lines too long for
// a tile or a thread are cut: pieces are folded first, then their values; a scan then scans those, and the pieces
// again, each behind what came before it.
type combine struct {
	operands planning.Operands
	stages   []combineStage
	bytes    int // of scratch
	states   planning.States[combineState]
}

// combineStage is a launch.
type combineStage struct {
	fn    *function
	grid  dim3
	slots []uint64
	at    []int           // per operand of the kernel: the slot of its address
	from  []combineSource // likewise
}

// combineSource is where an operand of a kernel lies: an operand of the op, results first, or scratch, some bytes on.
type combineSource struct {
	operand int // −1: scratch
	shift   int
}

type combineState struct{ slots [][]uint64 }

// combined is an operand of a kernel, for one of the values that are joined: lines and how far apart, in elements,
// neighbours in a line are.
type combined struct {
	kept  tensor.Layout
	along int
	from  combineSource
}

// combinePlan makes stages.
type combinePlan struct {
	b     *Backend
	k     *combine
	f     *scalarFunc
	inits []combined
}

// Composes says which functions a kernel can be written of.
func (b *Backend) Composes(op graph.Op, in []tensor.Spec) bool {
	var f *graph.Func
	switch op := op.(type) {
	case ops.FoldByOp:
		f = op.F
	case ops.ScanByOp:
		f = op.F
	case ops.ScatterByOp:
		return scattersBy(b, op, in) == nil
	default:
		return false
	}
	if len(f.Out()) > mostCombined || in[0].Rank() > mostCombinedAxes {
		return false
	}
	_, err := newScalarFunc(b, f)
	return err == nil
}

const (
	mostCombined     = 8 // values, which keeps parameters within mostParameters
	mostCombinedAxes = 8
)

// compileFoldBy makes the kernel of a fold.
func compileFoldBy(b *Backend, op ops.FoldByOp, out, in []graph.Operand) (graph.Kernel, error) {
	p, xs, ys, err := newCombinePlan(b, op.F, op.Axis, out, in)
	if err != nil {
		return p.k, err
	}
	return p.k, p.fold(ys, xs, in[0].Shape[op.Axis])
}

// compileScanBy makes the kernel of a scan.
func compileScanBy(b *Backend, op ops.ScanByOp, out, in []graph.Operand) (graph.Kernel, error) {
	p, xs, ys, err := newCombinePlan(b, op.F, op.Axis, out, in)
	n := in[0].Shape[op.Axis]
	if err != nil || n == 0 {
		return p.k, err
	}
	if op.Exclusive {
		n--
		for i := range ys {
			ys[i].from.shift += ys[i].along * out[i].DType.Size()
		}
	}
	return p.k, p.scan(ys, xs, p.inits, n, op.Exclusive)
}

// newCombinePlan parts operands in lines.
func newCombinePlan(b *Backend, f *graph.Func, axis int, out, in []graph.Operand) (
	p *combinePlan, xs, ys []combined, err error) {
	p = &combinePlan{b: b, k: &combine{operands: b.operands(out, in)}}
	if len(out) > mostCombined || in[0].Rank() > mostCombinedAxes {
		return p, nil, nil, tensor.Errorf("", tensor.ErrUnsupported,
			"%d values in %d axes are joined, cuda's kernels take %d in %d", len(out), in[0].Rank(), mostCombined, mostCombinedAxes)
	}
	if p.f, err = newScalarFunc(b, f); err != nil {
		return p, nil, nil, err
	}
	split := func(o graph.Operand, number int) combined {
		kept, _ := planning.Split(o.Layout, []int{axis})
		return combined{kept, o.Strides[axis], combineSource{number, 0}}
	}
	k := len(out)
	for i, o := range out {
		ys = append(ys, split(o, i))
	}
	for i, o := range in[:k] {
		xs = append(xs, split(o, k+i))
	}
	for i := range in[k:] {
		kept := tensor.Layout{Shape: xs[0].kept.Shape, Strides: make([]int, len(xs[0].kept.Shape))}
		p.inits = append(p.inits, combined{kept, 0, combineSource{2*k + i, 0}})
	}
	p.k.states.Make = p.k.state
	return p, xs, ys, nil
}

// writer chooses who does a line of n elements, and how long pieces are.
func (p *combinePlan) writer(xs []combined, n int) (w *combineWriter, piece int) {
	size, lines := 0, tensor.Size(xs[0].kept.Shape)
	for _, dt := range p.f.out {
		size += dt.Size()
	}
	w = &combineWriter{f: p.f, tile: 1024}
	for w.tile*size > 4096 {
		w.tile /= 2
	}
	shape, strides := planning.Coalesce(planning.ByStride(xs[0].kept)...)
	along, beside := planning.Magnitude(xs[0].along), 0
	if len(shape) > 0 {
		beside = planning.Magnitude(strides[0][len(shape)-1])
	}
	if beside > 0 && beside <= along || n <= 8 || along == 0 || w.tile < 32 {
		w.columns, w.tile = true, 0
		units := uint64(32 * lineTuning.warps * p.b.about.Multiprocessors)
		size, _ := piecesFor(uint64(n), units/uint64(max(1, lines)), 2*foldBlock)
		return w, int(size)
	}
	return w, w.tile
}

// fold adds the stages of a fold of n elements. A last piece that is short is the last of the values like any other: in
// A∘(B∘(C∘…)) it stands where the elements that it is made of would.
func (p *combinePlan) fold(ys, xs []combined, n int) error {
	w, piece := p.writer(xs, n)
	pieces := (n + piece - 1) / piece
	if pieces == 1 {
		w.started = p.inits != nil
		return p.add(w, slices.Concat(xs, ys, p.inits), n, piece, pieces, nil)
	}
	values, steps := p.scratch(xs, pieces)
	if err := p.add(w, slices.Concat(xs, values), n, piece, pieces, steps); err != nil {
		return err
	}
	return p.fold(ys, values, pieces)
}

// scan adds the stages of a scan of n elements.
func (p *combinePlan) scan(ys, xs, inits []combined, n int, exclusive bool) error {
	w, piece := p.writer(xs, n)
	w.scan, w.exclusive, w.started = true, exclusive, inits != nil
	pieces := (n + piece - 1) / piece
	if pieces <= 1 {
		return p.add(w, slices.Concat(xs, ys, inits), n, piece, 1, nil)
	}
	folds, _ := p.writer(xs, n)
	whole := n / piece // nothing needs the value of a piece that is not
	upTo, steps := p.scratch(xs, whole)
	if err := p.add(folds, slices.Concat(xs, upTo), whole*piece, piece, whole, steps); err != nil {
		return err
	}
	if whole > 1 {
		if err := p.scan(upTo, upTo, nil, whole, false); err != nil {
			return err
		}
	}
	w.carried = true
	steps = append(make([]int, 2*len(xs)), steps[len(xs):]...)
	return p.add(w, slices.Concat(xs, ys, upTo, inits), n, piece, pieces, steps)
}

// scratch is memory for a value of each piece of each line: those of neighbouring lines side by side. steps is how far
// those of a line are apart, for the operands xs and these.
func (p *combinePlan) scratch(xs []combined, pieces int) (values []combined, steps []int) {
	lines := tensor.Size(xs[0].kept.Shape)
	steps = make([]int, len(xs), 2*len(xs))
	for _, dt := range p.f.out {
		v := combined{tensor.RowMajor(xs[0].kept.Shape), lines, combineSource{-1, p.k.bytes}}
		values, steps = append(values, v), append(steps, lines)
		p.k.bytes += (lines*pieces*dt.Size() + 15) / 16 * 16
	}
	return values, steps
}

// add adds a launch. steps is how far, in elements, a piece's part of each operand is from the piece before; where it is
// 0 or missing the operand is cut itself.
func (p *combinePlan) add(w *combineWriter, operands []combined, n, piece, pieces int, steps []int) error {
	lines := tensor.Size(operands[0].kept.Shape)
	if lines == 0 {
		return nil
	}
	w.cut = pieces > 1
	w.lines = &elementwiseWriter{size: lines}
	var layouts []tensor.Layout
	for i, o := range operands {
		layouts, w.lines.dtypes = append(layouts, o.kept), append(w.lines.dtypes, p.f.out[i%len(p.f.out)])
	}
	w.lines.shape, w.lines.strides = planning.Coalesce(planning.ByStride(layouts...)...)
	st := combineStage{}
	st.slots, st.at = w.lines.slots()
	units := uint64(lines) * uint64(pieces)
	st.slots = append(st.slots, units, uint64(n), uint64(piece))
	for i, o := range operands {
		size, step := w.lines.dtypes[i].Size(), o.along*piece
		if i < len(steps) && steps[i] > 0 {
			step = steps[i]
		}
		st.slots = append(st.slots, uint64(o.along*size), uint64(step*size))
		st.from = append(st.from, o.from)
	}
	if w.columns {
		st.grid = p.b.gridFor(units)
	} else {
		st.grid = p.b.gridFor(32 * units)
	}
	var err error
	if st.fn, err = p.b.generated(w.key(), "combine", w.text); err != nil {
		return err
	}
	p.k.stages = append(p.k.stages, st)
	return nil
}

func (k *combine) state() *combineState {
	s := &combineState{}
	for _, st := range k.stages {
		s.slots = append(s.slots, slices.Clone(st.slots))
	}
	return s
}

// Run launches the stages.
func (k *combine) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if len(k.stages) == 0 {
		return nil
	}
	x, s := ex.(*Exec), k.states.Get()
	defer k.states.Put(s)
	var values scratch
	if k.bytes > 0 {
		var err error
		if values, err = x.scratch(k.bytes); err != nil {
			return err
		}
		defer x.free(values)
	}
	for i := range k.stages {
		st, slots := &k.stages[i], s.slots[i]
		for o, from := range st.from {
			switch {
			case from.operand < 0:
				slots[st.at[o]] = values.at()
			case from.operand < len(out):
				slots[st.at[o]] = addressOf(out[from.operand].Read().View())
			default:
				slots[st.at[o]] = addressOf(in[from.operand-len(out)].View())
			}
			slots[st.at[o]] += uint64(from.shift)
		}
		if err := x.launch(st.fn, st.grid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(&slots[0])); err != nil {
			return err
		}
	}
	return nil
}
