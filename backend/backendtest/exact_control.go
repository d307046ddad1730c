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
	return append([]Exact{
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
	}, scatterByCases()...)
}

// scatterByCases: scatters by a function of the user's.
func scatterByCases() []Exact {
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}}
	by := func(f func(h, u *Node) *Node, m ops.Mode) func(in []*Node) []*Node {
		return func(in []*Node) []*Node {
			return scatteredBy(func(h, u []*Node) []*Node { return []*Node{f(h[0], u[0])} }, in, w, m)
		}
	}
	digit := func(h, u *Node) *Node { return ops.Add(ops.Mul(h, 10), u) }
	return []Exact{
		{Name: "a scatter that writes digits", Why: "in the order of the updates, after what x holds", Build: by(digit, ops.Mode{}),
			In: []*tensor.Tensor{f64(1, 2, 3), f64(4, 5, 6, 7), ints(2, 0, 2, 2)}, Want: []*tensor.Tensor{f64(15, 2, 3467)},
			Cotangent: f64(1, 2, 3), Grads: []*tensor.Tensor{f64(10, 2, 3000), f64(300, 1, 30, 3), nil}},
		{Name: "a scatter by a function leaves out what is skipped", Why: "it is not met by what comes after", Build: by(digit, ops.Mode{OOB: ops.OOBSkip}),
			In: []*tensor.Tensor{f64(1, 2), f64(4, 5, 6, 7), ints(9, 0, -1, 0)}, Want: []*tensor.Tensor{f64(157, 2)},
			Cotangent: f64(1, 1), Grads: []*tensor.Tensor{f64(100, 1), f64(0, 10, 0, 1), nil}},
		{Name: "a scatter by a function that does not look", Why: "the last writer wins, and has all of the gradient",
			Build: by(func(_, u *Node) *Node { return u }, ops.Mode{Wrap: true}),
			In:    []*tensor.Tensor{f64(1, nan, 3), f64(4, nan, 6), ints(1, 1, -2)}, Want: []*tensor.Tensor{f64(1, 6, 3)},
			Cotangent: f64(1, 2, 3), Grads: []*tensor.Tensor{f64(1, 0, 3), f64(0, 0, 2), nil}},
		{Name: "a scatter of products by a function", Why: "zeros: the products of the others, as of ops.Scatter",
			Build: by(func(h, u *Node) *Node { return ops.Mul(h, u) }, ops.Mode{}),
			In:    []*tensor.Tensor{f64(2, 3, 4), f64(0, 5, 7), ints(0, 0, 1)}, Want: []*tensor.Tensor{f64(0, 21, 4)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(0, 7, 1), f64(10, 0, 3), nil}},
		{Name: "ties of a scatter by a function", Why: "what ties shares at each update, so that later ones count for more",
			Build: by(func(h, u *Node) *Node { return ops.Maximum(h, u) }, ops.Mode{}),
			In:    []*tensor.Tensor{f64(1, 5), f64(1, 1, 2), ints(0, 0, 1)}, Want: []*tensor.Tensor{f64(1, 5)},
			Cotangent: f64(1, 1), Grads: []*tensor.Tensor{f64(0.25, 1), f64(0.25, 0.5, 0), nil}},
		{Name: "a scatter by a function to nowhere", Why: "no updates", Build: by(digit, ops.Mode{}),
			In: []*tensor.Tensor{f64(1, 2), f64(), ints()}, Want: []*tensor.Tensor{f64(1, 2)},
			Cotangent: f64(1, 2), Grads: []*tensor.Tensor{f64(1, 2), f64(), nil}},
		{Name: "a bad index of a scatter by a function", Why: "it is an error of the run", Build: by(digit, ops.Mode{}),
			In: []*tensor.Tensor{f64(1, 2), f64(4, 5), ints(0, 2)}, Err: tensor.ErrBounds},
	}
}
