package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compilePutSlice is out = x, then out[Start + k·Step, …] = u[k…]: two movements, of which the first is not
// made where out is x itself. Then it is bound by the bytes of u.
func compilePutSlice(op ops.PutSliceOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	x, u := in[0], in[1]
	if err := alike(x, u); err != nil {
		return nil, err
	}
	if err := accepts(x.DType, out, x); err != nil {
		return nil, err
	}
	slice, err := out.Layout.Slice(op.Start, op.Step, op.Size)
	if err != nil {
		return nil, err
	}
	if !tensor.EqualShapes(u.Shape, op.Size) {
		return nil, tensor.Errorf("", tensor.ErrShape, "the slice has shape %v, what is put there %v",
			op.Size, u.Shape)
	}
	size := out.DType.Size()
	return &piecewise{
		planning.Operands{Out: []graph.Operand{out}, In: in, Over: [][]bool{{true, false}}},
		[]part{{copyTiles(size, out.Layout, x.Layout), 0}, {moveTiles(size, slice, u.Layout), 1}},
	}, nil
}
