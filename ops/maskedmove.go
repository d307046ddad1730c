package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// CompressOp keeps what a mask says, a mask of rank r standing over r axes of x from Axis on, at least one:
//
//	y[i…, k, j…] = x[i…, pₖ, j…]
//
// pₖ is the k-th place, in row-major order, at which the mask is true; 0 where there are not so many. Count is
// the extent of k. Operands x and mask. It is linear in x; its adjoint is ExpandOp.
type CompressOp struct{ Axis, Count int }

// Name is ops.Compress.
func (CompressOp) Name() string { return "ops.Compress" }

// Key is the canonical form of the attributes.
func (o CompressOp) Key() string { return graph.KeyOf(o) }

// Infer is x's shape with Count in the place of the mask's axes.
func (o CompressOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := maskOperand(in); err != nil {
		return nil, err
	}
	x, mask := in[0].Shape, in[1].Shape
	if o.Axis < 0 || o.Axis > len(x)-len(mask) {
		return nil, tensor.Errorf("", tensor.ErrAxis, "a mask of rank %d does not stand at axis %d of rank %d",
			len(mask), o.Axis, len(x))
	}
	if o.Count < 0 || !slices.Equal(x[o.Axis:o.Axis+len(mask)], mask) {
		return nil, tensor.Errorf("", tensor.ErrShape, "a mask of shape %v at axis %d of shape %v, %d places",
			mask, o.Axis, x, o.Count)
	}
	return one(in[0].DType, slices.Concat(x[:o.Axis], []int{o.Count}, x[o.Axis+len(mask):])), nil
}

// VJP puts the cotangent back to where its elements are from.
func (o CompressOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return maskedGradient(ExpandOp{o.Axis}, c, ct, need)
}

// JVP keeps the same elements of the tangent.
func (o CompressOp) JVP(c *Call, tan []*Node) []*Node { return maskedTangent(o, c, tan) }

// Batch moves the axis up by one; masks that are a batch are taken one by one.
func (o CompressOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	return maskedBatch(o, CompressOp{o.Axis + 1, o.Count}, in, batched, size)
}

// ExpandOp puts what CompressOp keeps back to its places, and 0 elsewhere:
//
//	x[i…, pₖ, j…] = y[i…, k, j…]
//
// Elements of y for which the mask has no place are left out, and places for which y has none are 0. Operands y
// and mask. It is linear in y; its adjoint is CompressOp.
type ExpandOp struct{ Axis int }

// Name is ops.Expand.
func (ExpandOp) Name() string { return "ops.Expand" }

// Key is the canonical form of the attributes.
func (o ExpandOp) Key() string { return graph.KeyOf(o) }

// Infer is y's shape with the mask's axes in the place of Axis.
func (o ExpandOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := maskOperand(in); err != nil {
		return nil, err
	}
	y := in[0].Shape
	if o.Axis < 0 || o.Axis >= len(y) {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", o.Axis, len(y))
	}
	return one(in[0].DType, slices.Concat(y[:o.Axis], in[1].Shape, y[o.Axis+1:])), nil
}

// VJP keeps the elements of the cotangent that y's went to.
func (o ExpandOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return maskedGradient(CompressOp{o.Axis, c.In[0].Shape()[o.Axis]}, c, ct, need)
}

// JVP puts the tangent to the same places.
func (o ExpandOp) JVP(c *Call, tan []*Node) []*Node { return maskedTangent(o, c, tan) }

// Batch moves the axis up by one; masks that are a batch are taken one by one.
func (o ExpandOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	return maskedBatch(o, ExpandOp{o.Axis + 1}, in, batched, size)
}

// maskOperand is the error for operands of which the second is no mask.
func maskOperand(in []tensor.Spec) error {
	if err := arity(in, 2); err != nil {
		return err
	}
	if in[1].DType != tensor.Bool {
		return tensor.Errorf("", tensor.ErrDType, "mask has dtype %s, want bool", in[1].DType)
	}
	if in[1].Rank() == 0 {
		return tensor.Errorf("", tensor.ErrRank, "mask is a scalar, want axes")
	}
	return nil
}

func maskedGradient(adjoint graph.Op, c *Call, ct []*Node, need []bool) []*Node {
	r := none(2)
	if need[0] && ct[0] != nil {
		r[0] = graph.Apply(adjoint, ct[0], c.In[1])
	}
	return r
}

func maskedTangent(o graph.Op, c *Call, tan []*Node) []*Node {
	if tan[0] == nil {
		return none(1)
	}
	return []*Node{graph.Apply(o, tan[0], c.In[1])}
}

// maskedBatch is an op on examples: inner of each, or behind on all, whose mask is one.
func maskedBatch(inner, behind graph.Op, in []*Node, batched []bool, size int) []*Node {
	if !batched[1] {
		return []*Node{graph.Apply(behind, in...)}
	}
	all := batchAll(in, batched, size)
	if size == 0 { // the result has a shape, and no elements
		mask := in[1].Graph().Literal(tensor.Bool, false)
		return []*Node{graph.Apply(behind, all[0], BroadcastTo(mask, in[1].Shape()[1:]...))}
	}
	each := make([]*Node, size)
	for i := range each {
		each[i] = graph.Apply(inner, Index(all[0], index.At(i)), Index(all[1], index.At(i)))
	}
	return []*Node{Stack(0, each...)}
}

// knownMask is a mask of g whose elements are known as a constant, and how many of them are true. What it does
// not know, or what is no mask, is left to those who say what is wrong with it.
func knownMask(g *graph.Graph, mask index.Source) (m *Node, count int, known bool) {
	var v graph.Readable
	switch s := mask.(type) {
	case *Node:
		value, err := s.HostValue()
		if err != nil {
			return nil, 0, false
		}
		v = value
	case graph.Readable:
		v = s
	default:
		return nil, 0, false
	}
	count, err := countTrue(g.Backend(), v.Read())
	if err != nil {
		return nil, 0, false
	}
	m = g.Const(v)
	return m, count, m.Valid()
}

// countTrue is index.Count, by b if it can.
func countTrue(b graph.Backend, mask tensor.Read) (int, error) {
	if b, ok := b.(graph.TrueCounter); ok {
		return b.CountTrue(mask)
	}
	return index.Count(mask)
}

// indexMask is x indexed by a mask of its first axes alone, if that is what the items say.
func indexMask(x *Node, items []index.Item) (y *Node, ok bool) {
	if len(items) != 1 {
		return nil, false
	}
	mask := items[0].Source()
	if t, is := mask.(*tensor.Tensor); mask == nil || is && t == nil {
		return nil, false
	}
	s := mask.Spec()
	if s.DType != tensor.Bool || s.Rank() == 0 || s.Rank() > x.Rank() ||
		!slices.Equal(s.Shape, x.Shape()[:s.Rank()]) {
		return nil, false
	}
	m, count, known := knownMask(x.Graph(), mask)
	if !known {
		return nil, false
	}
	return graph.Apply(CompressOp{0, count}, x, m), true
}
