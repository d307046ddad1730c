package backendtest

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Exacts is every case.
func Exacts() []Exact {
	return slices.Concat(orderCases(), guardCases(), castCases(), scatterCases(), boundCases(), readingCases(),
		writingCases(), emptyCases(), randomCases(), slopeCases(), slidingCases(), convCases(),
		normCases(), elementCases(), cumulativeCases(), combinerCases(), sortCases(), segmentCases(), controlCases())
}

// orderCases: ties and NaN in reductions and extremes.
func orderCases() []Exact {
	return []Exact{
		{
			Name: "max shares at ties", Why: "CASES 5", In: []*tensor.Tensor{f64(3, 1, 3)},
			Build: one(func(x *Node) *Node { return ops.Max(x) }), Want: []*tensor.Tensor{scalar(3)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.5, 0, 0.5)},
		},
		{
			Name: "max of NaN sends gradient to the NaNs", Why: "CASES 37",
			In:    []*tensor.Tensor{f64(nan, 1, nan)},
			Build: one(func(x *Node) *Node { return ops.Max(x) }), Want: []*tensor.Tensor{scalar(nan)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.5, 0, 0.5)},
		},
		{
			Name: "min of NaN", Why: "NaN is beyond both ends", In: []*tensor.Tensor{f64(2, nan, -inf)},
			Build: one(func(x *Node) *Node { return ops.Min(x) }), Want: []*tensor.Tensor{scalar(nan)},
			Cotangent: scalar(2), Grads: []*tensor.Tensor{f64(0, 2, 0)},
		},
		{
			Name: "max orders zeros and shares between them", Why: "CASES 35",
			In:    []*tensor.Tensor{f64(math.Copysign(0, -1), 0)},
			Build: one(func(x *Node) *Node { return ops.Div(1, ops.Max(x)) }),
			Want:  []*tensor.Tensor{scalar(inf)},
		},
		{
			Name: "gradient of max at zeros of both signs", Why: "−0 and +0 are equal",
			In:    []*tensor.Tensor{f64(0, math.Copysign(0, -1))},
			Build: one(func(x *Node) *Node { return ops.Max(x) }), Want: []*tensor.Tensor{scalar(0)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.5, 0.5)},
		},
		{
			Name: "an initial value shares too", Why: "it is one more element",
			In:    []*tensor.Tensor{f64(3, 1, 3), scalar(3)},
			Build: build(func(in []*Node) *Node { return ops.ReduceInit(ops.ReduceMax, in[0], in[1], 0) }),
			Want:  []*tensor.Tensor{scalar(3)}, Cotangent: scalar(3),
			Grads: []*tensor.Tensor{f64(1, 0, 1), scalar(1)},
		},
		{
			Name: "maximum halves at ties", Why: "equal or both NaN",
			In:    []*tensor.Tensor{f64(1, nan, nan, 2), f64(1, nan, 1, 1)},
			Build: two(ops.Maximum), Want: []*tensor.Tensor{f64(1, nan, nan, 2)},
			Cotangent: f64(1, 1, 1, 1), Grads: []*tensor.Tensor{f64(0.5, 0.5, 1, 1), f64(0.5, 0.5, 0, 0)},
		},
		{
			Name: "argmax finds the first NaN", Why: "CASES 1",
			In:    []*tensor.Tensor{f64s([]int{3, 4}, 3, nan, 1, 5, nan, nan, nan, nan, 2, 2, 1, 2)},
			Build: one(func(x *Node) *Node { return ops.ArgMax(x, 1) }),
			Want:  []*tensor.Tensor{ints(1, 0, 0)},
		},
		{
			Name: "argmin finds the first NaN, then the lowest tie", Why: "CASES 1",
			In:    []*tensor.Tensor{f64s([]int{3, 4}, 3, nan, 1, 5, inf, 1, nan, -inf, 2, 1, 1, 2)},
			Build: one(func(x *Node) *Node { return ops.ArgMin(x, 1) }),
			Want:  []*tensor.Tensor{ints(1, 2, 1)},
		},
		{
			Name: "argmax of zeros of both signs", Why: "CASES 2",
			In:    []*tensor.Tensor{f64(math.Copysign(0, -1), 0)},
			Build: one(func(x *Node) *Node { return ops.ArgMax(x, 0) }),
			Want:  []*tensor.Tensor{tensor.Scalar(int64(0))},
		},
		{
			Name: "argmax of a transpose is logical", Why: "CASES 3",
			In:    []*tensor.Tensor{f64s([]int{2, 3}, 1, 7, 2, 4, 3, 6)},
			Build: one(func(x *Node) *Node { return ops.ArgMaxAll(ops.Transpose(x)) }),
			Want:  []*tensor.Tensor{tensor.Scalar(int64(2))},
		},
		{
			Name: "magnitude of the least integer", Why: "|MIN| > MAX",
			In:    []*tensor.Tensor{tensor.Of[int8](127, -128, 1)},
			Build: one(func(x *Node) *Node { return ops.ArgMaxAbs(x, 0) }),
			Want:  []*tensor.Tensor{tensor.Scalar(int64(1))},
		},
		{
			Name: "moduli that would overflow", Why: "CASES 30",
			In:    []*tensor.Tensor{tensor.Of(complex(1e300, 0), complex(1e300, 1e300), complex(-1e300, -1e300), 0)},
			Build: func(in []*Node) []*Node { return []*Node{ops.ArgMaxAbs(in[0], 0), ops.ArgMinAbs(in[0], 0)} },
			Want:  []*tensor.Tensor{tensor.Scalar(int64(1)), tensor.Scalar(int64(3))},
		},
		{
			Name: "a NaN component is NaN before the modulus", Why: "CASES 30",
			In:    []*tensor.Tensor{tensor.Of(complex(inf, 0), 1, complex(inf, nan), complex(nan, nan))},
			Build: func(in []*Node) []*Node { return []*Node{ops.ArgMaxAbs(in[0], 0), ops.ArgMinAbs(in[0], 0)} },
			Want:  []*tensor.Tensor{tensor.Scalar(int64(2)), tensor.Scalar(int64(2))},
		},
		{
			Name: "sum of the middle axis", Why: "CASES 25",
			In:    []*tensor.Tensor{f64s([]int{1, 2, 3, 2}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)},
			Build: one(func(x *Node) *Node { return ops.Sum(x, 2) }),
			Want:  []*tensor.Tensor{f64s([]int{1, 2, 2}, 6, 9, 24, 27)},
		},
		{
			Name: "logsumexp", Why: "CASES 26", In: []*tensor.Tensor{f64(0, 0)},
			Build:     one(func(x *Node) *Node { return ops.LogSumExp(x) }),
			Want:      []*tensor.Tensor{scalar(math.Ln2)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.5, 0.5)},
		},
		{
			Name: "logsumexp of infinities", Why: "CASES 37", In: []*tensor.Tensor{f64(inf, inf, 0)},
			Build:     one(func(x *Node) *Node { return ops.LogSumExp(x) }),
			Want:      []*tensor.Tensor{scalar(inf)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0.5, 0.5, 0)},
		},
		{
			Name: "logsumexp of nothing likely", Why: "a line of −∞ gives −∞ and gradient 0",
			In:        []*tensor.Tensor{f64(-inf, -inf)},
			Build:     one(func(x *Node) *Node { return ops.LogSumExp(x) }),
			Want:      []*tensor.Tensor{scalar(-inf)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 0)},
		},
		{
			Name: "half floats are summed in float32", Why: "CASES 22",
			In:    []*tensor.Tensor{halves(32000, 32000, 32000, 32000, -32000, -32000, -32000, -32000)},
			Build: one(func(x *Node) *Node { return ops.Sum(x) }),
			Want:  []*tensor.Tensor{tensor.Must(tensor.FromFloat64s(tensor.Float16, []float64{0}))},
		},
		{
			Name: "gradient of a product with one zero", Why: "CASES 18",
			In:    []*tensor.Tensor{f64(2, 0, 3)},
			Build: one(func(x *Node) *Node { return ops.Prod(x) }), Want: []*tensor.Tensor{scalar(0)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 6, 0)},
		},
		{
			Name: "second derivative of a product with two zeros", Why: "CASES 33",
			In: []*tensor.Tensor{f64(0, 0, 3)},
			Build: one(func(x *Node) *Node {
				g := autograd.Grad(ops.Prod(x), x)[0]
				return ops.SliceAxis(g, 0, 0, 1)
			}),
			Want: []*tensor.Tensor{f64(0)}, Cotangent: f64(1), Grads: []*tensor.Tensor{f64(0, 3, 0)},
		},
	}
}

func halves(values ...float64) *tensor.Tensor {
	return tensor.Must(tensor.FromFloat64s(tensor.Float16, values, len(values)))
}

// castCases: the cotangent is cast back, to every dtype that carries one.
func castCases() []Exact {
	var out []Exact
	for _, dt := range tensor.DTypes {
		if !dt.IsDifferentiable() {
			continue
		}
		one := func(values ...float64) *tensor.Tensor {
			return tensor.Must(tensor.FromFloat64s(dt, values, len(values)))
		}
		out = append(out, Exact{
			Name: "the cotangent of a cast to " + dt.String(), Why: "it is cast back",
			In:        []*tensor.Tensor{f64(1.5, -2)},
			Build:     func(in []*Node) []*Node { return []*Node{ops.Cast(in[0], dt)} },
			Want:      []*tensor.Tensor{one(1.5, -2)},
			Cotangent: one(3, -0.25), Grads: []*tensor.Tensor{f64(3, -0.25)},
		})
	}
	return append(out,
		Exact{
			Name: "a cast to an integer has no gradient", Why: "integers carry none",
			In:        []*tensor.Tensor{f64(1.5, -2)},
			Build:     one(func(x *Node) *Node { return ops.Cast(ops.Cast(x, tensor.Int32), tensor.Float64) }),
			Want:      []*tensor.Tensor{f64(1, -2)},
			Cotangent: f64(1, 1), Grads: []*tensor.Tensor{f64(0, 0)},
		},
		Exact{
			Name: "a cast saturates", Why: "NaN to 0, beyond the range to its end",
			In: []*tensor.Tensor{f64(nan, inf, -inf, 1e10, -129, 2.9, -2.9)},
			Build: func(in []*Node) []*Node {
				return []*Node{ops.Cast(in[0], tensor.Int8), ops.Cast(in[0], tensor.Uint8), ops.Cast(in[0], tensor.Bool)}
			},
			Want: []*tensor.Tensor{tensor.Of[int8](0, 127, -128, 127, -128, 2, -2), tensor.Of[uint8](0, 255, 0, 255, 0, 2, 0), tensor.Of(true, true, true, true, true, true, true)},
		})
}

// guardCases: a zero cotangent stops an infinite derivative, and never a finite one.
func guardCases() []Exact {
	return []Exact{
		{
			Name: "the side not taken", Why: "CASES 20", In: []*tensor.Tensor{f64(-1, -4)},
			Build:     one(func(x *Node) *Node { return ops.Where(ops.Greater(x, 0), ops.Sqrt(x), x) }),
			Want:      []*tensor.Tensor{f64(-1, -4)},
			Cotangent: f64(1, 1), Grads: []*tensor.Tensor{f64(1, 1)},
		},
		{
			Name: "the side not taken, at a pole", Why: "CASES 20", In: []*tensor.Tensor{f64(0, 2, 4)},
			Build:     one(func(x *Node) *Node { return ops.Where(ops.Greater(x, 2), ops.Log2(x), ops.Mul(x, 2)) }),
			Want:      []*tensor.Tensor{f64(0, 4, 2)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(2, 2, 1/(4*math.Ln2))},
		},
		{
			Name: "second order through a zero cotangent",
			Why:  "CASES 33: a guard on the product cuts the graph",
			In:   []*tensor.Tensor{scalar(4)},
			Build: one(func(x *Node) *Node {
				return autograd.Grad(ops.Square(ops.Sub(ops.Sqrt(x), 2)), x)[0]
			}),
			Want: []*tensor.Tensor{scalar(0)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{scalar(0.125)},
		},
		{
			Name: "a pole with a cotangent shows", Why: "a genuine singularity",
			In:    []*tensor.Tensor{scalar(0)},
			Build: one(ops.Sqrt), Want: []*tensor.Tensor{scalar(0)}, Cotangent: scalar(1),
			Grads: []*tensor.Tensor{scalar(inf)},
		},
		{
			Name: "products with infinity under a zero cotangent", Why: "× is guarded too",
			In:    []*tensor.Tensor{f64(2), f64(inf)},
			Build: two(ops.Mul), Want: []*tensor.Tensor{f64(inf)}, Cotangent: f64(0),
			Grads: []*tensor.Tensor{f64(0), f64(0)},
		},
		{
			Name: "powers at zero", Why: "d/dy of x^y at 0 is 0 for y > 0; d/dx of x^0 is 0",
			In:    []*tensor.Tensor{f64(0, 0, 2), f64(2, 0, 0)},
			Build: two(ops.Pow), Want: []*tensor.Tensor{f64(0, 1, 1)},
			Cotangent: f64(1, 0, 1), Grads: []*tensor.Tensor{f64(0, 0, 0), f64(0, 0, math.Ln2)},
		},
	}
}
