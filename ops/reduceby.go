package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ReduceBy is out = init∘x₀∘x₁∘…∘xₙ₋₁ over the named axes, which are dropped, in row-major order, where ∘
// is the combiner f: see Combiner. Several operands of one shape are combined as groups, the values and
// indices of a maximum for example, and there is a result for each. inits are as many Go scalars or nodes
// of rank 0; each counts once, as one more element before all others, so a sum starts from 0. With nil
// there is none, and there must be an element. No axes means all, an explicitly empty slice none; negative
// axes count from the end. KeepDims takes it in a closure,
// KeepDims(func(x *Node, axes ...int) *Node { return ReduceBy(f, []*Node{x}, nil, axes...)[0] }, x, 1).
//
// The cotangents are those of the combiner's ops, which the n − 1 combinations were made of.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range or named twice; tensor.ErrShape where the shapes
// of xs differ, where inits are not as many as xs, and where f has another number of arguments or results;
// tensor.ErrRank where an initial value, an argument or a result of f is no scalar; tensor.ErrDType where f
// or an initial value has another dtype than its operand; tensor.ErrUnsupported for nil and where nothing
// is combined without initial values.
func ReduceBy(f *graph.Func, xs []*Node, inits []any, axes ...int) []*Node {
	c, bad := newCombination("ops.ReduceBy", f, xs, inits)
	if bad != nil {
		return repeat(bad, max(len(xs), 1))
	}
	sorted, err := sortedAxes(axes, len(c.shape))
	if err != nil {
		return repeat(c.g.Fail(c.op, err), len(xs))
	}
	kept := without(sorted, len(c.shape))
	out, n := pick(c.shape, kept), tensor.Size(pick(c.shape, sorted))
	if n == 0 {
		return c.initial(out)
	}
	// The reduced axes become axis 1 of three, where they are if they are neighbours: a view of dense operands.
	before, behind := tensor.Size(out), 1
	if k := len(sorted); k > 0 && sorted[k-1]-sorted[0] == k-1 {
		before = tensor.Size(c.shape[:sorted[0]])
		behind = tensor.Size(c.shape[sorted[k-1]+1:])
		kept = slices.Concat(kept[:sorted[0]], sorted, kept[sorted[0]:])
	} else {
		kept = slices.Concat(kept, sorted)
	}
	ys := each(c.xs, func(x *Node) *Node { return Reshape(permute(x, kept), before, n, behind) })
	return each(c.folded(ys, 1, n, true), func(y *Node) *Node { return Reshape(y, out...) })
}

// ReduceWindowBy is out[b…, o…] = init∘x₀∘x₁∘…, over window o of x[b…, …] in row-major order, where w
// slides and ∘ is the combiner f: see Combiner and ReduceBy. What is padded or stands between elements is
// init too, as ReduceWindowInit has it. Windows of several axes are folded along the last one first, so a
// window of a × b elements costs about a + b combinations.
//
// Errors (sticky): those of ReduceBy for f, xs and inits, and of ReduceWindow for w; tensor.ErrUnsupported
// where windows need initial values, for their padding or because they have no elements, and there are
// none.
func ReduceWindowBy(f *graph.Func, xs []*Node, inits []any, w Sliding) []*Node {
	c, bad := newCombination("ops.ReduceWindowBy", f, xs, inits)
	if bad != nil {
		return repeat(bad, max(len(xs), 1))
	}
	axes, err := w.axesOver(c.shape)
	if err != nil {
		return repeat(c.g.Fail(c.op, err), len(xs))
	}
	axes = slices.DeleteFunc(axes, slidingAxis.trivial)
	out := slices.Clone(c.shape)
	empty := false
	for _, a := range axes {
		out[a.axis], empty = a.count, empty || a.size == 0
	}
	if empty || slices.Contains(out, 0) {
		return c.initial(out)
	}
	ys, bad := c.padded(axes)
	if bad != nil {
		return repeat(bad, len(xs))
	}
	if len(axes) == 0 {
		return c.started(ys)
	}
	for i, a := range slices.Backward(axes) {
		ys = c.slide(ys, a, i == 0)
	}
	return ys
}

// padded is the operands with their padding, which is the initial values.
func (c *combination) padded(axes []slidingAxis) (ys []*Node, bad *Node) {
	for _, a := range axes {
		if c.inits == nil && (a.low > 0 || a.high > 0 || a.between > 1) {
			return nil, c.g.Fail(c.op, tensor.Errorf("", tensor.ErrUnsupported,
				"axis %d is padded by %d and %d, %d apart, and there are no initial values",
				a.axis, a.low, a.high, a.between))
		}
	}
	ys = make([]*Node, len(c.xs))
	for i, x := range c.xs {
		var pad *Node
		if c.inits != nil {
			pad = c.inits[i]
		} else { // nothing is padded with it
			pad = c.g.Literal(x.DType(), number(x.DType(), 0))
		}
		ys[i] = padWindows(x, pad, axes)
	}
	return ys, nil
}

// slide folds the windows of one axis. The last one meets the initial values.
func (c *combination) slide(ys []*Node, a slidingAxis, last bool) []*Node {
	if bad := graph.Invalid(c.op, ys...); bad != nil {
		return repeat(bad, len(ys))
	}
	shape := slices.Clone(ys[0].Shape())
	before, behind := tensor.Size(shape[:a.axis]), tensor.Size(shape[a.axis+1:])
	o := UnfoldOp{Axes: []int{1}, Sizes: []int{a.size}, Strides: []int{a.stride}, Dilations: []int{a.dilation}}
	windows := each(ys, func(y *Node) *Node {
		return graph.Apply(o, Reshape(y, before, shape[a.axis], behind))
	})
	shape[a.axis] = a.count
	return each(c.folded(windows, 3, a.size, last), func(y *Node) *Node { return Reshape(y, shape...) })
}
