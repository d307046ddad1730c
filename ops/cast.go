package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// CastOp changes the element type. Floats to integers truncate toward zero and saturate, NaN gives 0;
// numbers to bool test ≠ 0 (NaN is true); complex to real keeps the real part.
type CastOp struct{ To tensor.DType }

// Name is ops.Cast.
func (o CastOp) Name() string { return "ops.Cast" }

// Key is the canonical form of the attributes.
func (o CastOp) Key() string { return graph.KeyOf(o) }

// Infer keeps the shape.
func (o CastOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	if !o.To.Valid() {
		return nil, tensor.Errorf("", tensor.ErrDType, "cannot cast %s to %s", in[0].DType, o.To)
	}
	return one(o.To, in[0].Shape), nil
}

// VJP casts the cotangent back. Real to complex has the adjoint real part, and the reverse: both are casts.
func (o CastOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	from := c.In[0].DType()
	if !from.IsDifferentiable() || !o.To.IsDifferentiable() {
		return none(1)
	}
	return pull(c, ct, need, func(int) *Node { return Cast(ct[0], from) })
}

// JVP casts the tangent.
func (o CastOp) JVP(c *Call, tan []*Node) []*Node {
	if !c.In[0].DType().IsDifferentiable() || !o.To.IsDifferentiable() {
		return none(1)
	}
	return push(tan, func(_ int, t *Node) *Node { return Cast(t, o.To) })
}

// Batch is the same op.
func (o CastOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node {
	return []*Node{graph.Apply(o, in...)}
}

// Elementwise: an element is made of its operands' elements at the same place.
func (CastOp) Elementwise() bool { return true }

// Cast is x in another element type. Floats to integers truncate toward zero and saturate, NaN gives 0;
// integers to narrower ones wrap; numbers to bool test ≠ 0, NaN is true; complex to real keeps the real part.
// The cotangent is cast back between floats and complexes; through integers and bools there is none.
//
// Errors (sticky): tensor.ErrDType for an invalid dtype.
func Cast(x *Node, dt tensor.DType) *Node {
	if bad := graph.Invalid("ops.Cast", x); bad != nil {
		return bad
	}
	if x.DType() == dt {
		return x
	}
	return graph.Apply(CastOp{dt}, x)
}
