package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// MaskedSelect is the elements of x at which mask is true, in row-major order, as rank 1; x and mask broadcast.
// How many there are depends on the mask, whose elements must be known when the graph is built: a constant, or
// any node of an eager graph. The cotangent goes back to the elements taken.
//
// Errors (sticky): tensor.ErrDType for a mask that is not bool, tensor.ErrShape where the two do not broadcast,
// tensor.ErrDataDependent for a mask known only at run time, tensor.ErrUnsupported for nil.
func MaskedSelect(x, mask *Node) *Node {
	const name = "ops.MaskedSelect"
	if bad := graph.Invalid(name, x, mask); bad != nil {
		return bad
	}
	err := checkMask(mask)
	var shape []int
	if err == nil {
		shape, err = tensor.BroadcastShapes(x.Shape(), mask.Shape())
	}
	if err != nil {
		return graph.Fail(name, err, x)
	}
	var at index.Source = mask
	if v, err := mask.Value(); err == nil { // broadcast, it stays a constant
		if v, err = v.Broadcast(shape...); err != nil {
			return graph.Fail(name, err, x)
		}
		at = v
	}
	return Flatten(Index(BroadcastTo(x, shape...), index.Mask(at)))
}

// Compress is x without the parts along an axis at which keep, of rank 1, is false; what is past the end of keep
// goes too. The elements of keep must be known when the graph is built: a constant, or any node of an eager
// graph. The cotangent goes back to the parts taken.
//
// Errors (sticky): tensor.ErrDType for a keep that is not bool, tensor.ErrRank where it is not of rank 1,
// tensor.ErrShape where it is longer than the axis, tensor.ErrAxis, tensor.ErrDataDependent for a keep known
// only at run time, tensor.ErrUnsupported for nil.
func Compress(x, keep *Node, axis int) *Node {
	const name = "ops.Compress"
	if bad := graph.Invalid(name, x, keep); bad != nil {
		return bad
	}
	a, err := axisOf(axis, x.Rank())
	if err == nil {
		err = checkMask(keep)
	}
	switch {
	case err != nil:
	case keep.Rank() != 1:
		err = tensor.Errorf("", tensor.ErrRank, "the mask has shape %v, want rank 1", keep.Shape())
	case keep.Size() > x.Shape()[a]:
		err = tensor.Errorf("", tensor.ErrShape, "the mask has %d elements for axis %d of shape %v",
			keep.Size(), a, x.Shape())
	}
	if err != nil {
		return graph.Fail(name, err, x)
	}
	at := Nonzero(keep)[0]
	if !at.Valid() {
		return at
	}
	return Take(x, at, a)
}

// RepeatCounts is x with element i along an axis repeated counts[i] times, counts being of any integer dtype and
// the axis' extent; a negative count is 0. total is the extent of the result: elements beyond it are cut off, and
// where there are fewer, zeros follow. The cotangent is summed over the repetitions. Repeat repeats all alike.
//
// Errors (sticky): tensor.ErrAxis, tensor.ErrDType for counts that are no integers, tensor.ErrShape for counts
// of another shape and for a negative total, tensor.ErrUnsupported for nil.
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
	ends := Add(sumBefore(n), n) // element i stands at ends[i−1] to ends[i]−1
	at := SearchSorted(ends, Iota(x.Graph(), tensor.Int64, 0, total), true)
	return Take(x, at, a, Dropped)
}
