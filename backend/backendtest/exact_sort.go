package backendtest

import (
	"math"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// sortCases: ties, NaN and zeros in sorts and selections, and where their gradients go.
func sortCases() []Exact {
	minus := math.Copysign(0, -1)
	sorted := func(order ops.Order) func(in []*Node) []*Node {
		return func(in []*Node) []*Node { return pairOf(ops.SortWithIndex(in[0], 0, order)) }
	}
	quantile := func(q float64, m ops.QuantileMethod) func(in []*Node) []*Node {
		return one(func(x *Node) *Node { return ops.Quantile(x, q, m) })
	}
	return []Exact{
		{
			Name: "sort puts NaN last and lets zeros tie", Why: "NaN is the greatest; the sort is stable",
			In:    []*tensor.Tensor{f64(nan, 0, minus, inf, -1, nan)},
			Build: sorted(ops.Ascending), Want: []*tensor.Tensor{f64(-1, 0, minus, inf, nan, nan), ints(4, 1, 2, 3, 0, 5)},
			Cotangent: f64(1, 2, 3, 4, 5, 6), Grads: []*tensor.Tensor{f64(5, 2, 3, 4, 1, 6)},
		},
		{
			Name: "sort the other way puts NaN first", Why: "ties keep their order here too",
			In:    []*tensor.Tensor{f64(1, nan, 3, minus, 0, 3)},
			Build: sorted(ops.Descending), Want: []*tensor.Tensor{f64(nan, 3, 3, 1, minus, 0), ints(1, 2, 5, 0, 3, 4)},
			Cotangent: f64(1, 2, 3, 4, 5, 6), Grads: []*tensor.Tensor{f64(4, 1, 2, 5, 6, 3)},
		},
		{
			Name: "a total order tells signs apart", Why: "IEEE 754's totalOrder",
			In:    []*tensor.Tensor{f64(0, math.Copysign(nan, -1), minus, -inf, nan)},
			Build: sorted(ops.TotalAscending),
			Want:  []*tensor.Tensor{f64(math.Copysign(nan, -1), -inf, minus, 0, nan), ints(1, 3, 2, 0, 4)},
		},
		{
			Name: "topk takes the lowest indices of a tie", Why: "a prefix of the descending sort",
			In:    []*tensor.Tensor{f64(1, 3, 3, 3)},
			Build: func(in []*Node) []*Node { return pairOf(ops.TopK(in[0], 2, 0, ops.Descending)) },
			Want:  []*tensor.Tensor{f64(3, 3), ints(1, 2)}, Cotangent: f64(5, 7), Grads: []*tensor.Tensor{f64(0, 5, 7, 0)},
		},
		{
			Name: "topk takes NaN first", Why: "NaN is the greatest",
			In:    []*tensor.Tensor{f64(1, nan, inf)},
			Build: func(in []*Node) []*Node { return pairOf(ops.TopK(in[0], 2, 0, ops.Descending)) },
			Want:  []*tensor.Tensor{f64(nan, inf), ints(1, 2)}, Cotangent: f64(5, 7), Grads: []*tensor.Tensor{f64(0, 5, 7)},
		},
		{
			Name: "topk of more than there are", Why: "CASES 37", In: []*tensor.Tensor{f64(1, 2)},
			Build: func(in []*Node) []*Node { return pairOf(ops.TopK(in[0], 3, 0, ops.Descending)) }, Err: tensor.ErrShape,
		},
		{
			Name: "complex numbers are not sorted", Why: "they have no order", In: []*tensor.Tensor{tensor.Of(1i, 2)},
			Build: sorted(ops.Ascending), Err: tensor.ErrUnsupported,
		},
		{
			Name: "kthvalue counts from 1", Why: "as PyTorch does", In: []*tensor.Tensor{f64(5, 2, nan, 2)},
			Build: func(in []*Node) []*Node { return pairOf(ops.KthValue(in[0], 2, 0)) },
			Want:  []*tensor.Tensor{scalar(2), tensor.Scalar(int64(3))}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 0, 0, 1)},
		},
		{
			Name: "median of an even number", Why: "the mean of the two middles", In: []*tensor.Tensor{f64(4, 1, 3, 2)},
			Build: one(func(x *Node) *Node { return ops.Median(x) }),
			Want:  []*tensor.Tensor{scalar(2.5)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 0, 0.5, 0.5)},
		},
		{
			Name: "median with NaN", Why: "is NaN, and the first NaN has the gradient", In: []*tensor.Tensor{f64(1, nan, 3, nan)},
			Build: one(func(x *Node) *Node { return ops.Median(x) }),
			Want:  []*tensor.Tensor{scalar(nan)}, Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 1, 0, 0)},
		},
		{
			Name: "median of nothing", Why: "NaN, as the mean",
			In:    []*tensor.Tensor{tensor.Must(tensor.New(tensor.Float64, 2, 0))},
			Build: one(func(x *Node) *Node { return ops.Median(x, 1) }), Want: []*tensor.Tensor{f64(nan, nan)},
		},
		{
			Name: "quantile of equal elements", Why: "nothing is rounded away",
			In:    []*tensor.Tensor{f64(0.1, 0.1, 0.1, 0.1)},
			Build: one(func(x *Node) *Node { return ops.Sub(ops.Quantile(x, 0.3, ops.QuantileLinear), 0.1) }), Want: []*tensor.Tensor{scalar(0)},
		},
		{
			Name: "quantile beside infinities", Why: "weights, not differences", In: []*tensor.Tensor{f64(-inf, 5)},
			Build: quantile(0.25, ops.QuantileLinear), Want: []*tensor.Tensor{scalar(-inf)},
			Cotangent: scalar(4), Grads: []*tensor.Tensor{f64(3, 1)},
		},
		{
			Name: "quantile at an element", Why: "the other one has weight 0, even ∞", In: []*tensor.Tensor{f64(1, 2, inf)},
			Build: quantile(0.5, ops.QuantileLinear), Want: []*tensor.Tensor{scalar(2)},
			Cotangent: scalar(1), Grads: []*tensor.Tensor{f64(0, 1, 0)},
		},
		{
			Name: "quantile beyond 1", Why: "an error", In: []*tensor.Tensor{f64(1, 2)},
			Build: quantile(1.5, ops.QuantileLinear), Err: tensor.ErrBounds,
		},
		{
			Name: "search among ties", Why: "left of them, or right; zeros tie and NaN is the greatest",
			In: []*tensor.Tensor{f64(-1, minus, 0, 2, nan), f64(0, minus, nan, inf, -inf)},
			Build: func(in []*Node) []*Node {
				return []*Node{ops.SearchSorted(in[0], in[1], false), ops.SearchSorted(in[0], in[1], true)}
			},
			Want: []*tensor.Tensor{ints(1, 1, 4, 4, 0), ints(3, 3, 5, 4, 0)},
		},
		{
			Name: "unique elements", Why: "NaNs are one, zeros are one: the first",
			In: []*tensor.Tensor{f64(2, nan, minus, nan, 0)},
			Build: func(in []*Node) []*Node {
				v, i, n, c := ops.UniqueSized(in[0], 4, 9)
				return []*Node{v, i, n, c}
			},
			Want:      []*tensor.Tensor{f64(minus, 2, nan, 9), ints(2, 0, 1, 5), ints(1, 2, 0, 2, 0), ints(2, 1, 2, 0)},
			Cotangent: f64(1, 2, 3, 4), Grads: []*tensor.Tensor{f64(2, 3, 1, 0, 0)},
		},
		{
			Name: "unique elements cut off", Why: "their equals are numbered all the same",
			In: []*tensor.Tensor{f64(3, 1, 2, 1)},
			Build: func(in []*Node) []*Node {
				v, i, n, c := ops.UniqueSized(in[0], 2, 0)
				return []*Node{v, i, n, c}
			},
			Want: []*tensor.Tensor{f64(1, 2), ints(1, 2), ints(2, 0, 1, 0), ints(2, 1)},
		},
	}
}

// segmentCases: ids out of range, segments without elements, bags, and reductions that leave NaN out.
func segmentCases() []Exact {
	segment := func(f func(data, ids *Node, num int) *Node, num int) func([]*Node) []*Node {
		return build(func(in []*Node) *Node { return f(in[0], in[1], num) })
	}
	table := f64s([]int{3, 1}, 1, 2, 4)
	return []Exact{
		{
			Name: "a segment id of −1 is dropped", Why: "CASES 34", In: []*tensor.Tensor{f64(1, 2, 4), ints(0, -1, 1)},
			Build: segment(ops.SegmentSum, 2), Want: []*tensor.Tensor{f64(1, 4)},
			Cotangent: f64(10, 20), Grads: []*tensor.Tensor{f64(10, 0, 20), nil},
		},
		{
			Name: "a segment id beyond int64 is dropped", Why: "it does not wrap", In: []*tensor.Tensor{f64(1, 2), tensor.Of[uint64](1<<63, 1)},
			Build: segment(ops.SegmentSum, 2), Want: []*tensor.Tensor{f64(0, 2)},
		},
		{
			Name: "the mean of an empty segment is 0", Why: "CASES 37", In: []*tensor.Tensor{f64(1, 2, 6), ints(2, 0, 2)},
			Build: segment(ops.SegmentMean, 3), Want: []*tensor.Tensor{f64(2, 0, 3.5)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(0.5, 1, 0.5), nil},
		},
		{
			Name: "an empty segment is the identity", Why: "of each fold", In: []*tensor.Tensor{f64(3), ints(1)},
			Build: func(in []*Node) []*Node {
				return []*Node{
					ops.SegmentProd(in[0], in[1], 2), ops.SegmentMax(in[0], in[1], 2), ops.SegmentMin(in[0], in[1], 2),
					ops.SegmentMax(ops.Cast(in[0], tensor.Int8), in[1], 2), ops.SegmentMin(ops.Cast(in[0], tensor.Uint16), in[1], 2),
				}
			},
			Want: []*tensor.Tensor{f64(1, 3), f64(-inf, 3), f64(inf, 3), tensor.Of[int8](-128, 3), tensor.Of[uint16](65535, 3)},
		},
		{
			Name: "the greatest of a segment shares at ties", Why: "as Max does", In: []*tensor.Tensor{f64(3, 1, 3, 5), ints(0, 0, 0, 1)},
			Build: segment(ops.SegmentMax, 2), Want: []*tensor.Tensor{f64(3, 5)},
			Cotangent: f64(1, 1), Grads: []*tensor.Tensor{f64(0.5, 0, 0.5, 1), nil},
		},
		{
			Name: "the identity of a segment shares too", Why: "it is one more element", In: []*tensor.Tensor{f64(-inf), ints(0)},
			Build: segment(ops.SegmentMax, 1), Want: []*tensor.Tensor{f64(-inf)},
			Cotangent: f64(1), Grads: []*tensor.Tensor{f64(0.5), nil},
		},
		{
			Name: "the product of a segment with zeros", Why: "never by division", In: []*tensor.Tensor{f64(2, 0, 3, 0, 0), ints(0, 0, 0, 1, 1)},
			Build: segment(ops.SegmentProd, 2), Want: []*tensor.Tensor{f64(0, 0)},
			Cotangent: f64(1, 1), Grads: []*tensor.Tensor{f64(0, 6, 0, 0, 0), nil},
		},
		{
			Name: "repetitions by counts", Why: "padded with zeros, which have no gradient", In: []*tensor.Tensor{f64(5, 6, 7), ints(2, -3, 1)},
			Build: build(func(in []*Node) *Node { return ops.RepeatCounts(in[0], in[1], 0, 4) }), Want: []*tensor.Tensor{f64(5, 5, 7, 0)},
			Cotangent: f64(1, 2, 3, 4), Grads: []*tensor.Tensor{f64(3, 0, 3), nil},
		},
		{
			Name: "bags without their padding", Why: "it is not counted and has no gradient", In: []*tensor.Tensor{table, ints(1, 2, 0, 0), ints(0, 3, 3)},
			Build: build(func(in []*Node) *Node { return ops.EmbeddingBagOffsets(in[0], in[1], in[2], ops.BagMean, 0) }),
			Want:  []*tensor.Tensor{f64s([]int{3, 1}, 3, 0, 0)}, Cotangent: f64s([]int{3, 1}, 2, 5, 7),
			Grads: []*tensor.Tensor{f64s([]int{3, 1}, 0, 1, 1), nil, nil},
		},
		{
			Name: "the greatest of an empty bag is 0", Why: "a bag of nothing is 0", In: []*tensor.Tensor{table, ints(2, 1), ints(0, 2)},
			Build: build(func(in []*Node) *Node { return ops.EmbeddingBagOffsets(in[0], in[1], in[2], ops.BagMax) }),
			Want:  []*tensor.Tensor{f64s([]int{2, 1}, 4, 0)}, Cotangent: f64s([]int{2, 1}, 3, 5),
			Grads: []*tensor.Tensor{f64s([]int{3, 1}, 0, 0, 3), nil, nil},
		},
		{
			Name: "what is left without NaN", Why: "all of NaN: the sum is 0, the mean and the extremes NaN",
			In: []*tensor.Tensor{f64s([]int{2, 3}, 1, nan, 3, nan, nan, nan)},
			Build: func(in []*Node) []*Node {
				x := in[0]
				return []*Node{
					ops.NanMean(x, 1), ops.NanSum(x, 1), ops.NanProd(x, 1), ops.NanMax(x, 1), ops.NanMin(x, 1), ops.NanArgMax(x, 1), ops.NanArgMin(x, 1),
				}
			},
			Want: []*tensor.Tensor{
				f64(2, nan), f64(4, 0), f64(3, 1), f64(3, nan), f64(1, nan), ints(2, 0), ints(0, 0),
			},
			Cotangent: f64(2, 5), Grads: []*tensor.Tensor{f64s([]int{2, 3}, 1, 0, 1, 0, 0, 0)},
		},
		{
			Name: "the index of −∞ beside NaN", Why: "it is the number, not what stands for NaN", In: []*tensor.Tensor{f64(nan, -inf, -inf)},
			Build: one(func(x *Node) *Node { return ops.NanArgMax(x, 0) }), Want: []*tensor.Tensor{tensor.Scalar(int64(1))},
		},
		{
			Name: "hardmax marks the first of a tie", Why: "as ArgMax", In: []*tensor.Tensor{f64(1, 3, 3)},
			Build: one(func(x *Node) *Node { return ops.Hardmax(x, 0) }), Want: []*tensor.Tensor{f64(0, 1, 0)},
			Cotangent: f64(1, 1, 1), Grads: []*tensor.Tensor{f64(0, 0, 0)},
		},
	}
}
