package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The sorts order the elements of every line along an axis; a negative axis counts from the end. They are
// stable, NaN is greater than every number, and −0 and +0 tie, unless the order is a total one. Bools and
// integers are sorted too. Each cotangent goes to the element that was moved there. Errors (sticky) of every
// one: tensor.ErrAxis for an axis outside of x, tensor.ErrUnsupported for complex, for an unknown order and
// for nil.

// Sort is x with every line along an axis in order.
func Sort(x *Node, axis int, order Order) *Node {
	values, _ := sortLines("ops.Sort", x, axis, order)
	return values
}

// ArgSort is the permutation that sorts: TakeAlongAxis(x, ArgSort(x, axis, order), axis) is Sort(x, axis,
// order). The indices are int64 and count from the start of each line. They have no gradient.
func ArgSort(x *Node, axis int, order Order) *Node {
	_, indices := sortLines("ops.ArgSort", x, axis, order)
	return indices
}

// SortWithIndex is Sort and ArgSort at once.
func SortWithIndex(x *Node, axis int, order Order) (values, indices *Node) {
	return sortLines("ops.SortWithIndex", x, axis, order)
}

// TopK is the first k elements of each line of Sort and of ArgSort, at the cost of a selection: with
// Descending the k greatest (NaN greatest of all), with Ascending the k least, sorted. Of elements that tie
// those with the lowest indices are taken.
//
// Errors (sticky): also tensor.ErrShape for a k that is negative or more than the line has.
func TopK(x *Node, k, axis int, order Order) (values, indices *Node) {
	const name = "ops.TopK"
	axis, bad := checkLines(name, x, axis)
	if bad == nil {
		bad = checkCount(name, x, axis, k, 0)
	}
	if bad != nil {
		return bad, bad
	}
	return sortFirst(x, axis, k, order)
}

// KthValue is the k-th least element of each line along an axis, k counting from 1, and its index, the lowest
// first of those that tie. The axis is dropped.
//
// Errors (sticky): also tensor.ErrShape for a k that is less than 1 or more than the line has.
func KthValue(x *Node, k, axis int) (value, index *Node) {
	const name = "ops.KthValue"
	axis, bad := checkLines(name, x, axis)
	if bad == nil {
		bad = checkCount(name, x, axis, k, 1)
	}
	if bad != nil {
		return bad, bad
	}
	values, indices := sortFirst(x, axis, k, Ascending)
	return dropTo(values, axis, k-1), dropTo(indices, axis, k-1)
}

// dropTo is element i of every line along an axis, which is dropped.
func dropTo(x *Node, axis, i int) *Node { return Squeeze(SliceAxis(x, axis, i, 1), axis) }

// checkLines checks what the builders of one operand share, and counts the axis from 0.
func checkLines(name string, x *Node, axis int) (int, *Node) {
	if bad := checked(name, x, acceptOrdered); bad != nil {
		return 0, bad
	}
	axis, err := axisOf(axis, x.Rank())
	if err != nil {
		return 0, graph.Fail(name, err, x)
	}
	return axis, nil
}

// checkCount refuses a k that is not from least to the extent of the axis.
func checkCount(name string, x *Node, axis, k, least int) *Node {
	if n := x.Shape()[axis]; k < least || k > n {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrShape,
			"k is %d for axis %d of shape %v, want %d to %d", k, axis, x.Shape(), least, n), x)
	}
	return nil
}

func sortLines(name string, x *Node, axis int, order Order) (values, indices *Node) {
	axis, bad := checkLines(name, x, axis)
	if bad != nil {
		return bad, bad
	}
	return sortFirst(x, axis, x.Shape()[axis], order)
}

// sortFirst is the first size elements of each sorted line, and where they stood.
func sortFirst(x *Node, axis, size int, order Order) (values, indices *Node) {
	r := graph.ApplyN(2, SortOp{Axis: axis, Keys: 1, Size: size, Order: order}, x)
	return r[0], r[1]
}

// SortBy sorts the lines of several nodes of one shape together: by the first keys of them, the first of all
// deciding where it differs, the next where it does not, and so on; the others are carried along and may be
// of any dtype. It returns the sorted nodes, in the order given. Each cotangent goes to the element that was
// moved there, of the keys too.
//
// Errors (sticky): also tensor.ErrShape for shapes that differ and where keys is less than 1 or more than
// there are nodes.
func SortBy(axis, keys int, order Order, xs ...*Node) []*Node {
	const name = "ops.SortBy"
	if bad := graph.Invalid(name, xs...); bad != nil {
		return repeat(bad, len(xs))
	}
	if len(xs) == 0 {
		return []*Node{graph.Fail(name, tensor.Errorf("", tensor.ErrShape, "there is nothing to sort"))}
	}
	a, err := axisOf(axis, xs[0].Rank())
	if err != nil {
		return repeat(graph.Fail(name, err, xs...), len(xs))
	}
	op := SortOp{Axis: a, Keys: keys, Size: xs[0].Shape()[a], Order: order}
	return graph.ApplyN(len(xs)+1, op, slices.Clone(xs)...)[:len(xs)]
}
