package backendtest

import (
	"math"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// slidingCases: windows at ties, NaN and padding.
func slidingCases() []Exact {
	pair := ops.Sliding{Sizes: []int{2}}
	pool := func(w ops.Sliding) func(in []*Node) []*Node {
		return func(in []*Node) []*Node {
			v, at := ops.MaxPoolIndex(in[0], w)
			return []*Node{v, at}
		}
	}
	return []Exact{
		{
			Name: "a pool sends its gradient to the first maximum", Why: "it reports an index",
			In: []*tensor.Tensor{f64(1, 3, 3, 2)}, Build: pool(pair),
			Want:      []*tensor.Tensor{f64(3, 3, 3), ints(1, 1, 2)},
			Cotangent: f64(1, 2, 4), Grads: []*tensor.Tensor{f64(0, 3, 4, 0)},
		},
		{
			Name: "a window of Max shares its gradient", Why: "it reports no index",
			In:        []*tensor.Tensor{f64(1, 3, 3, 2)},
			Build:     one(func(x *Node) *Node { return ops.ReduceWindow(ops.ReduceMax, x, pair) }),
			Want:      []*tensor.Tensor{f64(3, 3, 3)},
			Cotangent: f64(1, 2, 4), Grads: []*tensor.Tensor{f64(0, 2, 5, 0)},
		},
		{
			Name: "the first maximum of a plane", Why: "in row-major order of the window, over two axes",
			In:        []*tensor.Tensor{f64s([]int{3, 3}, 0, 1, 7, 7, 2, 7, 7, 7, 0)},
			Build:     pool(ops.Sliding{Sizes: []int{3, 2}, Dilations: []int{1, 2}}),
			Want:      []*tensor.Tensor{f64s([]int{1, 1}, 7), tensor.Must(tensor.FromSlice([]int64{2}, 1, 1))},
			Cotangent: f64s([]int{1, 1}, 5),
			Grads:     []*tensor.Tensor{f64s([]int{3, 3}, 0, 0, 5, 0, 0, 0, 0, 0, 0)},
		},
		{
			Name: "a pool of NaN points to the first", Why: "NaN is beyond both ends",
			In: []*tensor.Tensor{f64(1, nan, 2, nan, inf)}, Build: pool(ops.Sliding{Sizes: []int{3}}),
			Want:      []*tensor.Tensor{f64(nan, nan, nan), ints(1, 1, 3)},
			Cotangent: f64(1, 2, 4), Grads: []*tensor.Tensor{f64(0, 3, 0, 4, 0)},
		},
		{
			Name: "padding is no element of a pool", Why: "even where all of a window is −∞",
			In:        []*tensor.Tensor{f64(-inf, -inf)},
			Build:     pool(ops.Sliding{Sizes: []int{3}, Low: []int{2}, High: []int{1}}),
			Want:      []*tensor.Tensor{f64(-inf, -inf, -inf), ints(0, 0, 0)},
			Cotangent: f64(1, 2, 4), Grads: []*tensor.Tensor{f64(7, 0)},
		},
		{
			Name: "padding is no element of a pool of integers", Why: "even where all of a window is the least",
			In:    []*tensor.Tensor{tensor.Must(tensor.FromSlice([]int8{-128, -128, -128, -128}, 2, 2))},
			Build: pool(ops.Sliding{Sizes: []int{2, 2}, Low: []int{1, 1}}),
			Want: []*tensor.Tensor{tensor.Must(tensor.FromSlice([]int8{-128, -128, -128, -128}, 2, 2)),
				tensor.Must(tensor.FromSlice([]int64{0, 0, 0, 0}, 2, 2))},
		},
		{
			Name: "a pool of zeros of both signs", Why: "they tie; the value is that of the first",
			In:    []*tensor.Tensor{f64(math.Copysign(0, -1), 0, 0)},
			Build: one(func(x *Node) *Node { return ops.Div(1, ops.MaxPool(x, pair)) }),
			Want:  []*tensor.Tensor{f64(-inf, inf)},
		},
		{
			Name: "a pool in which nothing slides", Why: "every element is a window",
			In: []*tensor.Tensor{f64(3, 1)}, Build: pool(ops.Sliding{}), Want: []*tensor.Tensor{f64(3, 1), ints(0, 0)},
			Cotangent: f64(1, 2), Grads: []*tensor.Tensor{f64(1, 2)},
		},
		{
			Name: "a window in the padding has no maximum", Why: "there is no element to point to",
			In: []*tensor.Tensor{f64(1)}, Build: pool(ops.Sliding{Sizes: []int{1}, Low: []int{1}}), Err: tensor.ErrShape,
		},
		{
			Name: "a window in the padding scatters nothing", Why: "it selects no element",
			In:        []*tensor.Tensor{f64(1, 1), f64(5, 6, 7, 8), scalar(0.5)},
			Build:     build(selecting(ops.Sliding{Sizes: []int{1}, Low: []int{1}, High: []int{1}})),
			Want:      []*tensor.Tensor{f64(6.5, 7.5)},
			Cotangent: f64(1, 2), Grads: []*tensor.Tensor{f64(0, 0), f64(0, 1, 2, 0), scalar(3)},
		},
		{
			Name: "windows that select one element add up", Why: "the first of equals takes all",
			In:        []*tensor.Tensor{f64(1, 3, 3, 2), f64(1, 2, 4), scalar(0)},
			Build:     build(selecting(pair)),
			Want:      []*tensor.Tensor{f64(0, 3, 4, 0)},
			Cotangent: f64(1, 10, 100, 1000), Grads: []*tensor.Tensor{f64(0, 0, 0, 0), f64(10, 10, 100), nil},
		},
		{
			Name: "padding is the initial value", Why: "StableHLO: a window starts from it too",
			In: []*tensor.Tensor{f64(1, 2), scalar(10)},
			Build: build(func(in []*Node) *Node {
				return ops.ReduceWindowInit(ops.ReduceSum, in[0], in[1], ops.Sliding{Sizes: []int{3}, Low: []int{1}, Between: []int{2}})
			}),
			Want:      []*tensor.Tensor{f64(31, 23)}, // 10 + (10, 1, 10), 10 + (1, 10, 2)
			Cotangent: f64(1, 2), Grads: []*tensor.Tensor{f64(3, 2), scalar(3 + 4)},
		},
		{
			Name: "a window beyond the end", Why: "Ceil: what it takes there counts for nothing",
			In: []*tensor.Tensor{f64(2, 4, 6, 8)},
			Build: func(in []*Node) []*Node {
				w := ops.Sliding{Sizes: []int{3}, Strides: []int{2}, Low: []int{1}, High: []int{1}}
				up := w
				up.Ceil = true
				longer := ops.Sliding{Sizes: []int{5}, Strides: []int{2}, Ceil: true}
				return []*Node{ops.AvgPool(in[0], w, true), ops.AvgPool(in[0], up, true), ops.AvgPool(in[0], up, false), ops.AvgPool(in[0], longer, true)}
			},
			Want:      []*tensor.Tensor{f64(2, 6), f64(2, 6, 4), f64(3, 6, 8), f64(5)},
			Cotangent: f64(3, 6), Grads: []*tensor.Tensor{f64(1, 3, 2, 2)},
		},
		{
			Name: "windows of nothing", Why: "a window longer than its axis gives none; sums of nothing are the identity",
			In: []*tensor.Tensor{f64(1, 2)},
			Build: func(in []*Node) []*Node {
				long, none := ops.Sliding{Sizes: []int{3}}, ops.Sliding{Sizes: []int{0}}
				return []*Node{ops.MaxPool(in[0], long), ops.ReduceWindow(ops.ReduceMax, in[0], none)}
			},
			Want:      []*tensor.Tensor{f64(), f64(-inf, -inf, -inf)},
			Cotangent: f64(), Grads: []*tensor.Tensor{f64(0, 0)},
		},
		{
			Name: "what windows share is added", Why: "Fold is the adjoint of Unfold",
			In:        []*tensor.Tensor{f64(1, 2, 3, 4)},
			Build:     one(func(x *Node) *Node { return ops.Unfold(x, []int{2}, nil, []int{2}) }),
			Want:      []*tensor.Tensor{f64s([]int{2, 2}, 1, 3, 2, 4)},
			Cotangent: f64s([]int{2, 2}, 1, 2, 3, 4), Grads: []*tensor.Tensor{f64(1, 3, 2, 4)},
		},
		{
			Name: "windows of float16 add up in float32", Why: "a fold rounds once",
			In:    []*tensor.Tensor{tensor.Must(tensor.FromFloat64s(tensor.Float16, []float64{2048, 1, 1, 1, 1, 1}, 2, 3))},
			Build: one(func(u *Node) *Node { return ops.Fold(u, []int{4}, []int{3}, nil, nil) }),
			Want:  []*tensor.Tensor{halves(2048, 2, 2, 1)},
		},
	}
}

func selecting(w ops.Sliding) func(in []*Node) *Node {
	return func(in []*Node) *Node { return ops.SelectAndScatter(ops.ArgMaxFn, in[0], in[1], in[2], w) }
}

// normCases: norms at zero, at ties and at the ends of the range; variances of little.
func normCases() []Exact {
	norm := func(p float64) func(in []*Node) []*Node {
		return one(func(x *Node) *Node { return ops.Norm(x, p) })
	}
	var rows []Exact
	for name, p := range map[string]float64{
		"norm of order 2 at zero": 2, "norm of order 1 at zero": 1, "norm of order 3 at zero": 3,
		"norm of order ½ at zero": 0.5, "norm of order ∞ at zero": inf, "norm of order 0 at zero": 0,
	} {
		rows = append(rows, Exact{
			Name: name, Why: "CASES 19: the gradient is 0", In: []*tensor.Tensor{f64(0, 0)},
			Build: norm(p), Want: []*tensor.Tensor{scalar(0)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 0)},
		})
	}
	return append(rows, []Exact{
		{
			Name: "norm of order 1 with a zero", Why: "the gradient there is 0", In: []*tensor.Tensor{f64(0, -2, 3)},
			Build: norm(1), Want: []*tensor.Tensor{scalar(5)}, Cotangent: scalar(2), Grads: []*tensor.Tensor{f64(0, -2, 2)},
		},
		{
			Name: "norm of order ½ with a zero", Why: "the infinite slope is not met", In: []*tensor.Tensor{f64(0, 4)},
			Build: norm(0.5), Want: []*tensor.Tensor{scalar(4)}, Cotangent: scalar(2), Grads: []*tensor.Tensor{f64(0, 2)},
		},
		{
			Name: "norm of order −1 with a zero", Why: "the limit", In: []*tensor.Tensor{f64(0, 4)},
			Build: norm(-1), Want: []*tensor.Tensor{scalar(0)}, Cotangent: scalar(2), Grads: []*tensor.Tensor{f64(0, 0)},
		},
		{
			Name: "norm of order ∞ shares at ties", Why: "in magnitude", In: []*tensor.Tensor{f64(3, -3, 1)},
			Build: norm(inf), Want: []*tensor.Tensor{scalar(3)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.5, -0.5, 0)},
		},
		{
			Name: "norm of order −∞ shares at ties", Why: "the least in magnitude", In: []*tensor.Tensor{f64(3, -1, 1)},
			Build: norm(-inf), Want: []*tensor.Tensor{scalar(1)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, -0.5, 0.5)},
		},
		{
			Name: "norm of large numbers", Why: "squares would overflow", In: []*tensor.Tensor{f64(3e200, -4e200)},
			Build: norm(2), Want: []*tensor.Tensor{scalar(5e200)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.6, -0.8)},
		},
		{
			Name: "norm of small numbers", Why: "squares would vanish", In: []*tensor.Tensor{f64(3e-200, -4e-200)},
			Build: norm(2), Want: []*tensor.Tensor{scalar(5e-200)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.6, -0.8)},
		},
		{
			Name: "norm of order 3 of large numbers", Why: "cubes would overflow", In: []*tensor.Tensor{f64(0, 2e150)},
			Build: norm(3), Want: []*tensor.Tensor{scalar(2e150)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 1)},
		},
		{
			Name: "norm of half floats", Why: "squares beyond float16", In: []*tensor.Tensor{halves(300, -400)},
			Build: norm(2), Want: []*tensor.Tensor{tensor.Must(tensor.FromFloat64s(tensor.Float16, []float64{500}))},
		},
		{
			Name: "norm of infinities and NaN", Why: "NaN wins",
			In:    []*tensor.Tensor{f64s([]int{3, 2}, inf, 1, nan, 1, inf, nan)},
			Build: one(func(x *Node) *Node { return ops.Norm(x, 2, 1) }), Want: []*tensor.Tensor{f64(inf, nan, nan)},
		},
		{
			Name: "norm of complex numbers is real", Why: "by modulus", In: []*tensor.Tensor{tensor.Of(complex(3, 4), complex(0, -12))},
			Build: func(in []*Node) []*Node { return []*Node{ops.Norm(in[0], 2), ops.Norm(in[0], 1), ops.Norm(in[0], inf)} },
			Want:  []*tensor.Tensor{scalar(13), scalar(17), scalar(12)}, Cotangent: scalar(13),
			Grads: []*tensor.Tensor{tensor.Of(complex(3, 4), complex(0, -12))},
		},
		{
			Name: "norms of nothing", Why: "0, of negative order ∞", In: []*tensor.Tensor{f64s([]int{0, 1})},
			Build: func(in []*Node) []*Node {
				x := in[0]
				return []*Node{ops.Norm(x, 2, 0), ops.Norm(x, inf, 0), ops.Norm(x, 3, 0), ops.Norm(x, -1, 0), ops.Norm(x, -inf, 0)}
			},
			Want: []*tensor.Tensor{f64(0), f64(0), f64(0), f64(inf), f64(inf)},
		},
		{
			Name: "a deviation of nothing", Why: "CASES 19: a constant line has gradient 0", In: []*tensor.Tensor{f64(1, 1, 1)},
			Build: one(func(x *Node) *Node { return ops.Std(x, 0) }), Want: []*tensor.Tensor{scalar(0)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 0, 0)},
		},
		{
			Name: "an unbiased deviation of one element", Why: "is NaN, and keeps its shape",
			In: []*tensor.Tensor{f64s([]int{2, 1}, 3, 4)},
			Build: func(in []*Node) []*Node {
				return []*Node{ops.Std(in[0], 1, 1), ops.Var(in[0], 1, 1), ops.Var(in[0], 0, 1), ops.Var(in[0], 2, 1)}
			},
			Want: []*tensor.Tensor{f64(nan, nan), f64(nan, nan), f64(0, 0), f64(nan, nan)},
		},
		{
			Name: "a variance beside a large mean", Why: "two passes", In: []*tensor.Tensor{f64(1e9, 1e9+1, 1e9+2)},
			Build: one(func(x *Node) *Node { return ops.Var(x, 1) }), Want: []*tensor.Tensor{scalar(1)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(-1, 0, 1)},
		},
		{
			Name: "a variance of complex numbers is real", Why: "by modulus", In: []*tensor.Tensor{tensor.Of(complex(1, 1), complex(-1, 3))},
			Build: one(func(x *Node) *Node { return ops.Var(x, 0) }), Want: []*tensor.Tensor{scalar(2)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{tensor.Of(complex(1, -1), complex(-1, 1))},
		},
		{
			Name: "a deviation of large numbers", Why: "squares would overflow", In: []*tensor.Tensor{f64(1e200, -1e200)},
			Build: one(func(x *Node) *Node { return ops.Std(x, 0) }), Want: []*tensor.Tensor{scalar(1e200)},
			Cotangent: scalar(2), Grads: []*tensor.Tensor{f64(1, -1)},
		},
		{
			Name: "a constant line standardized", Why: "is 0, and so is its gradient", In: []*tensor.Tensor{f64(5, 5)},
			Build: one(func(x *Node) *Node { return ops.Standardize(x, 0.25) }), Want: []*tensor.Tensor{f64(0, 0)},
			Cotangent: f64(1, 1), Grads: []*tensor.Tensor{f64(0, 0)},
		},
		{
			Name: "second derivative of a norm", Why: "∂²‖x‖/∂x₁² is x₂²/‖x‖³", In: []*tensor.Tensor{f64(3, 4)},
			Build: one(func(x *Node) *Node { return ops.SliceAxis(autograd.Grad(ops.Norm(x, 2), x)[0], 0, 0, 1) }),
			Want:  []*tensor.Tensor{f64(0.6)}, Cotangent: f64(1), Grads: []*tensor.Tensor{f64(16.0/125, -12.0/125)},
		},
	}...)
}

// elementCases: writes by ONNX's and PyTorch's names.
func elementCases() []Exact {
	return []Exact{
		{
			Name: "elements written twice", Why: "the last writer wins, and alone gets the gradient",
			In: []*tensor.Tensor{f64(1, 2, 3), ints(0, -3), f64(10, 20)},
			Build: build(func(in []*Node) *Node {
				return ops.ScatterElements(in[0], in[1], in[2], 0, ops.CombineSet)
			}),
			Want:      []*tensor.Tensor{f64(20, 2, 3)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(0, 1, 1), nil, f64(0, 1)},
		},
		{
			Name: "elements beside the indices", Why: "fewer indices than rows: the rest stays",
			In: []*tensor.Tensor{f64s([]int{2, 2}, 1, 2, 3, 4), tensor.Must(tensor.FromSlice([]int64{1}, 1, 1)), f64s([]int{1, 1}, 9)},
			Build: build(func(in []*Node) *Node {
				return ops.Concat(0, ops.GatherElements(in[0], in[1], 1), ops.SliceAxis(ops.ScatterElements(in[0], in[1], in[2], 1, ops.CombineAdd), 1, 1, 1))
			}),
			Want: []*tensor.Tensor{f64s([]int{3, 1}, 2, 11, 4)},
		},
		{
			Name: "a tuple out of bounds", Why: "−3 of extent 2", In: []*tensor.Tensor{f64(1, 2), tensor.Must(tensor.FromSlice([]int64{-3}, 1, 1))},
			Build: build(func(in []*Node) *Node { return ops.GatherND(in[0], in[1], 0) }), Err: tensor.ErrBounds,
		},
		{
			Name: "a mask filled from a source", Why: "in row-major order; the rest of the source is not used",
			In: []*tensor.Tensor{f64s([]int{2, 2}, 1, 2, 3, 4), f64(7, 8, 9)},
			Build: build(func(in []*Node) *Node {
				return ops.MaskedScatter(in[0], in[0].Graph().Const(tensor.Of(false, true)), in[1])
			}),
			Want:      []*tensor.Tensor{f64s([]int{2, 2}, 1, 7, 3, 8)},
			Cotangent: f64s([]int{2, 2}, 1, 2, 3, 4), Grads: []*tensor.Tensor{f64s([]int{2, 2}, 1, 0, 3, 0), f64(2, 4, 0)},
		},
		{
			Name: "a triangle without NaN", Why: "what is cut off is 0, whatever it was",
			In:    []*tensor.Tensor{f64s([]int{2, 2}, 1, nan, inf, 2)},
			Build: func(in []*Node) []*Node { return []*Node{ops.Tril(in[0], 0), ops.Triu(in[0], 1)} },
			Want:  []*tensor.Tensor{f64s([]int{2, 2}, 1, 0, inf, 2), f64s([]int{2, 2}, 0, nan, 0, 0)},
		},
	}
}
