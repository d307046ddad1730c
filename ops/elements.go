package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Reads and writes of elements and slices that index tensors name one by one, in the forms that ONNX and
// PyTorch give them. A negative index counts from the end; what is out of bounds is an *IndexError when it is
// evaluated. Writes are in the row-major order of the updates: Set keeps the last one, the others combine,
// with the gradients of Scatter.

// GatherElements is out[i…] = x[i…, with idx[i…] for i at the axis], of the shape of idx: ONNX's
// GatherElements, PyTorch's gather. idx may be smaller than x beside the axis, and then reads the leading
// part; TakeAlongAxis broadcasts instead.
//
// Errors (sticky): tensor.ErrAxis, tensor.ErrDType for indices that are no integers, tensor.ErrRank where the
// ranks differ, tensor.ErrShape where idx is larger than x beside the axis, tensor.ErrUnsupported for nil.
// When it is evaluated: *IndexError.
func GatherElements(x, idx *Node, axis int) *Node {
	const op = "ops.GatherElements"
	part, a, bad := leading(op, axis, x, idx)
	if bad != nil {
		return bad
	}
	return TakeAlongAxis(graph.Apply(part, x), idx, a)
}

// ScatterElements is x with u[i…] combined into the element that GatherElements(x, idx, axis) reads at i…:
// ONNX's ScatterElements, PyTorch's scatter and scatter_reduce. u may be larger than idx, and then only its
// leading part is used.
//
// Errors (sticky): those of GatherElements; for u tensor.ErrDType, tensor.ErrRank, and tensor.ErrShape where
// it is smaller than idx; tensor.ErrUnsupported for Max and Min of complex numbers. When it is evaluated:
// *IndexError.
func ScatterElements(x, idx, u *Node, axis int, c Combine) *Node {
	const op = "ops.ScatterElements"
	if bad := graph.Invalid(op, x, idx, u); bad != nil {
		return bad
	}
	part, a, bad := leading(op, axis, x, idx)
	if bad != nil {
		return bad
	}
	used := whole(idx.Shape())
	if u.Rank() != idx.Rank() || tensor.CheckSlice(u.Shape(), used.Start, used.Step, used.Size) != nil {
		kind := tensor.ErrShape
		if u.Rank() != idx.Rank() {
			kind = tensor.ErrRank
		}
		return x.Graph().Fail(op, tensor.Errorf("", kind, "updates of shape %v for indices of shape %v",
			u.Shape(), idx.Shape()))
	}
	if !slices.Equal(u.Shape(), idx.Shape()) {
		u = graph.Apply(used, u)
	}
	if slices.Equal(part.Size, x.Shape()) {
		return PutAlongAxis(x, idx, u, a, c)
	}
	return PutSlice(x, PutAlongAxis(graph.Apply(part, x), idx, u, a, c), part.Start, part.Step, part.Size)
}

// leading is the part of x that indices reach which may be smaller than x beside an axis.
func leading(op string, axis int, x, idx *Node) (SliceOp, int, *Node) {
	if bad := graph.Invalid(op, x, idx); bad != nil {
		return SliceOp{}, 0, bad
	}
	a, err := axisOf(axis, x.Rank())
	switch {
	case err != nil:
	case x.Rank() != idx.Rank():
		err = tensor.Errorf("", tensor.ErrRank, "indices of shape %v for x of shape %v, want the same rank",
			idx.Shape(), x.Shape())
	case !idx.DType().IsInteger():
		err = tensor.Errorf("", tensor.ErrDType, "indices have dtype %s, want an integer", idx.DType())
	default:
		part := whole(idx.Shape())
		part.Size[a] = x.Shape()[a]
		if tensor.CheckSlice(x.Shape(), part.Start, part.Step, part.Size) == nil {
			return part, a, nil
		}
		err = tensor.Errorf("", tensor.ErrShape, "indices of shape %v exceed x of shape %v beside axis %d",
			idx.Shape(), x.Shape(), a)
	}
	return SliceOp{}, 0, x.Graph().Fail(op, err)
}

// GatherND is out[b…, i…, r…] = x[b…, idx[b…, i…, 0], idx[b…, i…, 1], …, r…]: index tuples stand along the
// last axis of idx and name an element or, where they are shorter than what is left of x, a slice. The first
// batch axes of x and idx go together.
//
// Errors (sticky): tensor.ErrRank where idx has no last axis or tuples and batch axes are more than x has,
// tensor.ErrDType for indices that are no integers, tensor.ErrShape where batch extents differ,
// tensor.ErrUnsupported for nil. When it is evaluated: *IndexError.
func GatherND(x, idx *Node, batch int) *Node {
	const op = "ops.GatherND"
	if bad := graph.Invalid(op, x, idx); bad != nil {
		return bad
	}
	p, err := tuplePlaces(x, idx, batch)
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	return p.gather(x)
}

// ScatterND is x with u[i…, r…] combined into x[idx[i…, 0], idx[i…, 1], …, r…]: into the elements or slices
// that GatherND(x, idx, 0) reads. u has the shape of that read.
//
// Errors (sticky): those of GatherND; for u tensor.ErrDType and tensor.ErrShape; tensor.ErrUnsupported for
// Max and Min of complex numbers. When it is evaluated: *IndexError.
func ScatterND(x, idx, u *Node, c Combine) *Node {
	const op = "ops.ScatterND"
	if bad := graph.Invalid(op, x, idx, u); bad != nil {
		return bad
	}
	p, err := tuplePlaces(x, idx, 0)
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	return p.scatter(c, x, u)
}

// tuplePlaces reads each component of index tuples by a view.
func tuplePlaces(x, idx *Node, batch int) (places, error) {
	last := idx.Rank() - 1
	switch {
	case !idx.DType().IsInteger():
		return places{}, tensor.Errorf("", tensor.ErrDType,
			"indices have dtype %s, want an integer", idx.DType())
	case last < 0:
		return places{}, tensor.Errorf("", tensor.ErrRank, "indices of rank 0 have no axis of tuples")
	case batch < 0 || batch > last || batch+idx.Shape()[last] > x.Rank():
		return places{}, tensor.Errorf("", tensor.ErrRank,
			"%d batch axes and tuples of indices %v for x of shape %v", batch, idx.Shape(), x.Shape())
	}
	n := idx.Shape()[last]
	w := Window{
		SliceSizes: slices.Clone(x.Shape()), XBatch: upTo(batch), IndexBatch: upTo(batch),
		IndexShape: notNil(slices.Clone(idx.Shape()[:last])),
	}
	at := make([]*Node, n)
	for a := range batch + n {
		w.SliceSizes[a] = 1
		if k := a - batch; k >= 0 {
			w.IndexAxes, w.Collapsed = append(w.IndexAxes, a), append(w.Collapsed, a)
			at[k] = Reshape(SliceAxis(idx, last, k, 1), w.IndexShape...)
		}
	}
	for a := range x.Rank() - batch - n {
		w.OffsetAxes = append(w.OffsetAxes, last+a)
	}
	return places{window: w, mode: Mode{Wrap: true}, idx: at}, nil
}

// IndexAdd is x with v added to the slices along an axis that idx, of rank 1 or 0, names, at every mention: v
// is a node of x's dtype or a Go scalar that broadcasts to the shape that Take(x, idx, axis) gives. The
// cotangent goes to x, and gathered to v.
//
// Errors (sticky): tensor.ErrAxis; tensor.ErrRank for an idx of another rank; for idx and v tensor.ErrDType;
// *index.Error wrapping index.ErrValue where v does not broadcast; tensor.ErrUnsupported for nil. When it is
// evaluated: *IndexError.
func IndexAdd(x, idx *Node, v any, axis int) *Node {
	return indexAlong("ops.IndexAdd", CombineAdd, x, idx, v, axis)
}

// IndexCopy is x with the slices along an axis that idx, of rank 1 or 0, names replaced by v, as IndexAdd
// takes it. Of several writers the last one in the row-major order of v wins, and alone gets a cotangent.
//
// Errors (sticky): as IndexAdd.
func IndexCopy(x, idx *Node, v any, axis int) *Node {
	return indexAlong("ops.IndexCopy", CombineSet, x, idx, v, axis)
}

// IndexFill is x with the slices along an axis that idx, of rank 1 or 0, names filled with one value v, a Go
// scalar or a node of rank 0. The cotangent goes to x where it stayed, and the sum of the rest to v.
//
// Errors (sticky): as IndexAdd, tensor.ErrRank where v is not of rank 0.
func IndexFill(x, idx *Node, v any, axis int) *Node {
	const op = "ops.IndexFill"
	if bad := invalid(op, 0, x, idx, v); bad != nil {
		return bad
	}
	u := valueLike(op, x, v)
	if !u.Valid() {
		return u
	}
	if u.Rank() != 0 {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrRank,
			"the value has shape %v, want rank 0", u.Shape()))
	}
	return indexAlong(op, CombineSet, x, idx, u, axis)
}

func indexAlong(op string, c Combine, x, idx *Node, v any, axis int) *Node {
	if bad := invalid(op, 0, x, idx, v); bad != nil {
		return bad
	}
	a, err := axisOf(axis, x.Rank())
	if err == nil && idx.Rank() > 1 {
		err = tensor.Errorf("", tensor.ErrRank, "indices of shape %v, want rank 1 or 0", idx.Shape())
	}
	if err == nil && !idx.DType().IsInteger() {
		err = tensor.Errorf("", tensor.ErrDType, "indices have dtype %s, want an integer", idx.DType())
	}
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	u := valueLike(op, x, v)
	if !u.Valid() {
		return u
	}
	shape := slices.Concat(x.Shape()[:a], idx.Shape(), x.Shape()[a+1:])
	if u = broadcastValue(op, u, shape); !u.Valid() {
		return u
	}
	return Bound{}.places(alongSlices(x, idx, a), idx, x.Shape()[a]).scatter(c, x, u)
}

// MaskedFill is v where mask is true, else x: x's shape, to which mask and v, a node or a Go scalar,
// broadcast. The cotangent goes to x where it stayed, and to v where it was put.
//
// Errors (sticky): tensor.ErrDType for a mask that is not bool and a v of another dtype, tensor.ErrShape
// where one does not broadcast to x, tensor.ErrUnsupported for nil.
func MaskedFill(x, mask *Node, v any) *Node {
	const op = "ops.MaskedFill"
	if bad := invalid(op, 0, x, mask, v); bad != nil {
		return bad
	}
	m, bad := maskFor(op, x, mask)
	if bad != nil {
		return bad
	}
	u := valueLike(op, x, v)
	if !u.Valid() {
		return u
	}
	if u = broadcastValue(op, u, x.Shape()); !u.Valid() {
		return u
	}
	return Where(m, u, x)
}

// maskFor is a mask in the shape of x.
func maskFor(op string, x, mask *Node) (m, bad *Node) {
	if err := checkMask(mask); err != nil {
		return nil, x.Graph().Fail(op, err)
	}
	got, err := tensor.BroadcastShapes(mask.Shape(), x.Shape())
	if err != nil || !slices.Equal(got, x.Shape()) {
		return nil, x.Graph().Fail(op, tensor.Errorf("", tensor.ErrShape,
			"mask of shape %v does not broadcast to operand shape %v", mask.Shape(), x.Shape()))
	}
	return BroadcastTo(mask, x.Shape()...), nil
}
