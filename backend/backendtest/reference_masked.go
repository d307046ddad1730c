package backendtest

import (
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// truePlaces are the places of a mask that are true, in row-major order.
func truePlaces(mask array) (places [][]int) {
	each(mask.Shape, func(idx []int) {
		if mask.elem(idx).re != 0 {
			places = append(places, slices.Clone(idx))
		}
	})
	return places
}

// refCompress reads the place of every element that is kept.
func refCompress(o ops.CompressOp, x, mask array) outcome {
	places := truePlaces(mask)
	y := newArray(x.DType, slices.Concat(x.Shape[:o.Axis], []int{o.Count}, x.Shape[o.Axis+mask.Rank():])...)
	each(y.Shape, func(idx []int) {
		if k := idx[o.Axis]; k < len(places) {
			y.at[y.pos(idx)] = x.elem(slices.Concat(idx[:o.Axis], places[k], idx[o.Axis+1:]))
		}
	})
	return outcome{array: y, moved: true}
}

// refExpand writes every element to its place.
func refExpand(o ops.ExpandOp, y, mask array) outcome {
	places := truePlaces(mask)
	x := newArray(y.DType, slices.Concat(y.Shape[:o.Axis], mask.Shape, y.Shape[o.Axis+1:])...)
	each(y.Shape, func(idx []int) {
		if k := idx[o.Axis]; k < len(places) {
			x.at[x.pos(slices.Concat(idx[:o.Axis], places[k], idx[o.Axis+1:]))] = y.elem(idx)
		}
	})
	return outcome{array: x, moved: true}
}

// drawnMasked is a compression or an expansion of what its mask has places for, or of more or less.
func (x *trial) drawnMasked(dt tensor.DType, shape []int, axis int, fill Fill) {
	r := x.rng
	if len(shape) == 0 {
		shape = []int{5}
	}
	rank := 1 + r.IntN(len(shape)-axis)
	mask := bools(shape[axis:axis+rank]...).make(r, tensor.Bool)
	count := len(truePlaces(mask))
	if r.IntN(3) == 0 {
		count = r.IntN(count + 5)
	}
	x.op = ops.CompressOp{Axis: axis, Count: count}
	if r.IntN(2) == 0 {
		x.op = ops.ExpandOp{Axis: axis}
		shape = slices.Concat(shape[:axis], []int{count}, shape[axis+rank:])
	}
	x.in = []array{in(fill, shape...).make(r, dt), mask}
}
