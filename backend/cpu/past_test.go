package cpu

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestPast: a result has the same bits past the caches.
func TestPast(t *testing.T) {
	old := tuning
	t.Cleanup(func() { tuning = old })
	for _, row := range []struct {
		name, why string
		build     func(x, y *graph.Node) []*graph.Node
	}{
		{"unary", "a tile goes from scratch", func(x, _ *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Neg(x)}
		}},
		{"dear", "what is computed for long is not", func(x, _ *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Tanh(x)}
		}},
		{"links", "an op alone is a chain of one link", func(x, y *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Add(x, y), ops.Sub(x, y), ops.Mul(x, x), ops.Div(y, x), ops.Maximum(x, y), ops.Minimum(y, x)}
		}},
		{"transposed", "an operand has scratch too", func(x, y *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Add(ops.Transpose(x, 1, 0), ops.Transpose(y, 1, 0))}
		}},
		{"cast", "a result that is converted is not", func(x, _ *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Cast(ops.Mul(x, x), tensor.Float16)}
		}},
		{"steps", "the results of fused steps are not, but that of a chain is", func(x, y *graph.Node) []*graph.Node {
			a := ops.Mul(ops.Add(x, y), x)
			return []*graph.Node{a, ops.Sub(ops.Exp(a), y)}
		}},
		{"chain", "a chain stores past the caches itself", func(x, y *graph.Node) []*graph.Node {
			return []*graph.Node{ops.Maximum(ops.Sub(ops.Mul(ops.Add(ops.Mul(x, y), x), 2), y), 0)}
		}},
	} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
			for _, shape := range [][]int{{3, 5}, {70, 300}, {200, 64}, {2, 16411}} {
				t.Run(fmt.Sprint(row.name, dt, shape), func(t *testing.T) {
					tuning.past = 1
					got := resultBits(t, row.build, dt, shape)
					tuning.past = 1 << 60
					for i, want := range resultBits(t, row.build, dt, shape) {
						if !bytes.Equal(got[i], want) {
							t.Errorf("result %d differs: %s", i, row.why)
						}
					}
				})
			}
		}
	}
}

// resultBits is the bytes of what a program makes of two inputs, of which each run has the same.
func resultBits(t *testing.T, build func(x, y *graph.Node) []*graph.Node, dt tensor.DType,
	shape []int) (all [][]byte) {
	r := rand.New(rand.NewPCG(5, 6))
	g, feed := graph.New(), graph.Feed{}
	var in []*graph.Node
	for _, name := range []string{"x", "y"} {
		x := tensor.Must(tensor.New(dt, shape...))
		if dt == tensor.Float32 {
			normals(r, tensor.Must(tensor.Slice[float32](x)))
		} else {
			normals(r, tensor.Must(tensor.Slice[float64](x)))
		}
		feed[name] = x
		in = append(in, g.Input(name, dt, shape...))
	}
	p, err := graph.Compile(On(Threads(2)), build(in[0], in[1])...)
	if err != nil {
		t.Fatal(err)
	}
	used := graph.Feed{}
	names, _ := p.Inputs()
	for _, name := range names {
		used[name] = feed[name]
	}
	outs, err := p.Run(context.Background(), used)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outs {
		b, err := o.Storage().Bytes()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Clone(b))
	}
	return all
}

func normals[T float](r *rand.Rand, x []T) {
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
}
