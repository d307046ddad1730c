package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileConcat joins the operands along Axis: one movement each, into its slice of the output.
func compileConcat(op ops.ConcatOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	if op.Axis < 0 || op.Axis >= out.Rank() {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", op.Axis, out.Rank())
	}
	k := &piecewise{fixed: fixed{out: []graph.Operand{out}, in: in}}
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
		k.parts = append(k.parts, part{moveTiles(out.DType.Size(), slice, o.Layout), i})
		start[op.Axis] += o.Shape[op.Axis]
	}
	if start[op.Axis] != out.Shape[op.Axis] {
		return nil, tensor.Errorf("", tensor.ErrShape,
			"the operands have %d elements along axis %d, the result %d",
			start[op.Axis], op.Axis, out.Shape[op.Axis])
	}
	return k, nil
}
