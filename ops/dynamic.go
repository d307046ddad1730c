package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// DynamicSlice is out[k…] = x[start + k…]: a block of the given sizes whose start is known when it is
// evaluated, one integer of rank 0 per axis, of any integer dtype. A start that leaves no room for the block
// clamps to 0 or to the last that does; a negative one does not count from the end.
//
// Errors (sticky): tensor.ErrRank for the wrong number of starts or a start that is no scalar, tensor.ErrDType
// for a start that is no integer, tensor.ErrShape for sizes that are not one per axis or exceed x.
func DynamicSlice(x *Node, starts []*Node, sizes []int) *Node {
	at, bad := blockPlaces("ops.DynamicSlice", starts, sizes, x)
	if bad != nil {
		return bad
	}
	return at.gather(x)
}

// DynamicUpdateSlice is x with the block that DynamicSlice reads, at the same starts and of v's shape, replaced
// by v, a node of x's dtype or a Go scalar (a block of one element).
//
// Errors (sticky): those of DynamicSlice; for v tensor.ErrDType, and tensor.ErrRank where it is not a scalar
// of Go and has not x's rank.
func DynamicUpdateSlice(x *Node, v any, starts ...*Node) *Node {
	const name = "ops.DynamicUpdateSlice"
	if bad := graph.Invalid(name, append([]*Node{x}, starts...)...); bad != nil {
		return bad
	}
	u := valueLike(name, x, v)
	if !u.Valid() {
		return u
	}
	if _, isNode := v.(*Node); !isNode && u.Rank() == 0 {
		u = Reshape(u, slices.Repeat([]int{1}, x.Rank())...)
	}
	if u.Rank() != x.Rank() {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrRank,
			"a block of shape %v for x of shape %v, want the same rank",
			u.Shape(), x.Shape()), x)
	}
	at, bad := blockPlaces(name, starts, u.Shape(), x)
	if bad != nil {
		return bad
	}
	return at.scatter(CombineSet, x, u)
}

// blockPlaces is one window at one position.
func blockPlaces(name string, starts []*Node, sizes []int, x *Node) (places, *Node) {
	if bad := graph.Invalid(name, append([]*Node{x}, starts...)...); bad != nil {
		return places{}, bad
	}
	if len(starts) != x.Rank() {
		return places{}, graph.Fail(name, tensor.Errorf("", tensor.ErrRank,
			"%d starts for x of shape %v, want one per axis",
			len(starts), x.Shape()), x)
	}
	w := Window{SliceSizes: slices.Clone(sizes), IndexShape: []int{}}
	for a, s := range starts {
		if s.Rank() != 0 {
			return places{}, graph.Fail(name, tensor.Errorf("", tensor.ErrRank,
				"start %d has shape %v, want a scalar", a, s.Shape()), x)
		}
		w.IndexAxes, w.OffsetAxes = append(w.IndexAxes, a), append(w.OffsetAxes, a)
	}
	return places{window: w, mode: Mode{OOB: OOBClamp}, idx: starts}, nil
}
