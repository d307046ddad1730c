package adjoint

import (
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Take is out[b…, i…, r…] = x[b…, idx[i…], r…]: the elements of x along an axis in the order that idx names them,
// idx being of any integer type and any shape, which replaces the axis. Negative axes and indices count from the
// end. A repeated index repeats the element, and adds its gradients.
//
// Errors: those of ops.Take. When it runs: *ops.IndexError.
func Take(x, idx *Node, axis int, bound ...ops.Bound) (*Node, error) {
	return Apply("adjoint.Take", func(in []*graph.Node) *graph.Node {
		return ops.Take(in[0], in[1], axis, bound...)
	}, x, idx)
}

// TakeAlongAxis is out[b…, j, r…] = x[b…, idx[b…, j, r…], r…]: idx has x's rank and broadcasts with it but for the
// axis. What ArgSort and ArgMax name along an axis, it reads.
//
// Errors: those of ops.TakeAlongAxis. When it runs: *ops.IndexError.
func TakeAlongAxis(x, idx *Node, axis int, bound ...ops.Bound) (*Node, error) {
	return Apply("adjoint.TakeAlongAxis", func(in []*graph.Node) *graph.Node {
		return ops.TakeAlongAxis(in[0], in[1], axis, bound...)
	}, x, idx)
}

// Embedding is out[i…, :] = table[ids[i…], :], the rows of a table. The rows named by padding read as they are
// and get no gradient.
//
// Errors: those of ops.Embedding. When it runs: *ops.IndexError.
func Embedding(table, ids *Node, padding ...int) (*Node, error) {
	return Apply("adjoint.Embedding", func(in []*graph.Node) *graph.Node {
		return ops.Embedding(in[0], in[1], padding...)
	}, table, ids)
}

// GatherND is out[b…, i…, r…] = x[b…, idx[b…, i…, :], r…]: the last axis of idx is an index vector into the axes of
// x after the first batch ones, which both have.
//
// Errors: those of ops.GatherND. When it runs: *ops.IndexError.
func GatherND(x, idx *Node, batch int) (*Node, error) {
	return Apply("adjoint.GatherND", func(in []*graph.Node) *graph.Node {
		return ops.GatherND(in[0], in[1], batch)
	}, x, idx)
}

// Index is NumPy's x[items…]: integers, slices of any step, new axes, one ellipsis, index arrays and masks. Nodes
// come in by Of or Parse; tensors of ours are literals, which must not be written to afterwards.
//
// Errors: those of ops.Index: a mask that is a node is tensor.ErrDataDependent, since it cannot choose how many
// elements there are; a literal mask can. When it runs: *ops.IndexError with the number of the item.
func Index(x *Node, items ...index.Item) (*Node, error) {
	nodes := operands{x}
	at := nodes.addItems(items)
	return Apply("adjoint.Index", func(in []*graph.Node) *graph.Node {
		return ops.Index(in[0], at(in)...)
	}, nodes...)
}

// Where is a where cond holds and b where it does not. a and b are nodes or Go scalars, at least one a node; all
// three broadcast.
//
// Errors: those of ops.Where.
func Where(cond *Node, a, b any) (*Node, error) {
	nodes := operands{cond}
	yes, no := nodes.add(a), nodes.add(b)
	return Apply("adjoint.Where", func(in []*graph.Node) *graph.Node {
		return ops.Where(in[0], yes(in), no(in))
	}, nodes...)
}

// OneHot is out[i…, k] = 1 where ids[i…] = k and 0 elsewhere, for k below depth, in elements of dt. An id that is
// no such k gives a row of zeros.
//
// Errors: those of ops.OneHot, tensor.ErrDType for a dt that is none of ours.
func OneHot(ids *Node, depth int, dt gtensor.Dtype) (*Node, error) {
	const name = "adjoint.OneHot"
	d, err := dtypeOf(dt)
	if err != nil {
		return nil, tensor.Errorf(name, tensor.ErrDType, "%v", err)
	}
	return apply(name, dt, func(in []*graph.Node) *graph.Node { return ops.OneHot(in[0], depth, d) }, []*Node{ids})
}
