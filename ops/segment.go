package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The segment reductions fold the elements of data whose id is the same:
//
//	out[s, r…] = the fold of data[i…, r…] over all i… with ids[i…] = s, for s from 0 to num − 1
//
// ids, of any integer dtype and in any order, has the shape of data's first axes. An id that is negative or
// not below num is dropped, whatever the dtype; a segment without elements is the identity of the fold.
// Elements are folded in row-major order. Each is a scatter, and has its gradients. Errors (sticky) of every
// one: tensor.ErrDType for ids that are no integers, tensor.ErrShape where their shape is not that of data's
// first axes and for a negative num, tensor.ErrUnsupported for nil.

// SegmentSum is the sum of each segment, 0 of nothing; for bool it is or. Half floats are summed in float32.
func SegmentSum(data, ids *Node, num int) *Node {
	return segment("ops.SegmentSum", CombineAdd, data, ids, num)
}

// SegmentProd is the product of each segment, 1 of nothing; for bool it is and. The derivative by an element
// is the product of all the others, right with any number of zeros.
func SegmentProd(data, ids *Node, num int) *Node {
	return segment("ops.SegmentProd", CombineMul, data, ids, num)
}

// SegmentMax is the greatest of each segment: NaN where there is one, +0 of the two zeros; of nothing −∞, the
// least integer or false. The cotangent is shared equally among the elements that attain it, the identity
// included: an element −∞ has a half at most.
//
// Errors (sticky): also tensor.ErrUnsupported for complex.
func SegmentMax(data, ids *Node, num int) *Node {
	return segment("ops.SegmentMax", CombineMax, data, ids, num)
}

// SegmentMin is the least of each segment: NaN where there is one, −0 of the two zeros; of nothing +∞, the
// greatest integer or true. The cotangent is shared equally among the elements that attain it, the identity
// included: an element +∞ has a half at most.
//
// Errors (sticky): also tensor.ErrUnsupported for complex.
func SegmentMin(data, ids *Node, num int) *Node {
	return segment("ops.SegmentMin", CombineMin, data, ids, num)
}

// SegmentMean is the mean of each segment, of floats and complexes, 0 of nothing. Half floats are computed in
// float32 and rounded once.
//
// Errors (sticky): also tensor.ErrDType for integers and bool: cast first.
func SegmentMean(data, ids *Node, num int) *Node {
	const name = "ops.SegmentMean"
	if bad := graph.Invalid(name, data, ids); bad != nil {
		return bad
	}
	if err := acceptAnalog.check(0, data.DType()); err != nil {
		return graph.Fail(name, err, data)
	}
	wide := widened(data.DType())
	sum := segment(name, CombineAdd, Cast(data, wide), ids, num)
	if !sum.Valid() {
		return sum
	}
	count := Maximum(segmentSizes(name, ids, num), 1)
	count = Reshape(count, append([]int{num}, filled(sum.Rank()-1, 1)...)...)
	return Cast(Div(sum, Cast(count, wide)), data.DType())
}

// segmentSizes is the number of elements of each segment, as int64.
func segmentSizes(name string, ids *Node, num int) *Node {
	ones := BroadcastTo(ids.Graph().Literal(tensor.Int64, 1), ids.Shape()...)
	return segment(name, CombineAdd, ones, ids, num)
}

// segment scatters data onto the identities of a combination.
func segment(name string, c Combine, data, ids *Node, num int) *Node {
	if bad := graph.Invalid(name, data, ids); bad != nil {
		return bad
	}
	if err := checkSegments(c, data.Spec(), ids.Spec(), num); err != nil {
		return graph.Fail(name, err, data)
	}
	rest := data.Shape()[ids.Rank():]
	w := Window{
		IndexAxes: []int{0}, Collapsed: []int{0}, SliceSizes: prepend(1, rest), IndexShape: notNil(ids.Shape()),
		OffsetAxes: shift(upTo(len(rest)), ids.Rank()),
	}
	at := places{window: w, mode: Mode{OOB: OOBSkip}, idx: []*Node{ids}}
	start := data.Graph().Literal(data.DType(), c.identity(data.DType()))
	return at.scatter(c, BroadcastTo(start, prepend(num, rest)...), data)
}

func checkSegments(c Combine, data, ids tensor.Spec, num int) error {
	switch {
	case !ids.DType.IsInteger():
		return tensor.Errorf("", tensor.ErrDType, "ids have dtype %s, want an integer", ids.DType)
	case ids.Rank() > data.Rank() || !slices.Equal(ids.Shape, data.Shape[:ids.Rank()]):
		return tensor.Errorf("", tensor.ErrShape,
			"ids have shape %v, which is not that of the first axes of data, %v", ids.Shape, data.Shape)
	case num < 0:
		return tensor.Errorf("", tensor.ErrShape, "%d segments, want 0 or more", num)
	case c == CombineMax || c == CombineMin:
		return acceptOrdered.check(0, data.DType)
	}
	return nil
}

// identity is the scalar that a combination leaves no trace of.
func (c Combine) identity(dt tensor.DType) any {
	switch c {
	case CombineAdd:
		return number(dt, 0)
	case CombineMul:
		return number(dt, 1)
	case CombineMin:
		return greatest(dt)
	}
	return least(dt)
}

// Bincount is how often each of 0 to length − 1 is among ids, of any integer dtype and shape, as int64; an
// id that is negative or not below length is dropped. It has no gradient. SegmentSum adds weights in place
// of ones.
//
// Errors (sticky): tensor.ErrDType for ids that are no integers, tensor.ErrShape for a negative length,
// tensor.ErrUnsupported for nil.
func Bincount(ids *Node, length int) *Node {
	const name = "ops.Bincount"
	if bad := checked(name, ids, acceptInt); bad != nil {
		return bad
	}
	return segmentSizes(name, ids, length)
}
