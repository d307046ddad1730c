package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// feedOf brings tensors to where a backend reads them.
func feedOf(b graph.Backend, feed map[string]*tensor.Tensor) graph.Feed {
	f := graph.Feed{}
	for name, t := range feed {
		f[name] = must(b.Import(t.Read()))
	}
	return f
}

// hosted is a result's elements.
func hosted[T tensor.Element](b graph.Backend, r interface{ Read() tensor.Read }) []T {
	return must(tensor.Values[T](must(b.Export(r.Read().View()))))
}

// TestFirstFault: of two steps that find something wrong the first is told, with its line; variables are as they were,
// and the next run is none the wiser.
func TestFirstFault(t *testing.T) {
	b, ctx := device(t), context.Background()
	store := graph.NewStore(b, 1)
	v := store.New("v", graph.Value(tensor.Of[float32](1, 2, 3)), tensor.Float32, 3)
	w := store.New("w", graph.Value(tensor.Of[float32](5, 6, 7)), tensor.Float32, 3)
	g := graph.New()
	i, j := g.Input("i", tensor.Int32, 2), g.Input("j", tensor.Int32, 2)
	first := ops.Take(v.Read(g), i, 0)
	second := ops.Take(ops.Concat(0, first, first), j, 0)
	p := must(graph.Compile(b, second,
		v.Assign(ops.Add(v.Read(g), 1)), w.Assign(ops.AddIndex(w.Read(g), first, index.Of(j)))))
	run := func(is, js *tensor.Tensor) error {
		_, err := p.Run(ctx, feedOf(b, map[string]*tensor.Tensor{"i": is, "j": js}))
		return err
	}
	want := []float32{1, 2, 3, 5, 6, 7}
	same := func(why string) {
		t.Helper()
		got := append(hosted[float32](b, must(v.Value())), hosted[float32](b, must(w.Value()))...)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the variables are %v, want %v", why, got, want)
		}
	}
	for _, c := range []struct {
		why    string
		is, js *tensor.Tensor
		line   string
		index  int64
	}{
		{"both", tensor.Of[int32](0, 8), tensor.Of[int32](9, 1), "faults_test.go:43", 8},
		{"the first", tensor.Of[int32](-9, 8), tensor.Of[int32](0, 1), "faults_test.go:43", -9},
		{"the second", tensor.Of[int32](0, 1), tensor.Of[int32](0, 44), "faults_test.go:44", 44},
		{"the assignment alone: index 3 is in bounds of the concatenation", tensor.Of[int32](0, 1), tensor.Of[int32](0, 3),
			"faults_test.go:46", 3},
	} {
		err := run(c.is, c.js)
		var bad *ops.IndexError
		if !errors.As(err, &bad) || bad.Index != c.index || !strings.Contains(err.Error(), c.line) {
			t.Errorf("%s: %v, want index %d at %s", c.why, err, c.index, c.line)
		}
		same(c.why)
	}
	if err := run(tensor.Of[int32](0, 2), tensor.Of[int32](1, 1)); err != nil {
		t.Fatal(err)
	}
	want = []float32{2, 3, 4, 5, 6 + 1 + 3, 7}
	same("the run after")
}

// TestFaultOfARunThatStops: a run that ends for another reason leaves nothing to the next.
func TestFaultOfARunThatStops(t *testing.T) {
	b := device(t)
	x, bad := must(b.Import(tensor.Of[float32](1, 2).Read())), must(b.Import(tensor.Of[int32](0, 7).Read()))
	o := func(v tensor.View) graph.Operand { return graph.Operand{DType: v.DType(), Layout: v.Layout()} }
	k := must(b.Compile(ops.GatherOp{Window: elements(2)}, []graph.Operand{o(x)}, []graph.Operand{o(x), o(bad)}, []bool{true}))
	y := must(tensor.NewView(must(b.Allocate(8)), tensor.Float32, x.Layout()))
	e := b.Exec().(*Exec)
	if err := k.Run(e, []tensor.Write{must(tensor.NewWrite(y))}, []tensor.Read{x.Read(), bad.Read()}); err != nil {
		t.Fatal(err)
	}
	e.Close() // without a Wait
	next := b.Exec().(*Exec)
	defer next.Close()
	if next != e {
		t.Fatal("another Exec") // the test needs the one that was closed last
	}
	add := must(b.Compile(ops.BinaryOp{Fn: ops.BinaryAdd}, []graph.Operand{o(x)}, []graph.Operand{o(x), o(x)}, []bool{true}))
	if err := add.Run(next, []tensor.Write{must(tensor.NewWrite(y))}, []tensor.Read{x.Read(), x.Read()}); err != nil {
		t.Fatal(err)
	}
	if got := hosted[float32](b, y); got[0] != 2 || got[1] != 4 {
		t.Errorf("the sum is %v", got)
	}
}

// TestNoLaunch: an index operand of no elements is no fault, in a run that has launched nothing yet.
func TestNoLaunch(t *testing.T) {
	b := another(t, Options{})
	g := graph.Eager(b)
	x, none := g.Const(tensor.Of[float32](1, 2)), g.Const(tensor.Must(tensor.FromSlice([]int32{}, 0)))
	if v, err := ops.Take(x, none, 0).HostValue(); err != nil || v.Layout().Size() != 0 {
		t.Errorf("%v elements, error %v", v.Layout().Size(), err)
	}
}

// TestMostLaunches: where the numbers of launches run out, those that follow count anew, in the same step.
func TestMostLaunches(t *testing.T) {
	b := device(t)
	x, bad := must(b.Import(tensor.Of[float32](1, 2).Read())), must(b.Import(tensor.Of[int32](0, 7).Read()))
	o := func(v tensor.View) graph.Operand { return graph.Operand{DType: v.DType(), Layout: v.Layout()} }
	k := must(b.Compile(ops.GatherOp{Window: elements(2)}, []graph.Operand{o(x)}, []graph.Operand{o(x), o(bad)}, []bool{true}))
	y := must(tensor.NewView(must(b.Allocate(8)), tensor.Float32, x.Layout()))
	e := b.Exec().(*Exec)
	defer e.Close()
	e.At(5)
	e.started = make([]fallible, mostStarted)
	if err := k.Run(e, []tensor.Write{must(tensor.NewWrite(y))}, []tensor.Read{x.Read(), bad.Read()}); err != nil {
		t.Fatal(err)
	}
	if step, err := e.Wait(); step != 5 || !errors.As(err, new(*ops.IndexError)) {
		t.Errorf("step %d, %v, want an IndexError of step 5", step, err)
	}
}

// stopper is an op that ends the context of its run, on any backend.
type stopper struct{ stop func() }

func (stopper) Name() string                                                         { return "test.stop" }
func (stopper) Key() string                                                          { return "" }
func (stopper) Infer(in []tensor.Spec) ([]tensor.Spec, error)                        { return in, nil }
func (stopper) VJP(*graph.Call, []*graph.Node, []bool) []*graph.Node                 { return nil }
func (stopper) JVP(*graph.Call, []*graph.Node) []*graph.Node                         { return nil }
func (stopper) Batch(_ *graph.Call, in []*graph.Node, _ []bool, _ int) []*graph.Node { return in }
func (s stopper) Run(graph.Exec, []tensor.Write, []tensor.Read) error                { s.stop(); return nil }
func (s stopper) Control(graph.Backend, []graph.Operand, []graph.Operand, []bool) (graph.Kernel, error) {
	return s, nil
}

// TestFaultBeforeAStop: what a step of a function found is told where the run is stopped before it was waited for.
func TestFaultBeforeAStop(t *testing.T) {
	b := device(t)
	ctx, cancel := context.WithCancel(context.Background())
	g := graph.New()
	table, at := g.Input("table", tensor.Float32, 4), g.Input("at", tensor.Int32, 2)
	_, ys := control.Scan(func(_, x []*graph.Node) (next, y []*graph.Node) {
		v := table
		for range 12 { // more steps than the program has
			v = ops.CumSum(v, 0)
		}
		picked := ops.Index(v, index.Of(x[0]))
		return nil, []*graph.Node{ops.Add(graph.Apply(stopper{cancel}, picked), 1)}
	}, nil, []*graph.Node{at})
	p := must(graph.Compile(b, ys[0]))
	feed := feedOf(b, map[string]*tensor.Tensor{"table": tensor.Of[float32](1, 2, 3, 4), "at": tensor.Of[int32](9, 1)})
	_, err := p.Run(ctx, feed)
	var bad *ops.IndexError
	if !errors.As(err, &bad) || bad.Index != 9 || !strings.Contains(err.Error(), "ops.Gather") {
		t.Errorf("%v, want index 9 of ops.Gather", err)
	}
	if _, err := p.Run(ctx, feed); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context has ended", err)
	}
}

// TestFaultInFunctions: what kernels within Cond, While and Scan find is what the CPU's find, with the same lines, and
// the run after is right.
func TestFaultInFunctions(t *testing.T) {
	ctx := context.Background()
	build := func(g *graph.Graph) []*graph.Node {
		table, at := g.Input("table", tensor.Float32, 4), g.Input("at", tensor.Int32, 5)
		which := g.Input("which", tensor.Bool)
		carry, ys := control.Scan(func(c, x []*graph.Node) (next, y []*graph.Node) {
			picked := ops.Index(table, index.Of(x[0]))
			for range 3 { // more steps in the body than in the program
				picked = ops.Add(ops.Mul(picked, picked), c[0])
			}
			return []*graph.Node{picked}, []*graph.Node{ops.Index(table, index.Of(ops.Add(x[0], 1)))}
		}, []*graph.Node{ops.Sum(table)}, []*graph.Node{at})
		either := control.Cond(which, func(in []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Take(table, ops.Mul(in[0], 2), 0)}
		}, func(in []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Take(table, ops.Sub(in[0], 9), 0)}
		}, at)
		loop := control.While(func(s []*graph.Node) *graph.Node { return ops.Less(s[0], 3) },
			func(s []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Add(s[0], 1), ops.Add(s[1], ops.Index(table, index.Of(ops.Mul(s[0], s[2])))), s[2]}
			}, ops.Mul(ops.Sum(at), 0), ops.Sum(table), ops.Max(at))
		return []*graph.Node{carry[0], ys[0], either[0], loop[1]}
	}
	b, host := device(t), cpu.New()
	programs := map[graph.Backend]*graph.Program{}
	for _, to := range []graph.Backend{b, host} {
		programs[to] = must(graph.Compile(to, build(graph.New())...))
	}
	failures := 0
	for _, at := range [][]int32{
		{0, 1, 0, 1, 0}, {0, 1, 3, 0, 0}, {9, 9, 9, 9, 9}, {-5, 0, 0, 0, 0}, {0, 0, 0, 0, 2}, {0, 1, 2, 1, 7}, {1, 1, 1, 1, 1},
	} {
		for _, which := range []bool{true, false} {
			feed := map[string]*tensor.Tensor{
				"table": tensor.Of[float32](1, 0.5, 0.25, 2), "at": tensor.Of(at...), "which": tensor.Scalar(which),
			}
			want, wantErr := programs[host].Run(ctx, feedOf(host, feed))
			got, gotErr := programs[b].Run(ctx, feedOf(b, feed))
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%v, %v: the error is\n\t%v, the CPU's\n\t%v", at, which, gotErr, wantErr)
				continue
			}
			if wantErr != nil {
				failures++
				continue
			}
			for i := range want {
				if g, w := hosted[float32](b, got[i]), hosted[float32](host, want[i]); !reflect.DeepEqual(g, w) {
					t.Errorf("%v, %v: result %d is %v, the CPU's %v", at, which, i, g, w)
				}
			}
		}
	}
	if failures < 6 || failures == 14 {
		t.Errorf("%d of 14 runs failed", failures)
	}
}

// TestErrorsAreTheCPUs draws gathers and scatters whose indices are bad here and there, through the public builders, in
// eager graphs and in programs.
func TestErrorsAreTheCPUs(t *testing.T) {
	b, host, r := device(t), cpu.New(), rng(t)
	failed := 0
	for n := range draws(240) {
		x, feed := drawIndexed(r)
		build := func(g *graph.Graph, in func(name string) *graph.Node) *graph.Node { return x(in) }
		run := func(to graph.Backend) error {
			if n%2 == 0 {
				g := graph.Eager(to)
				return build(g, func(name string) *graph.Node { return g.Const(feed[name]) }).Err()
			}
			g := graph.New()
			in := map[string]*graph.Node{}
			y := build(g, func(name string) *graph.Node {
				if in[name] == nil {
					in[name] = g.Input(name, feed[name].DType(), feed[name].Shape()...)
				}
				return in[name]
			})
			if err := y.Err(); err != nil {
				return err
			}
			used := map[string]*tensor.Tensor{}
			for name := range in {
				used[name] = feed[name]
			}
			_, err := must(graph.Compile(to, y)).Run(context.Background(), feedOf(to, used))
			return err
		}
		got, want := run(b), run(host)
		var bad, wantBad *ops.IndexError
		errors.As(got, &bad)
		if errors.As(want, &wantBad) {
			failed++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || !reflect.DeepEqual(bad, wantBad) {
			t.Fatalf("draw %d: the error is\n\t%v %+v, the CPU's\n\t%v %+v", n, got, bad, want, wantBad)
		}
	}
	if failed < draws(240)/3 {
		t.Errorf("%d of %d failed", failed, draws(240))
	}
}

// drawIndexed draws an op on x, u, i and j.
func drawIndexed(r *rand.Rand) (build func(in func(string) *graph.Node) *graph.Node, feed map[string]*tensor.Tensor) {
	rows, cols, count := 1+r.IntN(6), 1+r.IntN(5), r.IntN(7)
	indices := func(extent int) *tensor.Tensor {
		v := make([]int64, count)
		for k := range v {
			if v[k] = int64(r.IntN(extent)); r.IntN(4) == 0 {
				v[k] = int64(r.IntN(5*extent)) - int64(2*extent)
			}
		}
		if r.IntN(2) == 0 {
			short := make([]int32, count)
			for k := range v {
				short[k] = int32(v[k])
			}
			return tensor.Must(tensor.FromSlice(short, count))
		}
		return tensor.Must(tensor.FromSlice(v, count))
	}
	floats := func(shape ...int) *tensor.Tensor {
		v := make([]float32, tensor.Size(shape))
		for k := range v {
			v[k] = float32(r.NormFloat64())
		}
		return tensor.Must(tensor.FromSlice(v, shape...))
	}
	feed = map[string]*tensor.Tensor{
		"x": floats(rows, cols), "u": floats(count, cols), "v": floats(count), "i": indices(rows), "j": indices(cols),
	}
	kind := r.IntN(6)
	return func(in func(string) *graph.Node) *graph.Node {
		switch kind {
		case 0:
			return ops.Take(in("x"), in("i"), 0)
		case 1:
			return ops.Index(in("x"), index.Of(in("i")), index.Of(in("j")))
		case 2:
			return ops.AddIndex(in("x"), in("u"), index.Of(in("i")))
		case 3:
			return ops.SetIndex(in("x"), in("v"), index.Of(in("i")), index.Of(in("j")))
		case 4: // two of which the first fails first
			return ops.Add(ops.Sum(ops.Take(in("x"), in("j"), 1)), ops.Sum(ops.Take(in("x"), in("i"), 0)))
		}
		return ops.Take(ops.AddIndex(in("x"), in("v"), index.Of(in("i")), index.Of(in("j"))), in("i"), 0)
	}, feed
}
