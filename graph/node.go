package graph

import (
	"errors"

	"github.com/adjoint-go/adjoint/tensor"
)

// Node is one result of one call, a value in the making. Builders return nodes and take them; a builder that
// could not do what it was asked returns an invalid node, and builders given one are silent, so that
// Graph.Err has the first cause.
type Node struct {
	call  *Call // nil: invalid
	index int   // which result
	spec  tensor.Spec
	graph *Graph // nil: invalid without a graph, made of nil operands
	err   error  // why, where there is no graph to keep it
	value *tensor.View
}

// Spec is the element type and the shape; both are zero for an invalid node.
func (n *Node) Spec() tensor.Spec { return n.spec }

// DType is the element type, tensor.Invalid for an invalid node.
func (n *Node) DType() tensor.DType { return n.spec.DType }

// Shape is the extents of the axes; do not write to it.
func (n *Node) Shape() []int { return n.spec.Shape }

// Rank is the number of axes.
func (n *Node) Rank() int { return len(n.spec.Shape) }

// Size is the number of elements.
func (n *Node) Size() int { return n.spec.Size() }

// Graph is the graph that the node belongs to; nil for an invalid node that never had one.
func (n *Node) Graph() *Graph {
	if n == nil {
		return nil
	}
	return n.graph
}

// Call is the call that makes the value, nil for an invalid node.
func (n *Node) Call() *Call { return n.call }

// Index says which result of its call the node is.
func (n *Node) Index() int { return n.index }

// Valid reports whether the node stands for a value. It may be asked of a nil node.
func (n *Node) Valid() bool { return n != nil && n.call != nil }

// Err is nil for a valid node, else why it is invalid: the first error of its graph.
func (n *Node) Err() error {
	switch {
	case n == nil:
		return errNil
	case n.call != nil:
		return nil
	case n.graph != nil && n.graph.err != nil:
		return n.graph.err
	case n.err != nil:
		return n.err
	}
	return errors.New("the node is invalid, and its graph's error was cleared")
}

var errNil = errors.New("the node is nil")

// Value is what the node evaluates to: at once for every node of an eager graph, and for constants of any
// graph. The elements are shared: do not write to them.
//
// Errors: why the node is invalid, or tensor.ErrUnsupported in a graph that is built for compiling.
func (n *Node) Value() (tensor.View, error) {
	if err := n.Err(); err != nil {
		return tensor.View{}, err
	}
	if n.value == nil {
		return tensor.View{}, &Error{n.call.Pos(), n.call.Op.Name(), tensor.Errorf("", tensor.ErrUnsupported,
			"%s has no value yet: compile the graph and run it, or build it with graph.Eager", n.spec)}
	}
	return *n.value, nil
}

// HostValue is Value where host code can read it: a copy, of a value in the memory of a device. Errors: as Value,
// and those of the backend's Export.
func (n *Node) HostValue() (tensor.View, error) {
	v, err := n.Value()
	if err != nil || n.call.graph.backend == nil {
		return v, err
	}
	return n.call.graph.backend.Export(v)
}
