package cuda

import (
	"context"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// programTraffic is the sectors, in bytes, that a compiled program loads and stores, and how many kernels it launches.
func programTraffic(t *testing.T, feeds map[string]*tensor.Tensor, build func(in func(string) *graph.Node) []*graph.Node) (
	loads, stores, launches int64) {
	t.Helper()
	b, g := device(t), graph.New()
	in := map[string]*graph.Node{}
	p, err := graph.Compile(b, build(func(name string) *graph.Node {
		if in[name] == nil {
			in[name] = g.Input(name, feeds[name].DType(), feeds[name].Shape()...)
		}
		return in[name]
	})...)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]*tensor.Tensor{}
	for name := range in {
		used[name] = feeds[name]
	}
	feed := feedOf(b, used)
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	ptxsim.ResetTraffic()
	if _, err := p.Run(context.Background(), feed); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(); err != nil {
		t.Fatal(err)
	}
	for name, c := range ptxsim.Traffic() {
		t.Logf("%-32s %d launches, loads %8d, stores %8d bytes", name, c.Launches, 32*c.LoadSectors, 32*c.StoreSectors)
		loads, stores, launches = loads+32*c.LoadSectors, stores+32*(c.StoreSectors+c.Atomics), launches+c.Launches
	}
	return loads, stores, launches
}

// TestTrafficOfPrograms holds what programs move, all kernels together, against the bytes of x: steps on rows, folds among
// them, are one kernel, which reads every operand once and writes every result once. Every warp reads the fault word and
// the constants of its rows, a sector each, before anything else: that is a tenth of a row of 512 elements.
func TestTrafficOfPrograms(t *testing.T) {
	if device(t); !Simulated() {
		t.Skip("sectors are counted by the simulator")
	}
	r := rng(t)
	const n, d = 32, 512
	floats := func(shape ...int) *tensor.Tensor {
		v := make([]float32, tensor.Size(shape))
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return tensor.Must(tensor.FromSlice(v, shape...))
	}
	feeds := map[string]*tensor.Tensor{
		"x": floats(n, d), "ct": floats(n, d), "a": floats(1 << 17), "b": floats(1 << 17), "c": floats(1 << 17),
		"g": floats(d), "h": floats(d),
	}
	type nodes = func(string) *graph.Node
	backward := func(f func(x *graph.Node) *graph.Node) func(in nodes) []*graph.Node {
		return func(in nodes) []*graph.Node {
			x := in("x")
			y := f(x)
			return append(autograd.VJP([]*graph.Node{y}, []*graph.Node{in("ct")}, []*graph.Node{x}), y)
		}
	}
	softmax := func(x *graph.Node) *graph.Node { return ops.Softmax(x, 1) }
	layerNorm := func(x *graph.Node) *graph.Node { return ops.Standardize(x, 1e-5, 1) }
	rmsNorm := func(x *graph.Node) *graph.Node { return ops.RMSNormalize(x, 1e-5, 1) }
	affine := func(in nodes) *graph.Node {
		return ops.Add(ops.Mul(layerNorm(in("x")), ops.BroadcastTo(in("g"), n, d)), ops.BroadcastTo(in("h"), n, d))
	}
	one := func(f func(x *graph.Node) *graph.Node) func(in nodes) []*graph.Node {
		return func(in nodes) []*graph.Node { return []*graph.Node{f(in("x"))} }
	}
	alone := func(f func(x *graph.Node) *graph.Node) func(in nodes) []*graph.Node {
		return func(in nodes) []*graph.Node { return backward(f)(in)[:1] }
	}
	for _, c := range []struct {
		name, of      string
		build         func(in nodes) []*graph.Node
		loads, stores float64 // at most, of the bytes of one tensor
		launches      int64   // at most
	}{
		{"five fused ops on three tensors", "a", func(in nodes) []*graph.Node {
			v := ops.Mul(ops.Add(in("a"), in("b")), in("a"))
			return []*graph.Node{ops.Sub(ops.Exp(ops.Neg(v)), in("c"))}
		}, 3.1, 1, 1},
		{"softmax", "x", one(softmax), 1.02, 1, 1},
		{"layer norm", "x", one(layerNorm), 1.07, 1, 1},
		{"RMS norm", "x", one(rmsNorm), 1.05, 1, 1},
		{"layer norm with gain and bias, which are as long as a row", "x", func(in nodes) []*graph.Node { return []*graph.Node{affine(in)} }, 3.07, 1, 1},
		{"softmax, forward and backward", "x", backward(softmax), 3.04, 2, 2},
		{"log-softmax, forward and backward", "x", backward(func(x *graph.Node) *graph.Node { return ops.LogSoftmax(x, 1) }), 3.07, 2, 2},
		{"layer norm, backward", "x", alone(layerNorm), 2.11, 1, 1},
		{"RMS norm, backward", "x", alone(rmsNorm), 2.08, 1, 1},
		{"layer norm, forward and backward", "x", backward(layerNorm), 2.11, 2, 1},
		{"RMS norm, forward and backward", "x", backward(rmsNorm), 2.08, 2, 1},
		{"layer norm with gain and bias, forward and backward", "x", func(in nodes) []*graph.Node {
			y := affine(in)
			return append(autograd.VJP([]*graph.Node{y}, []*graph.Node{in("ct")}, []*graph.Node{in("x"), in("g"), in("h")}), y)
		}, 6.5, 3.1, 3},
		{"sum of squares along rows", "x", one(func(x *graph.Node) *graph.Node { return ops.Sum(ops.Mul(x, x), 1) }), 1.02, 0.02, 1},
		{"sum of all squares, of pieces", "x", one(func(x *graph.Node) *graph.Node { return ops.Sum(ops.Mul(x, x)) }), 1.04, 0.02, 2},
		{"sum of squares along columns", "x", one(func(x *graph.Node) *graph.Node { return ops.Sum(ops.Mul(x, x), 0) }), 1.01, 0.04, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			loads, stores, launches := programTraffic(t, feeds, c.build)
			x := float64(4 * tensor.Size(feeds[c.of].Shape()))
			t.Logf("loads %.3f, stores %.3f of %s, in %d launches", float64(loads)/x, float64(stores)/x, c.of, launches)
			if float64(loads)/x > c.loads || float64(stores)/x > c.stores || launches > c.launches {
				t.Errorf("want at most %.3f and %.3f, and %d launches", c.loads, c.stores, c.launches)
			}
		})
	}
}
