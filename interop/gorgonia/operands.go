package adjoint

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/tensor"
)

// operands collects the nodes among a builder's arguments, which become operands of its op. What is no node, a
// Go scalar or a literal index array, becomes part of the op.
type operands []*Node

// argument is an argument of the builder inside: it takes the nodes that stand for the operands.
type argument func(in []*graph.Node) any

func (o *operands) add(v any) argument {
	n, ok := v.(*Node)
	if !ok {
		return func([]*graph.Node) any { return v }
	}
	k := len(*o)
	*o = append(*o, n)
	return func(in []*graph.Node) any { return in[k] }
}

// source is a node as an index array or a mask.
type source struct {
	node *Node
	spec tensor.Spec
}

// Spec is the node's element type and shape.
func (s source) Spec() tensor.Spec { return s.spec }

func sourceOf(n *Node) source {
	if n == nil {
		return source{}
	}
	spec, err := specOf(n)
	if err != nil {
		spec = tensor.Spec{} // applying the op says so
	}
	return source{n, spec}
}

// Of is a node as an item of an index expression: an index array, or a mask if it is of bool.
func Of(n *Node) index.Item { return index.Of(sourceOf(n)) }

// Parse reads an index expression as it stands between NumPy's brackets, "1:5, ..., $0": $0 is nodes[0]. The
// language is that of index.Parse.
//
// Errors: *index.SyntaxError.
func Parse(expr string, nodes ...*Node) ([]index.Item, error) {
	args := make([]index.Source, len(nodes))
	for i, n := range nodes {
		args[i] = sourceOf(n)
	}
	return index.Parse(expr, args...)
}

// addItems makes operands of the nodes among items.
func (o *operands) addItems(items []index.Item) func(in []*graph.Node) []index.Item {
	at := map[int]argument{}
	for i, it := range items {
		if s, ok := it.Source().(source); ok {
			at[i] = o.add(s.node)
		}
	}
	return func(in []*graph.Node) []index.Item {
		r := append([]index.Item{}, items...)
		for i, a := range at {
			r[i] = index.Of(a(in).(*graph.Node))
		}
		return r
	}
}
