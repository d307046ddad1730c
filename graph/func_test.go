package graph_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestFunc(t *testing.T) {
	spec := tensor.Spec{DType: tensor.Float64, Shape: []int{2}}
	build := func(g *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{add(mul(in[0], in[1]), g.Const(vec(1, 2))), in[1]}
	}
	f, err := graph.NewFunc("f", []tensor.Spec{spec, spec}, build)
	if err != nil {
		t.Fatal(err)
	}
	e := graph.Eager(&toyBackend{})
	out := f.Apply(e, e.Const(vec(3, 4)), e.Const(vec(5, 6)))
	if got := tensor.Must(tensor.Values[float64](tensor.Must(out[0].Value()))); !slices.Equal(got, []float64{16, 26}) {
		t.Errorf("applied: got %v", got)
	}
	if out[1] == nil || len(f.Out()) != 2 || !f.Out()[1].Equal(spec) || len(f.In()) != 2 {
		t.Error("an argument may be a result")
	}
	same, _ := graph.NewFunc("g", []tensor.Spec{spec, spec}, build)
	if same.Key() != f.Key() {
		t.Error("functions built alike have one key")
	}
	other, _ := graph.NewFunc("f", []tensor.Spec{spec, spec}, func(g *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{add(mul(in[0], in[1]), g.Const(vec(1, 3))), in[1]}
	})
	if other.Key() == f.Key() {
		t.Error("another constant is another function")
	}
	long := tensor.Must(tensor.New(tensor.Float64, 20000)).View()
	part := func(from int) *graph.Func {
		half := tensor.Must(long.Slice([]int{from}, []int{1}, []int{10000}))
		f, err := graph.NewFunc("f", nil, func(g *graph.Graph, _ []*graph.Node) []*graph.Node { return []*graph.Node{neg(g.Const(half))} })
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if part(0).Key() != part(0).Key() || part(0).Key() == part(10000).Key() {
		t.Error("a long constant is a part of its memory, not all of it")
	}
	swap := func(i, j int) string {
		f := tensor.Must(graph.NewFunc("f", []tensor.Spec{spec, spec}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node {
			return []*graph.Node{in[i], in[j]}
		}))
		return f.Key()
	}
	if swap(0, 1) == swap(1, 0) || swap(0, 1) == swap(0, 0) {
		t.Error("which arguments are returned, and in which order, is part of the function")
	}
	wide := tensor.Spec{DType: tensor.Float32, Shape: []int{2}}
	unused := func(second tensor.Spec) string {
		f := tensor.Must(graph.NewFunc("f", []tensor.Spec{spec, second}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node { return in[:1] }))
		return f.Key()
	}
	if unused(spec) == unused(wide) {
		t.Error("what takes other arguments is another function, even if it does not use them")
	}
	behind := func(_ *graph.Graph, in []*graph.Node) []*graph.Node { return []*graph.Node{neg(graph.Barrier(in[0]))} }
	one, _ := graph.NewFunc("one", []tensor.Spec{spec}, behind)
	two, _ := graph.NewFunc("two", []tensor.Spec{spec}, behind)
	if one.Key() != two.Key() {
		t.Error("every barrier is another one, but what it does is the same: an eager loop would compile anew each time")
	}
	if again, _ := graph.NewFunc("g", []tensor.Spec{spec, spec}, build); again.RuleKey() != f.RuleKey() || one.RuleKey() == two.RuleKey() {
		t.Error("functions built alike have one key of their rules, and every barrier another one")
	}
	if n := f.Apply(e, e.Const(vec(1))); len(n) != 2 || !errors.Is(n[0].Err(), tensor.ErrShape) {
		t.Errorf("the arguments are checked: %v", n[0].Err())
	}
	e.ClearErr()
	if n := f.Apply(e, e.Const(vec(1)), e.Const(vec(1, 2))); !errors.Is(n[1].Err(), tensor.ErrShape) {
		t.Errorf("so are their specs: %v", n[1].Err())
	}
	s := graph.NewStore(&toyBackend{}, 0)
	v := newVar(s, "v", 1, 2)
	_, err = graph.NewFunc("h", []tensor.Spec{spec}, func(g *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{add(in[0], v.Read(g))}
	})
	if !errors.Is(err, tensor.ErrUnsupported) || !strings.Contains(err.Error(), "not closed") {
		t.Errorf("a function is closed: %v", err)
	}
}

// TestFuncRefuses: what is nil is an error, not a panic.
func TestFuncRefuses(t *testing.T) {
	spec := tensor.Spec{DType: tensor.Float64, Shape: []int{2}}
	if _, err := graph.NewFunc("f", nil, nil); !errors.Is(err, tensor.ErrUnsupported) {
		t.Errorf("nothing builds it: %v", err)
	}
	f := tensor.Must(graph.NewFunc("f", []tensor.Spec{spec}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node { return in }))
	e := graph.Eager(&toyBackend{})
	x := e.Const(vec(1, 2))
	if n := f.Apply(nil, x); len(n) != 1 || !errors.Is(n[0].Err(), tensor.ErrUnsupported) {
		t.Errorf("applied in no graph: %v", n[0].Err())
	}
	for _, c := range [][2][]*graph.Node{{{nil}, {x}}, {{x}, {x, nil}}} {
		if _, err := graph.Close("f", c[0], c[1]); !errors.Is(err, tensor.ErrUnsupported) {
			t.Errorf("closed over nil: %v", err)
		}
	}
	bad := add(x, e.Const(vec(1)))
	if _, err := graph.Close("f", []*graph.Node{x}, []*graph.Node{bad}); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("closed over an invalid node: %v", err)
	}
	for kind, spec := range map[error]tensor.Spec{
		tensor.ErrDType:    {DType: 99},
		tensor.ErrShape:    {DType: tensor.Float64, Shape: []int{-1}},
		tensor.ErrOverflow: {DType: tensor.Float64, Shape: []int{1 << 62, 4}},
	} {
		if n := graph.New().Placeholder(spec); !errors.Is(n.Err(), kind) {
			t.Errorf("a placeholder of %v: %v, want %v", spec, n.Err(), kind)
		}
	}
}

func TestJit(t *testing.T) {
	traces := 0
	f := graph.Jit(&toyBackend{}, func(g *graph.Graph, in []*graph.Node) []*graph.Node {
		traces++
		return []*graph.Node{add(in[0], in[0])}
	})
	for i, in := range []*tensor.Tensor{vec(1, 2), vec(3, 4), vec(5)} {
		outs, err := f.Call(ctx, in, vec(9)) // the second argument is not used
		if err != nil {
			t.Fatal(err)
		}
		want := tensor.Must(tensor.Values[float64](in))
		if got := tensor.Must(tensor.Values[float64](outs[0])); got[0] != 2*want[0] {
			t.Errorf("call %d: got %v", i, got)
		}
	}
	if traces != 2 {
		t.Errorf("traced %d times for two specs", traces)
	}
	if _, err := f.Call(ctx, nil); !errors.Is(err, graph.ErrFeed) {
		t.Errorf("a nil argument: %v", err)
	}
	bad := graph.Jit(&toyBackend{}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{add(in[0], in[1])}
	})
	if _, err := bad.Call(ctx, vec(1), vec(1, 2)); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("the function's errors come back: %v", err)
	}
}
