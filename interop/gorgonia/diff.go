package adjoint

import (
	"slices"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// apply builds the op's function.
func (o *op) apply(in []*graph.Node) []*graph.Node { return o.fn.Apply(in[0].Graph(), in...) }

// vjp builds the gradients by some operands: in holds the operands, then the cotangent.
func (o *op) vjp(in []*graph.Node, by ...int) []*graph.Node {
	n := o.Arity()
	y := o.apply(in[:n])
	wrt := make([]*graph.Node, len(by))
	for k, i := range by {
		wrt[k] = in[i]
	}
	return autograd.VJP(y, []*graph.Node{fit(in[n], y[0])}, wrt)
}

// fit is a cotangent of the result's shape: a rule of gorgonia's may hand on a scalar for a tensor, or other axes
// of extent 1.
func fit(ct, y *graph.Node) *graph.Node {
	if ct.Valid() && y.Valid() && ct.Size() == y.Size() {
		return ops.Reshape(ct, y.Shape()...)
	}
	return ops.BroadcastTo(ct, y.Shape()...)
}

// gradients is vjp by every operand that has a gradient.
func (o *op) gradients(in []*graph.Node) []*graph.Node { return o.vjp(in, o.differentiable()...) }

func (o *op) differentiable() []int {
	var by []int
	for i, d := range o.diff {
		if d {
			by = append(by, i)
		}
	}
	return by
}

// DiffWRT says which operands gradients flow to: those of floats, unless the result is none.
func (o *op) DiffWRT(int) []bool { return slices.Clone(o.diff) }

// SymDiff applies, for each operand with a gradient, the op that computes it of the operands and grad. Those are
// ops like any other, on the same backend, so they have gradients themselves.
func (o *op) SymDiff(inputs gorgonia.Nodes, _, grad *Node) (gorgonia.Nodes, error) {
	r := make(gorgonia.Nodes, len(inputs))
	for _, i := range o.differentiable() {
		in := append(slices.Clone(inputs), grad)
		d, err := newOp(o.name+" gradient", o.on, o.from, gtensor.Dtype{}, func(in []*graph.Node) *graph.Node {
			return o.vjp(in, i)[0]
		}, in)
		if err != nil {
			return nil, err
		}
		if r[i], err = gorgonia.ApplyOp(d, in...); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// DoDiff adds to the gradient of each operand that has one, all computed together.
func (o *op) DoDiff(_ gorgonia.ExecutionContext, inputs gorgonia.Nodes, output *Node) (err error) {
	defer o.recovered(&err)
	by := o.differentiable()
	if len(by) == 0 {
		return nil
	}
	p, err := o.reverse()
	if err != nil {
		return err
	}
	values := make([]gorgonia.Value, len(inputs)+1)
	for i, n := range inputs {
		values[i] = n.Value()
	}
	if values[len(inputs)], err = output.Grad(); err != nil {
		return err
	}
	grads, err := p.run(values)
	if err != nil {
		return err
	}
	for k, i := range by {
		to, err := inputs[i].Grad()
		if err != nil {
			return err
		}
		if to == nil {
			return tensor.Errorf("", tensor.ErrUnsupported, "operand %d has no memory for its gradient", i)
		}
		if err := accumulate(to, grads[k]); err != nil {
			return err
		}
	}
	return nil
}
