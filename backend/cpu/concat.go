package cpu

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileConcat joins the operands along Axis: one movement each, into its slice of the output.
func compileConcat(op ops.ConcatOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	if op.Axis < 0 || op.Axis >= out.Rank() {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", op.Axis, out.Rank())
	}
	k := &piecewise{Operands: planning.Operands{Out: []graph.Operand{out}, In: in}}
	start, step := make([]int, out.Rank()), slices.Repeat([]int{1}, out.Rank())
	want := slices.Clone(out.Shape)
	for i, o := range in {
		if o.DType != out.DType {
			return nil, tensor.Errorf("", tensor.ErrDType, "operand %d has dtype %s, the result %s",
				i, o.DType, out.DType)
		}
		if o.Rank() == out.Rank() {
			want[op.Axis] = o.Shape[op.Axis]
		}
		if !tensor.EqualShapes(o.Shape, want) {
			return nil, tensor.Errorf("", tensor.ErrShape, "operand %d has shape %v, the result %v",
				i, o.Shape, out.Shape)
		}
		slice, err := out.Layout.Slice(start, step, o.Shape)
		if err != nil {
			return nil, err
		}
		k.parts = append(k.parts, part{copyTiles(out.DType.Size(), slice, o.Layout), i})
		start[op.Axis] += o.Shape[op.Axis]
	}
	if start[op.Axis] != out.Shape[op.Axis] {
		return nil, tensor.Errorf("", tensor.ErrShape,
			"the operands have %d elements along axis %d, the result %d",
			start[op.Axis], op.Axis, out.Shape[op.Axis])
	}
	return k, nil
}

// ConcatPlan joins sources along an axis, compiled for a dtype and layouts:
//
//	dst[…, sₖ + i, …] = srcₖ[…, i, …]
//
// where sₖ is the sum of the extents along the axis of the sources before k. All bits are kept.
type ConcatPlan struct {
	plan
	axis int
}

// CompileConcat plans the joining of elements dt laid out as each of src, along axis, into dst.
//
// Errors, in the order of plans: ErrDType; ErrStride; ErrAxis for an axis outside of dst's rank; ErrShape where
// there is no source, where a shape differs from dst's beside the axis, and where the extents along it are not
// dst's together; ErrOverflow; ErrNonInjective.
func CompileConcat(dt tensor.DType, src []tensor.Layout, dst tensor.Layout, axis int) (*ConcatPlan, error) {
	to, from := draft.Of("destination", dt, dst), make([]draft.Operand, len(src))
	for k, l := range src {
		from[k] = draft.Of(fmt.Sprintf("source %d", k), dt, l)
	}
	p := &ConcatPlan{axis: axis}
	err := p.compile(draft.Plan{
		Name: "cpu.Concat", In: from, Out: []draft.Operand{to},
		DTypes: func() error { return draft.ValidDType(dt) },
		Axes:   func() error { return draft.InsideAxis(axis, &to) },
		Shapes: func() error { return joins(from, &to, axis) },
		Kernel: func(out, in []graph.Operand) (graph.Kernel, error) {
			return compileConcat(ops.ConcatOp{Axis: axis}, out[0], in)
		},
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// joins is the error where sources do not make up the destination.
func joins(from []draft.Operand, to *draft.Operand, axis int) error {
	if len(from) == 0 {
		return tensor.Errorf("", tensor.ErrShape, "there is nothing to join")
	}
	left, want := to.Shape[axis], slices.Clone(to.Shape)
	for k := range from {
		if want[axis] = 0; len(from[k].Shape) == len(want) {
			want[axis] = from[k].Shape[axis]
		}
		err := from[k].Fits(want, "destination shape %v, joined along axis %d", to.Shape, axis)
		if err != nil {
			return err
		}
		if left -= want[axis]; left < 0 {
			break
		}
	}
	if left != 0 {
		return tensor.Errorf("", tensor.ErrShape, "the sources do not have the %d elements of destination shape %v along axis %d together",
			to.Shape[axis], to.Shape, axis)
	}
	return nil
}

// Axis is the axis along which sources are joined.
func (p *ConcatPlan) Axis() int { return p.axis }

// Execute joins src, in their order, in dst. Errors: those of every plan.
func (p *ConcatPlan) Execute(x *Exec, dst tensor.Write, src ...tensor.Read) error {
	return p.execute(x, []tensor.Write{dst}, src)
}
