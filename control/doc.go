// Package control builds graphs that branch and loop: Cond, While, WhileN and Scan. Each takes Go functions that
// build nodes; they are called once, while the graph is built, on nodes that stand for their arguments, and may
// use any node from outside: weights, say. What they build runs as often as the data ask for, in eager graphs
// and in compiled ones alike, on any backend.
//
//	final, ys := control.Scan(func(carry, x []*Node) (next, y []*Node) {
//		h := ops.Tanh(ops.Add(ops.MatMul(x[0], w), ops.MatMul(carry[0], u)))
//		return []*Node{h}, []*Node{h}
//	}, []*Node{h0}, []*Node{xs})
//
// All have reverse, forward and batch rules, of every order; only While, whose trips nobody knows, has no reverse:
// WhileN is While with a bound, and has.
//
// ScatterBy, made of a Scan, is a scatter by any function of scalars, a graph.Func.
//
// Inside of the functions nodes have no values, also in eager graphs, so what looks at values there is
// tensor.ErrDataDependent; and variables cannot be assigned: return what is to be assigned.
package control

import "github.com/adjoint-go/adjoint/graph"

// Node is a graph.Node.
type Node = graph.Node
