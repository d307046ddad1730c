package cpu

import (
	"context"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestRunInto_allocates_nothing takes a training step: products, an activation, a loss by gather, gradients and
// assignments in place.
func TestRunInto_allocates_nothing(t *testing.T) {
	for _, x := range execs[:2] {
		b := On(x)
		s := graph.NewStore(b, 1)
		w := s.New("w", graph.Value(tensor.Must(tensor.New(tensor.Float32, 64, 10))), tensor.Float32, 64, 10)
		g := graph.New()
		labels := g.Input("labels", tensor.Int32, 32, 1)
		h := ops.Relu(ops.MatMul(g.Input("x", tensor.Float32, 32, 64), w.Read(g)))
		loss := ops.Neg(ops.Mean(ops.TakeAlongAxis(ops.LogSoftmax(h, 1), labels, 1)))
		step := w.Assign(ops.Sub(w.Read(g), ops.Mul(autograd.Grad(loss, w.Read(g))[0], 0.1)))
		p, err := graph.Compile(b, loss, step)
		if err != nil {
			t.Fatal(err)
		}
		feed := graph.Feed{
			"x":      tensor.Must(tensor.New(tensor.Float32, 32, 64)),
			"labels": tensor.Must(tensor.New(tensor.Int32, 32, 1)),
		}
		outs, ctx := []*tensor.Tensor{tensor.Scalar(float32(0))}, context.Background()
		n := steadyAllocations(func() {
			if err := p.RunInto(ctx, feed, outs); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%d threads: %v allocations a step", x.NumThreads(), n)
		}
	}
}
