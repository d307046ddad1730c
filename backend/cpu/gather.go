package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// gather is the kernel of ops.GatherOp. It first checks every index, then turns positions into offsets of x
// a block at a time and moves the windows: by copy where both sides are contiguous, strided otherwise,
// window by window or, where the memory of u says so, position by position.
type gather struct {
	fixed    planning.Operands
	plan     *windowPlan
	states   planning.States[gatherRun]
	size     int  // elements of u
	byWindow bool // threads divide the windows, not the positions
	grain    int
	single   *elementGather // where windows are single elements, found by one index; else nil
	rows     *storedRows    // where they are rows, and positions are divided; else nil
	past     bool           // the result is too large to be found in a cache later
}

type gatherRun struct {
	windowRun
	kernel         *gather
	move           movement
	source, result *tensor.Storage // of single elements
}

// compileGather is the plan of a gather. Operands x, idx…; result u.
//
// Errors: those of ops.Window.Resolve; tensor.ErrShape and tensor.ErrDType where u is not what op gives.
func compileGather(op ops.GatherOp, out, in []graph.Operand) (graph.Kernel, error) {
	if len(in) == 0 || len(out) != 1 {
		return nil, tensor.Errorf("", tensor.ErrShape, "%d operands and %d results for a gather", len(in), len(out))
	}
	s, err := newWindowSpec("ops.Gather", op.Window, op.Mode, op.Origin, in[0], in[1:])
	if err != nil {
		return nil, err
	}
	if err := checkSpec("result", out[0], in[0].DType, s.resolved.Shape); err != nil {
		return nil, err
	}
	s.u = []tensor.Layout{out[0].Layout}
	k := &gather{
		fixed: planning.Operands{Out: slices.Clone(out), In: slices.Clone(in)},
		plan:  s.plan(), size: out[0].Size(),
	}
	p := k.plan
	k.byWindow = (p.positions < tuning.few || p.positionInner) && p.elements > p.positions
	k.grain = max(1, tuning.grain/max(1, min(p.elements, tuning.grain)))
	if k.byWindow {
		k.grain = max(1, tuning.grain/max(1, p.positions))
	}
	if rows := p.storedRows(); !k.byWindow && p.mode.OOB == ops.OOBError {
		k.rows, k.past = rows, out[0].Size()*out[0].DType.Size() >= tuning.past
	}
	width := in[0].DType.Size()
	k.single = newElementGather(s, p, width)
	k.states.Make = func() *gatherRun {
		r := &gatherRun{windowRun: windowRun{plan: p}, kernel: k, move: newMovement(width)}
		if k.single != nil {
			r.narrow = k.single.narrowed()
		}
		return r
	}
	return k, nil
}

// checkSpec holds an operand against the element type and the shape it must have.
func checkSpec(what string, o graph.Operand, dt tensor.DType, shape []int) error {
	if o.DType != dt {
		return tensor.Errorf("", tensor.ErrDType, "%s is %s, want %s", what, o.DType, dt)
	}
	if !tensor.EqualShapes(o.Shape, shape) {
		return tensor.Errorf("", tensor.ErrShape, "%s has shape %v, want %v", what, o.Shape, shape)
	}
	return nil
}

// Run gathers. Errors: those of the plan's check; *ops.IndexError.
func (k *gather) Run(ex graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.fixed.Check(out, in); err != nil {
		return err
	}
	x, r := ex.(*Exec), k.states.Get()
	r.windowRun.bind(in[1:])
	err := r.checkIndices(x)
	switch {
	case err != nil || k.size == 0:
	case k.single != nil:
		r.source, r.result = in[0].Storage(), out[0].Storage()
		n, grain := (*elementRun)(r).items()
		x.run(n, grain, (*elementRun)(r))
		r.source, r.result = nil, nil
	default:
		r.move.bind(in[0].Storage(), out[0].Storage())
		n := k.plan.positions
		if k.byWindow {
			n = k.plan.elements
		}
		x.run(n, k.grain, r)
		r.move.bind(nil, nil)
	}
	r.windowRun.release()
	k.states.Put(r)
	return err
}

func (r *gatherRun) chunk(lo, hi int) {
	p := r.plan
	do := windowPart{pos: bounds{lo, hi}, win: bounds{0, p.elements}}
	if r.kernel.byWindow {
		do.pos, do.win = bounds{0, p.positions}, bounds{lo, hi}
	}
	l := p.lanes.Get()
	defer p.lanes.Put(l)
	if r.kernel.rows != nil {
		r.rows(l, lo, hi)
		return
	}
	for end := do.pos.hi; do.pos.lo < end; do.pos.lo += indexBlock {
		at := l.at[:min(indexBlock, end-do.pos.lo)]
		r.resolve(l, do.pos.lo, at)
		p.apply(l, r.move, at, &do)
	}
}

// rows gathers rows by indices as they are stored.
func (r *gatherRun) rows(l *windowLane, lo, hi int) {
	k := r.kernel
	for ; lo < hi; lo += indexBlock {
		kept := k.rows.list(l.rowAt, l.rowFrom, r.index[0], lo, min(indexBlock, hi-lo), 0, k.rows.count)
		l.places = k.rows.places(l.rowAt[:kept], l.rowFrom[:kept])
		l.places.Past = k.past
		r.move.(placesRower).places(&l.places)
		l.places = simd.Places{}
	}
	if k.past {
		simd.FencePast()
	}
}
