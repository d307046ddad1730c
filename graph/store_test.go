package graph_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

func newVar(s *graph.Store, name string, v ...float64) *graph.Variable {
	return s.New(name, graph.Value(vec(v...)), tensor.Float64, len(v))
}

func valueOf(t *testing.T, v *graph.Variable) []float64 {
	t.Helper()
	view, err := v.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Must(tensor.Values[float64](view))
}

func TestVariable(t *testing.T) {
	b := &toyBackend{}
	s := graph.NewStore(b, 7)
	v := newVar(s, "v", 1, 2)
	g := graph.New()
	p, err := graph.Compile(b, v.Read(g), v.Assign(add(v.Read(g), v.Read(g))))
	if err != nil {
		t.Fatal(err)
	}
	if v.Read(g) != v.Read(g) {
		t.Error("one graph has one read of a variable")
	}
	before, _ := v.Value()
	if got := run(t, p, nil); len(got) != 1 || !slices.Equal(got[0], []float64{1, 2}) {
		t.Errorf("a read sees the value at the start of the run, and effects are not returned: %v", got)
	}
	if got := valueOf(t, v); !slices.Equal(got, []float64{2, 4}) {
		t.Errorf("the assignment is done: %v", got)
	}
	if got := tensor.Must(tensor.Values[float64](before)); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("a snapshot keeps its elements: %v", got)
	}
	if l, ok := s.Lookup("v"); !ok || l != v || len(s.Variables()) != 1 {
		t.Error("the store knows the variable by name")
	}
	if err := v.Set(vec(1)); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("Set checks the shape: %v", err)
	}
	if err := v.Set(tensor.Of[int32](1, 2)); !errors.Is(err, tensor.ErrDType) {
		t.Errorf("Set checks the dtype: %v", err)
	}
	if err := v.Set(vec(5, 6)); err != nil || !slices.Equal(valueOf(t, v), []float64{5, 6}) {
		t.Errorf("Set: %v", err)
	}
}

func TestAssignmentsTakeEffectTogether(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(g *graph.Graph, v, w *graph.Variable) []*graph.Node
		v, w  []float64
	}{
		{"swap", func(g *graph.Graph, v, w *graph.Variable) []*graph.Node {
			return []*graph.Node{v.Assign(w.Read(g)), w.Assign(v.Read(g))}
		}, []float64{3, 4}, []float64{1, 2}},
		{"swap of what is computed", func(g *graph.Graph, v, w *graph.Variable) []*graph.Node {
			return []*graph.Node{v.Assign(neg(w.Read(g))), w.Assign(neg(v.Read(g)))}
		}, []float64{-3, -4}, []float64{-1, -2}},
		{"a new value is used by another", func(g *graph.Graph, v, w *graph.Variable) []*graph.Node {
			nv := add(v.Read(g), w.Read(g))
			return []*graph.Node{v.Assign(nv), w.Assign(add(nv, w.Read(g)))}
		}, []float64{4, 6}, []float64{7, 10}},
		{"one value for both", func(g *graph.Graph, v, w *graph.Variable) []*graph.Node {
			n := add(v.Read(g), w.Read(g))
			return []*graph.Node{v.Assign(n), w.Assign(n)}
		}, []float64{4, 6}, []float64{4, 6}},
		{"to itself", func(g *graph.Graph, v, w *graph.Variable) []*graph.Node {
			return []*graph.Node{v.Assign(v.Read(g)), w.Assign(add(v.Read(g), v.Read(g)))}
		}, []float64{1, 2}, []float64{2, 4}},
		{"squared in place", func(g *graph.Graph, v, w *graph.Variable) []*graph.Node {
			return []*graph.Node{v.Assign(mul(v.Read(g), v.Read(g))), w.Assign(mul(w.Read(g), v.Read(g)))}
		}, []float64{1, 4}, []float64{3, 8}},
		{"a constant", func(g *graph.Graph, v, w *graph.Variable) []*graph.Node {
			return []*graph.Node{v.Assign(g.Const(vec(8, 9))), w.Assign(v.Read(g))}
		}, []float64{8, 9}, []float64{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &toyBackend{}
			s := graph.NewStore(b, 0)
			v, w := newVar(s, "v", 1, 2), newVar(s, "w", 3, 4)
			g := graph.New()
			p, err := graph.Compile(b, c.build(g, v, w)...)
			if err != nil {
				t.Fatal(err)
			}
			run(t, p, nil)
			if gv, gw := valueOf(t, v), valueOf(t, w); !slices.Equal(gv, c.v) || !slices.Equal(gw, c.w) {
				t.Errorf("got v = %v, w = %v, want %v, %v\n%s", gv, gw, c.v, c.w, p)
			}
		})
	}
}

// TestRandomSteps compares steps that update variables in place with a simulation of their meaning.
func TestRandomSteps(t *testing.T) {
	direct := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		b := &toyBackend{}
		s := graph.NewStore(b, 0)
		vars := make([]*graph.Variable, 4)
		for i := range vars {
			vars[i] = newVar(s, fmt.Sprint("v", i), float64(rng.IntN(9)), float64(i))
		}
		// One program of random calls, as builders of nodes and as arithmetic on slices.
		type value struct {
			node *graph.Node
			data func(old [][]float64) []float64
		}
		g := graph.New()
		var nodes []value
		for i, v := range vars {
			nodes = append(nodes, value{v.Read(g), func(old [][]float64) []float64 { return old[i] }})
		}
		for range 8 {
			x, y := nodes[rng.IntN(len(nodes))], nodes[rng.IntN(len(nodes))]
			if rng.IntN(3) == 0 {
				nodes = append(nodes, value{neg(x.node), func(old [][]float64) []float64 {
					d := x.data(old)
					return []float64{-d[0], -d[1]}
				}})
				continue
			}
			nodes = append(nodes, value{add(x.node, y.node), func(old [][]float64) []float64 {
				d, e := x.data(old), y.data(old)
				return []float64{d[0] + e[0], d[1] + e[1]}
			}})
		}
		var outs []*graph.Node
		assigned := map[int]value{}
		for i := range vars {
			if rng.IntN(4) > 0 {
				n := nodes[rng.IntN(len(nodes))]
				assigned[i] = n
				outs = append(outs, vars[i].Assign(n.node))
			}
		}
		if rng.IntN(2) == 0 {
			outs = append(outs, nodes[rng.IntN(len(nodes))].node)
		}
		p, err := graph.Compile(b, outs...)
		if err != nil {
			t.Fatal(err)
		}
		direct += p.Stats().Direct
		for range 2 {
			old := make([][]float64, len(vars))
			for i, v := range vars {
				old[i] = valueOf(t, v)
			}
			if rng.IntN(2) == 0 {
				if err := p.RunInto(ctx, nil, newOutputs(p)); err != nil {
					t.Fatal(err)
				}
			} else {
				run(t, p, nil)
			}
			for i, v := range vars {
				want := old[i]
				if n, ok := assigned[i]; ok {
					want = n.data(old)
				}
				if got := valueOf(t, v); !slices.Equal(got, want) {
					t.Fatalf("seed %d, variable %d: got %v, want %v\n%s", seed, i, got, want, p)
				}
			}
		}
	}
	if direct == 0 {
		t.Error("no step wrote a value directly to its variable: the test shows nothing")
	}
}

func newOutputs(p *graph.Program) []*tensor.Tensor {
	var outs []*tensor.Tensor
	for _, s := range p.Outputs() {
		outs = append(outs, tensor.Must(tensor.New(s.DType, s.Shape...)))
	}
	return outs
}

func TestStoreErrors(t *testing.T) {
	b := &toyBackend{}
	s := graph.NewStore(b, 0)
	v := newVar(s, "v", 1, 2)
	bad := newVar(s, "v", 1, 2)
	if bad.Err() == nil || s.Err() == nil || !strings.Contains(s.Err().Error(), `store_test.go`) {
		t.Errorf("a name is taken once: %v", s.Err())
	}
	g := graph.New()
	if bad.Read(g).Valid() || g.Err() == nil {
		t.Error("a variable that could not be made reads as an invalid node")
	}
	if x := s.New("x", graph.Value(vec(1)), tensor.Float64, 2); !errors.Is(x.Err(), tensor.ErrShape) {
		t.Errorf("the initial value has the variable's spec: %v", x.Err())
	}
	if x := s.New("y", graph.Value(vec(1)), tensor.Float64, -2); !errors.Is(x.Err(), tensor.ErrShape) {
		t.Errorf("the spec is checked: %v", x.Err())
	}
	g = graph.New()
	if n := v.Assign(g.Input("a", tensor.Float64, 3)); !errors.Is(n.Err(), tensor.ErrShape) {
		t.Errorf("an assigned value has the variable's spec: %v", n.Err())
	}
	g = graph.New()
	x := g.Input("a", tensor.Float64, 2)
	if _, err := graph.Compile(b, v.Assign(x), v.Assign(neg(x))); err == nil || !strings.Contains(err.Error(), "assigned twice") {
		t.Errorf("two assignments to one variable do not compile: %v", err)
	}
	other := &toyBackend{}
	if _, err := graph.Compile(other, neg(v.Read(g))); !errors.Is(err, tensor.ErrForeignDomain) || !strings.Contains(err.Error(), "must be given the same one") {
		t.Errorf("a program uses variables of its own backend: %v", err)
	}
	e := graph.Eager(other)
	if n := v.Read(e); !errors.Is(n.Err(), tensor.ErrForeignDomain) {
		t.Errorf("an eager graph too: %v", n.Err())
	}
}

func TestEagerVariables(t *testing.T) {
	b := &toyBackend{}
	s := graph.NewStore(b, 0)
	v := newVar(s, "v", 1, 2)
	g := graph.Eager(b)
	old := v.Read(g)
	v.Assign(add(old, old))
	now := v.Read(g)
	if a, c := tensor.Must(old.Value()), tensor.Must(now.Value()); !slices.Equal(tensor.Must(tensor.Values[float64](a)), []float64{1, 2}) ||
		!slices.Equal(tensor.Must(tensor.Values[float64](c)), []float64{2, 4}) {
		t.Errorf("an assignment holds at once, earlier reads keep the old value: %v, %v", a, c)
	}
}

// TestProgramsShareVariables runs two programs that move the same amount to and fro, and readers: every
// reader must see a whole step.
func TestProgramsShareVariables(t *testing.T) {
	b := &toyBackend{}
	s := graph.NewStore(b, 0)
	v, w := newVar(s, "v", 5, 5), newVar(s, "w", 5, 5)
	move := func(sign float64) *graph.Program {
		g := graph.New()
		d := g.Const(vec(sign, sign))
		p, err := graph.Compile(b, v.Assign(add(v.Read(g), d)), w.Assign(add(w.Read(g), neg(d))))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	g := graph.New()
	total, err := graph.Compile(b, add(v.Read(g), w.Read(g)))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, p := range []*graph.Program{move(1), move(-1), move(2)} {
		wg.Go(func() {
			for range 100 {
				if _, err := p.Run(ctx, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for range 200 {
				outs, err := total.Run(ctx, nil)
				if err != nil {
					t.Error(err)
				} else if got := tensor.Must(tensor.Values[float64](outs[0])); got[0] != 10 {
					t.Errorf("a reader saw half a step: %v", got)
				}
				if _, err := v.Value(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := valueOf(t, v); got[0] != 5+100-100+200 {
		t.Errorf("no step is lost: got %v", got)
	}
}
