package ops

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The builders of values without operands have these errors (sticky): tensor.ErrUnsupported without a graph,
// tensor.ErrDType for an invalid dtype, tensor.ErrShape for a negative extent, tensor.ErrOverflow.

// noGraph is the invalid node to give back where a builder got no graph.
func noGraph(op string, g *graph.Graph) *Node {
	if g != nil {
		return nil
	}
	return g.Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "the graph is nil"))
}

// Full is a shape filled with a Go scalar: one element, repeated by a stride-0 view.
//
// Errors (sticky): also tensor.ErrDType and tensor.ErrOverflow for a scalar that dt cannot hold.
func Full(g *graph.Graph, dt tensor.DType, v any, shape ...int) *Node {
	if bad := noGraph("ops.Full", g); bad != nil {
		return bad
	}
	if _, isNode := v.(*Node); isNode || v == nil {
		return g.Fail("ops.Full", tensor.Errorf("", tensor.ErrDType, "value of type %T, want a Go scalar", v))
	}
	return BroadcastTo(g.Literal(dt, v), shape...)
}

// Zeros is a shape of zeros; of false for Bool.
func Zeros(g *graph.Graph, dt tensor.DType, shape ...int) *Node {
	if bad := noGraph("ops.Zeros", g); bad != nil {
		return bad
	}
	return Full(g, dt, number(dt, 0), shape...)
}

// Ones is a shape of ones; of true for Bool.
func Ones(g *graph.Graph, dt tensor.DType, shape ...int) *Node {
	if bad := noGraph("ops.Ones", g); bad != nil {
		return bad
	}
	return Full(g, dt, number(dt, 1), shape...)
}

// ZerosLike is zeros of the dtype and shape of x. It has no gradient.
func ZerosLike(x *Node) *Node {
	if bad := graph.Invalid("ops.ZerosLike", x); bad != nil {
		return bad
	}
	return Zeros(x.Graph(), x.DType(), x.Shape()...)
}

// OnesLike is ones of the dtype and shape of x. It has no gradient.
func OnesLike(x *Node) *Node {
	if bad := graph.Invalid("ops.OnesLike", x); bad != nil {
		return bad
	}
	return Ones(x.Graph(), x.DType(), x.Shape()...)
}

// Arange is start, start + step, … up to but without stop: out[i] = start + i·step, ⌈(stop − start)/step⌉ of
// them, none where that is negative. Floats are computed in float64 and rounded once; integers exactly, and an
// element beyond the first that dt cannot hold wraps as Cast does.
//
// Errors (sticky): also tensor.ErrShape where step is 0 or a bound is not finite, tensor.ErrDType for bool and
// for a fraction in an integer dt, tensor.ErrOverflow for a start that an integer dt cannot hold.
func Arange[T int | int64 | float64](g *graph.Graph, dt tensor.DType, start, stop, step T) *Node {
	const op = "ops.Arange"
	if bad := noGraph(op, g); bad != nil {
		return bad
	}
	count, err := rangeCount(start, stop, step)
	if err != nil {
		return g.Fail(op, err)
	}
	wide := dt
	switch {
	case dt.IsFloat():
		wide = tensor.Float64
	case dt.IsComplex():
		wide = tensor.Complex128
	case dt.IsInteger(): // which holds a negative step too
		if first := g.LiteralFor(op, dt, start); !first.Valid() {
			return first
		}
		wide = tensor.Int64
	}
	return Cast(Add(Mul(Iota(g, wide, 0, count), step), start), dt)
}

// rangeCount is ⌈(stop − start)/step⌉ or 0: of integers exactly, whatever their distance.
func rangeCount[T int | int64 | float64](start, stop, step T) (int, error) {
	count := math.Ceil((float64(stop) - float64(start)) / float64(step))
	if step == 0 || math.IsNaN(count) || math.IsInf(count, 0) {
		return 0, tensor.Errorf("", tensor.ErrShape,
			"no range leads from %v to %v in steps of %v", start, stop, step)
	}
	if (stop > start) != (step > 0) || stop == start {
		return 0, nil
	}
	if _, isFloat := any(step).(float64); !isFloat {
		distance, stride := uint64(stop)-uint64(start), uint64(step)
		if step < 0 {
			distance, stride = -distance, -stride
		}
		whole := (distance-1)/stride + 1
		if whole <= math.MaxInt {
			return int(whole), nil
		}
		count = float64(whole)
	}
	if count >= math.MaxInt {
		return 0, tensor.Errorf("", tensor.ErrOverflow, "the range has %v elements", count)
	}
	return int(max(count, 0)), nil
}

// widened is the dtype in which sums of many elements of dt are accurate: float32 for the halves.
func widened(dt tensor.DType) tensor.DType {
	if dt.IsHalf() {
		return tensor.Float32
	}
	return dt
}

// OneHot is out[i…, k] = 1 where idx[i…] = k, else 0, for k below depth: a new last axis. An index out of
// range gives zeros. It has no gradient.
//
// Errors (sticky): tensor.ErrDType where idx is not of an integer dtype or dt is invalid, tensor.ErrShape for
// a negative depth, tensor.ErrUnsupported for nil.
func OneHot(idx *Node, depth int, dt tensor.DType) *Node {
	const op = "ops.OneHot"
	if bad := checked(op, idx, acceptInt); bad != nil {
		return bad
	}
	if depth < 0 {
		return idx.Graph().Fail(op, tensor.Errorf("", tensor.ErrShape, "depth %d is negative", depth))
	}
	at := Cast(ExpandDims(idx, -1), tensor.Int64) // depth may exceed idx's dtype
	return Cast(Equal(at, Iota(idx.Graph(), tensor.Int64, 0, depth)), dt)
}

// Eye is the n×n matrix with ones on its diagonal, else zeros.
func Eye(g *graph.Graph, dt tensor.DType, n int) *Node {
	if bad := noGraph("ops.Eye", g); bad != nil {
		return bad
	}
	return Cast(Equal(Iota(g, tensor.Int64, 0, n, 1), Iota(g, tensor.Int64, 1, 1, n)), dt)
}
