package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// MaskedSelect is the elements of x at which mask is true, in row-major order, as rank 1; x and mask
// broadcast. How many there are depends on the mask, whose elements must be known when the graph is built: a
// constant, or any node of an eager graph. The cotangent goes back to the elements taken.
//
// Errors (sticky): tensor.ErrDType for a mask that is not bool, tensor.ErrShape where the two do not
// broadcast, tensor.ErrDataDependent for a mask known only at run time, tensor.ErrUnsupported for nil.
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
	if v, err := mask.HostValue(); err == nil { // broadcast, it stays a constant
		if v, err = v.Broadcast(shape...); err != nil {
			return graph.Fail(name, err, x)
		}
		at = v
	}
	return Flatten(Index(BroadcastTo(x, shape...), index.Mask(at)))
}

// Compress is x without the parts along an axis at which keep, of rank 1, is false; what is past the end of
// keep goes too. The elements of keep must be known when the graph is built: a constant, or any node of an
// eager graph. The cotangent goes back to the parts taken.
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
	mask, count, known := knownMask(x.Graph(), keep)
	if !known {
		return Nonzero(keep)[0] // which says why
	}
	if n := keep.Size(); n < x.Shape()[a] {
		x = SliceAxis(x, a, 0, n)
	}
	return graph.Apply(CompressOp{a, count}, x, mask)
}
