package ops

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Map is out[i…] = f(xs₀[i…], xs₁[i…], …): a function of scalars at every index of what xs broadcast to,
// with a node for each of its results. f is not called for an element: each op of it becomes one op on
// whole tensors. Its derivatives are those of its ops.
//
// Errors (sticky): tensor.ErrShape where xs do not broadcast or are not as many as f has arguments,
// tensor.ErrDType for a node of another dtype than the argument, tensor.ErrRank where f has an argument or
// a result that is no scalar, tensor.ErrUnsupported for nil.
func Map(f *graph.Func, xs ...*Node) []*Node {
	const op = "ops.Map"
	results := 1
	if f != nil {
		results = len(f.Out())
	}
	if bad := graph.Invalid(op, xs...); bad != nil {
		return repeat(bad, results)
	}
	if err := checkMap(f, xs); err != nil {
		return repeat(graph.Fail(op, err, xs...), results)
	}
	args, bad := broadcast(op, xs)
	if bad != nil {
		return repeat(bad, results)
	}
	return mapOver(op, f, args[0].Shape(), args)
}

func checkMap(f *graph.Func, xs []*Node) error {
	if f == nil {
		return tensor.Errorf("", tensor.ErrUnsupported, "the function is nil")
	}
	in := f.In()
	if len(xs) == 0 || len(in) != len(xs) {
		return tensor.Errorf("", tensor.ErrShape,
			"function %s has %d arguments, there are %d operands", f.Name(), len(in), len(xs))
	}
	for i, s := range in {
		if s.Rank() != 0 {
			return tensor.Errorf("", tensor.ErrRank,
				"argument %d of function %s has shape %v, want rank 0", i, f.Name(), s.Shape)
		}
		if s.DType != xs[i].DType() {
			return tensor.Errorf("", tensor.ErrDType, "argument %d of function %s is %s, operand %d is %s",
				i, f.Name(), s.DType, i, xs[i].DType())
		}
		if xs[i].Graph() != xs[0].Graph() {
			return fmt.Errorf("operand %d belongs to another graph", i)
		}
	}
	for i, s := range f.Out() {
		if s.Rank() != 0 {
			return tensor.Errorf("", tensor.ErrRank,
				"result %d of function %s has shape %v, want rank 0", i, f.Name(), s.Shape)
		}
	}
	return nil
}

// mapOver is f, a function of scalars, at every index of a shape, which all of args have. Axes of extent 1
// are left out of it: each axis costs the graph a tracing of f, though no time when it runs.
func mapOver(op string, f *graph.Func, shape []int, args []*Node) []*Node {
	dense := slices.DeleteFunc(slices.Clone(shape), func(d int) bool { return d == 1 })
	over := f
	for a := len(dense) - 1; a >= 0; a-- {
		var err error
		if over, err = batchFunc(over, dense[a]); err != nil {
			return repeat(graph.Fail(op, err, args...), len(f.Out()))
		}
	}
	in := each(args, func(x *Node) *Node { return Reshape(x, dense...) })
	return each(over.Apply(args[0].Graph(), in...), func(y *Node) *Node { return Reshape(y, shape...) })
}

// batchFunc is f on a batch: every argument and every result has size examples at axis 0. Its calls are
// those of the Batch rules, so elementwise ops stay single ops.
func batchFunc(f *graph.Func, size int) (*graph.Func, error) {
	examples := f.In()
	batches := make([]tensor.Spec, len(examples))
	for i, s := range examples {
		batches[i] = tensor.Spec{DType: s.DType, Shape: prepend(size, s.Shape)}
	}
	return graph.NewFunc(f.Name(), batches, func(g *graph.Graph, in []*Node) []*Node {
		env, args := map[*Node]*Node{}, make([]*Node, len(in))
		for i, s := range examples {
			args[i] = g.Placeholder(s)
			env[args[i]] = in[i]
		}
		outs := f.Apply(g, args...)
		r := graph.Batch(outs, env, size)
		for i, y := range outs {
			if r[i] == nil { // it depends on no argument
				r[i] = BroadcastTo(y, prepend(size, y.Shape())...)
			}
		}
		return r
	})
}
