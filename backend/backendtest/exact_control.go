package backendtest

import (
	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// controlCases: loops with the very values.
func controlCases() []Exact {
	gcd := func(in []*Node) []*Node {
		return control.While(func(s []*Node) *Node { return ops.NotEqual(s[1], 0) },
			func(s []*Node) []*Node { return []*Node{s[1], ops.Mod(s[0], s[1])} }, in...)
	}
	double := func(in []*Node) []*Node {
		return control.WhileN(4, func(s []*Node) *Node { return ops.Less(s[0], 10) },
			func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], in[1])} }, in[0])
	}
	batch := func(f autograd.Func, axes ...int) func(in []*Node) []*Node {
		return func(in []*Node) []*Node { return autograd.Vmap(f, in, axes) }
	}
	return []Exact{
		{Name: "examples that end apart", Why: "each keeps its state once it is done", Build: batch(gcd, 0, 0),
			In: []*tensor.Tensor{ints(48, 17, 0, 270), ints(36, 5, 9, 192)}, Want: []*tensor.Tensor{ints(12, 1, 9, 6), ints(0, 0, 0, 0)}},
		{Name: "gradients of examples that end apart", Why: "x·wᵏ after 4, 2 and 0 trips; the first is stopped", Build: batch(double, 0, -1),
			In: []*tensor.Tensor{f64(0.5, 3, 11), scalar(2)}, Want: []*tensor.Tensor{f64(8, 12, 11)},
			Cotangent: f64(1, 10, 100), Grads: []*tensor.Tensor{f64(16, 40, 100), scalar(16 + 10*12)}},
		{Name: "a weight that is captured", Why: "h ← w·h + x from 1: w³ + w² + 2w + 3 at ½", Build: func(in []*Node) []*Node {
			final, ys := control.Scan(func(c, x []*Node) (next, y []*Node) {
				h := ops.Add(ops.Mul(in[1], c[0]), x[0])
				return []*Node{h}, []*Node{h}
			}, []*Node{in[2]}, in[:1])
			return append(final, ys...)
		}, In: []*tensor.Tensor{f64(1, 2, 3), scalar(0.5), scalar(1)}, Want: []*tensor.Tensor{scalar(4.375), f64(1.5, 2.75, 4.375)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.25, 0.5, 1), scalar(3.75), scalar(0.125)}},
		{Name: "the function not chosen", Why: "its infinite derivative and its bad index do not count", Build: func(in []*Node) []*Node {
			return control.Cond(ops.Greater(in[0], 0), func(x []*Node) []*Node {
				return []*Node{ops.Add(ops.Sqrt(x[0]), ops.Index(in[1], index.Of(in[2])))}
			}, func(x []*Node) []*Node { return []*Node{ops.Mul(x[0], 2)} }, in[0])
		}, In: []*tensor.Tensor{scalar(0), f64(1, 2), tensor.Scalar(int64(7))}, Want: []*tensor.Tensor{scalar(0)},
			Cotangent: scalar(3), Grads: []*tensor.Tensor{scalar(6), f64(0, 0), nil}},
		{Name: "a bad index in a later step", Why: "it is an error of the run", Build: func(in []*Node) []*Node {
			_, ys := control.Scan(func(_, x []*Node) (next, y []*Node) {
				return nil, []*Node{ops.Index(in[0], index.Of(x[0]))}
			}, nil, in[1:])
			return ys
		}, In: []*tensor.Tensor{f64(1, 2), ints(0, 1, 2)}, Err: tensor.ErrBounds},
	}
}
