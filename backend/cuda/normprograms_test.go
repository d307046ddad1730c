package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// normPrograms are functions of x, of rows along the last axis, and of a gain g and a shift h of that axis.
var normPrograms = []struct {
	name string
	f    func(x, g, h *graph.Node) *graph.Node
	rows int // kernels on rows, of its gradient and itself
}{
	{"layer norm", func(x, _, _ *graph.Node) *graph.Node { return ops.Standardize(x, 1e-5, -1) }, 1},
	{"RMS norm", func(x, _, _ *graph.Node) *graph.Node { return ops.RMSNormalize(x, 1e-5, -1) }, 1},
	{"layer norm with gain and shift", func(x, g, h *graph.Node) *graph.Node {
		return ops.Add(ops.Mul(ops.Standardize(x, 1e-5, -1), ops.BroadcastTo(g, x.Shape()...)), ops.BroadcastTo(h, x.Shape()...))
	}, 1},
	{"softmax", func(x, _, _ *graph.Node) *graph.Node { return ops.Softmax(x, -1) }, 1},
	{"logsoftmax", func(x, _, _ *graph.Node) *graph.Node { return ops.LogSoftmax(x, -1) }, 1},
	{"cross-entropy with smoothing", func(x, _, _ *graph.Node) *graph.Node {
		labels := ops.Zeros(x.Graph(), tensor.Int32, x.Shape()[:x.Rank()-1]...)
		return nn.CrossEntropyWith(nn.CrossEntropyOptions{Smoothing: 0.1}, x, labels)
	}, 1},
	{"variance", func(x, _, _ *graph.Node) *graph.Node { return ops.Var(x, 1, -1) }, 1},
	{"a maximum taken off, a product of the rest", func(x, _, _ *graph.Node) *graph.Node {
		d := ops.Sub(x, ops.KeepDims(ops.Max, x, -1))
		return ops.Mul(d, ops.ExpandDims(ops.Prod(ops.Tanh(d), -1), -1))
	}, 1},
}

// TestNormPrograms: normalisations and their gradients have the CPU's bits, rows of NaN, infinities and zeros among them,
// and are kernels on rows.
func TestNormPrograms(t *testing.T) {
	r := rng(t)
	host := unfused{cpu.New()}
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Float64} {
		for _, shape := range [][]int{{6, 7}, {7, 32}, {2, 3, 129}, {5, 1000}} {
			last := shape[len(shape)-1]
			numbers := func(shape ...int) *tensor.Tensor {
				v := make([]float64, tensor.Size(shape))
				for i := range v {
					v[i] = r.NormFloat64()
				}
				if len(v) > 5*last {
					for i, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0} {
						v[i*last+r.IntN(last)] = special
						for k := range last {
							v[i*last+k] = []float64{v[i*last+k], special}[i/2]
						}
					}
				}
				b := make([]byte, len(v)*dt.Size())
				for i, x := range v {
					putFloat(dt, b[i*dt.Size():], x)
				}
				x := must(tensor.New(dt, shape...))
				copy(must(x.Storage().Bytes()), b)
				return x
			}
			feed := map[string]*tensor.Tensor{"x": numbers(shape...), "g": numbers(last), "h": numbers(last)}
			for _, c := range normPrograms {
				if spared(r, 12) {
					continue
				}
				t.Run(fmt.Sprint(c.name, "/", dt, "/", shape), func(t *testing.T) {
					want, _ := normGradient(t, host, c.f, feed)
					got, stats := normGradient(t, device(t), c.f, feed)
					if stats.Lines < c.rows {
						t.Errorf("%d kernels on rows, want %d", stats.Lines, c.rows)
					}
					for i := range want {
						if at := firstDifference(dt, got[i], want[i], true); at >= 0 {
							size := dt.Size()
							t.Errorf("result %d, element %d is %x, the CPU's %x", i, at, got[i][at*size:][:size], want[i][at*size:][:size])
						}
					}
				})
			}
		}
	}
}

// normGradient is the bytes of a function's value and gradients.
func normGradient(t *testing.T, b graph.Backend, f func(x, g, h *graph.Node) *graph.Node, feed map[string]*tensor.Tensor) (
	results [][]byte, stats graph.Stats) {
	t.Helper()
	g := graph.New()
	var in []*graph.Node
	for _, name := range []string{"x", "g", "h"} {
		in = append(in, g.Input(name, feed[name].DType(), feed[name].Shape()...))
	}
	y := f(in[0], in[1], in[2])
	ct := g.Input("ct", y.DType(), y.Shape()...)
	seed := must(tensor.New(y.DType(), y.Shape()...))
	for i := range seed.Size() {
		putFloat(seed.DType(), must(seed.Storage().Bytes())[i*seed.DType().Size():], math.Sin(float64(i)))
	}
	outs := append(autograd.VJP([]*graph.Node{y}, []*graph.Node{ct}, in), y)
	p, err := graph.Compile(b, outs...)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]*tensor.Tensor{"ct": seed}
	names, _ := p.Inputs()
	for _, n := range names {
		if n != "ct" {
			used[n] = feed[n]
		}
	}
	out, err := p.Run(context.Background(), feedOf(b, used))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		v := must(b.Export(o.View()))
		results = append(results, must(v.Storage().Bytes())[:o.Size()*o.DType().Size()])
	}
	return results, p.Stats()
}

// TestRowsAfterFault: a kernel on rows writes nothing once a check before it has found something.
func TestRowsAfterFault(t *testing.T) {
	b := device(t)
	store := graph.NewStore(b, 1)
	v := store.New("v", graph.Value(must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))), tensor.Float32, 2, 3)
	g := graph.New()
	at := g.Input("at", tensor.Int32, 2)
	p := must(graph.Compile(b, v.Assign(ops.Standardize(ops.Take(v.Read(g), at, 0), 1e-5, 1))))
	if p.Stats().Lines != 1 {
		t.Errorf("%d kernels on rows, want 1", p.Stats().Lines)
	}
	_, err := p.Run(context.Background(), feedOf(b, map[string]*tensor.Tensor{"at": tensor.Of[int32](1, 2)}))
	var bad *ops.IndexError
	if !errors.As(err, &bad) || bad.Index != 2 {
		t.Errorf("the error is %v, want that of index 2", err)
	}
	if got := hosted[float32](b, must(v.Value())); got[0] != 1 || got[5] != 6 {
		t.Errorf("the variable is %v, want it as it was", got)
	}
}

// TestRowsKeepErrors: of two steps that fail the error is that of the first, also where it waits for a kernel on rows and
// the other need not.
func TestRowsKeepErrors(t *testing.T) {
	for _, b := range []graph.Backend{cpu.New(), device(t)} {
		g := graph.New()
		x, i, j := g.Input("x", tensor.Float32, 20, 40), g.Input("i", tensor.Int32, 2), g.Input("j", tensor.Int32, 2)
		m := ops.Sum(x, 1)
		first, second := ops.Take(m, i, 0), ops.Take(x, j, 0)
		p := must(graph.Compile(b, first, second, ops.Sub(x, ops.ExpandDims(m, 1))))
		if p.Stats().Lines != 1 {
			t.Errorf("%s: %d kernels on rows, want 1", b.Name(), p.Stats().Lines)
		}
		feed := graph.Feed{
			"x": must(tensor.New(tensor.Float32, 20, 40)).View(),
			"i": tensor.Of[int32](77, 0).View(), "j": tensor.Of[int32](88, 0).View(),
		}
		_, err := p.Run(t.Context(), must(feed.Import(b, nil)))
		var bad *ops.IndexError
		if !errors.As(err, &bad) || bad.Index != 77 {
			t.Errorf("%s: the error is %v, want that of index 77", b.Name(), err)
		}
	}
}
