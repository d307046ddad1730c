package adjoint

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// The scans have x's shape; options are ops.Exclusive and ops.Reversed. Errors of every one: those of its
// namesake in package ops.

// CumSum is yᵢ = Σ xⱼ over j ≤ i along an axis.
func CumSum(x *Node, axis int, options ...ops.ScanOption) (*Node, error) {
	return scan("adjoint.CumSum", ops.CumSum, x, axis, options)
}

// CumProd is yᵢ = Π xⱼ over j ≤ i along an axis. The gradient is right with any number of zeros.
func CumProd(x *Node, axis int, options ...ops.ScanOption) (*Node, error) {
	return scan("adjoint.CumProd", ops.CumProd, x, axis, options)
}

// CumMax is yᵢ = max xⱼ over j ≤ i along an axis, NaN from the first NaN on. The gradient goes to the first element
// met that attains it.
func CumMax(x *Node, axis int, options ...ops.ScanOption) (*Node, error) {
	return scan("adjoint.CumMax", ops.CumMax, x, axis, options)
}

// CumMin is yᵢ = min xⱼ over j ≤ i along an axis, NaN from the first NaN on. The gradient goes to the first element
// met that attains it.
func CumMin(x *Node, axis int, options ...ops.ScanOption) (*Node, error) {
	return scan("adjoint.CumMin", ops.CumMin, x, axis, options)
}

// LogCumSumExp is yᵢ = log Σ exp xⱼ over j ≤ i of floats along an axis, without overflow.
func LogCumSumExp(x *Node, axis int, options ...ops.ScanOption) (*Node, error) {
	return scan("adjoint.LogCumSumExp", ops.LogCumSumExp, x, axis, options)
}

type scanner func(x *graph.Node, axis int, options ...ops.ScanOption) *graph.Node

func scan(name string, f scanner, x *Node, axis int, options []ops.ScanOption) (*Node, error) {
	return Apply(name, func(in []*graph.Node) *graph.Node { return f(in[0], axis, options...) }, x)
}

// Sort is x with each line along an axis in order; elements that tie keep theirs. The gradient goes where each
// element came from.
//
// Errors: those of ops.Sort.
func Sort(x *Node, axis int, order ops.Order) (*Node, error) {
	return Apply("adjoint.Sort", func(in []*graph.Node) *graph.Node { return ops.Sort(in[0], axis, order) }, x)
}

// ArgSort is the positions, as int, that put each line along an axis in order: TakeAlongAxis of them is Sort.
//
// Errors: those of ops.ArgSort.
func ArgSort(x *Node, axis int, order ops.Order) (*Node, error) {
	return applyPositions("adjoint.ArgSort", func(in []*graph.Node) *graph.Node { return ops.ArgSort(in[0], axis, order) }, x)
}

// TopK is the first k elements of each line along an axis in order. The gradient goes where each came from.
//
// Errors: those of ops.TopK.
func TopK(x *Node, k, axis int, order ops.Order) (*Node, error) {
	return Apply("adjoint.TopK", func(in []*graph.Node) *graph.Node {
		values, _ := ops.TopK(in[0], k, axis, order)
		return values
	}, x)
}

// ArgTopK is the positions, as int, of what TopK returns.
//
// Errors: those of ops.TopK.
func ArgTopK(x *Node, k, axis int, order ops.Order) (*Node, error) {
	return applyPositions("adjoint.ArgTopK", func(in []*graph.Node) *graph.Node {
		_, positions := ops.TopK(in[0], k, axis, order)
		return positions
	}, x)
}

// The segment reductions fold the elements of data whose id is the same: out[s, r…] is the fold of data[i…, r…]
// over all i… with ids[i…] = s, for s below num. ids are in any order and of any rank; an id outside of 0…num−1 is
// dropped. Errors of every one: those of its namesake in package ops.

// SegmentSum is the sum of each segment, 0 of nothing.
func SegmentSum(data, ids *Node, num int) (*Node, error) {
	return segment("adjoint.SegmentSum", ops.SegmentSum, data, ids, num)
}

// SegmentMean is the mean of each segment of floats, 0 of nothing.
func SegmentMean(data, ids *Node, num int) (*Node, error) {
	return segment("adjoint.SegmentMean", ops.SegmentMean, data, ids, num)
}

// SegmentMax is the greatest of each segment, −∞ or the least integer of nothing.
func SegmentMax(data, ids *Node, num int) (*Node, error) {
	return segment("adjoint.SegmentMax", ops.SegmentMax, data, ids, num)
}

// SegmentMin is the least of each segment, +∞ or the greatest integer of nothing.
func SegmentMin(data, ids *Node, num int) (*Node, error) {
	return segment("adjoint.SegmentMin", ops.SegmentMin, data, ids, num)
}

// SegmentProd is the product of each segment, 1 of nothing.
func SegmentProd(data, ids *Node, num int) (*Node, error) {
	return segment("adjoint.SegmentProd", ops.SegmentProd, data, ids, num)
}

func segment(name string, f func(data, ids *graph.Node, num int) *graph.Node, data, ids *Node, num int) (*Node, error) {
	return Apply(name, func(in []*graph.Node) *graph.Node { return f(in[0], in[1], num) }, data, ids)
}
