package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// SelectOp is out[i…] = cond[i…] ? a[i…] : b[i…]. Operands cond (bool), a, b of one shape.
type SelectOp struct{}

// Name is ops.Where, as its builder.
func (o SelectOp) Name() string { return "ops.Where" }

// Key is the canonical form of the attributes.
func (o SelectOp) Key() string { return graph.KeyOf(o) }

// Infer wants a bool and two operands of one spec, all of one shape.
func (o SelectOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 3); err != nil {
		return nil, err
	}
	if in[0].DType != tensor.Bool {
		return nil, tensor.Errorf("", tensor.ErrDType,
			"operand 0, the condition, is %s, want bool", in[0].DType)
	}
	if in[1].DType != in[2].DType {
		return nil, tensor.Errorf("", tensor.ErrDType,
			"operand 1 is %s, operand 2 is %s", in[1].DType, in[2].DType)
	}
	if err := sameShapes(in...); err != nil {
		return nil, err
	}
	return in[1:2], nil
}

// VJP selects the cotangent for each side, so nothing leaks to the side that was not taken, NaN included.
func (o SelectOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(i int) *Node {
		switch i {
		case 1:
			return Where(c.In[0], ct[0], 0)
		case 2:
			return Where(c.In[0], 0, ct[0])
		}
		return nil
	})
}

// JVP selects between the tangents.
func (o SelectOp) JVP(c *Call, tan []*Node) []*Node {
	if tan[1] == nil && tan[2] == nil {
		return none(1)
	}
	return []*Node{Where(c.In[0], orZero(tan[1], c.In[1]), orZero(tan[2], c.In[2]))}
}

// Batch is the same op: its operands gain the batch.
func (o SelectOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	return []*Node{graph.Apply(o, batchAll(in, batched, size)...)}
}

// Elementwise: an element is made of its operands' elements at the same place.
func (SelectOp) Elementwise() bool { return true }

// InPlace allows the two operands that have the result's dtype.
func (o SelectOp) InPlace(i int) bool { return i > 0 }

// Where is cond ? a : b, element by element. a and b are nodes or Go scalars, not both scalars; shapes
// broadcast. The cotangent goes to the side that was taken; the other side gets 0, whatever stands there.
//
// Errors (sticky): tensor.ErrDType where cond is not bool or a and b differ, tensor.ErrShape.
func Where(cond *Node, a, b any) *Node {
	if bad := invalid("ops.Where", 0, cond, a, b); bad != nil {
		return bad
	}
	x, bad := lift("ops.Where", 1, a, b)
	if bad != nil {
		return bad
	}
	if x, bad = broadcast("ops.Where", []*Node{cond, x[0], x[1]}); bad != nil {
		return bad
	}
	return graph.Apply(SelectOp{}, x...)
}
