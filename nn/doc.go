// Package nn is what training a model takes beside the operations: initial values, layers, losses, optimizers
// with schedules, random keys, data, a training loop, and files.
//
// A layer is a struct of variables with a method Apply that builds nodes; an optimizer is a struct of numbers
// with a method Step that builds the loss and the assignments of one step:
//
//	hidden := nn.NewLinear(store, "hidden", nn.HeNormal, tensor.Float32, 784, 128)
//	loss := nn.CrossEntropy(hidden.Apply(x), labels)
//	step, err := graph.Compile(backend, nn.Adam{LR: 1e-3}.Step(loss)...)
//
// Builders report mistakes as those of package ops do: they return an invalid node, and the graph keeps the
// first cause with the user's line.
package nn

import "github.com/adjoint-go/adjoint/graph"

// Node is a graph.Node.
type Node = graph.Node
