// Package ops defines the operations: one file per family, each holding the attributes, the builders and
// every rule. Builders take and return nodes of package graph; an operand given as a Go scalar takes the
// dtype of the node beside it. A builder never returns an error and never panics on a mistake of its caller:
// it returns an invalid node, and Graph.Err says what was wrong and where.
package ops

import "github.com/adjoint-go/adjoint/graph"

// Node and Call are those of package graph.
type (
	Node = graph.Node
	Call = graph.Call
)
