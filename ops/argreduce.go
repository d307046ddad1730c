package ops

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ArgFn is an arg-reduction: ArgMaxFn, ArgMinFn, ArgMaxAbsFn or ArgMinAbsFn.
type ArgFn uint8

// The functions of ArgReduceOp.
const (
	ArgMaxFn ArgFn = iota
	ArgMinFn
	ArgMaxAbsFn
	ArgMinAbsFn
	argCount
)

var argTraits = [argCount]struct {
	name  string
	takes accept
}{
	ArgMaxFn:    {"ops.ArgMax", acceptReal},
	ArgMinFn:    {"ops.ArgMin", acceptReal},
	ArgMaxAbsFn: {"ops.ArgMaxAbs", acceptNumber},
	ArgMinAbsFn: {"ops.ArgMinAbs", acceptNumber},
}

// ArgReduceOp is the index along Axis of the extreme element: the first NaN of a line that has one, else the
// lowest index among those that tie. Axis is dropped; Index is the result's dtype, int32 or int64.
type ArgReduceOp struct {
	Fn    ArgFn
	Axis  int
	Index tensor.DType
}

// Name is that of the builder, ops.ArgMax for example.
func (o ArgReduceOp) Name() string {
	if o.Fn >= argCount {
		return unknown("ArgReduce", uint8(o.Fn))
	}
	return argTraits[o.Fn].name
}

// Key is the canonical form of the attributes.
func (o ArgReduceOp) Key() string { return graph.KeyOf(o) }

// Infer drops the axis, which must have elements.
func (o ArgReduceOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Fn >= argCount {
		return nil, noFunction(uint8(o.Fn))
	}
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if err := argTraits[o.Fn].takes.check(0, x.DType); err != nil {
		return nil, err
	}
	if o.Index != tensor.Int32 && o.Index != tensor.Int64 {
		return nil, tensor.Errorf("", tensor.ErrDType, "index dtype %s, want int32 or int64", o.Index)
	}
	if o.Axis < 0 || o.Axis >= x.Rank() {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", o.Axis, x.Rank())
	}
	switch n := x.Shape[o.Axis]; {
	case n == 0:
		return nil, tensor.Errorf("", tensor.ErrUnsupported,
			"axis %d of operand shape %v has no element to point to", o.Axis, x.Shape)
	case o.Index == tensor.Int32 && n-1 > math.MaxInt32:
		return nil, tensor.Errorf("", tensor.ErrOverflow,
			"int32 does not hold the indices of axis %d with extent %d", o.Axis, n)
	}
	return one(o.Index, slices.Delete(slices.Clone(x.Shape), o.Axis, o.Axis+1)), nil
}

// VJP is zero: an index has no gradient.
func (o ArgReduceOp) VJP(*Call, []*Node, []bool) []*Node { return none(1) }

// JVP is zero.
func (o ArgReduceOp) JVP(*Call, []*Node) []*Node { return none(1) }

// Batch moves the axis up by one.
func (o ArgReduceOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node {
	return []*Node{graph.Apply(ArgReduceOp{o.Fn, o.Axis + 1, o.Index}, in...)}
}

// The arg-reductions give the index of the extreme element along an axis, which is dropped: of a line with
// NaN the first NaN, else the lowest index of those that tie (−0 and +0 do). They have no gradient: read
// the elements with TakeAlongAxis, whose gradient goes to that element alone. Errors (sticky) of every one:
// tensor.ErrDType for bool, tensor.ErrAxis, tensor.ErrUnsupported for an axis of extent 0 and for nil.

// ArgMax is the index of the greatest element along an axis, as int64.
//
// Errors (sticky): also tensor.ErrUnsupported for complex.
func ArgMax(x *Node, axis int) *Node { return ArgReduce(ArgMaxFn, x, axis, tensor.Int64) }

// ArgMin is the index of the least element along an axis, as int64.
//
// Errors (sticky): also tensor.ErrUnsupported for complex.
func ArgMin(x *Node, axis int) *Node { return ArgReduce(ArgMinFn, x, axis, tensor.Int64) }

// ArgMaxAbs is the index of the element of greatest magnitude along an axis, as int64. The least integer is
// the greatest of its type, a complex has its modulus.
func ArgMaxAbs(x *Node, axis int) *Node { return ArgReduce(ArgMaxAbsFn, x, axis, tensor.Int64) }

// ArgMinAbs is the index of the element of least magnitude along an axis, as int64.
func ArgMinAbs(x *Node, axis int) *Node { return ArgReduce(ArgMinAbsFn, x, axis, tensor.Int64) }

// ArgMaxAll is the position of the greatest of all elements in row-major order, as int64 of rank 0.
//
// Errors (sticky): tensor.ErrDType for bool, tensor.ErrUnsupported for complex, for no elements and for nil.
func ArgMaxAll(x *Node) *Node { return argAll("ops.ArgMaxAll", ArgMaxFn, x) }

// ArgMinAll is the position of the least of all elements in row-major order, as int64 of rank 0.
//
// Errors (sticky): as ArgMaxAll.
func ArgMinAll(x *Node) *Node { return argAll("ops.ArgMinAll", ArgMinFn, x) }

func argAll(op string, fn ArgFn, x *Node) *Node {
	if bad := checked(op, x, argTraits[fn].takes); bad != nil {
		return bad
	}
	if x.Size() == 0 {
		return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrUnsupported,
			"operand shape %v has no element to point to", x.Shape()))
	}
	return ArgReduce(fn, Flatten(x), 0, tensor.Int64)
}

// ArgReduce is the arg-reduction fn along an axis, with indices of dtype int32 or int64.
//
// Errors (sticky): also tensor.ErrDType for another index dtype, tensor.ErrOverflow for an axis whose indices
// int32 does not hold.
func ArgReduce(fn ArgFn, x *Node, axis int, index tensor.DType) *Node {
	o := ArgReduceOp{fn, axis, index}
	if bad := graph.Invalid(o.Name(), x); bad != nil {
		return bad
	}
	if axis < 0 && axis >= -x.Rank() {
		o.Axis += x.Rank()
	}
	return graph.Apply(o, x)
}
