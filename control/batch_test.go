package control_test

import (
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestBatchesThatDiffer: examples that choose and end apart get what each gets alone: values, gradients, and the
// gradient's gradient.
func TestBatchesThatDiffer(t *testing.T) {
	w := pseudo(4, 3)
	choose := func(in []*Node) []*Node {
		return control.Cond(ops.Greater(ops.Sum(in[0]), 0),
			func(x []*Node) []*Node { return []*Node{ops.Sin(ops.Mul(x[0], in[1])), ops.Sum(x[0])} },
			func(x []*Node) []*Node { return []*Node{ops.Exp(x[0]), ops.Sum(in[1])} }, in[0])
	}
	bounded := func(in []*Node) []*Node {
		return control.WhileN(5, func(s []*Node) *Node { return ops.Less(ops.Sum(ops.Square(s[0])), 4) },
			func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], ops.Add(ops.Square(in[1]), 1.25))} }, in[0])
	}
	inScan := func(in []*Node) []*Node {
		f, ys := control.Scan(func(c, x []*Node) (next, y []*Node) {
			next = control.Cond(ops.Greater(x[0], ops.Sum(c[0])), func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], in[1])} },
				func(s []*Node) []*Node { return []*Node{ops.Sin(s[0])} }, c[0])
			return next, next
		}, []*Node{in[1]}, in[:1])
		return append(f, ys...)
	}
	for _, c := range []struct {
		name string
		f    func(in []*Node) []*Node
	}{{"cond", choose}, {"bounded", bounded}, {"cond in scan", inScan}} {
		t.Run(c.name, func(t *testing.T) {
			x := pseudo(3, 6, 3)
			second := gradients(func(in []*Node) []*Node { return gradients(c.f)(in) })
			for what, f := range map[string]func([]*Node) []*Node{"values": c.f, "gradients": gradients(c.f), "second order": second} {
				batch := func(in []*Node) []*Node { return autograd.Vmap(f, in, []int{0, -1}) }
				got := eager(t, backend, batch, []*tensor.Tensor{x, w})
				sameBits(t, what+", compiled", compiled(t, backend, graph.Options{}, batch, []*tensor.Tensor{x, w}), got)
				for e := range 6 {
					one := tensor.Must(tensor.Must(x.View().Slice([]int{e, 0}, []int{1, 1}, []int{1, 3})).Reshape(3))
					want := eager(t, backend, f, []*tensor.Tensor{tensor.Must(one.Copy()), w})
					var mine []tensor.View
					for _, v := range got {
						start, step, size := make([]int, v.Rank()), make([]int, v.Rank()), append([]int{1}, v.Shape()[1:]...)
						for a := range step {
							step[a] = 1
						}
						start[0] = e
						mine = append(mine, tensor.Must(tensor.Must(tensor.Must(v.Slice(start, step, size)).Copy()).View().Reshape(v.Shape()[1:]...)))
					}
					close(t, what, mine, want)
				}
			}
		})
	}
}

// TestBatchedCarry: a carry that starts alike for all examples and then differs has the batch, one that never does
// is computed once.
func TestBatchedCarry(t *testing.T) {
	f := func(in []*Node) []*Node {
		g := in[0].Graph()
		final, ys := control.Scan(func(c, x []*Node) (next, y []*Node) {
			return []*Node{ops.Add(c[0], ops.Mul(x[0], in[1])), ops.Add(c[1], 1)}, []*Node{ops.Mul(x[0], 2), c[0]}
		}, []*Node{g.Literal(tensor.Float64, 0), g.Literal(tensor.Float64, 5)}, in[:1])
		return append(final, ys...)
	}
	batch := func(in []*Node) []*Node { return autograd.Vmap(f, in, []int{-1, 0}) }
	got := eager(t, backend, batch, []*tensor.Tensor{tensor.Of(1.0, 2, 3), tensor.Of(10.0, 100)})
	sameBits(t, "values", got, []tensor.View{
		tensor.Of(60.0, 600).View(), tensor.Of(8.0, 8).View(),
		tensor.Must(tensor.FromSlice([]float64{2, 4, 6, 2, 4, 6}, 2, 3)).View(),
		tensor.Must(tensor.FromSlice([]float64{0, 10, 30, 0, 100, 300}, 2, 3)).View(),
	})
	g := graph.New()
	out := batch([]*Node{g.Input("x", tensor.Float64, 3), g.Input("w", tensor.Float64, 2)})
	for _, c := range graph.Topo(out) {
		if op, ok := c.Op.(control.ScanOp); ok {
			in := op.Body.In()
			if len(in[0].Shape) != 1 || len(in[1].Shape) != 0 || len(in[2].Shape) != 0 {
				t.Errorf("the body takes %v, want the batch at the first carry alone", in)
			}
		}
	}
}
