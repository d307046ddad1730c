package ops

import (
	"fmt"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// lift makes nodes of one dtype of the operands of a builder: nodes as they are, Go scalars as literals of
// the nodes' dtype. first is the number of the first of them, for messages. Where that cannot be done it
// returns the invalid node to give back.
//
// Errors (sticky): tensor.ErrUnsupported for nil, tensor.ErrDType for nodes of different dtypes, for scalars
// alone and for a scalar that the dtype cannot hold.
func lift(op string, first int, vals ...any) (nodes []*Node, bad *Node) {
	nodes = make([]*Node, len(vals))
	if bad := invalid(op, first, vals...); bad != nil {
		return nil, bad
	}
	like := -1
	for i, v := range vals {
		n, isNode := v.(*Node)
		if isNode && like < 0 {
			like = i
		}
		nodes[i] = n
	}
	if like < 0 {
		return nil, graph.Fail(op, tensor.Errorf("", tensor.ErrDType,
			"every operand is a Go scalar, want a node"))
	}
	g, dt := nodes[like].Graph(), nodes[like].DType()
	for i, n := range nodes {
		if n != nil && n.DType() != dt {
			return nil, g.Fail(op, tensor.Errorf("", tensor.ErrDType, "operand %d is %s, operand %d is %s; cast one of them",
				first+like, dt, first+i, n.DType()))
		}
	}
	for i, v := range vals {
		if nodes[i] != nil {
			continue
		}
		if nodes[i] = g.LiteralFor(op, dt, v); !nodes[i].Valid() {
			return nil, nodes[i]
		}
	}
	return nodes, nil
}

// invalid is graph.Invalid for operands of which some are Go scalars; they are numbered from first.
func invalid(op string, first int, vals ...any) *Node {
	var given []*Node
	missing := -1
	for i, v := range vals {
		n, isNode := v.(*Node)
		if isNode {
			given = append(given, n)
		}
		if n == nil && (isNode || v == nil) && missing < 0 {
			missing = i
		}
	}
	if missing >= 0 {
		return graph.Fail(op, tensor.Errorf("", tensor.ErrUnsupported,
			"operand %d is nil", first+missing), given...)
	}
	return graph.Invalid(op, given...)
}

// checked is the first line of a composition of one operand: nil where x is a valid node of a dtype that is
// taken, else the invalid node to give back.
func checked(op string, x *Node, takes accept) *Node {
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	if err := takes.check(0, x.DType()); err != nil {
		return x.Graph().Fail(op, err)
	}
	return nil
}

// broadcast gives nodes the shape that they broadcast to by NumPy's rule, as stride-0 views.
//
// Errors (sticky): tensor.ErrShape, tensor.ErrOverflow.
func broadcast(op string, nodes []*Node) ([]*Node, *Node) {
	shapes := make([][]int, len(nodes))
	for i, n := range nodes {
		shapes[i] = n.Shape()
	}
	shape, err := tensor.BroadcastShapes(shapes...)
	if err != nil {
		return nil, graph.Fail(op, err, nodes...)
	}
	r := make([]*Node, len(nodes))
	for i, n := range nodes {
		r[i] = BroadcastTo(n, shape...)
	}
	return r, nil
}

// number is a small integer as a scalar that every dtype takes: false or true for Bool.
func number(dt tensor.DType, v int) any {
	if dt == tensor.Bool {
		return v != 0
	}
	return v
}

// unknown is the name of an op whose function is none of those declared.
func unknown(family string, fn uint8) string { return fmt.Sprintf("ops.%s(%d)", family, fn) }

// noFunction is the error of such an op.
func noFunction(fn uint8) error {
	return tensor.Errorf("", tensor.ErrUnsupported, "there is no function %d", fn)
}

// repeat is n times the same node: what a builder of several results gives back where it fails.
func repeat(x *Node, n int) []*Node {
	r := make([]*Node, n)
	for i := range r {
		r[i] = x
	}
	return r
}
