package cuda

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// compilePutSlice is out = x, then out[Start + k·Step, …] = u[k…]: two movements, of which the first is not
// made where out is x itself.
func compilePutSlice(b *Backend, op ops.PutSliceOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	k := &piecewise{operands: b.operands([]graph.Operand{out}, in, true, false)}
	whole, err := b.newMover(out.DType.Size(), out.Layout, in[0].Layout)
	if err != nil {
		return nil, err
	}
	k.parts = []part{{mover: whole}}
	return k, k.slice(b, out, op.Start, op.Step, in[1], 1)
}

// slice adds the movement of an operand to a slice of the result.
func (k *piecewise) slice(b *Backend, out graph.Operand, start, step []int, from graph.Operand, number int) error {
	l, err := out.Layout.Slice(start, step, from.Shape)
	if err != nil {
		return err
	}
	m, err := b.newMover(out.DType.Size(), l, from.Layout)
	if err != nil {
		return err
	}
	k.parts = append(k.parts, part{m, number, (l.Offset - out.Offset) * out.DType.Size()})
	return nil
}

// compileConcat joins the operands along Axis: one movement each, into its slice of the result.
func compileConcat(b *Backend, op ops.ConcatOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	k := &piecewise{operands: b.operands([]graph.Operand{out}, in)}
	start, step := make([]int, out.Rank()), make([]int, out.Rank())
	for a := range step {
		step[a] = 1
	}
	for i, o := range in {
		if err := k.slice(b, out, start, step, o, i); err != nil {
			return nil, err
		}
		start[op.Axis] += o.Shape[op.Axis]
	}
	return k, nil
}
