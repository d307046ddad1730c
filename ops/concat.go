package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ConcatOp joins its operands along Axis.
type ConcatOp struct{ Axis int }

// Name is ops.Concat.
func (o ConcatOp) Name() string { return "ops.Concat" }

// Key is the canonical form of the attributes.
func (o ConcatOp) Key() string { return graph.KeyOf(o) }

// Infer adds the extents along Axis; all others agree.
func (o ConcatOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if len(in) == 0 {
		return nil, tensor.Errorf("", tensor.ErrShape, "there is nothing to join")
	}
	if err := sameDTypes(in...); err != nil {
		return nil, err
	}
	first := in[0].Shape
	if o.Axis < 0 || o.Axis >= len(first) {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", o.Axis, len(first))
	}
	out := slices.Clone(first)
	for i, s := range in[1:] {
		if len(s.Shape) != len(first) {
			return nil, tensor.Errorf("", tensor.ErrRank,
				"operand 0 has shape %v, operand %d has shape %v", first, i+1, s.Shape)
		}
		for a, d := range s.Shape {
			if a == o.Axis {
				out[a] += d
			} else if d != first[a] {
				return nil, tensor.Errorf("", tensor.ErrShape,
					"operand 0 has shape %v, operand %d has shape %v, which differ beside axis %d",
					first, i+1, s.Shape, o.Axis)
			}
			if out[a] < 0 {
				return nil, tensor.Errorf("", tensor.ErrOverflow,
					"the extents along axis %d do not fit an int together", a)
			}
		}
	}
	return one(in[0].DType, out), nil
}

// VJP cuts the cotangent at the seams.
func (o ConcatOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	at := 0
	starts := make([]int, len(c.In))
	for i, x := range c.In {
		starts[i] = at
		at += x.Shape()[o.Axis]
	}
	return pull(c, ct, need, func(i int) *Node {
		return SliceAxis(ct[0], o.Axis, starts[i], c.In[i].Shape()[o.Axis])
	})
}

// JVP joins the tangents.
func (o ConcatOp) JVP(c *Call, tan []*Node) []*Node {
	parts, some := make([]*Node, len(tan)), false
	for i, t := range tan {
		parts[i], some = orZero(t, c.In[i]), some || t != nil
	}
	if !some {
		return none(1)
	}
	return []*Node{graph.Apply(o, parts...)}
}

// Batch moves the axis up by one.
func (o ConcatOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	return []*Node{graph.Apply(ConcatOp{o.Axis + 1}, batchAll(in, batched, size)...)}
}

// Concat joins nodes of one dtype along an axis; their other extents agree. The cotangent is cut at the
// seams.
//
// Errors (sticky): tensor.ErrShape for no nodes and for other extents that differ, tensor.ErrRank,
// tensor.ErrDType, tensor.ErrAxis, tensor.ErrUnsupported for nil.
func Concat(axis int, xs ...*Node) *Node {
	const op = "ops.Concat"
	if bad := graph.Invalid(op, xs...); bad != nil {
		return bad
	}
	if len(xs) == 0 {
		return graph.Fail(op, tensor.Errorf("", tensor.ErrShape, "there is nothing to join"))
	}
	a, err := axisOf(axis, xs[0].Rank())
	if err != nil {
		return graph.Fail(op, err, xs...)
	}
	if len(xs) == 1 {
		return xs[0]
	}
	return graph.Apply(ConcatOp{a}, slices.Clone(xs)...)
}

// Stack joins nodes of one dtype and shape along a new axis of the result. The cotangent is cut at the seams.
//
// Errors (sticky): tensor.ErrShape for no nodes and for shapes that differ, tensor.ErrDType, tensor.ErrAxis,
// tensor.ErrUnsupported for nil.
func Stack(axis int, xs ...*Node) *Node {
	const op = "ops.Stack"
	if bad := graph.Invalid(op, xs...); bad != nil {
		return bad
	}
	if len(xs) == 0 {
		return graph.Fail(op, tensor.Errorf("", tensor.ErrShape, "there is nothing to join"))
	}
	specs := make([]tensor.Spec, len(xs))
	for i, x := range xs {
		specs[i] = x.Spec()
	}
	err := sameDTypes(specs...)
	if err == nil {
		err = sameShapes(specs...)
	}
	a := 0
	if err == nil {
		a, err = axisOf(axis, xs[0].Rank()+1)
	}
	if err != nil {
		return graph.Fail(op, err, xs...)
	}
	parts := make([]*Node, len(xs))
	for i, x := range xs {
		parts[i] = ExpandDims(x, a)
	}
	return Concat(a, parts...)
}

// Split cuts x along an axis into parts of the given sizes, as views; the sizes add up to the extent. The
// cotangents are put back side by side.
//
// Errors (sticky): tensor.ErrShape where the sizes are negative or do not add up, tensor.ErrAxis,
// tensor.ErrUnsupported for nil.
func Split(x *Node, axis int, sizes ...int) []*Node {
	const op = "ops.Split"
	if bad := graph.Invalid(op, x); bad != nil {
		return repeat(bad, len(sizes))
	}
	a, err := axisOf(axis, x.Rank())
	if err == nil {
		err = checkParts(sizes, x.Shape(), a)
	}
	if err != nil {
		return repeat(x.Graph().Fail(op, err), len(sizes))
	}
	parts, at := make([]*Node, len(sizes)), 0
	for i, n := range sizes {
		parts[i] = SliceAxis(x, a, at, n)
		at += n
	}
	return parts
}

func checkParts(sizes, shape []int, axis int) error {
	rest := shape[axis]
	for _, n := range sizes {
		if n < 0 || n > rest {
			rest = -1
			break
		}
		rest -= n
	}
	if rest != 0 {
		return tensor.Errorf("", tensor.ErrShape,
			"sizes %v do not add up to the extent %d of axis %d", sizes, shape[axis], axis)
	}
	return nil
}
