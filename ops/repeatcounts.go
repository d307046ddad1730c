package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// RepeatCounts is x with element i along an axis repeated counts[i] times, counts being of any integer dtype
// and the axis' extent; a negative count is 0. total is the extent of the result: elements beyond it are cut
// off, and where there are fewer, zeros follow. The cotangent is summed over the repetitions. Repeat repeats
// all alike.
//
// Errors (sticky): tensor.ErrAxis, tensor.ErrDType for counts that are no integers, tensor.ErrShape for
// counts of another shape and for a negative total, tensor.ErrUnsupported for nil.
func RepeatCounts(x, counts *Node, axis, total int) *Node {
	const name = "ops.RepeatCounts"
	if bad := graph.Invalid(name, x, counts); bad != nil {
		return bad
	}
	a, err := axisOf(axis, x.Rank())
	switch {
	case err != nil:
	case !counts.DType().IsInteger():
		err = tensor.Errorf("", tensor.ErrDType, "counts have dtype %s, want an integer", counts.DType())
	case counts.Rank() != 1 || counts.Size() != x.Shape()[a]:
		err = tensor.Errorf("", tensor.ErrShape, "counts have shape %v for axis %d of shape %v",
			counts.Shape(), a, x.Shape())
	case total < 0:
		err = tensor.Errorf("", tensor.ErrShape, "total %d is negative", total)
	}
	if err != nil {
		return graph.Fail(name, err, x)
	}
	n := Maximum(Cast(counts, tensor.Int64), 0)
	ends := CumSum(n, 0) // element i stands at ends[i−1] to ends[i]−1
	at := SearchSorted(ends, Iota(x.Graph(), tensor.Int64, 0, total), true)
	return Take(x, at, a, Dropped)
}
