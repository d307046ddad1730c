package graph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// lateBackend is a toy whose kernels say only in Wait what they found; after that none writes anything.
type lateBackend struct {
	*toyBackend
	waits, open int
}

func (b *lateBackend) Exec() graph.Exec {
	b.open++
	return &lateExec{b: b}
}

func (b *lateBackend) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	k, err := b.toyBackend.Compile(op, out, in, used)
	return lateKernel{k}, err
}

type lateExec struct {
	b           *lateBackend
	step, fault int
	err         error
}

func (x *lateExec) At(step int) { x.step = step }

func (x *lateExec) Wait() (int, error) {
	x.b.waits++
	return x.fault, x.err
}

func (x *lateExec) Close() { x.b.open-- }

type lateKernel struct{ graph.Kernel }

func (k lateKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	late := x.(*lateExec)
	if late.err == nil {
		late.fault, late.err = late.step, k.Kernel.Run(late.b.toyBackend, out, in)
	}
	return nil
}

func TestAsyncExec(t *testing.T) {
	b := &lateBackend{toyBackend: &toyBackend{}}
	store := graph.NewStore(b, 1)
	v := store.New("v", graph.Value(tensor.Of(1.0, 2)), tensor.Float64, 2)
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2)
	p, err := graph.CompileWith(b, graph.Options{NoPasses: true}, neg(neg(check(neg(x)))), v.Assign(add(v.Read(g), x)))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("one wait a run", func(t *testing.T) {
		b.waits = 0
		if _, err := p.Run(context.Background(), graph.Feed{"x": tensor.Of(-1.0, -1)}); err != nil {
			t.Fatal(err)
		}
		if b.waits > 2 || b.waits == 0 || b.open != 0 {
			t.Errorf("%d waits, %d left open", b.waits, b.open)
		}
	})
	t.Run("the error has the line of its step, and nothing is assigned", func(t *testing.T) {
		_, err := p.Run(context.Background(), graph.Feed{"x": tensor.Of(-1.0, 1)})
		var at *graph.Error
		if !errors.Is(err, errNegative) || !errors.As(err, &at) || at.Op != "toy.check" || !strings.Contains(at.Pos, "_test.go:") {
			t.Errorf("the error is %v", err)
		}
		value, err := v.Value()
		if got := tensor.Must(tensor.Values[float64](value)); err != nil || got[0] != 0 || got[1] != 1 {
			t.Errorf("the variable is %v, want [0 1] of the run before", got)
		}
	})
	t.Run("eager", func(t *testing.T) {
		g := graph.Eager(b)
		if check(g.Const(tensor.Of(-1.0))); !errors.Is(g.Err(), errNegative) {
			t.Errorf("the error is %v", g.Err())
		}
		if b.open != 0 {
			t.Errorf("%d left open", b.open)
		}
	})
}
