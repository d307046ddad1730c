package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ArgFn is an arg-reduction.
type ArgFn uint8

// The functions of ArgReduceOp.
const (
	ArgMaxFn ArgFn = iota
	ArgMinFn
	ArgMaxAbsFn
	ArgMinAbsFn
)

// ArgReduceOp is the index along Axis of the extreme element: the first NaN of a line that has one, else the
// lowest index among those that tie. Axis is dropped; Index is the result's dtype, int32 or int64.
type ArgReduceOp struct {
	Fn    ArgFn
	Axis  int
	Index tensor.DType
}

// Key is the canonical form of the attributes.
func (o ArgReduceOp) Key() string { return graph.KeyOf(o) }
