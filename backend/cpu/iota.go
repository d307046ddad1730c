package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileIota is out[i…] = i[Axis]: the cast of an int64 operand that needs no memory, since the offsets in
// a layout with stride 1 along Axis and 0 elsewhere are its elements. Bound by the bytes written.
func compileIota(op ops.IotaOp, out graph.Operand) (graph.Kernel, error) {
	if op.DType == tensor.Bool {
		return nil, tensor.Errorf("", tensor.ErrDType, "iota does not take bool")
	}
	if op.Axis < 0 || op.Axis >= len(op.Shape) {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", op.Axis,
			len(op.Shape))
	}
	along := alongAxis(op)
	if err := accepts(op.DType, out, graph.Operand{Layout: along}); err != nil {
		return nil, err
	}
	return elementwise(castIntegers(sourceBy(offsets), out, along), out), nil
}

// alongAxis is the layout whose offsets are the elements.
func alongAxis(op ops.IotaOp) tensor.Layout {
	l := tensor.Layout{Shape: op.Shape, Strides: make([]int, len(op.Shape))}
	l.Strides[op.Axis] = 1
	return l
}

// offsets is the place of each element of a plane.
func offsets(to []int64, t *tile, place walk) {
	for range t.h {
		row := to[:t.w]
		for j := range row {
			row[j] = int64(place.at + j*place.col)
		}
		to = to[t.w:]
		place.at += place.row
	}
}
