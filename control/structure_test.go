package control_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scansOf are the scans that results need, in the order they were built.
func scansOf(outs ...*Node) []control.ScanOp {
	var r []control.ScanOp
	for _, c := range graph.Topo(outs) {
		if op, ok := c.Op.(control.ScanOp); ok {
			r = append(r, op)
		}
	}
	return r
}

// kept are the specs that the last of the forward scans keeps for a reverse.
func kept(outs ...*Node) []string {
	var r []string
	for _, op := range scansOf(outs...) {
		if out := op.Body.Out(); op.Kept > 0 {
			r = nil
			for _, s := range out[len(out)-op.Kept:] {
				r = append(r, s.String())
			}
		}
	}
	return r
}

// TestBodies: what the loop does not do in each step, carry or keep.
func TestBodies(t *testing.T) {
	g := graph.New()
	x, w, h := g.Input("x", tensor.Float64, 5, 4), g.Input("w", tensor.Float64, 4, 4), g.Input("h", tensor.Float64, 4)
	body := func(f func(c, x *Node) *Node) func(c, x []*Node) (n, y []*Node) {
		return func(c, x []*Node) (n, y []*Node) {
			n = []*Node{f(c[0], x[0])}
			return n, n
		}
	}
	run := func(f func(c, x *Node) *Node) (outs []*Node, grads []*Node) {
		final, ys := control.Scan(body(f), []*Node{h}, []*Node{x})
		outs = append(final, ys...)
		return outs, autograd.Grad(ops.Add(ops.Sum(final[0]), ops.Sum(ys[0])), h, x, w)
	}

	outs, _ := run(func(c, x *Node) *Node { return ops.MatMul(ops.Add(c, x), ops.Exp(ops.Transpose(w))) })
	if text := scansOf(outs...)[0].Body.Text(); strings.Contains(text, "ops.Exp") || strings.Contains(text, "ops.Transpose") {
		t.Errorf("what is the same in every step is done in each:\n%s", text)
	}
	final, _ := control.Scan(func(c, x []*Node) (n, y []*Node) { return []*Node{c[0], ops.Mul(c[0], x[0])}, nil }, []*Node{h, h}, []*Node{x})
	if op := scansOf(final...)[0]; op.Carries != 1 || final[0] != h {
		t.Errorf("a carry that stays is one of %d, and becomes %v", op.Carries, final[0])
	}
	for _, c := range []struct {
		why  string
		f    func(c, x *Node) *Node
		want []string
	}{
		{"linear", func(c, x *Node) *Node { return ops.Add(ops.Mul(c, 2), x) }, nil},
		{"slices are there already", func(c, x *Node) *Node { return ops.Add(c, ops.Mul(x, h)) }, nil},
		{"results are there already", func(c, x *Node) *Node { return ops.Exp(ops.Add(c, x)) }, nil},
		{"the carry, for the weight's gradient", func(c, x *Node) *Node { return ops.Add(ops.MatMul(c, w), x) }, []string{"float64[4]"}},
		{"what a larger view is of", func(c, x *Node) *Node {
			return ops.Sum(ops.Mul(ops.BroadcastTo(c, 9, 4), ops.BroadcastTo(x, 9, 4)), 0)
		}, []string{"float64[4]"}},
		{"a part, and not the whole", func(c, x *Node) *Node {
			part := ops.SliceAxis(ops.Mul(ops.BroadcastTo(c, 9, 4), 3), 0, 3, 1)
			return ops.Squeeze(ops.Mul(part, part), 0)
		}, []string{"float64[1 4]"}},
	} {
		_, grads := run(c.f)
		if g.Err() != nil {
			t.Fatal(g.Err())
		}
		if got := kept(grads...); !slices.Equal(got, c.want) {
			t.Errorf("%s: it keeps %v, want %v", c.why, got, c.want)
		}
	}
	deep := func(v []*Node) []*Node {
		return []*Node{ops.Tanh(ops.Sin(ops.MatMul(ops.Sin(ops.Add(v[0], v[1])), w)))}
	}
	_, plain := run(func(c, x *Node) *Node { return deep([]*Node{c, x})[0] })
	_, check := run(func(c, x *Node) *Node { return autograd.Checkpoint(deep)([]*Node{c, x})[0] })
	if p, c := kept(plain...), kept(check...); len(p) < 3 || !slices.Equal(c, []string{"float64[4]"}) {
		t.Errorf("a checkpoint keeps %v, without it %v; want the carry alone", c, p)
	}
}

// TestBarriersStay: a barrier of what does not change is in the steps, where it was put.
func TestBarriersStay(t *testing.T) {
	g := graph.New()
	x, w := g.Input("x", tensor.Float64, 5, 4), g.Input("w", tensor.Float64, 4)
	_, ys := control.Scan(func(_, x []*Node) (next, y []*Node) {
		return nil, []*Node{ops.Mul(x[0], ops.Exp(graph.Barrier(ops.Sin(w))))}
	}, nil, []*Node{x})
	text := scansOf(ys...)[0].Body.Text()
	if !strings.Contains(text, "graph.Barrier") || !strings.Contains(text, "ops.Exp") || strings.Contains(text, "ops.Sin") {
		t.Errorf("the barrier and what follows are in the steps, what comes before is not:\n%s", text)
	}
}

// TestKeptExtends: a scan that keeps more stands for the one that keeps less, never the other way round; a program of
// two gradients that need different things has the forward pass once.
func TestKeptExtends(t *testing.T) {
	two := func(in []*Node) []*Node {
		_, ys := control.Scan(func(c, x []*Node) (next, y []*Node) {
			h := ops.Mul(ops.Sin(c[0]), x[0])
			return []*Node{h}, []*Node{ops.Exp(ops.Sin(h)), ops.Tanh(ops.Cos(ops.Mul(x[0], h)))}
		}, in[:1], in[1:])
		return append(autograd.Grad(ops.Sum(ys[0]), in...), autograd.Grad(ops.Sum(ys[1]), in...)...)
	}
	in := []*tensor.Tensor{pseudo(1), pseudo(2, 4)}
	sameBits(t, "both", compiled(t, backend, graph.Options{}, two, in), eager(t, backend, two, in))
	g := graph.New()
	scans := scansOf(two([]*Node{g.Input("c", tensor.Float64), g.Input("x", tensor.Float64, 4)})...)
	least, most := scans[0], scans[0]
	for _, op := range scans {
		if op.Kept < least.Kept {
			least = op
		}
		if op.Kept > most.Kept {
			most = op
		}
	}
	if least.Kept == most.Kept || !most.Extends(most) {
		t.Fatalf("all keep %d", most.Kept)
	}
	if least.Extends(most) {
		t.Error("what keeps less has not the results of what keeps more")
	}
}

// TestNothingThatFailsMovesOut: what can fail is done in the steps, so not where there are none.
func TestNothingThatFailsMovesOut(t *testing.T) {
	f := func(in []*Node) []*Node {
		_, ys := control.Scan(func(_, x []*Node) (next, y []*Node) {
			return nil, []*Node{ops.Mul(x[0], ops.Index(in[1], index.Of(in[2])))}
		}, nil, in[:1])
		return ys
	}
	none := tensor.Must(tensor.New(tensor.Float64, 0))
	in := []*tensor.Tensor{none, tensor.Of(1.0, 2), tensor.Scalar(int64(5))}
	sameBits(t, "no steps", eager(t, backend, f, in), []tensor.View{none.View()})
	g := graph.Eager(backend)
	if out := f([]*Node{g.Const(tensor.Of(1.0)), g.Const(in[1]), g.Const(in[2])}); out[0].Err() == nil {
		t.Error("one step reads out of bounds")
	}
}

// TestCarryLosesItsBatch: a carry that has the batch at first and then is the same for all examples.
func TestCarryLosesItsBatch(t *testing.T) {
	f := func(in []*Node) []*Node {
		final, ys := control.Scan(func(c, x []*Node) (next, y []*Node) { return []*Node{ops.Square(x[0])}, c }, in[:1], in[1:])
		return append(final, ys...)
	}
	while := func(in []*Node) []*Node {
		return control.While(func(s []*Node) *Node { return ops.Less(s[1], 3) }, func(s []*Node) []*Node {
			return []*Node{in[1], ops.Add(s[1], 1)}
		}, in[0], in[0].Graph().Literal(tensor.Int64, 0))[:1]
	}
	first := func(f func([]*Node) []*Node) func([]*Node) []*Node {
		return func(in []*Node) []*Node { return autograd.Vmap(f, in, []int{0, -1}) }
	}
	got := eager(t, backend, first(f), []*tensor.Tensor{tensor.Of(1.0, 2), tensor.Of(5.0, 6, 7)})
	want := tensor.Must(tensor.FromSlice([]float64{1, 25, 36, 2, 25, 36}, 2, 3))
	sameBits(t, "scan", got, []tensor.View{tensor.Of(49.0, 49).View(), want.View()})
	got = eager(t, backend, first(while), []*tensor.Tensor{tensor.Of(1.0, 2), tensor.Scalar(8.0)})
	sameBits(t, "while", got, []tensor.View{tensor.Of(8.0, 8).View()})
}

// TestCarryLosesItsTangent: a carry that has a tangent at first, and that the body replaces by what has none. The
// result has the tangent 0, what a step saw of it before has its own.
func TestCarryLosesItsTangent(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []control.ScanOption
		steps   int
		final   float64 // the tangent
		ys      []float64
	}{
		{"no step", nil, 0, 2, []float64{}},
		{"forward", nil, 3, 0, []float64{12, 0, 0}},
		{"reversed", []control.ScanOption{control.Reversed()}, 3, 0, []float64{0, 0, 12}},
	} {
		f := func(in []*Node) []*Node {
			final, ys := control.Scan(func(c, _ []*Node) (next, y []*Node) {
				return []*Node{ops.Exp(ops.StopGradient(c[0]))}, []*Node{ops.Square(c[0])}
			}, in, nil, append(c.options, control.Steps(c.steps))...)
			return autograd.JVP(append(final, ys...), in, []*Node{in[0].Graph().Const(tensor.Scalar(2.0))})
		}
		want := []tensor.View{tensor.Scalar(c.final).View(), tensor.Of(c.ys...).View()}
		in := []*tensor.Tensor{tensor.Scalar(3.0)}
		sameBits(t, c.name, eager(t, backend, f, in), want)
		sameBits(t, c.name+", compiled", compiled(t, backend, graph.Options{}, f, in), want)
	}
}
