package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// TransposeOp is out axis a = x axis Perm[a].
type TransposeOp struct{ Perm []int }

// Name is ops.Transpose.
func (o TransposeOp) Name() string { return "ops.Transpose" }

// Key is the canonical form of the attributes.
func (o TransposeOp) Key() string { return graph.KeyOf(o) }

// Infer permutes the extents.
func (o TransposeOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	l, err := tensor.RowMajor(in[0].Shape).Transpose(o.Perm...)
	return one(in[0].DType, l.Shape), err
}

// View permutes the strides.
func (o TransposeOp) View(l tensor.Layout) (tensor.Layout, bool) {
	r, err := l.Transpose(o.Perm...)
	return r, err == nil
}

// VJP permutes the cotangent back.
func (o TransposeOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(int) *Node { return Transpose(ct[0], inverse(o.Perm)...) })
}

// JVP permutes the tangent.
func (o TransposeOp) JVP(_ *Call, tan []*Node) []*Node {
	return push(tan, func(_ int, t *Node) *Node { return graph.Apply(o, t) })
}

// Batch leaves the batch axis in front.
func (o TransposeOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node {
	return []*Node{graph.Apply(TransposeOp{prepend(0, shift(o.Perm, 1))}, in...)}
}

func inverse(perm []int) []int {
	r := make([]int, len(perm))
	for a, p := range perm {
		r[p] = a
	}
	return r
}

// SliceOp is out[k…] = x[Start + k·Step, …]. Step is signed, so Reverse is a slice too.
type SliceOp struct{ Start, Step, Size []int }

// Name is ops.Slice.
func (o SliceOp) Name() string { return "ops.Slice" }

// Key is the canonical form of the attributes.
func (o SliceOp) Key() string { return graph.KeyOf(o) }

// Infer is Size; every element of it must lie inside of x.
func (o SliceOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	return one(in[0].DType, o.Size), tensor.CheckSlice(in[0].Shape, o.Start, o.Step, o.Size)
}

// View moves the offset and multiplies the strides.
func (o SliceOp) View(l tensor.Layout) (tensor.Layout, bool) {
	r, err := l.Slice(o.Start, o.Step, o.Size)
	return r, err == nil
}

// VJP puts the cotangent into zeros.
func (o SliceOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(int) *Node {
		return graph.Apply(PutSliceOp(o), ZerosLike(c.In[0]), ct[0])
	})
}

// JVP slices the tangent.
func (o SliceOp) JVP(_ *Call, tan []*Node) []*Node {
	return push(tan, func(_ int, t *Node) *Node { return graph.Apply(o, t) })
}

// Batch takes the whole batch axis.
func (o SliceOp) Batch(_ *Call, in []*Node, _ []bool, size int) []*Node {
	return []*Node{graph.Apply(o.batched(size), in...)}
}

func (o SliceOp) batched(size int) SliceOp {
	return SliceOp{prepend(0, o.Start), prepend(1, o.Step), prepend(size, o.Size)}
}

// whole is the slice that keeps a shape as it is, for its axes to be narrowed one by one.
func whole(shape []int) SliceOp {
	return SliceOp{filled(len(shape), 0), filled(len(shape), 1), slices.Clone(shape)}
}

// BroadcastOp repeats extent-1 axes and adds leading ones, by stride 0.
type BroadcastOp struct{ Shape []int }

// Name is ops.BroadcastTo.
func (o BroadcastOp) Name() string { return "ops.BroadcastTo" }

// Key is the canonical form of the attributes.
func (o BroadcastOp) Key() string { return graph.KeyOf(o) }

// Infer is Shape, to which x must broadcast by NumPy's rule.
func (o BroadcastOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	_, err := tensor.RowMajor(in[0].Shape).Broadcast(o.Shape...)
	return one(in[0].DType, o.Shape), err
}

// View gives the repeated axes stride 0.
func (o BroadcastOp) View(l tensor.Layout) (tensor.Layout, bool) {
	r, err := l.Broadcast(o.Shape...)
	return r, err == nil
}

// VJP sums the cotangent over what was repeated.
func (o BroadcastOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(int) *Node { return SumTo(ct[0], c.In[0].Shape()...) })
}

// JVP repeats the tangent.
func (o BroadcastOp) JVP(_ *Call, tan []*Node) []*Node {
	return push(tan, func(_ int, t *Node) *Node { return graph.Apply(o, t) })
}

// Batch adds the leading axes behind the batch axis.
func (o BroadcastOp) Batch(_ *Call, in []*Node, _ []bool, size int) []*Node {
	example := in[0].Shape()[1:]
	aligned := append(prepend(size, filled(len(o.Shape)-len(example), 1)), example...)
	return []*Node{BroadcastTo(Reshape(in[0], aligned...), prepend(size, o.Shape)...)}
}

// ReshapeOp keeps the elements in row-major order under another shape.
type ReshapeOp struct{ Shape []int }

// Name is ops.Reshape.
func (o ReshapeOp) Name() string { return "ops.Reshape" }

// Key is the canonical form of the attributes.
func (o ReshapeOp) Key() string { return graph.KeyOf(o) }

// Infer is Shape, which must have as many elements as x.
func (o ReshapeOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	n, err := tensor.CheckedSize(o.Shape)
	if err != nil {
		return nil, err
	}
	if n != in[0].Size() {
		return nil, tensor.Errorf("", tensor.ErrShape, "shape %v has %d elements, operand shape %v has %d",
			o.Shape, n, in[0].Shape, in[0].Size())
	}
	return one(in[0].DType, o.Shape), nil
}

// View gives strides for the shape; ok is false where the elements do not lie so that any would do.
func (o ReshapeOp) View(l tensor.Layout) (tensor.Layout, bool) { return l.Reshape(o.Shape...) }

// VJP reshapes the cotangent back.
func (o ReshapeOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(int) *Node { return Reshape(ct[0], c.In[0].Shape()...) })
}

// JVP reshapes the tangent.
func (o ReshapeOp) JVP(_ *Call, tan []*Node) []*Node {
	return push(tan, func(_ int, t *Node) *Node { return graph.Apply(o, t) })
}

// Batch leaves the batch axis in front.
func (o ReshapeOp) Batch(_ *Call, in []*Node, _ []bool, size int) []*Node {
	return []*Node{graph.Apply(ReshapeOp{prepend(size, o.Shape)}, in...)}
}
