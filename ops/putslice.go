package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// PutSliceOp is x with the elements that SliceOp{Start, Step, Size} reads replaced by u. Operands x, u.
type PutSliceOp struct{ Start, Step, Size []int }

// Name is ops.PutSlice.
func (o PutSliceOp) Name() string { return "ops.PutSlice" }

// Key is the canonical form of the attributes.
func (o PutSliceOp) Key() string { return graph.KeyOf(o) }

// Infer is the spec of x; u has its dtype and shape Size.
func (o PutSliceOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 2); err != nil {
		return nil, err
	}
	if err := sameDTypes(in...); err != nil {
		return nil, err
	}
	if err := tensor.CheckSlice(in[0].Shape, o.Start, o.Step, o.Size); err != nil {
		return nil, err
	}
	if !slices.Equal(in[1].Shape, o.Size) {
		return nil, tensor.Errorf("", tensor.ErrShape,
			"operand 1 has shape %v for a slice of size %v", in[1].Shape, o.Size)
	}
	return in[:1], nil
}

// VJP is zero to x where u was put, and the slice of the cotangent to u.
func (o PutSliceOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(i int) *Node {
		if i == 0 {
			return graph.Apply(o, ct[0], ZerosLike(c.In[1]))
		}
		return graph.Apply(SliceOp(o), ct[0])
	})
}

// JVP puts the tangent of u into that of x.
func (o PutSliceOp) JVP(c *Call, tan []*Node) []*Node {
	if tan[0] == nil && tan[1] == nil {
		return none(1)
	}
	return []*Node{graph.Apply(o, orZero(tan[0], c.In[0]), orZero(tan[1], c.In[1]))}
}

// Batch takes the whole batch axis.
func (o PutSliceOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	return []*Node{graph.Apply(PutSliceOp(SliceOp(o).batched(size)), batchAll(in, batched, size)...)}
}

// InPlace allows x: only the slice is written.
func (o PutSliceOp) InPlace(i int) bool { return i == 0 }

// PutSlice is x with the elements that Slice(x, start, step, size) reads replaced by u, a node that
// broadcasts to size or a Go scalar. The cotangent goes to x where it was kept, and its slice to u.
//
// Errors (sticky): tensor.ErrAxis where the lengths differ from the rank, tensor.ErrBounds for an element
// outside of x, tensor.ErrDType, tensor.ErrShape where u does not broadcast to size.
func PutSlice(x *Node, u any, start, step, size []int) *Node {
	const op = "ops.PutSlice"
	n, bad := lift(op, 0, x, u)
	if bad != nil {
		return bad
	}
	if err := tensor.CheckSlice(x.Shape(), start, step, size); err != nil {
		return x.Graph().Fail(op, err)
	}
	return graph.Apply(PutSliceOp{slices.Clone(start), slices.Clone(step), slices.Clone(size)},
		x, BroadcastTo(n[1], size...))
}
