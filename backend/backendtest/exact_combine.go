package backendtest

import (
	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// written joins two numbers, each with the power of ten that its digits take, to one of the digits of both: what
// stands where, and how often, can be read off.
func written(a, b []*Node) []*Node {
	return []*Node{ops.Add(ops.Mul(a[0], b[1]), b[0]), ops.Mul(a[1], b[1])}
}

// digits are numbers of one digit for written, and nine is its initial value.
func digits(x *Node) []*Node { return []*Node{x, ops.Add(ops.ZerosLike(x), 10)} }

var nine = []any{9, 10}

// greatest joins values and indices to the greater value and its index: of equal ones the first, or the last.
func greatest(last bool) combiner {
	return func(a, b []*Node) []*Node {
		later := ops.Greater(b[0], a[0])
		if last {
			later = ops.GreaterEqual(b[0], a[0])
		}
		return []*Node{ops.Where(later, b[0], a[0]), ops.Where(later, b[1], a[1])}
	}
}

// product2 is the product of two matrices of 2 × 2, given by rows.
func product2(a, b []*Node) []*Node {
	cell := func(i, j int) *Node { return ops.Add(ops.Mul(a[2*i], b[j]), ops.Mul(a[2*i+1], b[2+j])) }
	return []*Node{cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)}
}

func product1(a, b []*Node) []*Node { return []*Node{ops.Mul(a[0], b[0])} }

// combinerCases: the order of what is combined, ties, zeros and nothing.
func combinerCases() []Exact {
	plane := f64s([]int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	indexed := func(last bool) func(in []*Node) []*Node {
		return func(in []*Node) []*Node {
			return reducedBy(greatest(last), []*Node{in[0], ops.Iota(in[0].Graph(), tensor.Int64, 0, in[0].Shape()...)}, nil, 0)
		}
	}
	return []Exact{
		{
			Name: "what is combined keeps its order", Why: "in row-major order, whatever the axes", In: []*tensor.Tensor{plane},
			Build: one(func(x *Node) *Node {
				return ops.Stack(0, reducedBy(written, digits(x), nil)[0], reducedBy(written, digits(x), nine, 1, 0)[0],
					reducedBy(written, digits(ops.Transpose(x)), nil, 0, 1)[0])
			}),
			Want: []*tensor.Tensor{f64(123456789, 9123456789, 147258369)},
		},
		{
			Name: "every number of elements is combined in order", Why: "odd steps leave one over",
			In: []*tensor.Tensor{f64(1, 2, 3, 4, 5, 6, 7)},
			Build: one(func(x *Node) *Node {
				var r []*Node
				for n := 1; n <= 7; n++ {
					r = append(r, reducedBy(written, digits(ops.SliceAxis(x, 0, 0, n)), nil)[0])
				}
				return ops.Stack(0, r...)
			}),
			Want: []*tensor.Tensor{f64(1, 12, 123, 1234, 12345, 123456, 1234567)},
		},
		{
			Name: "scans by a combiner", Why: "what was met before stands on the left; init first",
			In: []*tensor.Tensor{f64(1, 2, 3, 4, 5)},
			Build: one(func(x *Node) *Node {
				xs := digits(x)
				return ops.Stack(0, scannedBy(written, xs, nil, 0)[0], scannedBy(written, xs, nil, 0, ops.Reversed)[0],
					scannedBy(written, xs, nine, 0)[0], scannedBy(written, xs, nine, 0, ops.Exclusive)[0],
					scannedBy(written, xs, nine, 0, ops.Reversed, ops.Exclusive)[0])
			}),
			Want: []*tensor.Tensor{f64s([]int{5, 5}, 1, 12, 123, 1234, 12345, 54321, 5432, 543, 54, 5, 91, 912, 9123, 91234, 912345,
				9, 91, 912, 9123, 91234, 95432, 9543, 954, 95, 9)},
		},
		{
			Name: "windows by a combiner", Why: "in row-major order; padding is init, and init comes first",
			In: []*tensor.Tensor{plane},
			Build: func(in []*Node) []*Node {
				square := windowsBy(written, digits(in[0]), nil, ops.Sliding{Sizes: []int{2, 2}})[0]
				padded := windowsBy(written, digits(in[0]), nine, ops.Sliding{Sizes: []int{1, 2}, Strides: []int{1, 2}, Low: []int{0, 1}})[0]
				return []*Node{ops.Reshape(square, -1), ops.Reshape(padded, -1)}
			},
			Want: []*tensor.Tensor{f64(1245, 2356, 4578, 5689), f64(991, 923, 994, 956, 997, 989)},
		},
		{
			Name: "a product of matrices", Why: "of four operands, and not commutative",
			In: []*tensor.Tensor{f64(1, 0, 2), f64(1, 1, 0), f64(0, 1, 0), f64(1, 0, 3)},
			Build: func(in []*Node) []*Node {
				return reducedBy(product2, in, []any{1, 0, 0, 1})
			},
			Want:      []*tensor.Tensor{scalar(2), scalar(3), scalar(2), scalar(0)},
			Cotangent: scalar(1),
			Grads:     []*tensor.Tensor{f64(0, 2, 1), f64(2, 0, 0), f64(0, 2, 1), f64(0, 0, 0)},
		},
		{
			Name: "an argmax of the user's, the first of ties", Why: "the combiner decides; the gradient goes there",
			In: []*tensor.Tensor{f64(1, 7, 0, 7, 2)}, Build: indexed(false), Want: []*tensor.Tensor{scalar(7), tensor.Scalar[int64](1)},
			Cotangent: scalar(3), Grads: []*tensor.Tensor{f64(0, 3, 0, 0, 0)},
		},
		{
			Name: "an argmax of the user's, the last of ties", Why: "the combiner decides; the gradient goes there",
			In: []*tensor.Tensor{f64(1, 7, 0, 7, 2)}, Build: indexed(true), Want: []*tensor.Tensor{scalar(7), tensor.Scalar[int64](3)},
			Cotangent: scalar(3), Grads: []*tensor.Tensor{f64(0, 0, 0, 3, 0)},
		},
		{
			Name: "nothing is combined to init", Why: "with its gradient, one for each line",
			In: []*tensor.Tensor{f64s([]int{2, 0}), scalar(5)},
			Build: func(in []*Node) []*Node {
				return reducedBy(product1, in[:1], []any{in[1]}, 1)
			},
			Want: []*tensor.Tensor{f64(5, 5)}, Cotangent: f64(1, 2), Grads: []*tensor.Tensor{f64s([]int{2, 0}), scalar(3)},
		},
		{
			Name: "nothing is combined to nothing", Why: "without initial values it is an error", Err: tensor.ErrUnsupported,
			In:    []*tensor.Tensor{f64s([]int{2, 0})},
			Build: func(in []*Node) []*Node { return reducedBy(product1, in, nil, 1) },
		},
		{
			Name: "products with zeros by a combiner", Why: "each is the product of the others", In: []*tensor.Tensor{f64(2, 0, 3, 4)},
			Build: func(in []*Node) []*Node { return reducedBy(product1, in, []any{1}) }, Want: []*tensor.Tensor{scalar(0)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 24, 0, 0)},
		},
		{
			Name: "second derivative of a product by a combiner", Why: "CASES 33: right with two zeros",
			In: []*tensor.Tensor{f64(0, 0, 3)},
			Build: one(func(x *Node) *Node {
				return ops.SliceAxis(autograd.Grad(reducedBy(product1, []*Node{x}, nil)[0], x)[0], 0, 0, 1)
			}),
			Want: []*tensor.Tensor{f64(0)}, Cotangent: f64(1), Grads: []*tensor.Tensor{f64(0, 3, 0)},
		},
		{
			Name: "half floats are rounded at each combination", Why: "the combiner is of halves: 2048 + 1 is 2048",
			In: []*tensor.Tensor{tensor.Of(tensor.ToF16(2048), tensor.ToF16(1), tensor.ToF16(1))},
			Build: func(in []*Node) []*Node {
				sum := func(a, b []*Node) []*Node { return []*Node{ops.Add(a[0], b[0])} }
				return append(reducedBy(sum, in, nil), ops.Sum(in[0]))
			},
			Want: []*tensor.Tensor{tensor.Scalar(tensor.ToF16(2048)), tensor.Scalar(tensor.ToF16(2050))},
		},
		{
			Name: "running products with zeros by a combiner", Why: "CASES 18", In: []*tensor.Tensor{f64(2, 0, 3, 4)},
			Build: func(in []*Node) []*Node { return scannedBy(product1, in, nil, 0) }, Want: []*tensor.Tensor{f64(2, 0, 0, 0)},
			Cotangent: f64(1, 1, 1, 1), Grads: []*tensor.Tensor{f64(1, 32, 0, 0)},
		},
	}
}
