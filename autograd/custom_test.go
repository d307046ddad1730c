package autograd_test

import (
	"errors"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestCheckpointOfClosures: gradients of what a function uses beside its arguments, to the second order and in a
// batch, are those without a checkpoint.
func TestCheckpointOfClosures(t *testing.T) {
	g := graph.Eager(backend)
	matrix := func(v ...float64) *node { return g.Const(tensor.Must(tensor.FromSlice(v, 2, len(v)/2))) }
	x, w := matrix(0.1, -0.2, 0.3, 0.5, 0.7, -0.6), matrix(0.3, 0.1, 0.2, -0.4, 0.5, 0.6)
	outside := ops.Tanh(ops.Mul(x, w)) // depends on the argument too
	weight := ops.Mul(w, 2)
	loss := func(wrap func(autograd.Func) autograd.Func, x *node) *node {
		inner := wrap(func(in []*node) []*node { return []*node{ops.Tanh(ops.Mul(in[0], weight))} })
		f := wrap(func(in []*node) []*node {
			y := ops.Mul(ops.Add(inner(in)[0], outside), ops.Exp(w))
			return []*node{y, w, in[0]}
		})
		y := f([]*node{x})
		return ops.Sum(ops.Mul(y[0], ops.Add(y[1], y[2])))
	}
	plain := func(f autograd.Func) autograd.Func { return f }
	compare := func(what string, derive func(loss *node) *node) {
		t.Helper()
		got, want := values(t, derive(loss(autograd.Checkpoint, x))), values(t, derive(loss(plain, x)))
		if !near(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	for what, n := range map[string]*node{"the argument": x, "a captured leaf": w, "a captured value": weight,
		"a captured value that depends on the argument": outside} {
		compare(what, func(loss *node) *node { return autograd.Grad(loss, n)[0] })
		compare("second order, "+what, func(loss *node) *node {
			return autograd.Grad(ops.Sum(ops.Square(autograd.Grad(loss, n)[0])), w)[0]
		})
		compare("forward over reverse, "+what, func(loss *node) *node {
			return autograd.HVP(loss, []*node{n}, []*node{x})[0]
		})
	}
	batch := ops.Stack(0, x, ops.Neg(x), w)
	perExample := func(wrap func(autograd.Func) autograd.Func) []float64 {
		return values(t, autograd.Vmap(func(in []*node) []*node {
			return autograd.Grad(loss(wrap, in[0]), w)
		}, []*node{batch}, []int{0})[0])
	}
	if got, want := perExample(autograd.Checkpoint), perExample(plain); !near(got, want) {
		t.Errorf("gradients of each example: got %v, want %v", got, want)
	}
	overBatch := func(wrap func(autograd.Func) autograd.Func) []float64 {
		losses := autograd.Vmap(func(in []*node) []*node { return []*node{loss(wrap, in[0])} }, []*node{batch}, []int{0})
		return values(t, autograd.Grad(ops.Sum(losses[0]), w)[0])
	}
	if got, want := overBatch(autograd.Checkpoint), overBatch(plain); !near(got, want) {
		t.Errorf("the gradient over a batch: got %v, want %v", got, want)
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}

// TestCheckpointCallsOnce: what a function built is built again, so what it draws or counts stays the same.
func TestCheckpointCallsOnce(t *testing.T) {
	calls := 0
	_, x := eager(1, 2)
	y := autograd.Checkpoint(func(in []*node) []*node {
		calls++
		return []*node{ops.Mul(in[0], calls)}
	})([]*node{x})
	if got := values(t, autograd.Grad(ops.Sum(y[0]), x)[0]); !near(got, []float64{1, 1}) || calls != 1 {
		t.Errorf("got %v after %d calls, want 1 and 1 after one", got, calls)
	}
}

// TestFuncsMayWriteToTheirArguments: the slice that a function of the user's is given is its own.
func TestFuncsMayWriteToTheirArguments(t *testing.T) {
	square := func(in []*node) []*node {
		in[0] = ops.Mul(in[0], in[0])
		return in[:1]
	}
	custom := autograd.CustomVJP(square, func(in, out, ct []*node) []*node {
		in[0], out[0], ct[0] = ops.Mul(ops.Mul(in[0], 2), ct[0]), nil, nil
		return in
	})
	for name, f := range map[string]autograd.Func{"Checkpoint": autograd.Checkpoint(square), "CustomVJP": custom} {
		_, x := eager(1, 2)
		in := make([]*node, 1, 8)
		in[0] = x
		y := f(in)
		for order := range 2 { // a rule is asked more than once
			if got := values(t, autograd.Grad(ops.Sum(y[0]), x)[0]); !near(got, []float64{2, 4}) || in[0] != x {
				t.Errorf("%s, gradient %d: got %v, want 2 and 4", name, order, got)
			}
		}
	}
}

// TestFuncsOfBadOperands: a function that looks into what it is given is not asked about invalid nodes, and
// its mistakes are errors.
func TestFuncsOfBadOperands(t *testing.T) {
	look := func(in []*node) []*node { return []*node{ops.Mul(in[0], in[0].Shape()[0])} }
	same := func(in, out, ct []*node) []*node { return ct }
	for name, f := range map[string]autograd.Func{
		"Checkpoint": autograd.Checkpoint(look), "CustomVJP": autograd.CustomVJP(look, same),
		"Vmap": func(in []*node) []*node { return autograd.Vmap(look, in, []int{0}) },
	} {
		g, x := eager(1, 2)
		bad := ops.Add(x, g.Const(tensor.Of(1.0, 2, 3)))
		if r := f([]*node{bad}); len(r) != 1 || !errors.Is(r[0].Err(), tensor.ErrShape) {
			t.Errorf("%s of an invalid node: %v", name, r)
		}
		if r := f([]*node{nil}); len(r) != 1 || r[0].Valid() {
			t.Errorf("%s of nil: %v", name, r)
		}
	}
	g, x := eager(1, 2)
	wrong := autograd.CustomVJP(func(in []*node) []*node { return in },
		func(in, out, ct []*node) []*node { return []*node{ct[0], ct[0]} })
	y := autograd.Vmap(wrong, []*node{ops.Stack(0, x, x)}, []int{0})
	if n := autograd.Grad(ops.Sum(y[0]), x)[0]; !errors.Is(n.Err(), tensor.ErrShape) {
		t.Errorf("two cotangents for one input, batched: %v", g.Err())
	}
	g.ClearErr()
	nothing := autograd.Checkpoint(func(in []*node) []*node { return []*node{nil} })
	if r := nothing([]*node{x}); r[0].Valid() || g.Err() == nil {
		t.Error("a result that is nil is an error")
	}
}
