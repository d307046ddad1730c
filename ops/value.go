package ops

import (
	"errors"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// valueLike is a node of x's dtype for what an update writes or a read fills with: a node, a tensor, or a Go
// scalar, which adapts.
func valueLike(name string, x *Node, v any) *Node {
	n, ok := v.(*Node)
	switch {
	case ok:
		if bad := graph.Invalid(name, x, n); bad != nil {
			return bad
		}
	case isNilTensor(v):
		return graph.Fail(name, tensor.Errorf("", tensor.ErrUnsupported, "the value is nil"), x)
	default:
		if r, readable := v.(graph.Readable); readable {
			n = x.Graph().Const(r)
		} else {
			n = x.Graph().LiteralFor(name, x.DType(), v)
		}
		if !n.Valid() {
			return n
		}
	}
	if n.DType() != x.DType() {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrDType,
			"the value is %s, the operand is %s; cast one of them",
			n.Spec(), x.Spec()), x)
	}
	return n
}

func isNilTensor(v any) bool {
	t, ok := v.(*tensor.Tensor)
	return v == nil || ok && t == nil
}

// errValue is the kind of a value of the wrong shape: NumPy's ValueError, and a wrong shape.
var errValue = errors.Join(index.ErrValue, tensor.ErrShape)

// broadcastValue gives a value the shape that is written to. As in NumPy, axes of extent 1 that it has too
// many of in front are dropped.
func broadcastValue(name string, v *Node, shape []int) *Node {
	have := fitted(v.Shape(), shape)
	if have == nil {
		return graph.Fail(name, &index.Error{Err: errValue, Item: -1, Axis: -1,
			Msg: fmt.Sprintf("value of shape %v does not broadcast to %v, the shape indexed", v.Shape(), shape)}, v)
	}
	if len(have) < v.Rank() {
		v = Reshape(v, have...)
	}
	return BroadcastTo(v, shape...)
}

// fitted is a value's shape without the leading axes of extent 1 that exceed the rank of what is written to;
// nil where it does not broadcast to that.
func fitted(value, shape []int) []int {
	for len(value) > len(shape) && value[0] == 1 {
		value = value[1:]
	}
	if got, err := tensor.BroadcastShapes(value, shape); err != nil || !slices.Equal(got, shape) {
		return nil
	}
	return notNil(value)
}

// firstInvalid is the first of the nodes that is not valid.
func firstInvalid(in ...*Node) *Node {
	for _, n := range in {
		if !n.Valid() {
			return n
		}
	}
	return nil
}
