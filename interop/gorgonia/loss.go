package adjoint

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
)

// Softmax is exp x / Σ exp x of floats along an axis, without overflow.
//
// Errors: those of ops.Softmax.
func Softmax(x *Node, axis int) (*Node, error) {
	return Apply("adjoint.Softmax", func(in []*graph.Node) *graph.Node { return ops.Softmax(in[0], axis) }, x)
}

// LogSoftmax is x − log Σ exp x of floats along an axis, without overflow.
//
// Errors: those of ops.LogSoftmax.
func LogSoftmax(x *Node, axis int) (*Node, error) {
	return Apply("adjoint.LogSoftmax", func(in []*graph.Node) *graph.Node {
		return ops.LogSoftmax(in[0], axis)
	}, x)
}

// CrossEntropy is the mean over b… of −log softmax(logits[b…, :])[labels[b…]], a scalar. labels holds classes
// counted from 0, of any integer type: no one-hot matrix is made.
//
// Errors: those of nn.CrossEntropy. When it runs: *ops.IndexError for a label that is no class.
func CrossEntropy(logits, labels *Node) (*Node, error) {
	return Apply("adjoint.CrossEntropy", func(in []*graph.Node) *graph.Node {
		return nn.CrossEntropy(in[0], in[1])
	}, logits, labels)
}
