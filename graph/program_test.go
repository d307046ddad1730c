package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

var ctx = context.Background()

func compile(t *testing.T, outs ...*graph.Node) *graph.Program {
	t.Helper()
	p, err := graph.Compile(&toyBackend{}, outs...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t *testing.T, p *graph.Program, feed graph.Feed) [][]float64 {
	t.Helper()
	outs, err := p.Run(ctx, feed)
	if err != nil {
		t.Fatal(err)
	}
	r := make([][]float64, len(outs))
	for i, o := range outs {
		r[i] = tensor.Must(tensor.Values[float64](o))
	}
	return r
}

func TestPasses(t *testing.T) {
	c100, d100 := make([]float64, 100), make([]float64, 100)
	d100[50] = 1 // prints like c100 where the middle is elided
	for _, c := range []struct {
		name  string
		build func(g *graph.Graph, a *graph.Node) []*graph.Node
		want  func(s graph.Stats) bool
	}{
		{"equal calls are one", func(_ *graph.Graph, a *graph.Node) []*graph.Node { return []*graph.Node{add(neg(a), neg(a))} },
			func(s graph.Stats) bool { return s.Merged == 1 && s.Steps == 2 }},
		{"attributes tell calls apart", func(_ *graph.Graph, a *graph.Node) []*graph.Node {
			return []*graph.Node{add(graph.Apply(toyOp{"neg", 0}, a), graph.Apply(toyOp{"neg", math.Copysign(0, -1)}, a))}
		}, func(s graph.Stats) bool { return s.Merged == 0 && s.Steps == 3 }},
		{"equal constants are one", func(g *graph.Graph, a *graph.Node) []*graph.Node {
			return []*graph.Node{add(add(a, g.Const(vec(1, 2))), add(a, g.Const(vec(1, 2))))}
		}, func(s graph.Stats) bool { return s.Merged == 2 && s.Steps == 2 }},
		{"constants that print alike stay two (CASES 27)", func(g *graph.Graph, _ *graph.Node) []*graph.Node {
			x := g.Input("x", tensor.Float64, 100)
			return []*graph.Node{add(x, g.Const(vec(c100...))), add(x, g.Const(vec(d100...)))}
		}, func(s graph.Stats) bool { return s.Merged == 0 && s.Steps == 2 }},
		{"barriers are not looked through", func(_ *graph.Graph, a *graph.Node) []*graph.Node {
			return []*graph.Node{add(neg(a), neg(graph.Barrier(a)))}
		}, func(s graph.Stats) bool { return s.Merged == 0 && s.Steps == 3 }},
		{"constants are folded", func(g *graph.Graph, a *graph.Node) []*graph.Node {
			return []*graph.Node{add(a, neg(add(g.Const(vec(1, 2)), g.Const(vec(3, 4)))))}
		}, func(s graph.Stats) bool { return s.Folded == 2 && s.Steps == 1 }},
		{"what fails on constants fails in the run", func(g *graph.Graph, a *graph.Node) []*graph.Node {
			return []*graph.Node{add(a, check(g.Const(vec(-1, 2))))}
		}, func(s graph.Stats) bool { return s.Folded == 0 && s.Steps == 2 }},
		{"what no output needs is not compiled", func(_ *graph.Graph, a *graph.Node) []*graph.Node {
			neg(a)
			return []*graph.Node{add(a, a)}
		}, func(s graph.Stats) bool { return s.Calls == 2 && s.Steps == 1 }},
		{"an operand that dies gives its buffer", func(_ *graph.Graph, a *graph.Node) []*graph.Node {
			x := neg(a)
			for range 4 {
				x = add(x, a)
			}
			return []*graph.Node{x}
		}, func(s graph.Stats) bool { return s.Donated == 3 && s.Buffers == 1 }},
		{"an operand used twice does not", func(_ *graph.Graph, a *graph.Node) []*graph.Node {
			x := neg(a)
			return []*graph.Node{neg(add(x, x))}
		}, func(s graph.Stats) bool { return s.Donated == 0 }},
		{"buffers are used again", func(_ *graph.Graph, a *graph.Node) []*graph.Node {
			x := a
			for range 6 {
				x, _ = minmax(x, neg(x))
			}
			return []*graph.Node{x}
		}, func(s graph.Stats) bool { return s.Buffers <= 4 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.New()
			outs := c.build(g, g.Input("a", tensor.Float64, 2))
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			if p := compile(t, outs...); !c.want(p.Stats()) {
				t.Errorf("%+v\n%s", p.Stats(), p)
			}
		})
	}
}

func TestRun(t *testing.T) {
	g := graph.New()
	a := g.Input("a", tensor.Float64, 2, 3)
	sum := add(a, neg(a))
	p := compile(t, a, transpose(a), flatten(transpose(a)), sum, sum, g.Const(vec(7)))
	in := matrix(2, 3)
	got := run(t, p, graph.Feed{"a": in})
	want := [][]float64{{1, 2, 3, 4, 5, 6}, {1, 4, 2, 5, 3, 6}, {1, 4, 2, 5, 3, 6}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {7}}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("result %d: got %v, want %v", i, got[i], want[i])
		}
	}
	outs := tensor.Must(p.Run(ctx, graph.Feed{"a": in}))
	for i, o := range outs {
		if tensor.Overlaps(o.View(), in.View()) {
			t.Errorf("result %d is the feed's memory", i)
		}
		for k := range i {
			if tensor.Overlaps(o.View(), outs[k].View()) {
				t.Errorf("results %d and %d share memory", k, i)
			}
		}
	}
	t.Run("feeds of any layout", func(t *testing.T) {
		v := tensor.Must(matrix(3, 2).View().Transpose(1, 0))
		if got := run(t, p, graph.Feed{"a": v}); !slices.Equal(got[0], []float64{1, 3, 5, 2, 4, 6}) {
			t.Errorf("got %v", got[0])
		}
		big := matrix(4, 3)
		v = tensor.Must(big.View().Slice([]int{1, 0}, []int{1, 1}, []int{2, 3}))
		if got := run(t, p, graph.Feed{"a": v}); !slices.Equal(got[0], []float64{4, 5, 6, 7, 8, 9}) {
			t.Errorf("got %v", got[0])
		}
	})
}

func TestFeedErrors(t *testing.T) {
	g := graph.New()
	p := compile(t, neg(g.Input("a", tensor.Float64, 2)))
	device := tensor.Must(tensor.OnStorage(tensor.ForeignStorage(16, tensor.Placement{Kind: tensor.Device}, "gpu", 1, nil, nil),
		tensor.Float64, tensor.RowMajor([]int{2})))
	for _, c := range []struct {
		name string
		feed graph.Feed
		kind error
		says string
	}{
		{"missing", graph.Feed{}, graph.ErrFeed, `input "a", float64[2], is not fed`},
		{"another name", graph.Feed{"A": vec(1, 2)}, graph.ErrFeed, `input "a", float64[2], is not fed, and no input is called "A"`},
		{"nil", graph.Feed{"a": nil}, graph.ErrFeed, "not fed"},
		{"a nil tensor", graph.Feed{"a": (*tensor.Tensor)(nil)}, tensor.ErrDType, "invalid"},
		{"unknown", graph.Feed{"a": vec(1, 2), "b": vec(1)}, graph.ErrFeed, `"b"`},
		{"dtype", graph.Feed{"a": tensor.Of[float32](1, 2)}, tensor.ErrDType, "fed float32[2]"},
		{"shape", graph.Feed{"a": vec(1, 2, 3)}, tensor.ErrShape, "fed float64[3]"},
		{"placement", graph.Feed{"a": device}, tensor.ErrPlacement, "device"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := p.Run(ctx, c.feed)
			if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.kind, c.says)
			}
		})
	}
}

// TestNilContext: a caller's mistake is an error.
func TestNilContext(t *testing.T) {
	g := graph.New()
	p := compile(t, neg(g.Input("a", tensor.Float64, 2)))
	var none context.Context
	if _, err := p.Run(none, graph.Feed{"a": vec(1, 2)}); !errors.Is(err, tensor.ErrUnsupported) {
		t.Errorf("got %v, want an error that wraps %v", err, tensor.ErrUnsupported)
	}
}

func TestRunInto(t *testing.T) {
	g := graph.New()
	a := g.Input("a", tensor.Float64, 2)
	p := compile(t, neg(a), add(a, a))
	in, x, y := vec(1, 2), vec(9, 9), vec(9, 9)
	feed, outs := graph.Feed{"a": in}, []*tensor.Tensor{x, y}
	if err := p.RunInto(ctx, feed, outs); err != nil {
		t.Fatal(err)
	}
	if got := tensor.Must(tensor.Values[float64](x)); !slices.Equal(got, []float64{-1, -2}) {
		t.Errorf("got %v", got)
	}
	for _, c := range []struct {
		name string
		outs []*tensor.Tensor
		kind error
	}{
		{"too few", []*tensor.Tensor{x}, tensor.ErrShape},
		{"nil", []*tensor.Tensor{x, nil}, tensor.ErrShape},
		{"shape", []*tensor.Tensor{x, vec(1)}, tensor.ErrShape},
		{"dtype", []*tensor.Tensor{x, tensor.Of[float32](1, 2)}, tensor.ErrDType},
		{"the feed's memory", []*tensor.Tensor{x, in}, tensor.ErrOverlap},
		{"one tensor twice", []*tensor.Tensor{x, x}, tensor.ErrOverlap},
	} {
		if err := p.RunInto(ctx, feed, c.outs); !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.kind)
		}
	}
}

// TestRandomPrograms compares compiled programs, with and without passes, with eager evaluation.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(400) {
		build := func(g *graph.Graph, leaves []*graph.Node) []*graph.Node {
			rng := rand.New(rand.NewPCG(seed, 1))
			nodes := append([]*graph.Node{}, leaves...)
			pick := func() *graph.Node { return nodes[rng.IntN(len(nodes))] }
			for range 3 + rng.IntN(12) {
				a, b := pick(), pick()
				if !slices.Equal(a.Shape(), b.Shape()) {
					b = transpose(b)
				}
				switch rng.IntN(7) {
				case 0:
					nodes = append(nodes, neg(a))
				case 1:
					nodes = append(nodes, transpose(a))
				case 2:
					lo, hi := minmax(a, b)
					nodes = append(nodes, lo, hi)
				case 3:
					nodes = append(nodes, graph.Barrier(a))
				case 4:
					nodes = append(nodes, check(mul(a, a)))
				default:
					nodes = append(nodes, add(a, b))
				}
			}
			var outs []*graph.Node
			for range 1 + rng.IntN(4) {
				outs = append(outs, pick(), flatten(pick()))
			}
			return outs
		}
		x, y, k := matrix(2, 3), matrix(3, 2), matrix(2, 3)
		b := &toyBackend{}
		e := graph.Eager(b)
		want := build(e, []*graph.Node{e.Const(x), e.Const(y), e.Const(k)})
		for _, o := range []graph.Options{{}, {NoPasses: true}, {CheckNaN: true}} {
			g := graph.New()
			leaves := []*graph.Node{g.Input("x", tensor.Float64, 2, 3), g.Input("y", tensor.Float64, 3, 2), g.Const(k)}
			p, err := graph.CompileWith(b, o, append(build(g, leaves), leaves...)...)
			if err != nil {
				t.Fatal(seed, err)
			}
			for range 2 { // the second run meets used buffers
				got := run(t, p, graph.Feed{"x": x, "y": y})
				for i, w := range want {
					v := tensor.Must(w.Value())
					if !slices.Equal(got[i], tensor.Must(tensor.Values[float64](v))) {
						t.Fatalf("seed %d, %+v, result %d: got %v, want %v\n%s", seed, o, i, got[i], v, p)
					}
				}
			}
		}
	}
}

func TestConcurrentRuns(t *testing.T) {
	g := graph.New()
	a := g.Input("a", tensor.Float64, 2)
	x := a
	for range 5 {
		x = add(neg(x), a)
	}
	p := compile(t, x)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			in := vec(float64(k), 2)
			for range 50 {
				outs, err := p.Run(ctx, graph.Feed{"a": in})
				if err != nil {
					t.Error(err)
					return
				}
				if got := tensor.Must(tensor.Values[float64](outs[0])); got[0] != 0 || got[1] != 0 {
					if want := []float64{0, 0}; !slices.Equal(got, want) {
						t.Errorf("run %d: got %v, want %v", k, got, want)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestRunFailures(t *testing.T) {
	g := graph.New()
	a := g.Input("a", tensor.Float64, 2)
	t.Run("an error names the line and the op", func(t *testing.T) {
		p := compile(t, graph.Apply(toyOp{Kind: "check"}, a))
		_, err := p.Run(ctx, graph.Feed{"a": vec(1, -2)})
		if !errors.Is(err, errNegative) || !strings.HasPrefix(err.Error(), "program_test.go:") || !strings.Contains(err.Error(), "toy.check") {
			t.Errorf("got %v", err)
		}
		if _, err := p.Run(ctx, graph.Feed{"a": vec(1, 2)}); err != nil {
			t.Errorf("the program goes on after an error: %v", err)
		}
	})
	t.Run("a panic is an error", func(t *testing.T) {
		p := compile(t, graph.Apply(toyOp{Kind: "panic"}, a))
		_, err := p.Run(ctx, graph.Feed{"a": vec(1, 2)})
		pe, ok := errors.AsType[*graph.PanicError](err)
		if !ok || pe.Value != "toy panics" || !strings.Contains(string(pe.Stack), "toy_test.go") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a NaN names the first op", func(t *testing.T) {
		p, err := graph.CompileWith(&toyBackend{}, graph.Options{CheckNaN: true}, neg(add(a, mul(a, a))))
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Run(ctx, graph.Feed{"a": vec(math.Inf(-1), 2)})
		n, ok := errors.AsType[*graph.NaNError](err)
		if !ok || n.Op != "toy.add" || n.Inputs {
			t.Errorf("−∞ + ∞ is where the NaN comes from: %v", err)
		}
		_, err = p.Run(ctx, graph.Feed{"a": vec(math.NaN(), 2)})
		if n, ok = errors.AsType[*graph.NaNError](err); !ok || n.Op != "toy.mul" || !n.Inputs {
			t.Errorf("a NaN in a feed is said to be from there: %v", err)
		}
	})
	t.Run("memory limit", func(t *testing.T) {
		x, _ := minmax(neg(a), a)
		_, err := graph.CompileWith(&toyBackend{}, graph.Options{MemoryLimit: 16}, x)
		if !errors.Is(err, graph.ErrMemory) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an unsupported rule says so", func(t *testing.T) {
		g := graph.New()
		c := neg(g.Input("a", tensor.Float64, 2)).Call()
		r := c.Op.VJP(c, []*graph.Node{c.Out[0]}, []bool{true})
		if len(r) != 1 || !errors.Is(g.Err(), tensor.ErrUnsupported) || !strings.Contains(g.Err().Error(), "toy.neg has no VJP rule: a toy") {
			t.Errorf("got %v", g.Err())
		}
	})
}

func TestCancel(t *testing.T) {
	b := &toyBackend{}
	s := graph.NewStore(b, 0)
	v := s.New("v", graph.Value(vec(1, 1)), tensor.Float64, 2)
	w := s.New("w", graph.Value(vec(1, 1)), tensor.Float64, 2)
	g := graph.New()
	a := g.Input("a", tensor.Float64, 2)
	p, err := graph.Compile(b, check(a), v.Assign(add(v.Read(g), a)), w.Assign(add(w.Read(g), a)))
	if err != nil {
		t.Fatal(err)
	}
	value := func(v *graph.Variable) float64 {
		return tensor.Must(tensor.Values[float64](tensor.Must(v.Value())))[0]
	}
	for stop := range 3 { // cancel while kernel number stop runs
		before := value(v)
		cancelled, cancel := context.WithCancel(ctx)
		k := 0
		b.before = func(op graph.Op) {
			if op == (graph.Copy{}) {
				return // made because a snapshot is out; the variables have not changed yet
			}
			if k == stop {
				cancel()
			}
			k++
		}
		_, err := p.Run(cancelled, graph.Feed{"a": vec(1, 1)})
		b.before = nil
		dv, dw := value(v)-before, value(w)-before
		if whole := dv == dw && (err == nil) == (dv == 1) && (dv == 0 || dv == 1); !whole {
			t.Errorf("cancelled in kernel %d: err %v, v moved by %v, w by %v: a step is whole or not at all", stop, err, dv, dw)
		}
		if (stop == 0) != (err != nil) {
			t.Errorf("cancelled in kernel %d: err %v: a run stops between kernels, but not from the first write to a variable on", stop, err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := p.Run(done, graph.Feed{"a": vec(1, 1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestProfile(t *testing.T) {
	g := graph.New()
	p := compile(t, neg(neg(g.Input("a", tensor.Float64, 2))))
	outs, prof, err := p.Profile(ctx, graph.Feed{"a": vec(1, 2)})
	if err != nil || len(outs) != 1 || len(prof.Steps) != 2 || prof.Steps[0].Bytes != 32 {
		t.Fatalf("got %v, %+v", err, prof)
	}
	var table, trace strings.Builder
	if err := errors.Join(prof.WriteTable(&table), prof.WriteTrace(&trace)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.String(), "toy.neg") || !strings.Contains(table.String(), "peak memory of the run: 32 bytes") {
		t.Errorf("table:\n%s", table.String())
	}
	if !strings.Contains(trace.String(), `"ph":"X"`) {
		t.Errorf("trace: %s", trace.String())
	}
}
