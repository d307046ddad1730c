package adjoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Node is a gorgonia.Node.
type Node = gorgonia.Node

// Apply makes one gorgonia op of a function of our builders and applies it: inside, memory is planned and
// kernels are those of our compiler, and its gradients are ours. build gets a node of ours for each operand; it
// is called once, and must depend on nothing but them.
//
// Errors: what the builders said, with the caller's line; tensor.ErrUnsupported for a nil operand,
// tensor.ErrShape for one without a shape, tensor.ErrDType for one of a type that is none of ours and for a
// result of rank 0 or of half floats of which gorgonia has none; those of gorgonia.ApplyOp.
func Apply(name string, build func(in []*graph.Node) *graph.Node, in ...*Node) (*Node, error) {
	return apply(name, gtensor.Dtype{}, build, in)
}

// apply is Apply with gorgonia's name for the elements of the result, or the zero Dtype: that of the first operand
// that has the same elements, so that int stays int.
func apply(name string, out gtensor.Dtype, build func(in []*graph.Node) *graph.Node, in []*Node) (*Node, error) {
	o, err := newOp(name, current(), nil, out, build, in)
	if err != nil {
		return nil, err
	}
	return gorgonia.ApplyOp(o, in...)
}

// applyPositions is Apply for results that count positions: they are of int.
func applyPositions(name string, build func(in []*graph.Node) *graph.Node, in ...*Node) (*Node, error) {
	return apply(name, gtensor.Int, build, in)
}

// specOf is what a node of gorgonia's promises of its value.
func specOf(n *Node) (tensor.Spec, error) {
	var of any = n.Type()
	rank := 0
	switch t := of.(type) {
	case gorgonia.TensorType:
		of, rank = t.Of, t.Dims
	case *gorgonia.TensorType:
		of, rank = t.Of, t.Dims
	}
	dt, ok := of.(gtensor.Dtype)
	if !ok {
		return tensor.Spec{}, tensor.Errorf("", tensor.ErrDType, "the node's type is %v, want that of a tensor", n.Type())
	}
	d, err := dtypeOf(dt)
	if err != nil {
		return tensor.Spec{}, err
	}
	shape := []int(n.Shape())
	if rank > 0 && len(shape) == 0 {
		return tensor.Spec{}, tensor.Errorf("", tensor.ErrShape,
			"node %q has no shape: make it with gorgonia.WithShape", n.Name())
	}
	return tensor.Spec{DType: d, Shape: slices.Clone(shape)}, nil
}

// Const is a node for a tensor or a scalar that is known when the graph is built. Its elements are copied. Two
// constants of a graph are one node where all their elements are the same; gorgonia.NewConstant makes one of
// those that print alike, and long vectors print shortened.
//
// Errors: those of FromValue, tensor.ErrUnsupported for a nil graph or value.
func Const(g *gorgonia.ExprGraph, v gorgonia.Value) (*Node, error) {
	const name = "adjoint.Const"
	if g == nil || v == nil {
		return nil, tensor.Errorf(name, tensor.ErrUnsupported, "the graph or the value is nil")
	}
	view, err := FromValue(v)
	if err != nil {
		return nil, err
	}
	t, err := view.Copy()
	if err != nil {
		return nil, err
	}
	bytes, err := t.Storage().Bytes()
	if err != nil {
		return nil, err
	}
	dt := v.Dtype()
	own, err := toValue(t, dt)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%v%v\n", dt, t.Shape())
	h.Write(bytes)
	label := gorgonia.WithName("adjoint.Const " + hex.EncodeToString(h.Sum(nil)))
	return gorgonia.NewTensor(g, dt, t.Rank(), gorgonia.WithShape(t.Shape()...), label, gorgonia.WithValue(own)), nil
}

// Cause is the error inside of what a machine returned. gorgonia wraps the errors of ops in a type that
// errors.Is and errors.As do not see through.
//
//	if bad, ok := errors.AsType[*ops.IndexError](adjoint.Cause(vm.RunAll())); ok {
func Cause(err error) error {
	for err != nil {
		switch e := err.(type) {
		case *graph.Error:
			return e
		case interface{ Err() error }: // a machine's
			err = e.Err()
		case interface{ Unwrap() error }:
			if inner := e.Unwrap(); inner != nil {
				err = inner
				continue
			}
			return err
		default:
			return err
		}
	}
	return nil
}
