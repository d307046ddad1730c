package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// SearchSortedOp is where each v would be inserted into a line of a that ascends, so that it still does:
//
//	out[b…, j] = the number of elements of a[b…, :] that are less than v[b…, j]; with Right, less or equal
//
// in the order of Ascending. Operands a and v have the same leading axes; the result is int64 of v's shape.
// Of a line that does not ascend it is what a binary search comes to.
type SearchSortedOp struct{ Right bool }

// Name is ops.SearchSorted.
func (SearchSortedOp) Name() string { return "ops.SearchSorted" }

// Key is the canonical form of the attributes.
func (o SearchSortedOp) Key() string { return graph.KeyOf(o) }

// Infer is v's shape.
func (o SearchSortedOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 2); err != nil {
		return nil, err
	}
	if err := sameDTypes(in...); err != nil {
		return nil, err
	}
	if err := acceptOrdered.check(0, in[0].DType); err != nil {
		return nil, err
	}
	a, v := in[0], in[1]
	lead := a.Rank() - 1
	if lead < 0 || v.Rank() != a.Rank() || !slices.Equal(a.Shape[:lead], v.Shape[:lead]) {
		return nil, tensor.Errorf("", tensor.ErrShape,
			"lines of shape %v and values of shape %v, want the same axes but for the last", a.Shape, v.Shape)
	}
	return one(tensor.Int64, v.Shape), nil
}

// VJP is zero: a position has no gradient.
func (SearchSortedOp) VJP(*Call, []*Node, []bool) []*Node { return none(2) }

// JVP is zero.
func (SearchSortedOp) JVP(*Call, []*Node) []*Node { return none(1) }

// Batch puts the batch before the leading axes.
func (o SearchSortedOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	return []*Node{graph.Apply(o, batchAll(in, batched, size)...)}
}

// SearchSorted is where each v would be inserted into a, which ascends along its last axis, so that it still
// does: the number of elements of a that are less than v or, with right, less or equal. NaN is greater than
// every number, and −0 equals +0. A line of rank 1 takes a v of any shape; one of higher rank a v of the
// same rank and extents but for the last, each line of v searching its own line of a. v is a node or a Go
// scalar. The positions are int64, and have no gradient.
//
// Errors (sticky): tensor.ErrRank for an a of rank 0, tensor.ErrShape where the axes before the last differ,
// tensor.ErrDType for two dtypes, tensor.ErrUnsupported for complex and for nil.
func SearchSorted(a, v any, right bool) *Node {
	const name = "ops.SearchSorted"
	n, bad := lift(name, 0, a, v)
	if bad != nil {
		return bad
	}
	lines, values := n[0], n[1]
	if bad := checked(name, lines, acceptOrdered); bad != nil {
		return bad
	}
	switch lines.Rank() {
	case 0:
		return graph.Fail(name, tensor.Errorf("", tensor.ErrRank, "a is a scalar, want lines to search"), lines)
	case 1:
		at := graph.Apply(SearchSortedOp{right}, lines, Flatten(values))
		return Reshape(at, values.Shape()...)
	}
	return graph.Apply(SearchSortedOp{right}, lines, values)
}
