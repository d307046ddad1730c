package cpu

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// sparseUpdate is the kernel of ops.SparseUpdateOp. Positions whose windows are the same place of y are linked
// in a chain, in order; each chain is summed from zero in a buffer and applied once. It is bound by memory:
// of y it touches what the indices name, once, and u is read once. Places are divided among the threads.
type sparseUpdate[T float32 | float64] struct {
	fixed  planning.Operands
	plan   *windowPlan
	start  *sweep // y = x
	op     ops.SparseUpdateOp
	mul    func(out, a, b []T) // the loops of whole tensors: where two NaNs meet, code decides which stays
	join   func(out, a, b []T) // add or subtract
	reach  bounds              // of the offsets of y
	origin int                 // offsets of windows are origin + a multiple of unit
	unit   int
	slots  int
	most   int // parts that are worth a thread
	states planning.States[sparseRun[T]]
}

type sparseRun[T float32 | float64] struct {
	windowRun
	k      *sparseUpdate[T]
	y, u   []T
	scale  T
	at     []int   // the offset in y of each position
	from   []int   // and in u
	last   []int32 // per slot: one more than the last position of its chain, 0 for none; all 0 between runs
	next   []int32 // per position: one more than the next of its chain, 0 for none
	parts  int
	firsts [][]int32 // per part: the first positions of its chains
	work   []*sparseWork[T]
	copies copyRun
}

// sparseWork is what a part sums and applies in: blocks of sums, of the factor, of y.
type sparseWork[T float32 | float64] struct {
	add             addRows[T]
	sums, factor, y [sparseBlock]T
	at, step        slotOffsets
}

// compileSparseUpdate makes the kernel. Errors: as compileScatter.
func compileSparseUpdate(op ops.SparseUpdateOp, out, in []graph.Operand) (graph.Kernel, error) {
	if out[0].DType == tensor.Float64 {
		return newSparseUpdate[float64](op, out, in)
	}
	return newSparseUpdate[float32](op, out, in)
}

func newSparseUpdate[T float32 | float64](op ops.SparseUpdateOp, out, in []graph.Operand) (graph.Kernel, error) {
	s, err := newWindowSpec("ops.Scatter", op.Window, op.Mode, op.Origin, in[0], in[op.Lead():])
	if err != nil {
		return nil, err
	}
	lo, hi, err := out[0].Span()
	if err != nil {
		return nil, err
	}
	k := &sparseUpdate[T]{op: op, reach: bounds{lo, hi}}
	k.mul, k.join = floatBinary[T](ops.BinaryMul), floatBinary[T](ops.BinarySub)
	if op.Plus {
		k.join = floatBinary[T](ops.BinaryAdd)
	}
	k.fixed = planning.Operands{Out: slices.Clone(out), In: slices.Clone(in), Over: [][]bool{make([]bool, len(in))}}
	k.fixed.Over[0][0] = true
	k.start = &sweep{nest: newNestBySecond(in[0].Layout, out[0].Layout)}
	s.x, s.u, s.spread, s.ordered = out[0].Layout, []tensor.Layout{in[1].Layout}, spreadAll, true
	k.plan = s.plan()
	if k.plan.positions >= math.MaxInt32 {
		return nil, tensor.Errorf("", tensor.ErrOverflow, "%d positions", k.plan.positions)
	}
	k.units(s)
	k.most = max(1, k.plan.positions*k.plan.elements/tuning.grain)
	k.states.Make = func() *sparseRun[T] {
		return &sparseRun[T]{windowRun: windowRun{plan: k.plan}, k: k, copies: newCopyRun(k.start, sizeOf[T]())}
	}
	return k, nil
}

// units finds what all offsets at which windows start have in common, so that the table of chains has an
// element a row and not one an element.
func (k *sparseUpdate[T]) units(s *windowSpec) {
	for _, l := range k.plan.index {
		k.unit = gcd(k.unit, l.stride)
	}
	for _, st := range append(slices.Clone(k.plan.base.strides[0]), k.plan.base.step[0]) {
		k.unit = gcd(k.unit, st)
	}
	k.unit = max(k.unit, 1)
	k.origin = k.reach.lo - ((k.reach.lo-s.x.Offset)%k.unit+k.unit)%k.unit
	k.slots = (k.reach.hi-k.origin)/k.unit + 1
}

func gcd(a, b int) int {
	a, b = planning.Magnitude(a), planning.Magnitude(b)
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Run updates. Errors: those of the plan's check; *ops.IndexError.
func (k *sparseUpdate[T]) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.fixed.Check(out, in); err != nil {
		return err
	}
	x, r := ex.(*Exec), k.states.Get()
	r.windowRun.bind(in[len(in)-len(k.plan.index):])
	err := r.checkIndices(x)
	if err == nil {
		r.copies.do(x, out[0], in[0])
		r.y, r.u, r.scale = tensor.Elements[T](out[0].Storage()), tensor.Elements[T](in[1].Storage()), 1
		if k.op.Scaled {
			r.scale = tensor.Elements[T](in[2].Storage())[in[2].Layout().Offset]
		}
		r.update(x)
		r.y, r.u = nil, nil
	}
	r.windowRun.release()
	k.states.Put(r)
	return err
}

func (r *sparseRun[T]) update(x *Exec) {
	k := r.k
	n := k.plan.positions
	r.at, r.from, r.next = grown(r.at, n), grown(r.from, n), grown(r.next, n)
	x.run(n, tuning.grain/4, (*sparseResolve[T])(r))
	if !r.leavesOthers() {
		r.dense()
		return
	}
	if len(r.last) == 0 {
		r.last = make([]int32, k.slots)
	}
	r.parts = min(x.threads, k.most)
	for len(r.firsts) < r.parts {
		r.firsts, r.work = append(r.firsts, nil), append(r.work, new(sparseWork[T]))
	}
	if n > 0 && k.plan.elements > 0 {
		x.run(r.parts, 1, r)
	}
}

// leavesOthers reports whether adding or subtracting scale·0 changes nothing: x − (+0) and x + (−0) are x,
// whatever x is.
func (r *sparseRun[T]) leavesOthers() bool {
	d := float64(r.scale * 0)
	return d == 0 && math.Signbit(d) == r.k.op.Plus
}

// sparseResolve is the parallel region that finds where the positions are.
type sparseResolve[T float32 | float64] sparseRun[T]

func (r *sparseResolve[T]) chunk(lo, hi int) {
	p := r.k.plan
	l := p.lanes.Get()
	for at := lo; at < hi; at += indexBlock {
		r.resolve(l, at, r.at[at:min(at+indexBlock, hi)])
	}
	var o [1]int
	for l.pos.seek(&p.pos, lo); lo < hi; {
		n := l.pos.next(&p.pos, hi-lo, o[:])
		for j := range n {
			r.from[lo+j] = o[0] + j*p.pos.step[0]
		}
		lo += n
	}
	p.lanes.Put(l)
}

func (r *sparseRun[T]) slot(offset int) int { return (offset - r.k.origin) / r.k.unit }

// chunk does the parts lo to hi − 1 of y.
func (r *sparseRun[T]) chunk(lo, hi int) {
	k := r.k
	span := k.reach.hi - k.reach.lo
	for part := lo; part < hi; part++ {
		from, to := k.reach.lo+span*part/r.parts, k.reach.lo+span*(part+1)/r.parts
		r.firsts[part] = r.link(r.firsts[part][:0], from, to)
		l := k.plan.lanes.Get()
		w := r.work[part]
		r.open(w)
		for _, p := range r.firsts[part] {
			r.window(l, w, int(p))
			r.last[r.slot(r.at[p])] = 0
		}
		w.add.bind(&[slots][]T{})
		k.plan.lanes.Put(l)
	}
}

func (r *sparseRun[T]) open(w *sparseWork[T]) {
	w.add.y, w.add.u = w.sums[:], r.u
	setAll(w.factor[:], r.scale)
}

// link makes the chains of the positions whose windows start between lo and hi, and lists their heads.
func (r *sparseRun[T]) link(firsts []int32, lo, hi int) []int32 {
	for p, o := range r.at {
		if o < lo || o >= hi { // some other part's, or skipped
			continue
		}
		r.next[p] = 0
		end := &r.last[r.slot(o)]
		if *end == 0 {
			firsts = append(firsts, int32(p))
		} else {
			r.next[*end-1] = int32(p) + 1
		}
		*end = int32(p) + 1
	}
	return firsts
}

// sparseBlock is the elements of a window that are summed at a time: three blocks of them are in the
// first-level cache.
const sparseBlock = 512

// window sums the chain of position p and applies it, a piece of a row of the window at a time. The loops are
// those of a scatter and of the arithmetic on whole tensors: so a NaN has the bits that it has there.
func (r *sparseRun[T]) window(l *windowLane, w *sparseWork[T], p int) {
	win := &r.k.plan.win
	w.step = slotOffsets{1, win.step[1]}
	l.win.seek(win, 0)
	for left := win.size(); left > 0; {
		n := l.win.next(win, min(left, sparseBlock), l.rel[:])
		left -= n
		clear(w.sums[:n])
		for q := int32(p) + 1; q != 0; q = r.next[q-1] {
			w.at = slotOffsets{0, r.from[q-1] + l.rel[1]}
			w.add.row(&w.at, &w.step, n)
		}
		r.apply(w, w.sums[:n], r.at[p]+l.rel[0], win.step[0])
	}
}

// apply changes elements of y, step apart, by sums.
func (r *sparseRun[T]) apply(w *sparseWork[T], sums []T, at, step int) {
	op, y := &r.k.op, w.y[:len(sums)]
	direct := step == 1
	if direct {
		y = r.y[at:][:len(sums)]
	} else {
		loadSame(y, r.y, at, step)
	}
	switch {
	case op.ScaleFirst:
		r.k.mul(sums, w.factor[:len(sums)], sums)
	case op.Scaled:
		r.k.mul(sums, sums, w.factor[:len(sums)])
	}
	if op.ChangeFirst {
		r.k.join(y, sums, y)
	} else {
		r.k.join(y, y, sums)
	}
	if !direct {
		storeSame(r.y, at, step, y)
	}
}

// dense computes every place, for a scale that is not finite or has the wrong sign. It allocates.
func (r *sparseRun[T]) dense() {
	k := r.k
	n, left := &k.start.nest, k.start.nest.size()
	if left == 0 {
		return
	}
	sums := make([]T, k.reach.hi)
	l := k.plan.lanes.Get()
	rows := new(addRows[T])
	rows.y, rows.u = sums, r.u
	do := windowPart{win: bounds{0, k.plan.elements}, starts: k.reach, filter: k.plan.mode.OOB == ops.OOBSkip}
	if len(r.at) > 0 {
		k.plan.apply(l, rows, r.at, &do)
	}
	k.plan.lanes.Put(l)
	var walk runWalk
	var at [2]int
	w := new(sparseWork[T])
	r.open(w)
	for walk.seek(n, 0); left > 0; {
		m := walk.next(n, left, at[:])
		left -= m
		for i := range m {
			o := at[1] + i*n.step[1]
			r.apply(w, sums[o:o+1], o, 1)
		}
	}
}

// checkPlaces is the kernel of ops.CheckPlacesOp: the check of a scatter, alone.
type checkPlaces struct {
	fixed  planning.Operands
	plan   *windowPlan
	states planning.States[windowRun]
}

func compileCheckPlaces(op ops.CheckPlacesOp, out, in []graph.Operand) (graph.Kernel, error) {
	x := graph.Operand{DType: tensor.Bool, Layout: tensor.RowMajor(op.Shape)}
	s, err := newWindowSpec("ops.Scatter", op.Window, op.Mode, op.Origin, x, in)
	if err != nil {
		return nil, err
	}
	s.u = []tensor.Layout{tensor.RowMajor(s.resolved.Shape)}
	k := &checkPlaces{fixed: planning.Operands{Out: slices.Clone(out), In: slices.Clone(in)}, plan: s.plan()}
	k.states.Make = func() *windowRun { return &windowRun{plan: k.plan} }
	return k, nil
}

// Run checks. Errors: those of the plan's check; *ops.IndexError.
func (k *checkPlaces) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.fixed.Check(out, in); err != nil {
		return err
	}
	r := k.states.Get()
	r.bind(in)
	err := r.checkIndices(x.(*Exec))
	r.release()
	k.states.Put(r)
	if err == nil {
		tensor.Elements[bool](out[0].Storage())[out[0].Layout().Offset] = true
	}
	return err
}
