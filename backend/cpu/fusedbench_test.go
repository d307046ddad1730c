package cpu_test

import (
	"context"
	"testing"
	"time"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// BenchmarkFused compares programs with the passes and without.
func BenchmarkFused(b *testing.B) {
	cases := []struct {
		name       string
		rows, cols int
		build      func(x *node) []*node
	}{
		{"chain5", 2048, 2048, func(x *node) []*node {
			return []*node{ops.Maximum(ops.Add(ops.Mul(ops.Sub(ops.Mul(x, 2), 1), x), 0.5), 0)}
		}},
		{"chain5 small", 8, 8, func(x *node) []*node {
			return []*node{ops.Maximum(ops.Add(ops.Mul(ops.Sub(ops.Mul(x, 2), 1), x), 0.5), 0)}
		}},
		{"sum of squares", 2048, 2048, func(x *node) []*node { return []*node{ops.Sum(ops.Square(ops.Sub(x, 1)))} }},
		{"sum of squares axis 0", 2048, 2048, func(x *node) []*node { return []*node{ops.Sum(ops.Square(ops.Sub(x, 1)), 0)} }},
		{"layer norm", 2048, 2048, func(x *node) []*node { return []*node{ops.Standardize(x, 1e-5, 1)} }},
		{"layer norm gradient", 2048, 2048, func(x *node) []*node {
			return autograd.Grad(ops.Sum(ops.Mul(ops.Standardize(x, 1e-5, 1), x)), x)
		}},
		{"RMS norm gradient", 2048, 2048, func(x *node) []*node {
			y := ops.RMSNormalize(x, 1e-5, 1)
			return append(autograd.VJP([]*node{y}, []*node{x}, []*node{x}), y)
		}},
		{"log-softmax gradient", 2048, 2048, func(x *node) []*node {
			return autograd.VJP([]*node{ops.LogSoftmax(x, 1)}, []*node{x}, []*node{x})
		}},
		{"softmax gradient", 2048, 2048, func(x *node) []*node {
			return autograd.VJP([]*node{ops.Softmax(x, 1)}, []*node{x}, []*node{x})
		}},
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

// BenchmarkEmbeddingStep is SGD on a table of 50k rows of 256, 8192 tokens a step.
func BenchmarkEmbeddingStep(b *testing.B) {
	for _, off := range []bool{false, true} {
		b.Run(map[bool]string{false: "sparse", true: "dense"}[off], func(b *testing.B) {
			bk := cpu.On(cpu.Threads(2))
			s := graph.NewStore(bk, 1)
			table := s.New("table", graph.Value(tensor.Must(tensor.New(tensor.Float32, 50000, 256))), tensor.Float32, 50000, 256)
			g := graph.New()
			w := table.Read(g)
			loss := ops.Mean(ops.Square(ops.Sub(ops.Index(w, index.Of(g.Input("tokens", tensor.Int32, 8192))), 1)))
			p, err := graph.CompileWith(bk, graph.Options{NoPasses: off}, loss, table.Assign(ops.Sub(w, ops.Mul(autograd.Grad(loss, w)[0], 0.1))))
			if err != nil {
				b.Fatal(err)
			}
			tokens := tensor.Must(tensor.New(tensor.Int32, 8192))
			for i := range 8192 {
				tensor.Elements[int32](tokens.Storage())[i] = int32(i * 7919 % 50000)
			}
			feed, outs := graph.Feed{"tokens": tokens}, results(p)
			for b.Loop() {
				if err := p.RunInto(context.Background(), feed, outs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTinySteps is what a step of a program costs beside its work: a thousand of four elements.
func BenchmarkTinySteps(b *testing.B) {
	g := graph.New()
	x := g.Input("x", tensor.Float32, 4)
	y := x
	for range 1000 {
		y = ops.Add(ops.Reverse(y, 0), x) // a reversed operand is not fused
	}
	p, err := graph.Compile(cpu.On(cpu.Threads(2)), y)
	if err != nil {
		b.Fatal(err)
	}
	feed, outs := graph.Feed{"x": tensor.Of[float32](1, 0.5, 0.25, 1)}, results(p)
	least := time.Hour
	for b.Loop() {
		began := time.Now()
		if err := p.RunInto(context.Background(), feed, outs); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(began))
	}
	b.ReportMetric(float64(least.Nanoseconds())/float64(p.Stats().Steps), "least-ns/step")
}
