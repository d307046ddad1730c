package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The builders of views. A view costs nothing: it is the same elements under another layout. Axes may be
// negative, counting from the end; slices of the caller are never changed. Each passes the cotangent back
// through the opposite view. Errors (sticky): tensor.ErrUnsupported for nil, and those named at each.

// Transpose is x with its axes permuted: axis a of the result is axis perm[a] of x. Without perm the axes are
// reversed.
//
// Errors (sticky): tensor.ErrAxis where perm is no permutation of the axes.
func Transpose(x *Node, perm ...int) *Node {
	const op = "ops.Transpose"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	if perm == nil {
		r := upTo(x.Rank())
		slices.Reverse(r)
		return permute(x, r)
	}
	axes, err := axesOf(perm, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	return permute(x, axes)
}

// permute leaves x alone where the permutation does.
func permute(x *Node, perm []int) *Node {
	if len(perm) == x.Rank() && slices.IsSorted(perm) {
		return x
	}
	return graph.Apply(TransposeOp{perm}, x)
}

// SwapAxes is x with axes a and b exchanged.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range.
func SwapAxes(x *Node, a, b int) *Node {
	const op = "ops.SwapAxes"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	axes, err := axisPair(a, b, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	perm := upTo(x.Rank())
	perm[axes[0]], perm[axes[1]] = axes[1], axes[0]
	return permute(x, perm)
}

// MoveAxis is x with axis from moved to position to, the others in their order.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range.
func MoveAxis(x *Node, from, to int) *Node {
	const op = "ops.MoveAxis"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	axes, err := axisPair(from, to, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	return permute(x, slices.Insert(without(axes[:1], x.Rank()), axes[1], axes[0]))
}

func axisPair(a, b, rank int) (r [2]int, err error) {
	if r[0], err = axisOf(a, rank); err == nil {
		r[1], err = axisOf(b, rank)
	}
	return r, err
}

// Reverse is x with the elements along each of the named axes in the opposite order. No axes means all, an
// empty slice none.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range or named twice.
func Reverse(x *Node, axes ...int) *Node {
	const op = "ops.Reverse"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	axes, err := axesOf(axes, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	o := whole(x.Shape())
	for _, a := range axes {
		o.Start[a], o.Step[a] = x.Shape()[a]-1, -1
	}
	return graph.Apply(o, x)
}

// Slice is out[k…] = x[start + k·step, …] with size[a] elements along axis a. A negative step walks back.
// Package index has the slices of Python.
//
// Errors (sticky): tensor.ErrAxis where the lengths differ from the rank, tensor.ErrBounds for an element
// outside of x.
func Slice(x *Node, start, step, size []int) *Node {
	if bad := graph.Invalid("ops.Slice", x); bad != nil {
		return bad
	}
	return graph.Apply(SliceOp{slices.Clone(start), slices.Clone(step), slices.Clone(size)}, x)
}

// SliceAxis is the size elements of x from start on along one axis, the other axes whole.
//
// Errors (sticky): tensor.ErrAxis, tensor.ErrBounds for an element outside of x.
func SliceAxis(x *Node, axis, start, size int) *Node {
	const op = "ops.SliceAxis"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	a, err := axisOf(axis, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	o := whole(x.Shape())
	o.Start[a], o.Size[a] = start, size
	if err := tensor.CheckSlice(x.Shape(), o.Start, o.Step, o.Size); err != nil {
		return x.Graph().Fail(op, err)
	}
	return graph.Apply(o, x)
}

// Diagonal is out[…, i] = x[…, i, i + offset]: the diagonal of two axes, which are dropped, as a new last
// axis. i is counted along axis1, i + offset along axis2; a negative offset is below the main diagonal. It
// is a view where the two axes are adjacent in memory. The cotangent goes back to the diagonal.
//
// Errors (sticky): tensor.ErrAxis where the axes are out of range or the same.
func Diagonal(x *Node, offset, axis1, axis2 int) *Node {
	const op = "ops.Diagonal"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	axes, err := axesOf([]int{axis1, axis2}, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	rest := without(axes, x.Rank())
	lead := pick(x.Shape(), rest)
	rows, cols := x.Shape()[axes[0]], x.Shape()[axes[1]]
	offset = min(max(offset, -rows), cols)
	down, right := max(-offset, 0), max(offset, 0)
	flat := append(lead, rows*cols)
	o := whole(flat)
	last := len(lead)
	if o.Size[last] = max(min(rows-down, cols-right), 0); o.Size[last] > 0 {
		o.Start[last], o.Step[last] = down*cols+right, cols+1
	}
	return graph.Apply(o, Reshape(permute(x, append(rest, axes...)), flat...))
}
