package backendtest

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// readingCases: index expressions and windows.
func readingCases() []Exact {
	x := f64(10, 11, 12, 13)
	filled := func(m ops.Mode) func(in []*Node) []*Node {
		w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{1}}
		return build(func(in []*Node) *Node { return ops.GatherFill(in[0], in[1], in[2:], w, m) })
	}
	return []Exact{
		{
			Name:  "a pair that counts from the end",
			Why:   "CASES 12: read and gradient meet the same element",
			In:    []*tensor.Tensor{f64s([]int{2, 2}, 1, 2, 3, 4), tensor.Scalar(int64(1)), tensor.Scalar(int64(-1))},
			Build: build(func(in []*Node) *Node { return ops.Index(in[0], index.Of(in[1]), index.Of(in[2])) }),
			Want:  []*tensor.Tensor{scalar(4)}, Cotangent: scalar(1),
			Grads: []*tensor.Tensor{f64s([]int{2, 2}, 0, 0, 0, 1), nil, nil},
		},
		{
			Name: "a uint64 with the bits of −1", Why: "CASES 34: it is out of bounds, not the last",
			In:    []*tensor.Tensor{x, tensor.Of[uint64](math.MaxUint64)},
			Build: build(func(in []*Node) *Node { return ops.Index(in[0], index.Of(in[1])) }), Err: tensor.ErrBounds,
		},
		{
			Name: "an int8 index makes no int8 offset", Why: "CASES 13",
			In:    []*tensor.Tensor{f64s([]int{10000, 10}, counted(100000)...), tensor.Scalar[int8](0)},
			Build: build(func(in []*Node) *Node { return ops.Index(in[0], index.At(1000), index.Of(in[1])) }),
			Want:  []*tensor.Tensor{scalar(10000)},
		},
		{
			Name: "an integer and a mask apart come first", Why: "CASES 14",
			In: []*tensor.Tensor{f64s([]int{2, 2, 3}, counted(12)...)},
			Build: one(func(x *Node) *Node {
				return ops.Index(x, index.At(1), index.All, index.Mask(tensor.Of(true, false, true)))
			}),
			Want:      []*tensor.Tensor{f64s([]int{2, 2}, 6, 9, 8, 11)},
			Cotangent: f64s([]int{2, 2}, 1, 2, 3, 4),
			Grads:     []*tensor.Tensor{f64s([]int{2, 2, 3}, 0, 0, 0, 0, 0, 0, 1, 0, 3, 2, 0, 4)},
		},
		{
			Name: "a mask of rank 2 on a vector", Why: "CASES 15", In: []*tensor.Tensor{x},
			Build: one(func(x *Node) *Node {
				return ops.Index(x, index.Mask(tensor.Must(tensor.FromSlice([]bool{true, false}, 1, 2))))
			}),
			Err: tensor.ErrRank,
		},
		{
			Name: "a mask after a new axis", Why: "CASES 15",
			In:    []*tensor.Tensor{f64s([]int{2, 3}, 1, 2, 3, 4, 5, 6)},
			Build: one(func(x *Node) *Node { return ops.Index(x, index.NewAxis, index.Mask(tensor.Of(true, true))) }),
			Want:  []*tensor.Tensor{f64s([]int{1, 2, 3}, 1, 2, 3, 4, 5, 6)},
		},
		{
			Name: "slices", Why: "CASES 24: a step counts, an axis stays, bounds that agree mod 256 differ",
			In: []*tensor.Tensor{arange(600)},
			Build: one(func(x *Node) *Node {
				rows := ops.Reshape(ops.Index(x, index.Range(0, 6)), 3, 2)
				return ops.Concat(0, ops.Index(x, index.Step(new(0), new(5), 2)), ops.Index(x, index.Range(1, 3)),
					ops.Index(x, index.Range(257, 259)), ops.Reshape(ops.Index(rows, index.Range(0, 1)), 2))
			}),
			Want: []*tensor.Tensor{f64(0, 2, 4, 1, 2, 257, 258, 0, 1)},
		},
		{
			Name: "StableHLO's example of a gather",
			Why:  "CASES 29: the map is [1, 0] and the last start clamps",
			In: []*tensor.Tensor{f64s([]int{3, 4, 2}, counted(24)...),
				tensor.Must(tensor.FromSlice([]int64{0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9}, 2, 3, 2))},
			Build: build(func(in []*Node) *Node {
				return ops.StableHLOGather(ops.Add(in[0], 1), in[1], ops.GatherDims{
					OffsetDims: []int{2, 3}, CollapsedSliceDims: []int{0}, StartIndexMap: []int{1, 0},
					IndexVectorDim: 2, SliceSizes: []int{1, 2, 2},
				})
			}),
			Want: []*tensor.Tensor{f64s([]int{2, 3, 2, 2}, 1, 2, 3, 4, 3, 4, 5, 6, 13, 14, 15, 16,
				9, 10, 11, 12, 11, 12, 13, 14, 17, 18, 19, 20)},
			Cotangent: f64s([]int{2, 3, 2, 2}, slices.Repeat([]float64{1}, 24)...),
			Grads: []*tensor.Tensor{f64s([]int{3, 4, 2}, 1, 1, 2, 2, 1, 1, 0, 0,
				1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), nil},
		},
		{
			Name:      "a window half outside is filled by element",
			Why:       "Fill: the fill's gradient is the sum of what it filled",
			In:        []*tensor.Tensor{x, scalar(-7), ints(-1, 3)},
			Build:     filled(ops.Mode{OOB: ops.OOBSkip, PerElement: true}),
			Want:      []*tensor.Tensor{f64s([]int{2, 2}, -7, 10, 13, -7)},
			Cotangent: f64s([]int{2, 2}, 1, 2, 3, 4),
			Grads:     []*tensor.Tensor{f64(2, 0, 0, 3), scalar(5), nil},
		},
		{
			Name: "a window half outside is filled whole", Why: "Fill",
			In:        []*tensor.Tensor{x, scalar(-7), ints(-1, 2)},
			Build:     filled(ops.Mode{OOB: ops.OOBSkip}),
			Want:      []*tensor.Tensor{f64s([]int{2, 2}, -7, -7, 12, 13)},
			Cotangent: f64s([]int{2, 2}, 1, 2, 3, 4),
			Grads:     []*tensor.Tensor{f64(0, 0, 3, 4), scalar(3), nil},
		},
		{
			Name:      "the read of an index sends all to it",
			Why:       "a tie shares only where no index is reported",
			In:        []*tensor.Tensor{f64(3, 1, 3)},
			Build:     one(func(x *Node) *Node { return ops.Take(x, ops.ArgMax(x, 0), 0) }),
			Want:      []*tensor.Tensor{scalar(3)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(1, 0, 0)},
		},
		{
			Name: "an extreme with its index sends all to it", Why: "forms that report an index",
			In: []*tensor.Tensor{f64s([]int{2, 3}, 3, 1, 3, 2, -2, 1)},
			Build: build(func(in []*Node) *Node {
				y, at := ops.MaxWithIndex(in[0], 1)
				return ops.Add(y, ops.Cast(at, y.DType()))
			}),
			Want:      []*tensor.Tensor{f64(3, 2)},
			Cotangent: f64(1, 2), Grads: []*tensor.Tensor{f64s([]int{2, 3}, 1, 0, 0, 2, 0, 0)},
		},
		{
			Name: "an extreme with its index is the first NaN", Why: "NaN is beyond both ends",
			In:    []*tensor.Tensor{f64(1, nan, inf, nan)},
			Build: build(func(in []*Node) *Node { y, _ := ops.MinWithIndex(in[0], 0); return y }),
			Want:  []*tensor.Tensor{scalar(nan)}, Cotangent: scalar(2), Grads: []*tensor.Tensor{f64(0, 2, 0, 0)},
		},
		{
			Name: "an extreme with its index is the first zero", Why: "zeros tie for every index; 1/x tells them apart",
			In:    []*tensor.Tensor{f64(math.Copysign(0, -1), 0)},
			Build: build(func(in []*Node) *Node { y, _ := ops.MaxWithIndex(in[0], 0); return ops.Div(1, y) }),
			Want:  []*tensor.Tensor{scalar(-inf)},
		},
		{
			Name: "the magnitude decides, the element comes back", Why: "the least integer is the greatest of its type",
			In: []*tensor.Tensor{tensor.Of[int8](127, -128, 5)},
			Build: func(in []*Node) []*Node {
				y, at := ops.MaxAbsWithIndex(in[0], 0)
				return []*Node{y, at}
			},
			Want: []*tensor.Tensor{tensor.Scalar(int8(-128)), tensor.Scalar(int64(1))},
		},
	}
}

// writingCases: assignments.
func writingCases() []Exact {
	i1 := tensor.Must(tensor.FromSlice([]int64{0, 1, 2, 3}, 2, 2))
	i2 := tensor.Must(tensor.FromSlice([]int64{1, 2, 3, 0}, 2, 2))
	placed := make([]float64, 64)
	for n, at := range []int{1, 6, 11, 12} { // (0, 1), (1, 2), (2, 3), (3, 0) of each 4×4
		for p := range 4 {
			placed[16*p+at] = float64(4*p + n + 1)
		}
	}
	return []Exact{
		{
			Name: "a shifted quotient reads first", Why: "CASES 16: a[1:] /= a[:-1]",
			In: []*tensor.Tensor{f64(10, 11, 12, 13, 14, 13, 12, 11)},
			Build: one(func(x *Node) *Node {
				return ops.SetIndex(x, ops.Div(ops.Index(x, index.From(1)), ops.Index(x, index.To(-1))), index.From(1))
			}),
			Want: []*tensor.Tensor{f64(10, 1.1, 12./11, 13./12, 14./13, 13./14, 12./13, 11./12)},
		},
		{
			Name: "what is below 5 becomes 0", Why: "CASES 17: by a mask known at run time",
			In:        []*tensor.Tensor{arange(10)},
			Build:     one(func(x *Node) *Node { return ops.SetIndex(x, 0, index.Mask(ops.Less(x, 5))) }),
			Want:      []*tensor.Tensor{f64(0, 0, 0, 0, 0, 5, 6, 7, 8, 9)},
			Cotangent: f64(1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
			Grads:     []*tensor.Tensor{f64(0, 0, 0, 0, 0, 1, 1, 1, 1, 1)},
		},
		{
			Name: "index arrays over the last two axes",
			Why:  "CASES 32: the axes before them come first in the updates",
			In: []*tensor.Tensor{f64s([]int{2, 2, 4, 4}, make([]float64, 64)...),
				f64s([]int{2, 2, 2, 2}, counted(16)...), i1, i2},
			Build: build(func(in []*Node) *Node {
				return ops.SetIndex(in[0], ops.Add(in[1], 1), index.All, index.All, index.Of(in[2]), index.Of(in[3]))
			}),
			Want: []*tensor.Tensor{f64s([]int{2, 2, 4, 4}, placed...)},
		},
		{
			Name: "index arrays in the middle of seven axes",
			Why:  "the iteration space is the axes before, those of the indices, the axes after",
			In: []*tensor.Tensor{f64s([]int{2, 1, 2, 4, 4, 2, 1}, make([]float64, 128)...),
				f64s([]int{2, 1, 2, 2, 2, 2, 1}, counted(32)...), i1, i2},
			Build: func(in []*Node) []*Node {
				at := []index.Item{index.All, index.All, index.All, index.Of(in[2]), index.Of(in[3]), index.All, index.All}
				y := ops.SetIndex(in[0], in[1], at...)
				return []*Node{ops.Index(y, at...), ops.Sum(y)}
			},
			Want: []*tensor.Tensor{f64s([]int{2, 1, 2, 2, 2, 2, 1}, counted(32)...), scalar(31 * 32 / 2)},
		},
		{
			Name: "views of everything", Why: "x, the indices and the updates may have any layout",
			In: []*tensor.Tensor{f64s([]int{3, 2}, counted(6)...), f64(1, 2), ints(1, 0)},
			Build: build(func(in []*Node) *Node {
				u := ops.BroadcastTo(ops.Reverse(in[1], 0), 2, 2)
				return ops.SetIndex(ops.Transpose(in[0]), u, index.All, index.Of(ops.Reverse(in[2], 0)))
			}),
			Want: []*tensor.Tensor{f64s([]int{2, 3}, 2, 1, 4, 2, 1, 5)},
		},
		{
			Name: "a value that is still read is kept",
			Why:  "writing in place is the planner's, never the reader's",
			In:   []*tensor.Tensor{f64(1, 2, 3), ints(1)},
			Build: func(in []*Node) []*Node {
				old := ops.Mul(in[0], 2)
				return []*Node{ops.Neg(ops.SetIndex(old, 5, index.Of(in[1]))), ops.Add(old, 1)}
			},
			Want: []*tensor.Tensor{f64(-2, -5, -6), f64(3, 5, 7)},
		},
		{
			Name: "half floats multiply in float32", Why: "a step of 131008 would overflow",
			In:    []*tensor.Tensor{halves(65504), halves(2, 0.5), ints(0, 0)},
			Build: elements(ops.CombineMul, ops.Mode{Wrap: true}), Want: []*tensor.Tensor{halves(65504)},
		},
		{
			Name: "more ties than a half float counts", Why: "70 000 that attain a maximum share it",
			In: []*tensor.Tensor{halves(1), halves(slices.Repeat([]float64{1}, 69_999)...)},
			Build: build(func(in []*Node) *Node {
				places := ops.Zeros(in[0].Graph(), tensor.Int32, 69_999)
				return elements(ops.CombineMax, ops.Mode{Wrap: true})(append(in, places))[0]
			}),
			Want: []*tensor.Tensor{halves(1)}, Cotangent: halves(35_000), Grads: []*tensor.Tensor{halves(0.5), nil},
		},
		{
			Name: "second derivative of a product of writers",
			Why:  "∂²(x·s₁·s₂·s₃)/∂s₁∂s₂ is x·s₃, two of them 0",
			In:   []*tensor.Tensor{f64(2), f64(0, 0, 3), ints(0, 0, 0)},
			Build: build(func(in []*Node) *Node {
				y := ops.Sum(elements(ops.CombineMul, ops.Mode{Wrap: true})(in)[0])
				return ops.SliceAxis(autograd.Grad(y, in[1])[0], 0, 0, 1)
			}),
			Want: []*tensor.Tensor{f64(0)}, Cotangent: f64(1),
			Grads: []*tensor.Tensor{nil, f64(0, 6, 0), nil},
		},
		{
			Name:  "a product with infinity under a zero cotangent",
			Why:   "only elementwise rules are guarded",
			In:    []*tensor.Tensor{f64(2), f64(inf), ints(0)},
			Build: elements(ops.CombineMul, ops.Mode{Wrap: true}), Want: []*tensor.Tensor{f64(inf)},
			Cotangent: f64(0), Grads: []*tensor.Tensor{f64(nan), f64(0), nil},
		},
	}
}

// emptyCases: reductions of nothing, and truth.
func emptyCases() []Exact {
	nothing := tensor.Must(tensor.New(tensor.Float64, 2, 0))
	return []Exact{
		{
			Name: "folds of nothing", Why: "CASES 4", In: []*tensor.Tensor{nothing},
			Build: one(func(x *Node) *Node {
				return ops.Stack(0, ops.Sum(x, 1), ops.Prod(x, 1), ops.Mean(x, 1), ops.LogSumExp(x, 1))
			}),
			Want: []*tensor.Tensor{f64s([]int{4, 2}, 0, 0, 1, 1, nan, nan, -inf, -inf)},
		},
		{
			Name: "no lines have no greatest", Why: "CASES 4: of shape (0, 4) the maxima are none",
			In:    []*tensor.Tensor{tensor.Must(tensor.New(tensor.Float64, 0, 4))},
			Build: one(func(x *Node) *Node { return ops.Max(x, 1) }), Want: []*tensor.Tensor{f64()},
		},
		{
			Name: "the greatest of nothing, no times", Why: "no lines need no greatest, though they are empty",
			In:    []*tensor.Tensor{tensor.Must(tensor.New(tensor.Float64, 0, 0))},
			Build: one(func(x *Node) *Node { return ops.Max(x, 1) }), Want: []*tensor.Tensor{f64()}, Cotangent: f64(),
			Grads: []*tensor.Tensor{tensor.Must(tensor.New(tensor.Float64, 0, 0))},
		},
		{
			Name: "the greatest of nothing", Why: "CASES 4", In: []*tensor.Tensor{nothing},
			Build: one(func(x *Node) *Node { return ops.Max(x, 1) }), Err: tensor.ErrUnsupported,
		},
		{
			Name: "the place of the greatest of nothing", Why: "there is no index", In: []*tensor.Tensor{nothing},
			Build: one(func(x *Node) *Node { return ops.ArgMax(x, 1) }), Err: tensor.ErrUnsupported,
		},
		{
			Name: "any and all",
			Why:  "numbers are tested ≠ 0, NaN is true; any of nothing is false, all of nothing true",
			In:   []*tensor.Tensor{f64(0, nan), f64(math.Copysign(0, -1), 0), nothing},
			Build: func(in []*Node) []*Node {
				return []*Node{
					ops.Stack(0, ops.Any(in[0]), ops.All(in[0]), ops.All(ops.SliceAxis(in[0], 0, 1, 1)), ops.Any(in[1])),
					ops.Concat(0, ops.Any(in[2], 1), ops.All(in[2], 1)),
				}
			},
			Want: []*tensor.Tensor{tensor.Of(true, false, true, false), tensor.Of(false, false, true, true)},
		},
		{
			Name:  "max of the two zeros in either order",
			Why:   "CASES 35: it is +0, which its reciprocal shows",
			In:    []*tensor.Tensor{f64(math.Copysign(0, -1), 0), f64(0, math.Copysign(0, -1))},
			Build: func(in []*Node) []*Node { return []*Node{ops.Div(1, ops.Max(in[0])), ops.Div(1, ops.Max(in[1]))} },
			Want:  []*tensor.Tensor{scalar(inf), scalar(inf)},
		},
	}
}

// randomCases: keys and what is made of them.
func randomCases() []Exact {
	return []Exact{{
		Name: "keys", Why: "a key gives the same numbers each time, keys made of it give others",
		In: []*tensor.Tensor{tensor.Of[uint32](7, 9)},
		Build: one(func(k *Node) *Node {
			made := ops.SplitKey(k, 3)
			row := func(i int) *Node { return ops.Reshape(ops.SliceAxis(made, 0, i, 1), 2) }
			bits := func(k *Node) *Node { return ops.RandomBits(k, 64) }
			return ops.Stack(0, ops.All(ops.Equal(row(2), ops.FoldIn(k, 2))), ops.All(ops.Equal(bits(k), bits(k))),
				ops.Any(ops.Equal(bits(row(0)), bits(row(1)))), ops.Any(ops.Equal(bits(row(0)), bits(k))))
		}),
		Want: []*tensor.Tensor{tensor.Of(true, true, false, false)},
	}}
}

// slopeCases: which derivative goes where.
func slopeCases() []Exact {
	return []Exact{
		{
			Name: "the seed is the loss", Why: "CASES 28: whatever is built after it",
			In: []*tensor.Tensor{scalar(3)},
			Build: one(func(x *Node) *Node {
				loss := ops.Square(x)
				ops.Exp(x)
				return autograd.Grad(loss, x)[0]
			}),
			Want: []*tensor.Tensor{scalar(6)},
		},
		{
			Name: "a zero tangent stops an infinite slope", Why: "the guard is that of cotangents",
			In:    []*tensor.Tensor{f64(0, 4), f64(0, 1)},
			Build: build(func(in []*Node) *Node { return autograd.JVP([]*Node{ops.Sqrt(in[0])}, in[:1], in[1:])[0] }),
			Want:  []*tensor.Tensor{f64(0, 0.25)},
		},
		{
			Name: "a quotient by zero under a zero cotangent", Why: "÷ is guarded too",
			In:    []*tensor.Tensor{f64(1, 0), f64(0, 0)},
			Build: two(ops.Div), Want: []*tensor.Tensor{f64(inf, nan)}, Cotangent: f64(0, 0),
			Grads: []*tensor.Tensor{f64(0, 0), f64(0, 0)},
		},
		{
			Name:  "the modulus of a complex",
			Why:   "gradients follow ⟨u, v⟩ = Re Σ conj(u)·v: |z| grows along z/|z|",
			In:    []*tensor.Tensor{tensor.Of(3+4i, 0)},
			Build: one(ops.Abs), Want: []*tensor.Tensor{f64(5, 0)}, Cotangent: f64(10, 1),
			Grads: []*tensor.Tensor{tensor.Of(6+8i, 0)},
		},
	}
}

// counted is 0, 1, … n − 1.
func counted(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return v
}
