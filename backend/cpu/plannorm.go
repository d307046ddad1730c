package cpu

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// NormPlan is a norm of order p over axes compiled for a dtype and layouts:
//
//	dst[kept…] = (Σ |src|ᵖ)^(1/p)
//
// p = ∞ gives the greatest |src|, −∞ the least, and 0 the number of elements that are not 0. The source is of
// floats or complexes, the destination of their real type; it has the source's extents without the axes, in
// order. Of no elements a norm is 0, of a negative order ∞. Powers are scaled so that they neither overflow nor
// vanish, and summed by the tree of the reductions; half floats are computed in float32 and rounded once. The
// bits are those of ops.Norm.
type NormPlan struct {
	plan
	p    float64
	axes []int
}

// CompileNorm plans the norm of order p of elements dt laid out as src over axes, in any order, into dst. Nil
// axes are all, an empty list none.
//
// Errors, in the order of plans: ErrDType for integers and bool, ErrUnsupported for a p of NaN; ErrStride; ErrAxis
// for an axis outside of the rank or named twice; ErrShape where dst's shape is not src's without the axes;
// ErrOverflow; ErrNonInjective.
func CompileNorm(dt tensor.DType, p float64, src, dst tensor.Layout, axes []int) (*NormPlan, error) {
	from, to := draft.Of("source", dt, src), draft.Of("destination", dt.Real(), dst)
	n := &NormPlan{p: p}
	err := n.compile(draft.Plan{
		Name: "cpu.Norm", In: []draft.Operand{from}, Out: []draft.Operand{to},
		DTypes: func() error {
			switch {
			case !dt.IsDifferentiable():
				return tensor.Errorf("", tensor.ErrDType, "source dtype %s, want a float or a complex", dt)
			case math.IsNaN(p):
				return tensor.Errorf("", tensor.ErrUnsupported, "there is no norm of order %v", p)
			}
			return nil
		},
		Axes: func() (err error) {
			n.axes, err = draft.SortedAxes(axes, &from)
			return err
		},
		Shapes: func() error {
			kept, _ := planning.Split(from.Layout, n.axes)
			return to.Fits(kept.Shape, "source shape %v without axes %v", from.Shape, n.axes)
		},
		Kernel: func(out, in []graph.Operand) (graph.Kernel, error) {
			return compileNorm(p, n.axes, out[0], in[0])
		},
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Order is p.
func (n *NormPlan) Order() float64 { return n.p }

// Axes is the axes that are summed over, in order.
func (n *NormPlan) Axes() []int { return slices.Clone(n.axes) }

// Execute writes the norms of src to dst. Errors: those of every plan.
func (n *NormPlan) Execute(x *Exec, dst tensor.Write, src tensor.Read) error {
	return n.execute(x, []tensor.Write{dst}, []tensor.Read{src})
}
