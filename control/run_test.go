package control_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func compile(t *testing.T, outs ...*Node) *graph.Program {
	t.Helper()
	p, err := graph.Compile(backend, outs...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rnn is the third of the cells, as a loss.
func rnn() (c cell, loss func(in []*Node) *Node) {
	c = cells()[2]
	return c, func(in []*Node) *Node { return ops.Sum(ops.Square(c.scan(in)[1])) }
}

// TestForwardRunsOnce: in a program the loop that keeps what its reverse reads stands for the one that the user
// wrote; also the one that the reverse of the reverse reads.
func TestForwardRunsOnce(t *testing.T) {
	c, loss := rnn()
	for order, want := range map[int]int{1: 2, 2: 5} {
		g := graph.New()
		var in []*Node
		for i, x := range c.in {
			in = append(in, g.Input(fmt.Sprint(i), x.DType(), x.Shape()...))
		}
		l := loss(in)
		outs := []*Node{l}
		for range order {
			grads := autograd.Grad(l, in...)
			outs = append(outs, grads...)
			l = ops.Sum(ops.Square(grads[3]))
		}
		p := compile(t, outs...)
		if n := strings.Count(p.String(), "= control.Scan("); n != want {
			t.Errorf("order %d: a run has %d loops, want %d:\n%s", order, n, want, p)
		}
	}
}

// TestSteadyState: loops allocate nothing once they ran, whatever is in them.
func TestSteadyState(t *testing.T) {
	for _, c := range append(cells(), cell{
		name: "while", in: []*tensor.Tensor{tensor.Scalar(int64(27)), tensor.Scalar(int64(0))}, split: nil,
	}) {
		f := c.scan
		if c.split == nil {
			f = whiles()[3].f
		} else {
			f = func(in []*Node) []*Node { return append(c.scan(in), gradients(c.scan)(in)...) }
		}
		t.Run(c.name, func(t *testing.T) {
			b := cpu.On(cpu.Serial())
			g, feed := graph.New(), graph.Feed{}
			var in []*Node
			for i, x := range c.in {
				in = append(in, g.Input(fmt.Sprint(i), x.DType(), x.Shape()...))
				feed[fmt.Sprint(i)] = x
			}
			p, err := graph.Compile(b, append(f(in), in...)...)
			if err != nil {
				t.Fatal(err)
			}
			outs, err := p.Run(ctx, feed)
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(20, func() { err = errors.Join(err, p.RunInto(ctx, feed, outs)) }); n != 0 || err != nil {
				t.Errorf("%v allocations a run, %v", n, err)
			}
		})
	}
}

// TestNeverEnding: a loop that never ends is stopped by the context, alone and in the tail of a step, which then has
// no effect.
func TestNeverEnding(t *testing.T) {
	g := graph.New()
	s := graph.NewStore(backend, 0)
	v := s.New("v", graph.Value(tensor.Scalar(1.0)), tensor.Float64)
	forever := control.While(func(s []*Node) *Node { return ops.GreaterEqual(s[0], 0) },
		func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], 0.5)} }, v.Read(g))[0]
	empty := control.While(func(s []*Node) *Node { return ops.GreaterEqual(s[0], 0) },
		func(s []*Node) []*Node { return s }, v.Read(g))[0]
	for name, out := range map[string]*Node{"a result": forever, "an effect": v.Assign(forever), "nothing to do": empty} {
		p := compile(t, out)
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		done := make(chan error, 1)
		go func() { _, err := p.Run(short, nil); done <- err }()
		select {
		case err := <-done:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the error is %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the run goes on", name)
		}
		cancel()
		if got := tensor.Must(tensor.Values[float64](tensor.Must(v.Value()))); got[0] != 1 {
			t.Errorf("%s: the run was stopped and wrote %v", name, got)
		}
	}
}

// TestErrorsInside: what kernels find in the data comes with the loop's line, the step and the op's line.
func TestErrorsInside(t *testing.T) {
	g := graph.New()
	table, at := g.Input("table", tensor.Float64, 4), g.Input("at", tensor.Int64, 5)
	_, ys := control.Scan(func(_, x []*Node) (next, y []*Node) {
		return nil, []*Node{ops.Index(table, index.Of(x[0]))}
	}, nil, []*Node{at})
	feed := graph.Feed{"table": pseudo(1, 4), "at": tensor.Of[int64](0, 3, 1, 9, 2)}
	_, err := compile(t, ys...).Run(ctx, feed)
	var bad *ops.IndexError
	if !errors.As(err, &bad) || bad.Index != 9 {
		t.Fatalf("%v, want the index 9", err)
	}
	for _, part := range []string{"run_test.go:", "control.Scan: step 3: run_test.go:", "ops.Gather: index 9"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	e := graph.Eager(backend)
	tab := e.Const(feed["table"])
	out := control.While(func(s []*Node) *Node { return ops.Less(s[0], 10) }, func(s []*Node) []*Node {
		return []*Node{ops.Add(s[0], 2), ops.Index(tab, index.Of(s[0]))}
	}, e.Literal(tensor.Int64, 0), e.Literal(tensor.Float64, 0))
	if err := out[0].Err(); !errors.As(err, &bad) || bad.Index != 4 || !strings.Contains(err.Error(), "trip 2: ") {
		t.Errorf("%v, want the index 4 in trip 2", err)
	}
}

// TestFailingLoopIsWhole: a step whose loop fails writes no variable.
func TestFailingLoopIsWhole(t *testing.T) {
	s := graph.NewStore(backend, 0)
	v := s.New("v", graph.Value(tensor.Scalar(1.0)), tensor.Float64)
	w := s.New("w", graph.Value(tensor.Of(1.0, 2)), tensor.Float64, 2)
	g := graph.New()
	at := g.Input("at", tensor.Int64, 2)
	_, ys := control.Scan(func(_, x []*Node) (next, y []*Node) {
		return nil, []*Node{ops.Index(w.Read(g), index.Of(x[0]))}
	}, nil, []*Node{at})
	p := compile(t, v.Assign(ops.Add(v.Read(g), 1)), w.Assign(ys[0]))
	if _, err := p.Run(ctx, graph.Feed{"at": tensor.Of[int64](1, 5)}); !errors.As(err, new(*ops.IndexError)) {
		t.Fatalf("the error is %v", err)
	}
	if got := tensor.Must(tensor.Values[float64](tensor.Must(v.Value()))); got[0] != 1 {
		t.Errorf("the step failed and wrote %v", got)
	}
	if _, err := p.Run(ctx, graph.Feed{"at": tensor.Of[int64](1, 0)}); err != nil {
		t.Fatal(err)
	}
	if got := tensor.Must(tensor.Values[float64](tensor.Must(w.Value()))); got[0] != 2 || got[1] != 1 {
		t.Errorf("the step wrote %v", got)
	}
}

// panics is an op whose kernel does, on any backend.
type panics struct{}

func (panics) Name() string                                              { return "test.panics" }
func (panics) Key() string                                               { return "" }
func (panics) Infer(in []tensor.Spec) ([]tensor.Spec, error)             { return in, nil }
func (panics) VJP(*graph.Call, []*Node, []bool) []*Node                  { return nil }
func (panics) JVP(*graph.Call, []*Node) []*Node                          { return nil }
func (panics) Batch(_ *graph.Call, in []*Node, _ []bool, _ int) []*Node  { return in }
func (panics) Run(_ graph.Exec, _ []tensor.Write, _ []tensor.Read) error { panic("inside") }
func (p panics) Control(graph.Backend, []graph.Operand, []graph.Operand, []bool) (graph.Kernel, error) {
	return p, nil
}

// TestPanicInside: a panic in a step is an error of the run, and the program can run again.
func TestPanicInside(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 3)
	out := control.Cond(ops.Greater(ops.Sum(x), 0), func([]*Node) []*Node {
		_, ys := control.Scan(func(_, x []*Node) (next, y []*Node) { return nil, []*Node{graph.Apply(panics{}, x[0])} }, nil, []*Node{x})
		return ys
	}, func([]*Node) []*Node { return []*Node{ops.Neg(x)} })
	p := compile(t, out...)
	for range 2 {
		_, err := p.Run(ctx, graph.Feed{"x": tensor.Of(1.0, 2, 3)})
		if e, ok := errors.AsType[*graph.PanicError](err); !ok || e.Value != "inside" || !strings.Contains(err.Error(), "step 0") {
			t.Errorf("%v, want the panic", err)
		}
		outs, err := p.Run(ctx, graph.Feed{"x": tensor.Of(-1.0, -2, -3)})
		if err != nil || tensor.Must(tensor.Values[float64](outs[0]))[2] != 3 {
			t.Errorf("the other branch: %v, %v", outs, err)
		}
	}
}

// TestOnlyTheChosenRuns: what the other function finds wrong in the data is no error, alone and in a batch where no
// example chooses it.
func TestOnlyTheChosenRuns(t *testing.T) {
	f := func(in []*Node) []*Node {
		return control.Cond(in[0], func(x []*Node) []*Node { return []*Node{ops.Index(x[0], index.Of(x[1]))} },
			func(x []*Node) []*Node { return []*Node{ops.Sum(x[0])} }, in[1], in[2])
	}
	data, far := tensor.Of(1.0, 2, 3), tensor.Scalar(int64(7))
	want := []tensor.View{tensor.Scalar(6.0).View()}
	sameBits(t, "alone", eager(t, backend, f, []*tensor.Tensor{scalarBool(false), data, far}), want)
	batch := func(in []*Node) []*Node { return autograd.Vmap(f, in, []int{0, -1, -1}) }
	in := []*tensor.Tensor{tensor.Of(false, false), data, far}
	want = []tensor.View{tensor.Of(6.0, 6).View()}
	sameBits(t, "batch", compiled(t, backend, graph.Options{}, batch, in), want)
	g := graph.Eager(backend)
	out := batch([]*Node{g.Const(tensor.Of(true, false)), g.Const(data), g.Const(far)})
	if err := out[0].Err(); !errors.As(err, new(*ops.IndexError)) {
		t.Errorf("one example chooses it: %v", err)
	}
}

// TestNoSteps: the carry is init, ys are empty, and so are the gradients.
func TestNoSteps(t *testing.T) {
	c := cells()[2]
	c.length = 0
	c.in = slices.Clone(c.in)
	c.in[1] = tensor.Must(tensor.New(tensor.Float64, 0, 2, 4))
	got := eager(t, backend, c.scan, c.in)
	sameBits(t, "values", got, []tensor.View{c.in[0].View(), tensor.Must(tensor.New(tensor.Float64, 0, 2, 3)).View()})
	sameBits(t, "compiled", compiled(t, backend, graph.Options{}, c.scan, c.in), got)
	grads := eager(t, backend, gradients(c.scan), c.in)
	want := []tensor.View{pseudo(50, 2, 3).View()}
	for _, x := range c.in[1:] {
		want = append(want, tensor.Must(tensor.New(tensor.Float64, x.Shape()...)).View())
	}
	sameBits(t, "gradients", grads, want)
	sameBits(t, "compiled gradients", compiled(t, backend, graph.Options{}, gradients(c.scan), c.in), grads)
	tangent := func(in []*Node) []*Node {
		return autograd.JVP(c.scan(in), in[:1], []*Node{in[0].Graph().Const(pseudo(9, 2, 3))})
	}
	sameBits(t, "tangents", eager(t, backend, tangent, c.in), []tensor.View{pseudo(9, 2, 3).View(), got[1]})
	while := func(in []*Node) []*Node {
		f := control.While(func(s []*Node) *Node { return ops.Greater(ops.Sum(s[0]), 1e9) },
			func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], s[0])} }, in[0])
		return autograd.JVP(f, in[:1], []*Node{in[0].Graph().Const(pseudo(9, 2, 3))})
	}
	sameBits(t, "no trip", eager(t, backend, while, c.in[:1]), []tensor.View{pseudo(9, 2, 3).View()})
}

// TestWhileForward: tangents of a While, alone and in a batch, and no gradient.
func TestWhileForward(t *testing.T) {
	f := func(in []*Node) []*Node { // x·2ᵏ, the first to reach 10
		return control.While(func(s []*Node) *Node { return ops.Less(s[0], 10) },
			func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], in[1])} }, in[0])
	}
	tangent := func(in []*Node) []*Node {
		one := in[0].Graph().Literal(tensor.Float64, 1)
		return autograd.JVP(f(in), in, []*Node{one, one})
	}
	batch := func(in []*Node) []*Node { return autograd.Vmap(tangent, in, []int{0, -1}) }
	// x·2⁴ at 1, x·2² at 3, x at 11: derivatives 2ᵏ + k·x·2ᵏ⁻¹
	want := []tensor.View{tensor.Of(16+4*8.0, 4+2*3*2.0, 1).View()}
	in := []*tensor.Tensor{tensor.Of(1.0, 3, 11), tensor.Scalar(2.0)}
	sameBits(t, "tangents", eager(t, backend, batch, in), want)
	sameBits(t, "compiled", compiled(t, backend, graph.Options{}, batch, in), want)
	g := graph.Eager(backend)
	x := g.Const(tensor.Scalar(1.0))
	y := control.While(func(s []*Node) *Node { return ops.Less(s[0], 10) },
		func(s []*Node) []*Node { return []*Node{ops.Mul(s[0], 2)} }, x)[0]
	if err := autograd.Grad(y, x)[0].Err(); !errors.Is(err, tensor.ErrUnsupported) || !strings.Contains(err.Error(), "WhileN") {
		t.Errorf("the gradient: %v", err)
	}
}

// TestVariablesInside are captured: read once, before the loop; gradients flow to them, and two programs share them.
func TestVariablesInside(t *testing.T) {
	s := graph.NewStore(backend, 0)
	w := s.New("w", graph.Value(tensor.Scalar(0.5)), tensor.Float64)
	build := func(g *graph.Graph, x *Node) (*Node, *Node) {
		f, _ := control.Scan(func(c, x []*Node) (next, y []*Node) {
			return []*Node{ops.Add(ops.Mul(c[0], w.Read(g)), x[0])}, nil
		}, []*Node{g.Literal(tensor.Float64, 1)}, []*Node{x})
		return f[0], autograd.Grad(f[0], w.Read(g))[0]
	}
	e := graph.Eager(backend)
	y, grad := build(e, e.Const(tensor.Of(1.0, 2, 3)))
	g := graph.New()
	cy, cgrad := build(g, g.Input("x", tensor.Float64, 3))
	p := compile(t, cy, w.Assign(ops.Sub(w.Read(g), cgrad)))
	outs, err := p.Run(ctx, graph.Feed{"x": tensor.Of(1.0, 2, 3)})
	if err != nil {
		t.Fatal(err)
	}
	// y = w³ + w² + 2w + 3, ∂y/∂w = 3w² + 2w + 2
	for what, got := range map[string]float64{
		"value": number(t, y), "compiled value": tensor.Must(tensor.Values[float64](outs[0]))[0] - 4.375 + 4.375,
	} {
		if got != 4.375 {
			t.Errorf("%s %v, want 4.375", what, got)
		}
	}
	if got := number(t, grad); got != 3.75 {
		t.Errorf("gradient %v, want 3.75", got)
	}
	if got := tensor.Must(tensor.Values[float64](tensor.Must(w.Value()))); got[0] != 0.5-3.75 {
		t.Errorf("the step wrote %v", got)
	}
}

func number(t *testing.T, n *Node) float64 {
	t.Helper()
	v, err := n.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Must(tensor.Values[float64](v))[0]
}

// TestNothingIsKept: after a run a loop holds none of its operands.
func TestNothingIsKept(t *testing.T) {
	f := func(n int) { // a kernel for each n
		g := graph.Eager(backend)
		x := g.Const(tensor.Must(tensor.New(tensor.Float64, 3, 1<<20+n)))
		control.Scan(func(c, x []*Node) (next, y []*Node) {
			h := ops.Add(c[0], ops.Sum(x[0]))
			return []*Node{h}, []*Node{h}
		}, []*Node{g.Literal(tensor.Float64, 0)}, []*Node{x})
		if g.Err() != nil {
			t.Fatal(g.Err())
		}
	}
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	f(0)
	before := live()
	for n := range 3 {
		f(1 + n)
	}
	if after := live(); after > before+8<<20 {
		t.Errorf("%d bytes are live after three more runs, %d before", after, before)
	}
}
