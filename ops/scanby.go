package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ScanBy is yᵢ = init∘x₀∘x₁∘…∘xᵢ along an axis, where ∘ is the combiner f: see Combiner. With Exclusive it
// is yᵢ = init∘x₀∘…∘xᵢ₋₁, and y₀ = init; with Reversed it goes from the last element to the first, yᵢ =
// init∘xₙ₋₁∘…∘xᵢ, so what was met before still stands on the left. Several operands of one shape are
// combined as groups, and there is a result for each. inits are as many Go scalars or nodes of rank 0; with
// nil there is none. It takes about 2n combinations in 2·log₂ n steps of whole tensors. A negative axis
// counts from the end.
//
// Errors (sticky): tensor.ErrAxis; those of ReduceBy for f, xs and inits; tensor.ErrUnsupported for an
// option that is none, and for Exclusive without initial values.
func ScanBy(f *graph.Func, xs []*Node, inits []any, axis int, options ...ScanOption) []*Node {
	c, bad := newCombination("ops.ScanBy", f, xs, inits)
	if bad != nil {
		return repeat(bad, max(len(xs), 1))
	}
	a, err := axisOf(axis, len(c.shape))
	var o ScanOp
	if err == nil {
		o, err = ScanOp{}.with(options)
	}
	if err == nil && o.Exclusive && c.inits == nil {
		err = tensor.Errorf("", tensor.ErrUnsupported,
			"what is exclusive starts from initial values, and there are none")
	}
	if err != nil {
		return repeat(c.g.Fail(c.op, err), len(xs))
	}
	n := c.shape[a]
	if slices.Contains(c.shape, 0) {
		return c.xs
	}
	lines := []int{tensor.Size(c.shape[:a]), n, tensor.Size(c.shape[a+1:])}
	turn := func(x *Node) *Node {
		if o.Reverse {
			return Reverse(x, 1)
		}
		return x
	}
	ys := each(c.xs, func(x *Node) *Node { return turn(Reshape(x, lines...)) })
	from := slices.Concat(ys, c.inits)
	if o.Exclusive {
		ys = c.after(c.scan(every(ys, 1, 0, 1, n-1), n-1), lines)
	} else {
		ys = c.started(c.scan(ys, n))
	}
	if n > 1 {
		ys = compose(ScanByOp{c.f, 1, o.Exclusive}, from, ys)
	}
	return each(ys, func(y *Node) *Node { return Reshape(turn(y), c.shape...) })
}

// scan is yᵢ = x₀∘…∘xᵢ along axis 1 of n elements. The pairs of neighbours are scanned first, which gives
// every other result; each in between is the one before it with one element more.
func (c *combination) scan(xs []*Node, n int) []*Node {
	if n < 2 {
		return xs
	}
	pairs := c.join(every(xs, 1, 0, 2, n/2), every(xs, 1, 1, 2, n/2))
	odd := c.scan(pairs, n/2)
	ys := putEvery(xs, odd, 1, n/2) // y₀ is x₀
	if m := (n - 1) / 2; m > 0 {
		ys = putEvery(ys, c.join(every(odd, 1, 0, 1, m), every(xs, 1, 2, 2, m)), 2, m)
	}
	return ys
}

// after is init, then init∘y for each element of axis 1 of what was scanned, in a shape.
func (c *combination) after(ys []*Node, shape []int) []*Node {
	first, rest := c.initial([]int{shape[0], 1, shape[2]}), ys
	if shape[1] > 1 {
		rest = c.started(ys)
	}
	r := make([]*Node, len(ys))
	for i := range r {
		r[i] = Concat(1, first[i], rest[i])
	}
	return r
}

// putEvery replaces every other one of the elements along axis 1 of each node, n of them from start on.
func putEvery(xs, us []*Node, start, n int) []*Node {
	r := make([]*Node, len(xs))
	for i, x := range xs {
		if bad := graph.Invalid("ops.PutSlice", x, us[i]); bad != nil {
			return repeat(bad, len(xs))
		}
		o := whole(x.Shape())
		o.Start[1], o.Step[1], o.Size[1] = start, 2, n
		r[i] = graph.Apply(PutSliceOp(o), x, us[i])
	}
	return r
}
