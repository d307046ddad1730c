package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// ReducePlan is a reduction compiled for a dtype and layouts:
//
//	dst[kept…] = fn over the axes of src
//
// The destination has the source's dtype, and its extents without the axes, in order. Float sums and products
// follow a tree that depends on the extents alone; half floats are folded in float32 and rounded once, integers
// wrap. For bool Sum and Max are or, Prod and Min are and. NaN wins every Max and Min, and −0 is below +0. Of
// no elements Sum is 0, Prod 1 and LogSumExp −∞.
type ReducePlan struct {
	plan
	fn   ops.ReduceFn
	axes []int
}

// CompileReduce plans the reduction fn of elements dt laid out as src over axes, in any order, into dst. Nil
// axes are all, an empty list none.
//
// Errors, in the order of plans: ErrDType for LogSumExp of what is no float, ErrUnsupported for an unknown fn
// and for Max, Min and LogSumExp of complex numbers; ErrStride; ErrAxis for an axis outside of the rank or named
// twice; ErrShape where dst's shape is not src's without the axes; ErrUnsupported for Max and Min of no
// elements, unless dst is empty; ErrOverflow; ErrNonInjective.
func CompileReduce(dt tensor.DType, fn ops.ReduceFn, src, dst tensor.Layout, axes []int) (*ReducePlan, error) {
	from, to := draft.Of("source", dt, src), draft.Of("destination", dt, dst)
	p := &ReducePlan{fn: fn}
	err := p.compile(draft.Plan{
		Name: "cpu.Reduce", In: []draft.Operand{from}, Out: []draft.Operand{to},
		DTypes: func() error { return reducible(dt, fn) },
		Axes: func() (err error) {
			p.axes, err = draft.SortedAxes(axes, &from)
			return err
		},
		Shapes: func() error {
			kept, _ := planning.Split(from.Layout, p.axes)
			return to.Fits(kept.Shape, "source shape %v without axes %v", from.Shape, p.axes)
		},
		Possible: func() error {
			_, folded := planning.Split(from.Layout, p.axes)
			extreme := fn == ops.ReduceMax || fn == ops.ReduceMin
			if extreme && slices.Contains(folded.Shape, 0) && !slices.Contains(to.Shape, 0) {
				return tensor.Errorf("", tensor.ErrUnsupported,
					"source shape %v has no elements along axes %v, and nothing is their extreme", from.Shape, p.axes)
			}
			return nil
		},
		Kernel: func(out, in []graph.Operand) (graph.Kernel, error) {
			return compileReduce(ops.ReduceOp{Fn: fn, Axes: p.axes}, out[0], in)
		},
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// reducible is the error for dtypes that a reduction does not take.
func reducible(dt tensor.DType, fn ops.ReduceFn) error {
	ordered := fn > ops.ReduceProd
	switch {
	case !dt.Valid():
		return draft.ValidDType(dt)
	case fn > ops.ReduceLogSumExp:
		return tensor.Errorf("", tensor.ErrUnsupported, "there is no reduction %d", fn)
	case ordered && dt.IsComplex():
		return tensor.Errorf("", tensor.ErrUnsupported, "source dtype %s has no order", dt)
	case fn == ops.ReduceLogSumExp && !dt.IsFloat():
		return tensor.Errorf("", tensor.ErrDType, "source dtype %s, want a float", dt)
	}
	return nil
}

// Fn is the reduction.
func (p *ReducePlan) Fn() ops.ReduceFn { return p.fn }

// Axes is the axes that are folded, in order.
func (p *ReducePlan) Axes() []int { return slices.Clone(p.axes) }

// Execute reduces src into dst. A nil x means the caller's goroutine alone. Errors: those of every plan.
func (p *ReducePlan) Execute(x *Exec, dst tensor.Write, src tensor.Read) error {
	return p.execute(x, []tensor.Write{dst}, []tensor.Read{src})
}
