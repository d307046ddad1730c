package backendtest

import (
	"math"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// cumulativeCases: where scans start, ties, zeros, NaN and infinities.
func cumulativeCases() []Exact {
	type scan = func(x *Node, axis int, options ...ops.ScanOption) *Node
	along := func(f scan, options ...ops.ScanOption) func(in []*Node) []*Node {
		return one(func(x *Node) *Node { return f(x, 0, options...) })
	}
	negZero := math.Copysign(0, -1)
	return []Exact{
		{
			Name: "gradient of cumprod from a zero on", Why: "CASES 18", In: []*tensor.Tensor{f64(0, 2, 3)},
			Build: along(ops.CumProd), Want: []*tensor.Tensor{f64(0, 0, 0)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(9, 0, 0)},
		},
		{
			Name: "gradient of cumprod with one zero", Why: "CASES 18", In: []*tensor.Tensor{f64(2, 0, 3, 4)},
			Build: along(ops.CumProd), Want: []*tensor.Tensor{f64(2, 0, 0, 0)},
			Cotangent: f64(1, 1, 1, 1), Grads: []*tensor.Tensor{f64(1, 32, 0, 0)},
		},
		{
			Name: "gradient of cumprod with two zeros", Why: "CASES 18", In: []*tensor.Tensor{f64(2, 0, 0, 3)},
			Build: along(ops.CumProd), Want: []*tensor.Tensor{f64(2, 0, 0, 0)},
			Cotangent: f64(1, 1, 1, 1), Grads: []*tensor.Tensor{f64(1, 2, 0, 0)},
		},
		{
			Name: "second derivative of cumprod with two zeros", Why: "CASES 33", In: []*tensor.Tensor{f64(0, 0, 3)},
			Build: one(func(x *Node) *Node {
				return ops.SliceAxis(autograd.Grad(ops.Sum(ops.CumProd(x, 0)), x)[0], 0, 0, 1)
			}),
			Want: []*tensor.Tensor{f64(1)}, Cotangent: f64(1), Grads: []*tensor.Tensor{f64(0, 4, 0)},
		},
		{
			Name: "scans of everything before", Why: "exclusive starts from the identity",
			In: []*tensor.Tensor{f64(2, 5, 3)},
			Build: one(func(x *Node) *Node {
				return ops.Stack(0, ops.CumSum(x, 0, ops.Exclusive), ops.CumProd(x, 0, ops.Exclusive), ops.CumMax(x, 0, ops.Exclusive),
					ops.CumMin(x, 0, ops.Exclusive), ops.AffineScan(2, x, 0, ops.Exclusive))
			}),
			Want: []*tensor.Tensor{f64s([]int{5, 3}, 0, 2, 7, 1, 2, 10, -inf, 2, 5, inf, 2, 2, 0, 2, 9)},
		},
		{
			Name: "scans of everything behind", Why: "reversed, from the last to the first",
			In: []*tensor.Tensor{f64(2, 5, 3)},
			Build: one(func(x *Node) *Node {
				return ops.Stack(0, ops.CumSum(x, 0, ops.Reversed), ops.CumProd(x, 0, ops.Reversed, ops.Exclusive),
					ops.CumMax(x, 0, ops.Reversed), ops.CumMin(x, 0, ops.Reversed, ops.Exclusive), ops.AffineScan(2, x, 0, ops.Reversed))
			}),
			Want: []*tensor.Tensor{f64s([]int{5, 3}, 10, 8, 3, 15, 3, 1, 5, 5, 3, 3, 3, inf, 24, 11, 3)},
		},
		{
			Name: "extremes of integers before anything", Why: "exclusive starts from the least and the greatest",
			In: []*tensor.Tensor{tensor.Of[int8](3, 4), tensor.Of(true, false)},
			Build: func(in []*Node) []*Node {
				return []*Node{
					ops.CumMax(in[0], 0, ops.Exclusive), ops.CumMin(in[0], 0, ops.Exclusive),
					ops.CumMax(in[1], 0, ops.Exclusive), ops.CumMin(in[1], 0, ops.Exclusive),
				}
			},
			Want: []*tensor.Tensor{tensor.Of[int8](-128, 3), tensor.Of[int8](127, 3), tensor.Of(false, true), tensor.Of(true, true)},
		},
		{
			Name: "cummax names the first met", Why: "−0 and +0 tie, and the value is +0; the first NaN, then nothing else",
			In: []*tensor.Tensor{f64(negZero, 0, negZero, 2, 2, nan, 9, nan)},
			Build: func(in []*Node) []*Node {
				y, at := ops.CumMaxWithIndex(in[0], 0)
				_, back := ops.CumMaxWithIndex(in[0], 0, ops.Reversed)
				signs := ops.Div(1, ops.SliceAxis(y, 0, 0, 3))
				return []*Node{y, at, signs, back}
			},
			Want:      []*tensor.Tensor{f64(0, 0, 0, 2, 2, nan, nan, nan), ints(0, 0, 0, 3, 3, 5, 5, 5), f64(-inf, inf, inf), ints(7, 7, 7, 7, 7, 7, 7, 7)},
			Cotangent: f64(1, 2, 3, 4, 5, 6, 7, 8), Grads: []*tensor.Tensor{f64(6, 0, 0, 9, 0, 21, 0, 0)},
		},
		{
			Name: "cummin from the end", Why: "ties to the first met in the direction of the scan",
			In: []*tensor.Tensor{f64(2, 1, 1, 3)},
			Build: func(in []*Node) []*Node {
				y, at := ops.CumMinWithIndex(in[0], 0, ops.Reversed)
				return []*Node{y, at}
			},
			Want:      []*tensor.Tensor{f64(1, 1, 1, 3), ints(2, 2, 2, 3)},
			Cotangent: f64(1, 2, 3, 4), Grads: []*tensor.Tensor{f64(0, 0, 6, 4)},
		},
		{
			Name: "an index of nothing met", Why: "−1, which gets no gradient; −∞ is an element like others",
			In: []*tensor.Tensor{f64(-inf, -inf, 1)},
			Build: func(in []*Node) []*Node {
				y, at := ops.CumMaxWithIndex(in[0], 0, ops.Exclusive)
				return []*Node{y, at}
			},
			Want:      []*tensor.Tensor{f64(-inf, -inf, -inf), ints(-1, 0, 0)},
			Cotangent: f64(1, 2, 4), Grads: []*tensor.Tensor{f64(6, 0, 0)},
		},
		{
			Name: "cumsum of infinities", Why: "they stay, and meet as they do in a sum",
			In:        []*tensor.Tensor{f64(1, inf, 2, -inf, 3)},
			Build:     along(ops.CumSum),
			Want:      []*tensor.Tensor{f64(1, inf, inf, nan, nan)},
			Cotangent: f64(1, 2, 3, 4, 5), Grads: []*tensor.Tensor{f64(15, 14, 12, 9, 5)},
		},
		{
			Name: "logcumsumexp of infinities", Why: "+∞ share equally what follows them",
			In:    []*tensor.Tensor{f64(0, inf, 1, inf)},
			Build: along(ops.LogCumSumExp), Want: []*tensor.Tensor{f64(0, inf, inf, inf)},
			Cotangent: f64(1, 1, 1, 1), Grads: []*tensor.Tensor{f64(1, 2.5, 0, 0.5)},
		},
		{
			Name: "logcumsumexp of nothing likely", Why: "−∞ gives −∞ and gradient 0",
			In:    []*tensor.Tensor{f64(-inf, -inf, 0, 0)},
			Build: along(ops.LogCumSumExp), Want: []*tensor.Tensor{f64(-inf, -inf, 0, math.Ln2)},
			Cotangent: f64(1, 1, 1, 1), Grads: []*tensor.Tensor{f64(0, 0, 1.5, 0.5)},
		},
		{
			Name: "logcumsumexp far from 0", Why: "shifted, also where it rises by more than exp can",
			In:    []*tensor.Tensor{f64(-2000, -2000, 1000, 1000, -3000)},
			Build: along(ops.LogCumSumExp),
			Want:  []*tensor.Tensor{f64(-2000, -2000+math.Ln2, 1000, 1000+math.Ln2, 1000+math.Ln2)},
		},
		{
			Name: "half floats are accumulated in float32", Why: "each result is rounded once",
			In:    []*tensor.Tensor{halves(2048, 1, 1, 1, 1)},
			Build: along(ops.CumSum), Want: []*tensor.Tensor{halves(2048, 2048, 2050, 2052, 2052)},
		},
		{
			Name: "the first coefficient is not looked at", Why: "y₀ = b₀, whatever a₀ is",
			In:        []*tensor.Tensor{f64(inf, 2, 3), f64(1, 1, 1)},
			Build:     build(func(in []*Node) *Node { return ops.AffineScan(in[0], in[1], 0) }),
			Want:      []*tensor.Tensor{f64(1, 3, 10)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(0, 4, 3), f64(9, 4, 1)},
		},
		{
			Name: "scans of nothing", Why: "an axis of extent 0 has no first element",
			In: []*tensor.Tensor{tensor.Must(tensor.New(tensor.Float64, 2, 0))},
			Build: func(in []*Node) []*Node {
				y, at := ops.CumMaxWithIndex(in[0], 1, ops.Exclusive)
				return []*Node{ops.CumProd(in[0], 1), y, at}
			},
			Want:      []*tensor.Tensor{tensor.Must(tensor.New(tensor.Float64, 2, 0)), tensor.Must(tensor.New(tensor.Float64, 2, 0)), tensor.Must(tensor.New(tensor.Int64, 2, 0))},
			Cotangent: tensor.Must(tensor.New(tensor.Float64, 2, 0)), Grads: []*tensor.Tensor{tensor.Must(tensor.New(tensor.Float64, 2, 0))},
		},
	}
}
