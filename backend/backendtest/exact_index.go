package backendtest

import (
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// elements is a scatter into single elements of a vector.
func elements(c ops.Combine, m ops.Mode) func(in []*Node) []*Node {
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}}
	return build(func(in []*Node) *Node { return ops.Scatter(in[0], in[1], in[2:], c, w, m) })
}

func scatterCases() []Exact {
	wrap := ops.Mode{Wrap: true}
	return []Exact{
		{
			Name: "the last writer wins", Why: "CASES 6",
			In:    []*tensor.Tensor{f64(1, 2, 3), f64(10, 20), ints(0, 0)},
			Build: elements(ops.CombineSet, wrap), Want: []*tensor.Tensor{f64(20, 2, 3)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(0, 1, 1), f64(0, 1), nil},
		},
		{
			Name: "three writers of one element", Why: "only the last has a gradient",
			In:    []*tensor.Tensor{f64(1, 2), f64(10, 20, 30, 40), ints(1, 0, 1, 1)},
			Build: elements(ops.CombineSet, wrap), Want: []*tensor.Tensor{f64(20, 40)},
			Cotangent: f64(5, 7), Grads: []*tensor.Tensor{f64(0, 0), f64(0, 5, 0, 7), nil},
		},
		{
			Name: "set", Why: "CASES 8", In: []*tensor.Tensor{f64(1, 2, 3), f64(10, 20), ints(2, 0)},
			Build: elements(ops.CombineSet, wrap), Want: []*tensor.Tensor{f64(20, 2, 10)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(0, 1, 0), f64(1, 1), nil},
		},
		{
			Name: "add", Why: "CASES 8", In: []*tensor.Tensor{f64(1, 2, 3), f64(10, 20), ints(2, 0)},
			Build: elements(ops.CombineAdd, wrap), Want: []*tensor.Tensor{f64(21, 2, 13)},
			Cotangent: f64(1, 2, 3), Grads: []*tensor.Tensor{f64(1, 2, 3), f64(3, 1), nil},
		},
		{
			Name: "add through a read, and at every mention", Why: "CASES 7",
			In: []*tensor.Tensor{f64(0, 0, 0), ints(0, 0, 1, 1, 2)},
			Build: func(in []*Node) []*Node {
				at := index.Of(in[1])
				return []*Node{ops.SetIndex(in[0], ops.Add(ops.Index(in[0], at), 1), at), ops.AddIndex(in[0], 1, at)}
			},
			Want: []*tensor.Tensor{f64(1, 1, 1), f64(2, 2, 1)},
		},
		{
			Name: "max shares among updates and the operand", Why: "CASES 9",
			In:    []*tensor.Tensor{f64(1, 5, 9), f64(1, 1, 2), ints(0, 0, 1)},
			Build: elements(ops.CombineMax, wrap), Want: []*tensor.Tensor{f64(1, 5, 9)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(1.0/3, 1, 1), f64(1.0/3, 1.0/3, 0), nil},
		},
		{
			Name: "mul with zeros", Why: "CASES 9",
			In:    []*tensor.Tensor{f64(2, 3, 4), f64(0, 5, 7), ints(0, 0, 1)},
			Build: elements(ops.CombineMul, wrap), Want: []*tensor.Tensor{f64(0, 21, 4)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(0, 7, 1), f64(10, 0, 3), nil},
		},
		{
			Name: "mul with two zeros", Why: "never by counting zeros",
			In:    []*tensor.Tensor{f64(2), f64(0, 5, 0), ints(0, 0, 0)},
			Build: elements(ops.CombineMul, wrap), Want: []*tensor.Tensor{f64(0)},
			Cotangent: f64(1), Grads: []*tensor.Tensor{f64(0), f64(0, 0, 0), nil},
		},
		{
			Name: "max of NaN", Why: "NaN wins, and takes the gradient",
			In:    []*tensor.Tensor{f64(1, nan), f64(nan, 2, 3), ints(0, 0, 1)},
			Build: elements(ops.CombineMax, wrap), Want: []*tensor.Tensor{f64(nan, nan)},
			Cotangent: f64(4, 6), Grads: []*tensor.Tensor{f64(0, 6), f64(4, 0, 0), nil},
		},
		{
			Name: "half floats accumulate in float32", Why: "CASES 35",
			In:    []*tensor.Tensor{halves(2048), halves(1, 1, 1, 1), ints(0, 0, 0, 0)},
			Build: elements(ops.CombineAdd, wrap), Want: []*tensor.Tensor{halves(2052)},
		},
		{
			Name: "take along an axis", Why: "CASES 10",
			In: []*tensor.Tensor{f64s([]int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9), tensor.Must(tensor.FromSlice([]int64{0, 0, 2, 1}, 2, 2))},
			Build: build(func(in []*Node) *Node {
				return ops.TakeAlongAxis(in[0], in[1], 1)
			}),
			Want:      []*tensor.Tensor{f64s([]int{2, 2}, 1, 1, 6, 5)},
			Cotangent: f64s([]int{2, 2}, 1, 1, 1, 1),
			Grads:     []*tensor.Tensor{f64s([]int{3, 3}, 2, 0, 0, 0, 1, 1, 0, 0, 0), nil},
		},
		{
			Name: "the padding row of an embedding gets nothing", Why: "a negative id is the same row",
			In:        []*tensor.Tensor{f64s([]int{3, 1}, 1, 2, 3), ints(2, 0, -1, 1)},
			Build:     build(func(in []*Node) *Node { return ops.Embedding(in[0], in[1], 2) }),
			Want:      []*tensor.Tensor{f64s([]int{4, 1}, 3, 1, 3, 2)},
			Cotangent: f64s([]int{4, 1}, 1, 2, 3, 4),
			Grads:     []*tensor.Tensor{f64s([]int{3, 1}, 2, 4, 0), nil},
		},
		{
			Name: "a shifted assignment reads first", Why: "CASES 16",
			In: []*tensor.Tensor{f64(0, 1, 2, 3, 4)},
			Build: one(func(x *Node) *Node {
				return ops.SetIndex(x, ops.Index(x, index.To(-1)), index.From(1))
			}),
			Want: []*tensor.Tensor{f64(0, 0, 1, 2, 3)}, Cotangent: f64(1, 2, 3, 4, 5),
			Grads: []*tensor.Tensor{f64(3, 3, 4, 5, 0)},
		},
		{
			Name: "no indices", Why: "CASES 11", In: []*tensor.Tensor{f64(1, 2), f64(), ints()},
			Build: elements(ops.CombineSet, wrap), Want: []*tensor.Tensor{f64(1, 2)},
			Cotangent: f64(1, 1), Grads: []*tensor.Tensor{f64(1, 1), f64(), nil},
		},
		{
			Name: "nothing to write to", Why: "CASES 11", In: []*tensor.Tensor{f64(), f64(5), ints(0)},
			Build: elements(ops.CombineAdd, ops.Mode{OOB: ops.OOBSkip}), Want: []*tensor.Tensor{f64()},
			Cotangent: f64(), Grads: []*tensor.Tensor{f64(), f64(0), nil},
		},
		{
			Name: "reversing", Why: "CASES 24", In: []*tensor.Tensor{f64(1, 2, 3)},
			Build:     one(func(x *Node) *Node { return ops.Index(x, index.By(-1)) }),
			Want:      []*tensor.Tensor{f64(3, 2, 1)},
			Cotangent: f64(1, 2, 3), Grads: []*tensor.Tensor{f64(3, 2, 1)},
		},
	}
}

// pairs is windows of two on a vector.
func pairs(m ops.Mode) func(in []*Node) []*Node {
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{1}}
	return build(func(in []*Node) *Node { return ops.Gather(in[0], in[1:], w, m) })
}

func putPairs(m ops.Mode) func(in []*Node) []*Node {
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{1}}
	return build(func(in []*Node) *Node { return ops.Scatter(in[0], in[1], in[2:], ops.CombineAdd, w, m) })
}

// boundCases: what is in bounds, and what becomes of the rest.
func boundCases() []Exact {
	x := f64(10, 11, 12, 13)
	single := func(m ops.Mode) func(in []*Node) []*Node {
		w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}}
		return build(func(in []*Node) *Node { return ops.Gather(in[0], in[1:], w, m) })
	}
	return []Exact{
		{
			Name: "negative indices count from the end with Wrap", Why: "CASES 12",
			In:    []*tensor.Tensor{x, ints(-4, -1, 0, 3)},
			Build: single(ops.Mode{Wrap: true}), Want: []*tensor.Tensor{f64(10, 13, 10, 13)},
			Cotangent: f64(1, 2, 3, 4), Grads: []*tensor.Tensor{f64(4, 0, 0, 6), nil},
		},
		{Name: "−5 is out of bounds", Why: "CASES 12", In: []*tensor.Tensor{x, ints(-5)}, Build: single(ops.Mode{Wrap: true}), Err: tensor.ErrBounds},
		{Name: "4 is out of bounds", Why: "CASES 12", In: []*tensor.Tensor{x, ints(4)}, Build: single(ops.Mode{Wrap: true}), Err: tensor.ErrBounds},
		{Name: "without Wrap −1 is out of bounds", Why: "StableHLO's rule", In: []*tensor.Tensor{x, ints(-1)}, Build: single(ops.Mode{}), Err: tensor.ErrBounds},
		{
			Name: "a uint64 beyond int64", Why: "CASES 34",
			In:    []*tensor.Tensor{x, tensor.Of[uint64](1<<63 + 1)},
			Build: single(ops.Mode{Wrap: true}), Err: tensor.ErrBounds,
		},
		{
			Name: "a uint8 of 128", Why: "CASES 13",
			In:    []*tensor.Tensor{arange(200), tensor.Of[uint8](128)},
			Build: single(ops.Mode{Wrap: true}), Want: []*tensor.Tensor{f64(128)},
		},
		{
			Name: "skipped reads are 0 and get nothing", Why: "Fill and Drop are adjoint",
			In:    []*tensor.Tensor{x, ints(9, 1, -9, 1)},
			Build: single(ops.Mode{OOB: ops.OOBSkip}), Want: []*tensor.Tensor{f64(0, 11, 0, 11)},
			Cotangent: f64(1, 2, 3, 4), Grads: []*tensor.Tensor{f64(0, 6, 0, 0), nil},
		},
		{
			Name: "Skip without Wrap", Why: "a negative is out of bounds",
			In:    []*tensor.Tensor{x, ints(-1)},
			Build: single(ops.Mode{OOB: ops.OOBSkip}), Want: []*tensor.Tensor{f64(0)},
		},
		{
			Name: "Skip with Wrap", Why: "−1 is the last", In: []*tensor.Tensor{x, ints(-1)},
			Build: single(ops.Mode{OOB: ops.OOBSkip, Wrap: true}), Want: []*tensor.Tensor{f64(13)},
		},
		{
			Name: "clamped windows", Why: "CASES 31", In: []*tensor.Tensor{x, ints(-1, 2, 99)},
			Build:     pairs(ops.Mode{OOB: ops.OOBClamp}),
			Want:      []*tensor.Tensor{f64s([]int{3, 2}, 10, 11, 12, 13, 12, 13)},
			Cotangent: f64s([]int{3, 2}, 1, 2, 3, 4, 5, 6), Grads: []*tensor.Tensor{f64(1, 2, 8, 10), nil},
		},
		{
			Name: "a window half outside, per element", Why: "CASES 36",
			In:        []*tensor.Tensor{x, ints(-1, 3)},
			Build:     pairs(ops.Mode{OOB: ops.OOBSkip, PerElement: true}),
			Want:      []*tensor.Tensor{f64s([]int{2, 2}, 0, 10, 13, 0)},
			Cotangent: f64s([]int{2, 2}, 1, 2, 3, 4), Grads: []*tensor.Tensor{f64(2, 0, 0, 3), nil},
		},
		{
			Name: "a window half outside, as a whole", Why: "CASES 36",
			In:    []*tensor.Tensor{x, ints(-1, 3)},
			Build: pairs(ops.Mode{OOB: ops.OOBSkip}), Want: []*tensor.Tensor{f64s([]int{2, 2}, 0, 0, 0, 0)},
			Cotangent: f64s([]int{2, 2}, 1, 2, 3, 4), Grads: []*tensor.Tensor{f64(0, 0, 0, 0), nil},
		},
		{
			Name: "a write half outside, per element", Why: "CASES 36",
			In:        []*tensor.Tensor{x, f64s([]int{2, 2}, 1, 2, 3, 4), ints(-1, 3)},
			Build:     putPairs(ops.Mode{OOB: ops.OOBSkip, PerElement: true}),
			Want:      []*tensor.Tensor{f64(12, 11, 12, 16)},
			Cotangent: f64(5, 6, 7, 8),
			Grads:     []*tensor.Tensor{f64(5, 6, 7, 8), f64s([]int{2, 2}, 0, 5, 8, 0), nil},
		},
		{
			Name: "a write half outside, as a whole", Why: "CASES 36",
			In:    []*tensor.Tensor{x, f64s([]int{2, 2}, 1, 2, 3, 4), ints(-1, 3)},
			Build: putPairs(ops.Mode{OOB: ops.OOBSkip}), Want: []*tensor.Tensor{x},
			Cotangent: f64(5, 6, 7, 8),
			Grads:     []*tensor.Tensor{f64(5, 6, 7, 8), f64s([]int{2, 2}, 0, 0, 0, 0), nil},
		},
		{
			Name: "a bad index beside an empty slice", Why: "CASES 36",
			In:    []*tensor.Tensor{f64s([]int{2, 2}, 1, 2, 3, 4), ints(7)},
			Build: build(func(in []*Node) *Node { return ops.Index(in[0], index.Of(in[1]), index.Range(1, 1)) }), Err: tensor.ErrBounds,
		},
		{
			Name: "a bad index in the gradient of a read", Why: "CASES 23",
			In:    []*tensor.Tensor{x, ints(4)},
			Build: single(ops.Mode{Wrap: true}), Cotangent: f64(1),
			Grads: []*tensor.Tensor{x, nil}, Err: tensor.ErrBounds,
		},
		{
			Name: "assignment through a mask known at run time", Why: "CASES 17",
			In:    []*tensor.Tensor{f64(3, 7, 4, 9)},
			Build: one(func(x *Node) *Node { return ops.SetIndex(x, 0, index.Mask(ops.Less(x, 5))) }),
			Want:  []*tensor.Tensor{f64(0, 7, 0, 9)}, Cotangent: f64(1, 2, 3, 4),
			Grads: []*tensor.Tensor{f64(0, 2, 0, 4)},
		},
		{
			Name: "a block past the end clamps", Why: "CASES 31",
			In:    []*tensor.Tensor{f64(0, 1, 2, 3, 4), f64(7, 8), tensor.Scalar(int64(99))},
			Build: build(func(in []*Node) *Node { return ops.DynamicUpdateSlice(in[0], in[1], in[2]) }),
			Want:  []*tensor.Tensor{f64(0, 1, 2, 7, 8)}, Cotangent: f64(1, 2, 3, 4, 5),
			Grads: []*tensor.Tensor{f64(1, 2, 3, 0, 0), f64(4, 5), nil},
		},
	}
}

func arange(n int) *tensor.Tensor { return f64(counted(n)...) }
