package ops

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Reductions, scans and windows by a function of the user's, a combiner: a graph.Func of scalars that joins
// two groups of k values to one, (a₀ … aₖ₋₁, b₀ … bₖ₋₁) → k values of the same dtypes. It must be
// associative, a∘(b∘c) = (a∘b)∘c, since what stands side by side is combined in any grouping; where
// rounding makes that hold only nearly, the grouping depends on extents alone, so the bits are the same for
// any layout and number of threads. It need not be commutative: a is always what comes before b.
//
// They are made of the combiner's own ops, applied to whole tensors, and so are their derivatives.

// Combiner traces the combiner of k operands of the given dtypes: build gets a and b, k scalars each, and
// returns k scalars. It is graph.NewFunc with that signature.
//
// Errors: those of graph.NewFunc and of what build builds; tensor.ErrShape, tensor.ErrRank and
// tensor.ErrDType for other results, tensor.ErrUnsupported where build is nil.
func Combiner(name string, dtypes []tensor.DType, build func(a, b []*Node) []*Node) (*graph.Func, error) {
	if build == nil {
		return nil, tensor.Errorf("", tensor.ErrUnsupported,
			"the combiner %s has no function that builds it", name)
	}
	var specs []tensor.Spec
	for _, dt := range slices.Concat(dtypes, dtypes) {
		specs = append(specs, tensor.Spec{DType: dt})
	}
	f, err := graph.NewFunc(name, specs, func(_ *graph.Graph, in []*Node) []*Node {
		return build(in[:len(dtypes):len(dtypes)], in[len(dtypes):])
	})
	if err == nil {
		err = checkCombiner(f, dtypes)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkCombiner wants the signature of a combiner of values of the given dtypes.
func checkCombiner(f *graph.Func, dtypes []tensor.DType) error {
	in, out, k := f.In(), f.Out(), len(dtypes)
	if len(in) != 2*k || len(out) != k {
		return tensor.Errorf("", tensor.ErrShape,
			"combiner %s takes %d arguments and gives %d results, want %d and %d",
			f.Name(), len(in), len(out), 2*k, k)
	}
	check := func(what string, i int, s tensor.Spec) error {
		if s.Rank() != 0 {
			return tensor.Errorf("", tensor.ErrRank,
				"%s %d of function %s has shape %v, want rank 0", what, i, f.Name(), s.Shape)
		}
		if s.DType != dtypes[i%k] {
			return tensor.Errorf("", tensor.ErrDType, "%s %d of function %s is %s, operand %d is %s",
				what, i, f.Name(), s.DType, i%k, dtypes[i%k])
		}
		return nil
	}
	for i, s := range in {
		if err := check("argument", i, s); err != nil {
			return err
		}
	}
	for i, s := range out {
		if err := check("result", i, s); err != nil {
			return err
		}
	}
	return nil
}

// combination is a checked call of a builder with a combiner.
type combination struct {
	op    string
	f     *graph.Func
	g     *graph.Graph
	shape []int // of each operand
	xs    []*Node
	inits []*Node // of rank 0; nil where there are none
}

// newCombination checks the operands of a builder with a combiner: xs of one shape, and as many inits,
// nodes of rank 0 or Go scalars, or none. It returns the invalid node to give back where they are wrong.
func newCombination(op string, f *graph.Func, xs []*Node, inits []any) (c *combination, bad *Node) {
	vals := make([]any, 0, len(xs)+len(inits))
	for _, x := range xs {
		vals = append(vals, x)
	}
	if bad := invalid(op, 0, append(vals, inits...)...); bad != nil {
		return nil, bad
	}
	c = &combination{op: op, f: f, xs: slices.Clone(xs)}
	if len(xs) > 0 {
		c.g, c.shape = xs[0].Graph(), xs[0].Shape()
	}
	err := c.check(inits)
	if err != nil {
		return nil, c.g.Fail(op, err)
	}
	for i, v := range inits {
		n, isNode := v.(*Node)
		if !isNode {
			n = c.g.LiteralFor(op, xs[i].DType(), v)
		}
		if !n.Valid() {
			return nil, n
		}
		c.inits = append(c.inits, n)
	}
	return c, nil
}

func (c *combination) check(inits []any) error {
	if c.f == nil {
		return tensor.Errorf("", tensor.ErrUnsupported, "the function is nil")
	}
	if len(c.xs) == 0 {
		return tensor.Errorf("", tensor.ErrShape, "there is nothing to combine")
	}
	if inits != nil && len(inits) != len(c.xs) {
		return tensor.Errorf("", tensor.ErrShape, "%d initial values for %d operands", len(inits), len(c.xs))
	}
	specs, dtypes := make([]tensor.Spec, len(c.xs)), make([]tensor.DType, len(c.xs))
	for i, x := range c.xs {
		if x.Graph() != c.g {
			return fmt.Errorf("operand %d belongs to another graph", i)
		}
		specs[i], dtypes[i] = x.Spec(), x.DType()
	}
	if err := sameShapes(specs...); err != nil {
		return err
	}
	for i, v := range inits {
		n, isNode := v.(*Node)
		switch at := len(c.xs) + i; {
		case !isNode:
		case n.Graph() != c.g:
			return fmt.Errorf("operand %d belongs to another graph", at)
		case n.Rank() != 0:
			return tensor.Errorf("", tensor.ErrRank,
				"operand %d, an initial value, has shape %v, want rank 0", at, n.Shape())
		case n.DType() != dtypes[i]:
			return tensor.Errorf("", tensor.ErrDType,
				"operand %d, an initial value, is %s, operand %d is %s", at, n.DType(), i, dtypes[i])
		}
	}
	return checkCombiner(c.f, dtypes)
}

// join is the combiner at every index: a∘b of nodes of one shape.
func (c *combination) join(a, b []*Node) []*Node {
	args := slices.Concat(a, b)
	if bad := graph.Invalid(c.op, args...); bad != nil {
		return repeat(bad, len(a))
	}
	return mapOver(c.op, c.f, a[0].Shape(), args)
}

// fold is x₀∘x₁∘…∘xₙ₋₁ along an axis of n ≥ 1 elements, which keeps an extent of 1: neighbours are joined,
// then pairs of neighbours, so it takes log₂ n steps of whole tensors, all of them on views. What an odd
// step leaves over comes behind everything that is still to be joined.
func (c *combination) fold(ys []*Node, axis, n int) []*Node {
	var behind []*Node
	for n > 1 {
		if n%2 == 1 {
			last := every(ys, axis, n-1, 1, 1)
			if behind != nil {
				last = c.join(last, behind)
			}
			behind = last
		}
		n /= 2
		ys = c.join(every(ys, axis, 0, 2, n), every(ys, axis, 1, 2, n))
	}
	if behind != nil {
		ys = c.join(ys, behind)
	}
	return ys
}

// folded is fold, then init∘ that where init is set, which may also be one op for a backend that has it.
func (c *combination) folded(ys []*Node, axis, n int, init bool) []*Node {
	made, from := c.fold(ys, axis, n), ys
	if init {
		made, from = c.started(made), slices.Concat(ys, c.inits)
	}
	if n <= 2 { // elementwise
		return made
	}
	return compose(FoldByOp{c.f, axis}, from, made)
}

// started is init∘ys, or ys where there are no initial values.
func (c *combination) started(ys []*Node) []*Node {
	if c.inits == nil {
		return ys
	}
	if bad := graph.Invalid(c.op, ys...); bad != nil {
		return repeat(bad, len(ys))
	}
	return c.join(c.initial(ys[0].Shape()), ys)
}

// initial is the initial values, repeated to a shape: what is made of nothing.
func (c *combination) initial(shape []int) []*Node {
	if c.inits == nil && slices.Contains(shape, 0) { // there is none of it
		r := make([]*Node, len(c.xs))
		for i, x := range c.xs {
			r[i] = Zeros(c.g, x.DType(), shape...)
		}
		return r
	}
	if c.inits == nil {
		return repeat(c.g.Fail(c.op, tensor.Errorf("", tensor.ErrUnsupported,
			"operand shape %v has no elements to combine, and there are no initial values", c.shape)), len(c.xs))
	}
	return each(c.inits, func(x *Node) *Node { return BroadcastTo(x, shape...) })
}

// each is f of each node.
func each(xs []*Node, f func(x *Node) *Node) []*Node {
	r := make([]*Node, len(xs))
	for i, x := range xs {
		r[i] = f(x)
	}
	return r
}

// every is n elements along an axis, from start on and step apart, of each node.
func every(xs []*Node, axis, start, step, n int) []*Node {
	return each(xs, func(x *Node) *Node {
		if !x.Valid() {
			return x
		}
		o := whole(x.Shape())
		o.Start[axis], o.Step[axis], o.Size[axis] = start, step, n
		return graph.Apply(o, x)
	})
}
