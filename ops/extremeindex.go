package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// MaxWithIndex is the greatest element along an axis, which is dropped, and its place there as int64: the first
// NaN where there is one, else the lowest of those that tie, −0 and +0 included. The value is that very element,
// moved, so of [−0, +0] it is −0, where Max gives +0; and the cotangent goes to that element alone, where Max
// shares it among all that tie.
//
// Errors (sticky): those of ArgMax.
func MaxWithIndex(x *Node, axis int) (value, index *Node) {
	return extremeWithIndex("ops.MaxWithIndex", ArgMaxFn, x, axis)
}

// MinWithIndex is the least element along an axis, and its place there as int64, as in MaxWithIndex.
//
// Errors (sticky): those of ArgMin.
func MinWithIndex(x *Node, axis int) (value, index *Node) {
	return extremeWithIndex("ops.MinWithIndex", ArgMinFn, x, axis)
}

// MaxAbsWithIndex is the element of greatest magnitude along an axis, with its sign or phase, and its place there
// as int64, as in MaxWithIndex.
//
// Errors (sticky): those of ArgMaxAbs.
func MaxAbsWithIndex(x *Node, axis int) (value, index *Node) {
	return extremeWithIndex("ops.MaxAbsWithIndex", ArgMaxAbsFn, x, axis)
}

// MinAbsWithIndex is the element of least magnitude along an axis, with its sign or phase, and its place there as
// int64, as in MaxWithIndex.
//
// Errors (sticky): those of ArgMinAbs.
func MinAbsWithIndex(x *Node, axis int) (value, index *Node) {
	return extremeWithIndex("ops.MinAbsWithIndex", ArgMinAbsFn, x, axis)
}

func extremeWithIndex(name string, fn ArgFn, x *Node, axis int) (value, index *Node) {
	if bad := checked(name, x, argTraits[fn].takes); bad != nil {
		return bad, bad
	}
	if axis < 0 && axis >= -x.Rank() {
		axis += x.Rank()
	}
	if index = graph.Apply(ArgReduceOp{fn, axis, tensor.Int64}, x); !index.Valid() {
		return index, index
	}
	value = linePlaces(x, ExpandDims(index, axis), axis).gather(x)
	return Squeeze(value, axis), index
}
