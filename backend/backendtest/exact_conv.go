package backendtest

import (
	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// convCases: convolutions by hand.
func convCases() []Exact {
	conv := func(s ops.ConvSpec) func(in []*Node) []*Node {
		return build(func(in []*Node) *Node { return ops.Conv(in[0], in[1], s) })
	}
	line := func(v ...float64) *tensor.Tensor { return f64s([]int{1, 1, len(v)}, v...) }
	half := func(v ...float64) *tensor.Tensor {
		return tensor.Must(tensor.FromFloat64s(tensor.Float16, v, 1, 1, len(v)))
	}
	return []Exact{
		{
			Name: "a convolution of a line", Why: "the window is not reversed",
			In: []*tensor.Tensor{line(1, 2, 3, 4), line(1, 10)}, Build: conv(ops.ConvSpec{}),
			Want:      []*tensor.Tensor{line(21, 32, 43)},
			Cotangent: line(1, 2, 4), Grads: []*tensor.Tensor{line(1, 12, 24, 40), line(1+4+12, 2+6+16)},
		},
		{
			Name: "a convolution with padding and strides", Why: "padding is 0",
			In:        []*tensor.Tensor{line(1, 2, 3), line(1, 10, 100)},
			Build:     conv(ops.ConvSpec{Low: []int{1}, High: []int{2}, Strides: []int{2}}),
			Want:      []*tensor.Tensor{line(210, 32)},
			Cotangent: line(1, 2), Grads: []*tensor.Tensor{line(10, 102, 20), line(4, 7, 2)},
		},
		{
			Name: "a convolution of elements set apart", Why: "1 0 2 0 3, padded to 0 1 0 2 0 3, with taps 2 apart",
			In:    []*tensor.Tensor{line(1, 2, 3), line(1, 10)},
			Build: conv(ops.ConvSpec{Between: []int{2}, Dilations: []int{2}, Low: []int{1}}),
			Want:  []*tensor.Tensor{line(0, 21, 0, 32)}, Cotangent: line(5, 1, 7, 2),
			Grads: []*tensor.Tensor{line(1, 12, 20), line(1+4, 2+6)},
		},
		{
			Name: "a convolution of groups", Why: "each group has its channels and its features",
			In:    []*tensor.Tensor{f64s([]int{1, 2, 2}, 1, 2, 3, 4), f64s([]int{4, 1, 1}, 1, 10, 100, 1000)},
			Build: conv(ops.ConvSpec{Groups: 2}),
			Want:  []*tensor.Tensor{f64s([]int{1, 4, 2}, 1, 2, 10, 20, 300, 400, 3000, 4000)},
		},
		{
			Name: "a convolution of batch groups", Why: "each group has its images and its features",
			In:    []*tensor.Tensor{f64s([]int{2, 1, 2}, 1, 2, 3, 4), f64s([]int{4, 1, 1}, 1, 10, 100, 1000)},
			Build: conv(ops.ConvSpec{BatchGroups: 2}),
			Want:  []*tensor.Tensor{f64s([]int{1, 4, 2}, 1, 2, 10, 20, 300, 400, 3000, 4000)},
		},
		{
			Name: "an infinite weight meets padding", Why: "0·∞ is NaN there, and what stands between elements is not met",
			In:    []*tensor.Tensor{line(1, 2), line(1, inf)},
			Build: conv(ops.ConvSpec{Between: []int{2}, High: []int{2}}),
			Want:  []*tensor.Tensor{line(1, inf, 2, nan)},
		},
		{
			Name: "convolutions of halves add up in float32", Why: "and round once",
			In: []*tensor.Tensor{
				half(2048, 1, 1, 1), half(1, 1, 1, 1),
			},
			Build: conv(ops.ConvSpec{}), Want: []*tensor.Tensor{half(2052)},
		},
		{
			Name: "convolutions of integers wrap", Why: "as sums and products do",
			In: []*tensor.Tensor{
				tensor.Must(tensor.FromSlice([]int8{100, 100}, 1, 1, 2)), tensor.Must(tensor.FromSlice([]int8{3, 3}, 1, 1, 2)),
			},
			Build: conv(ops.ConvSpec{}), Want: []*tensor.Tensor{tensor.Must(tensor.FromSlice([]int8{88}, 1, 1, 1))},
		},
		{
			Name: "a convolution of no channels", Why: "sums of nothing are 0",
			In:    []*tensor.Tensor{f64s([]int{1, 0, 3}), f64s([]int{2, 0, 2})},
			Build: conv(ops.ConvSpec{}), Want: []*tensor.Tensor{f64s([]int{1, 2, 2}, 0, 0, 0, 0)},
			Cotangent: f64s([]int{1, 2, 2}, 1, 2, 3, 4), Grads: []*tensor.Tensor{f64s([]int{1, 0, 3}), f64s([]int{2, 0, 2})},
		},
		{
			Name: "windows longer than there is", Why: "an empty result, and zero gradients",
			In: []*tensor.Tensor{line(1, 2), line(1, 2, 3)}, Build: conv(ops.ConvSpec{}), Want: []*tensor.Tensor{line()},
			Cotangent: line(), Grads: []*tensor.Tensor{line(0, 0), line(0, 0, 0)},
		},
		{
			Name: "a transposed convolution", Why: "each element adds a window, its stride apart",
			In:    []*tensor.Tensor{line(1, 2), line(1, 10, 100)},
			Build: build(func(in []*Node) *Node { return ops.ConvTranspose(in[0], in[1], ops.ConvSpec{Strides: []int{2}}) }),
			Want:  []*tensor.Tensor{line(1, 10, 102, 20, 200)}, Cotangent: line(1, 2, 3, 4, 5),
			Grads: []*tensor.Tensor{line(321, 543), line(1+6, 2+8, 3+10)},
		},
		{
			Name: "second derivative of a convolution", Why: "∂/∂w of x̄ is the cotangent, turned",
			In: []*tensor.Tensor{line(1, 2, 3), line(5, 7)},
			Build: build(func(in []*Node) *Node {
				return autograd.Grad(ops.Sum(ops.Square(ops.Conv(in[0], in[1], ops.ConvSpec{}))), in[0])[0]
			}),
			Want:      []*tensor.Tensor{line(190, 576, 434)},
			Cotangent: line(1, 0, 0), Grads: []*tensor.Tensor{line(50, 70, 0), line(38+10, 20)},
		},
	}
}
