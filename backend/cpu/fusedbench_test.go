package cpu_test

import (
	"context"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// BenchmarkFused compares programs with the passes and without.
func BenchmarkFused(b *testing.B) {
	g := func(f func(x *node) []*node) func(x *node) []*node { return f }
	cases := []struct {
		name       string
		rows, cols int
		build      func(x *node) []*node
	}{
		{"chain5", 2048, 2048, g(func(x *node) []*node {
			return []*node{ops.Maximum(ops.Add(ops.Mul(ops.Sub(ops.Mul(x, 2), 1), x), 0.5), 0)}
		})},
		{"chain5 small", 8, 8, g(func(x *node) []*node {
			return []*node{ops.Maximum(ops.Add(ops.Mul(ops.Sub(ops.Mul(x, 2), 1), x), 0.5), 0)}
		})},
		{"sum of squares", 2048, 2048, g(func(x *node) []*node { return []*node{ops.Sum(ops.Square(ops.Sub(x, 1)))} })},
		{"sum of squares axis 0", 2048, 2048, g(func(x *node) []*node { return []*node{ops.Sum(ops.Square(ops.Sub(x, 1)), 0)} })},
		{"layer norm", 2048, 2048, g(func(x *node) []*node { return []*node{ops.Standardize(x, 1e-5, 1)} })},
		{"layer norm gradient", 2048, 2048, g(func(x *node) []*node {
			return autograd.Grad(ops.Sum(ops.Mul(ops.Standardize(x, 1e-5, 1), x)), x)
		})},
	}
	for _, c := range cases {
		for _, off := range []bool{false, true} {
			name := c.name + "/fused"
			if off {
				name = c.name + "/unfused"
			}
			b.Run(name, func(b *testing.B) {
				gr := graph.New()
				bk := cpu.On(cpu.Threads(2))
				p, err := graph.CompileWith(bk, graph.Options{NoPasses: off}, c.build(gr.Input("x", tensor.Float32, c.rows, c.cols))...)
				if err != nil {
					b.Fatal(err)
				}
				x := tensor.Must(tensor.New(tensor.Float32, c.rows, c.cols))
				e := tensor.Must(tensor.Slice[float32](x))
				for i := range e {
					e[i] = float32(i%17) / 8
				}
				outs := results(p)
				feed := graph.Feed{"x": x}
				b.SetBytes(int64(4 * c.rows * c.cols))
				for b.Loop() {
					if err := p.RunInto(context.Background(), feed, outs); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
