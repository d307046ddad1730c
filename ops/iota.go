package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// IotaOp is out[i…] = i[Axis]: the position along one axis. It has no operands.
type IotaOp struct {
	DType tensor.DType
	Axis  int
	Shape []int
}

// Key is the canonical form of the attributes.
func (o IotaOp) Key() string { return graph.KeyOf(o) }
