package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// IotaOp is out[i…] = i[Axis]: the position along one axis. It has no operands.
type IotaOp struct {
	DType tensor.DType
	Axis  int
	Shape []int
}

// Name is ops.Iota.
func (o IotaOp) Name() string { return "ops.Iota" }

// Key is the canonical form of the attributes.
func (o IotaOp) Key() string { return graph.KeyOf(o) }

// Infer is the spec that the attributes name.
func (o IotaOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 0); err != nil {
		return nil, err
	}
	if !o.DType.Valid() || o.DType == tensor.Bool {
		return nil, tensor.Errorf("", tensor.ErrDType, "positions cannot be %s", o.DType)
	}
	if o.Axis < 0 || o.Axis >= len(o.Shape) {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", o.Axis, len(o.Shape))
	}
	return one(o.DType, o.Shape), nil
}

// VJP has nothing to send on.
func (o IotaOp) VJP(*Call, []*Node, []bool) []*Node { return nil }

// JVP is zero.
func (o IotaOp) JVP(*Call, []*Node) []*Node { return none(1) }

// Batch is the value itself: it has no operand that could be batched.
func (o IotaOp) Batch(c *Call, _ []*Node, _ []bool, _ int) []*Node { return c.Out }

// Elementwise: an element is made of its operands' elements at the same place.
func (IotaOp) Elementwise() bool { return true }

// Iota is out[i…] = i[axis]: the position along one axis, of a numeric dtype. A position that the dtype
// cannot hold wraps or rounds as Cast does.
//
// Errors (sticky): tensor.ErrUnsupported without a graph, tensor.ErrDType for bool, tensor.ErrAxis,
// tensor.ErrShape for a negative extent, tensor.ErrOverflow.
func Iota(g *graph.Graph, dt tensor.DType, axis int, shape ...int) *Node {
	if bad := noGraph("ops.Iota", g); bad != nil {
		return bad
	}
	a, err := axisOf(axis, len(shape))
	if err != nil {
		return g.Fail("ops.Iota", err)
	}
	return g.Apply(IotaOp{dt, a, slices.Clone(shape)})
}
