package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// BroadcastTo is x repeated to a shape by NumPy's rule: axes align at the right, an extent of 1 repeats,
// missing leading axes repeat. It is a view of stride 0. The cotangent is summed over what was repeated.
//
// Errors (sticky): tensor.ErrShape where x does not broadcast to shape, tensor.ErrOverflow.
func BroadcastTo(x *Node, shape ...int) *Node {
	if bad := graph.Invalid("ops.BroadcastTo", x); bad != nil {
		return bad
	}
	if slices.Equal(x.Shape(), shape) {
		return x
	}
	return graph.Apply(BroadcastOp{slices.Clone(shape)}, x)
}

// SumTo is x summed to a shape that broadcasts to x's: the adjoint of BroadcastTo. The cotangent is
// broadcast.
//
// Errors (sticky): tensor.ErrShape where shape does not broadcast to the shape of x.
func SumTo(x *Node, shape ...int) *Node {
	const op = "ops.SumTo"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	if got, err := tensor.BroadcastShapes(shape, x.Shape()); err != nil || !slices.Equal(got, x.Shape()) {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrShape,
			"shape %v does not broadcast to operand shape %v", shape, x.Shape()))
	}
	lead := x.Rank() - len(shape)
	axes := upTo(lead)
	for a, d := range shape {
		if d != x.Shape()[lead+a] {
			axes = append(axes, lead+a)
		}
	}
	return Reshape(Sum(x, axes...), shape...)
}

// Reshape is the elements of x, in row-major order, under another shape. One extent may be −1: it becomes
// what the number of elements demands. It is a view where the layout allows, else a copy.
//
// Errors (sticky): tensor.ErrShape where the numbers of elements differ or −1 has no one value.
func Reshape(x *Node, shape ...int) *Node {
	const op = "ops.Reshape"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	shape = slices.Clone(shape)
	if err := inferExtent(shape, x.Spec()); err != nil {
		return x.Graph().Fail(op, err)
	}
	if slices.Equal(x.Shape(), shape) {
		return x
	}
	return graph.Apply(ReshapeOp{shape}, x)
}

// inferExtent replaces the −1 in a shape.
func inferExtent(shape []int, x tensor.Spec) error {
	at := slices.Index(shape, -1)
	if at < 0 {
		return nil
	}
	if slices.Contains(shape[at+1:], -1) {
		return tensor.Errorf("", tensor.ErrShape, "shape %v has more than one extent −1", shape)
	}
	shape[at] = 1
	rest, err := tensor.CheckedSize(shape)
	shape[at] = -1
	if err != nil {
		return err
	}
	if rest == 0 || x.Size()%rest != 0 {
		return tensor.Errorf("", tensor.ErrShape,
			"no extent for −1 in %v gives the %d elements of operand shape %v", shape, x.Size(), x.Shape)
	}
	shape[at] = x.Size() / rest
	return nil
}

// Flatten is the elements of x in row-major order on one axis.
func Flatten(x *Node) *Node {
	if bad := graph.Invalid("ops.Flatten", x); bad != nil {
		return bad
	}
	return Reshape(x, x.Size())
}

// ExpandDims is x with an axis of extent 1 at each of the given places of the result.
//
// Errors (sticky): tensor.ErrAxis for a place outside of the result's rank or named twice.
func ExpandDims(x *Node, axes ...int) *Node {
	const op = "ops.ExpandDims"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	places, err := sortedAxes(append([]int{}, axes...), x.Rank()+len(axes))
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	shape := slices.Clone(x.Shape())
	for _, a := range places {
		shape = slices.Insert(shape, a, 1)
	}
	return Reshape(x, shape...)
}

// Squeeze is x without the named axes, which have extent 1. No axes means every axis of extent 1, an empty
// slice none.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range or named twice, tensor.ErrShape for one whose
// extent is not 1.
func Squeeze(x *Node, axes ...int) *Node {
	const op = "ops.Squeeze"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	drop, err := axesOf(axes, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	if axes == nil {
		drop = slices.DeleteFunc(drop, func(a int) bool { return x.Shape()[a] != 1 })
	}
	for _, a := range drop {
		if d := x.Shape()[a]; d != 1 {
			return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrShape,
				"axis %d of shape %v has extent %d, want 1", a, x.Shape(), d))
		}
	}
	return Reshape(x, pick(x.Shape(), without(drop, x.Rank()))...)
}

// Tile is x repeated as a whole reps[a] times along each axis a. Axes and reps align at the right; the
// missing ones are 1. The cotangent is summed over the repetitions.
//
// Errors (sticky): tensor.ErrShape for a negative number, tensor.ErrOverflow.
func Tile(x *Node, reps ...int) *Node {
	const op = "ops.Tile"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	rank := max(x.Rank(), len(reps))
	shape := append(filled(rank-x.Rank(), 1), x.Shape()...)
	reps = append(filled(rank-len(reps), 1), reps...)
	apart, spread, joined := make([]int, 0, 2*rank), make([]int, 0, 2*rank), make([]int, rank)
	for a, d := range shape {
		if err := checkRepeats(reps[a], d); err != nil {
			return x.Graph().Fail(op, err)
		}
		apart, spread = append(apart, 1, d), append(spread, reps[a], d)
		joined[a] = reps[a] * d
	}
	return Reshape(BroadcastTo(Reshape(x, apart...), spread...), joined...)
}

// Repeat is x with each element along an axis repeated count times, one beside the other. The cotangent is
// summed over the repetitions.
//
// Errors (sticky): tensor.ErrAxis, tensor.ErrShape for a negative count, tensor.ErrOverflow.
func Repeat(x *Node, count, axis int) *Node {
	const op = "ops.Repeat"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	a, err := axisOf(axis, x.Rank())
	if err == nil {
		err = checkRepeats(count, x.Shape()[a])
	}
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	joined, apart := slices.Clone(x.Shape()), slices.Insert(slices.Clone(x.Shape()), a+1, count)
	joined[a] *= count
	return Reshape(BroadcastTo(ExpandDims(x, a+1), apart...), joined...)
}

func checkRepeats(count, extent int) error {
	if count < 0 {
		return tensor.Errorf("", tensor.ErrShape, "%d repetitions, want 0 or more", count)
	}
	_, err := tensor.CheckedSize([]int{count, extent})
	return err
}
