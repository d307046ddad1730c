package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scatter is the kernel of ops.ScatterOp and ops.ScatterScanOp. It checks every index, turns positions into
// offsets of y, copies x to y, and then divides y among the threads: each visits the updates of its part in
// row-major order, so the bits are those of the sequential loop.
type scatter struct {
	fixed    planning.Operands
	plan     *windowPlan
	work     func() scatterWork
	states   planning.States[scatterRun]
	size     int    // elements of the updates
	start    *sweep // y = x
	width    int    // bytes of an element
	division division
	lead     int         // positions along the leading batch axes
	most     int         // parts that are worth a thread
	reach    bounds      // of the offsets of y
	rows     *storedRows // where those are divided
	past     bool        // y is too large to be found in a cache later
}

// division says what divides y among threads.
type division uint8

const (
	divideStarts  division = iota // the offsets at which windows start: windows of different starts are apart
	divideWindow                  // the elements of a window
	divideBatches                 // the positions along leading batch axes
	divideRows                    // the rows that are stored indices
)

type scatterRun struct {
	windowRun
	kernel *scatter
	work   scatterWork
	at     []int // the offset of each position
	dealt  dealt // or of each part its rows
	parts  int
	copies copyRun
}

// compileScatter is the plan of a scatter. Operands x, u, idx…; result y.
//
// Errors: those of ops.Window.Resolve; tensor.ErrShape and tensor.ErrDType where u or y is not what op asks
// for; tensor.ErrUnsupported for Max and Min of complex numbers.
func compileScatter(op ops.ScatterOp, out, in []graph.Operand) (graph.Kernel, error) {
	if len(in) < 2 || len(out) != 1 {
		return nil, tensor.Errorf("", tensor.ErrShape, "%d operands and %d results for a scatter", len(in), len(out))
	}
	s, err := newWindowSpec("ops.Scatter", op.Window, op.Mode, op.Origin, in[0], in[2:])
	if err != nil {
		return nil, err
	}
	if err := checkSpec("updates", in[1], in[0].DType, s.resolved.Shape); err != nil {
		return nil, err
	}
	w := &scatterSlots{in: [slots]int{1: 1}}
	k := &scatter{work: newCombine(in[0].DType, op.Combine, w)}
	if k.work == nil {
		return nil, tensor.Errorf("", tensor.ErrUnsupported,
			"a scatter of %s has no combination %d", in[0].DType, op.Combine)
	}
	return k.complete(s, w, out, in)
}

// complete chooses the division and makes the plan.
func (k *scatter) complete(s *windowSpec, w *scatterSlots, out, in []graph.Operand) (graph.Kernel, error) {
	if err := checkSpec("result", out[0], in[0].DType, in[0].Shape); err != nil {
		return nil, err
	}
	lo, hi, err := out[0].Span()
	if err != nil {
		return nil, err
	}
	k.fixed = planning.Operands{Out: slices.Clone(out), In: slices.Clone(in), Over: [][]bool{make([]bool, len(in))}}
	k.fixed.Over[0][0] = true
	k.reach, k.width, k.size = bounds{lo, hi}, in[0].DType.Size(), tensor.Size(s.resolved.Shape)
	k.start = &sweep{nest: newNestBySecond(in[0].Layout, out[0].Layout)}
	w.reach = hi
	s.x, s.u = out[0].Layout, w.layouts(s, out, in)
	s.ordered = true
	k.divide(s)
	k.plan = s.plan()
	k.divideRows()
	k.past = out[0].Size()*k.width >= tuning.past
	k.states.Make = func() *scatterRun {
		return &scatterRun{
			windowRun: windowRun{plan: k.plan}, kernel: k, work: k.work(), copies: newCopyRun(k.start, k.width),
		}
	}
	return k, nil
}

// divide chooses the division, and which axes of the windows become positions for it.
func (k *scatter) divide(s *windowSpec) {
	indices, apart := 1, 1 // positions of I; elements of a window along axes that no start moves
	k.lead, k.most = 1, max(1, k.size/tuning.grain)
	leading := true
	for _, a := range s.axes() {
		switch {
		case a.index >= 0:
			indices *= a.extent
			leading = leading && (a.extent == 1 || slices.Contains(s.window.IndexBatch, a.index))
			if leading {
				k.lead *= a.extent
			}
		case a.moves >= 0:
			leading = false
		default:
			apart *= a.extent
		}
	}
	switch {
	case k.most == 1:
		s.spread, k.division = spreadEarly, divideStarts
	case indices == 1 && !s.perElement():
		s.spread, k.division = spreadNone, divideWindow
	case k.lead >= tuning.batches:
		s.spread, k.division = spreadEarly, divideBatches
	case apart >= tuning.wide:
		s.spread, k.division = spreadAll, divideWindow
	default:
		s.spread, k.division = spreadAll, divideStarts
	}
}

// divideRows divides rows of y that are named by stored indices, where that is better.
func (k *scatter) divideRows() {
	rows := k.plan.storedRows()
	some := k.division == divideStarts || k.division == divideWindow && k.plan.positions >= tuning.rows
	if rows == nil || !some {
		return
	}
	for _, pass := range k.work().passes() {
		if !takesPlaces(pass) {
			return
		}
	}
	k.rows, k.division = rows, divideRows
}

// Run scatters. Errors: those of the plan's check; *ops.IndexError.
func (k *scatter) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	out = out[:min(len(out), len(k.fixed.Out))] // a result that is not wanted may be anything
	if err := k.fixed.Check(out, in); err != nil {
		return err
	}
	x, r := ex.(*Exec), k.states.Get()
	r.windowRun.bind(in[len(in)-len(k.plan.index):])
	r.parts = min(x.threads, k.most)
	var err error
	if k.rows == nil || !r.dealt.deal(x, k.rows, r.index[0], k.plan.positions, r.parts) {
		err = r.checkIndices(x)
	}
	if err == nil {
		r.copies.do(x, out[0], in[0])
		if k.size > 0 {
			r.scatter(x, out, in)
		}
	}
	r.windowRun.release()
	k.states.Put(r)
	return err
}

func (r *scatterRun) scatter(x *Exec, out []tensor.Write, in []tensor.Read) {
	if k := r.kernel; k.rows == nil {
		r.at = grown(r.at, k.plan.positions)
		x.run(len(r.at), tuning.grain/4, (*scatterResolve)(r))
	}
	r.work.open(x, out, in)
	x.run(r.parts, 1, r)
	r.work.close(x, out)
}

// scatterResolve is the parallel region that resolves the positions.
type scatterResolve scatterRun

func (r *scatterResolve) chunk(lo, hi int) {
	l := r.plan.lanes.Get()
	for ; lo < hi; lo += indexBlock {
		r.resolve(l, lo, r.at[lo:min(lo+indexBlock, hi)])
	}
	r.plan.lanes.Put(l)
}

// chunk does the parts lo to hi − 1 of y.
func (r *scatterRun) chunk(lo, hi int) {
	k, p := r.kernel, r.plan
	l := p.lanes.Get()
	defer p.lanes.Put(l)
	if k.division == divideRows {
		for ; lo < hi; lo++ {
			for _, rows := range r.work.passes() {
				r.dealt.do(l, rows.(placesRower), lo, k.past)
			}
		}
		if k.past {
			simd.FencePast()
		}
		return
	}
	share := func(n int) bounds { return bounds{n * lo / r.parts, n * hi / r.parts} }
	do := windowPart{
		pos: bounds{0, p.positions}, win: bounds{0, p.elements},
		starts: k.reach, filter: p.mode.OOB == ops.OOBSkip,
	}
	switch k.division {
	case divideStarts:
		b := share(k.reach.hi - k.reach.lo)
		do.starts = bounds{k.reach.lo + b.lo, k.reach.lo + b.hi}
		do.filter = do.filter || r.parts > 1
	case divideWindow:
		do.win = share(p.elements)
	case divideBatches:
		b, each := share(k.lead), p.positions/k.lead
		do.pos = bounds{b.lo * each, b.hi * each}
	}
	for _, rows := range r.work.passes() {
		p.apply(l, rows, r.at[do.pos.lo:do.pos.hi], &do)
	}
}
