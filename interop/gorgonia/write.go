package adjoint

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The assignments return x with some elements replaced: x itself is not written to. v is a node or a Go scalar
// that broadcasts to the elements named. They are written in row-major order, so of several writers to one
// element Set keeps the last and the others combine; gradients are those of the writers that count. Errors of
// every one: those of its namesake in package ops. When it runs: *ops.IndexError.

// SetIndex is x after x[items…] = v. A mask may be a node: what it covers becomes v.
func SetIndex(x *Node, v any, items ...index.Item) (*Node, error) {
	return assign("adjoint.SetIndex", ops.SetIndex, x, v, items)
}

// AddIndex is x after x[items…] += v, in which an element named twice is added to twice.
func AddIndex(x *Node, v any, items ...index.Item) (*Node, error) {
	return assign("adjoint.AddIndex", ops.AddIndex, x, v, items)
}

// MulIndex is x after x[items…] *= v, in which an element named twice is multiplied twice. The gradients are right
// where factors are 0.
func MulIndex(x *Node, v any, items ...index.Item) (*Node, error) {
	return assign("adjoint.MulIndex", ops.MulIndex, x, v, items)
}

// MaxIndex is x after each element named became the greatest of itself and its v. Gradients are shared equally
// among all that attain it.
func MaxIndex(x *Node, v any, items ...index.Item) (*Node, error) {
	return assign("adjoint.MaxIndex", ops.MaxIndex, x, v, items)
}

// MinIndex is x after each element named became the least of itself and its v. Gradients are shared equally among
// all that attain it.
func MinIndex(x *Node, v any, items ...index.Item) (*Node, error) {
	return assign("adjoint.MinIndex", ops.MinIndex, x, v, items)
}

type assignment func(x *graph.Node, v any, items ...index.Item) *graph.Node

func assign(name string, f assignment, x *Node, v any, items []index.Item) (*Node, error) {
	nodes := operands{x}
	value := nodes.add(v)
	at := nodes.addItems(items)
	return Apply(name, func(in []*graph.Node) *graph.Node { return f(in[0], value(in), at(in)...) }, nodes...)
}

var assignments = map[ops.Combine]assignment{
	ops.CombineSet: ops.SetIndex, ops.CombineAdd: ops.AddIndex, ops.CombineMul: ops.MulIndex,
	ops.CombineMax: ops.MaxIndex, ops.CombineMin: ops.MinIndex,
}

// Scatter is the counterpart of Take: x[b…, idx[i…], r…] combined with u[b…, i…, r…], u being a node or a Go scalar
// that broadcasts to that shape.
//
// Errors: those of ops.SetIndex, tensor.ErrAxis, tensor.ErrUnsupported for a combination that is none. When it
// runs: *ops.IndexError.
func Scatter(x, idx *Node, u any, axis int, c ops.Combine) (*Node, error) {
	const name = "adjoint.Scatter"
	f, ok := assignments[c]
	if !ok {
		f = func(x *graph.Node, _ any, _ ...index.Item) *graph.Node {
			return graph.Fail(name, unknownCombination(c), x)
		}
	}
	nodes := operands{x, idx}
	value := nodes.add(u)
	return Apply(name, func(in []*graph.Node) *graph.Node {
		x := in[0]
		if axis < -x.Rank() || axis >= x.Rank() {
			return graph.Fail(name, outsideOf(axis, x.Rank()), x)
		}
		before := slices.Repeat([]index.Item{index.All}, (axis+x.Rank())%x.Rank())
		return f(x, value(in), append(before, index.Of(in[1]))...)
	}, nodes...)
}

// PutAlongAxis is the counterpart of TakeAlongAxis: x[b…, idx[b…, j, r…], r…] combined with v[b…, j, r…], v being a
// node or a Go scalar.
func PutAlongAxis(x, idx *Node, v any, axis int, c ops.Combine, bound ...ops.Bound) (*Node, error) {
	nodes := operands{x, idx}
	value := nodes.add(v)
	return Apply("adjoint.PutAlongAxis", func(in []*graph.Node) *graph.Node {
		return ops.PutAlongAxis(in[0], in[1], value(in), axis, c, bound...)
	}, nodes...)
}

// ScatterND is the counterpart of GatherND without batch axes: x[idx[i…, :], r…] combined with u[i…, r…].
func ScatterND(x, idx, u *Node, c ops.Combine) (*Node, error) {
	return Apply("adjoint.ScatterND", func(in []*graph.Node) *graph.Node {
		return ops.ScatterND(in[0], in[1], in[2], c)
	}, x, idx, u)
}

func outsideOf(axis, rank int) error {
	return tensor.Errorf("", tensor.ErrAxis, "axis %d of rank %d", axis, rank)
}

func unknownCombination(c ops.Combine) error {
	return tensor.Errorf("", tensor.ErrUnsupported, "combination %d", c)
}
