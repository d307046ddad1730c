package graph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

var vector = tensor.Spec{DType: tensor.Float64, Shape: []int{2}}

// TestTrace: what is traced has no values, in an eager graph too, is not printed, and assigns nothing.
func TestTrace(t *testing.T) {
	b := &toyBackend{}
	v := newVar(graph.NewStore(b, 0), "v", 1, 2)
	e := graph.Eager(b)
	x := e.Const(vec(1, 2))
	before := b.runs.Load()
	var inside, constant *graph.Node
	first := e.Trace(func() { constant, inside = e.Const(vec(5, 6)), neg(x) })
	if first != x.Call().Number()+1 || b.runs.Load() != before {
		t.Errorf("the first call is %d, and %d kernels ran", first, b.runs.Load())
	}
	if _, err := inside.Value(); !errors.Is(err, tensor.ErrUnsupported) {
		t.Errorf("it has a value: %v", err)
	}
	if _, err := constant.Value(); err != nil {
		t.Errorf("a constant has none: %v", err)
	}
	if _, err := neg(x).Value(); err != nil || b.runs.Load() != before+1 {
		t.Errorf("afterwards there are values again: %v", err)
	}
	runs := b.runs.Load()
	e.Trace(func() { v.Assign(x) })
	if err := e.Err(); !errors.Is(err, tensor.ErrUnsupported) || b.runs.Load() != runs {
		t.Errorf("an assignment: %v", err)
	}
	g := graph.New()
	y := g.Input("y", tensor.Float64, 2)
	g.Trace(func() { neg(g.Placeholder(vector)); g.Input("z", tensor.Float64, 2) })
	if text := g.String(); strings.Contains(text, "toy.neg") || strings.Count(text, "Input") != 2 || y == nil {
		t.Errorf("the graph is\n%s", text)
	}
}

// TestClose: a function is what leads from its arguments to its results; Captured is what it would have to be given
// besides. Literals and small constants without a gradient are its own.
func TestClose(t *testing.T) {
	g := graph.New()
	v := newVar(graph.NewStore(&toyBackend{}, 0), "v", 1, 2)
	w := neg(g.Input("w", tensor.Float64, 2))
	old := g.Const(vec(3, 4))
	index := tensor.Of[int64](1, 0)
	var a, y *graph.Node
	first := g.Trace(func() {
		a = g.Placeholder(vector)
		y = add(mul(a, w), mul(add(v.Read(g), old), mul(w, g.Const(vec(7, 8)))))
	})
	captured := graph.Captured([]*graph.Node{a}, []*graph.Node{y}, first)
	var names []string
	for _, n := range captured {
		names = append(names, n.Call().Op.Name())
	}
	if want := []string{"toy.neg", "graph.Constant", "graph.Variable", "graph.Constant"}; !slices.Equal(names, want) {
		t.Fatalf("captured are %v, want %v", names, want)
	}
	if _, err := graph.Close("f", []*graph.Node{a, w}, []*graph.Node{y}); !errors.Is(err, tensor.ErrUnsupported) ||
		!strings.Contains(err.Error(), "not closed") || !strings.Contains(err.Error(), "trace_test.go:") {
		t.Errorf("it is not closed: %v", err)
	}
	f, err := graph.Close("f", append([]*graph.Node{a}, captured...), []*graph.Node{y, w, y})
	if err != nil {
		t.Fatal(err)
	}
	e := graph.Eager(&toyBackend{})
	var in []*graph.Node
	for _, x := range []*tensor.Tensor{vec(1, 2), vec(10, 20), vec(3, 4), vec(1, 1), vec(7, 8)} {
		in = append(in, e.Const(x))
	}
	out := f.Apply(e, in...)
	for i, want := range [][]float64{{290, 840}, {10, 20}, {290, 840}} { // a·w + (v + old)·w·c
		if got := tensor.Must(tensor.Values[float64](tensor.Must(out[i].Value()))); !slices.Equal(got, want) {
			t.Errorf("result %d is %v, want %v", i, got, want)
		}
	}
	if !strings.HasPrefix(out[0].Call().Pos(), "toy_test.go:") { // where add is
		t.Errorf("a call lost its line: %s", out[0].Call().Pos())
	}
	inside := g.Const(index)
	if c := graph.Captured(nil, []*graph.Node{inside, g.Literal(tensor.Float64, 2)}, g.NumCalls()); len(c) != 0 {
		t.Errorf("constants of its own are captured: %v", c)
	}
	if n := len(graph.Between([]*graph.Node{a, w}, []*graph.Node{mul(a, w), neg(old)})); n != 2 {
		t.Errorf("%d calls lead there, want 2", n)
	}
}

// TestFuncFlow: which results depend on which arguments, and First.
func TestFuncFlow(t *testing.T) {
	f, err := graph.NewFunc("f", []tensor.Spec{vector, vector, vector}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node {
		m := mul(in[0], in[1])
		return []*graph.Node{m, neg(m), in[2], check(in[1])}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, out []bool }{
		{[]bool{true, false, false}, []bool{true, true, false, false}},
		{[]bool{false, true, false}, []bool{true, true, false, true}},
		{[]bool{false, false, true}, []bool{false, false, true, false}},
	} {
		if got := f.Flow(c.in, true); !slices.Equal(got, c.out) {
			t.Errorf("from %v it flows to %v, want %v", c.in, got, c.out)
		}
	}
	for _, c := range []struct{ out, in []bool }{
		{[]bool{false, true, false, false}, []bool{true, true, false}},
		{[]bool{false, false, true, false}, []bool{false, false, true}},
		{[]bool{false, false, false, false}, []bool{false, false, false}},
	} {
		if got := f.Needs(c.out); !slices.Equal(got, c.in) {
			t.Errorf("%v needs %v, want %v", c.out, got, c.in)
		}
	}
	if g := f.First(2); len(g.Out()) != 2 || g.Fallible() || !f.Fallible() || g.Key() == f.Key() || f.First(4) != f {
		t.Error("the first two results: not as they should be")
	}
	ints := tensor.Spec{DType: tensor.Int64, Shape: []int{2}}
	h, err := graph.NewFunc("h", []tensor.Spec{ints}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node { return []*graph.Node{neg(in[0])} })
	if err != nil {
		t.Fatal(err)
	}
	if h.Flow([]bool{true}, true)[0] || !h.Flow([]bool{true}, false)[0] {
		t.Error("through integers values flow, gradients do not")
	}
}

// twice is a Controller: it runs its function on the operand and again on the result.
type twice struct {
	toyOp
	F *graph.Func
}

func (o twice) Key() string { return o.F.Key() }

func (o twice) Infer(in []tensor.Spec) ([]tensor.Spec, error) { return in, nil }

func (o twice) Control(b graph.Backend, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	first, err := graph.CompileFunc(b, o.F, out, in, used)
	if err != nil {
		return nil, err
	}
	second, err := graph.CompileFunc(b, o.F, out, out, used)
	return &twiceKernel{first, second, out[0]}, err
}

type twiceKernel struct {
	first, second *graph.FuncKernel
	out           graph.Operand
}

func (k *twiceKernel) Bytes() int { return k.first.Bytes() }

func (k *twiceKernel) Run(graph.Exec, []tensor.Write, []tensor.Read) error {
	return errors.New("the context is not given")
}

func (k *twiceKernel) RunContext(ctx context.Context, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	mem := tensor.NewStorage(out[0].Size() * 8)
	w := tensor.Must(tensor.NewWrite(tensor.Must(tensor.NewView(mem, k.out.DType, k.out.Layout))))
	if err := k.first.RunContext(ctx, x, []tensor.Write{w}, in); err != nil {
		return err
	}
	return k.second.RunContext(ctx, x, out, []tensor.Read{w.Read()})
}

func doubled(t *testing.T, build func(x *graph.Node) *graph.Node) twice {
	t.Helper()
	f, err := graph.NewFunc("f", []tensor.Spec{vector}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{build(in[0])}
	})
	if err != nil {
		t.Fatal(err)
	}
	return twice{toyOp{Kind: "twice"}, f}
}

// TestController: it is compiled in place of the backend's kernel, eager and in programs; it is not folded, equal
// ones are one, and its memory counts.
func TestController(t *testing.T) {
	b := &toyBackend{}
	square := doubled(t, func(x *graph.Node) *graph.Node { return mul(x, add(x, neg(x.Graph().Const(vec(0, 1))))) })
	e := graph.Eager(b)
	y := graph.Apply(square, e.Const(vec(2, 3))) // x·(x − [0 1]), twice
	if got := tensor.Must(tensor.Values[float64](tensor.Must(y.Value()))); !slices.Equal(got, []float64{16, 30}) {
		t.Errorf("eager: %v", got)
	}
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2)
	p, err := graph.Compile(b, graph.Apply(square, x), graph.Apply(square, x), graph.Apply(square, g.Const(vec(2, 3))))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Merged != 1 || s.Folded != 0 || s.Inner == 0 || p.PeakBytes() != s.Bytes+s.Inner+s.Outputs {
		t.Errorf("%+v", s)
	}
	outs, err := p.Run(ctx, graph.Feed{"x": vec(1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{1, 2}, {1, 2}, {16, 30}} {
		if got := tensor.Must(tensor.Values[float64](outs[i])); !slices.Equal(got, want) {
			t.Errorf("result %d is %v, want %v", i, got, want)
		}
	}
}

// TestControllerContext: a kernel inside of one stops with the run, and its errors and panics have their line; in the
// commit of a step the context no longer ends.
func TestControllerContext(t *testing.T) {
	b := &toyBackend{}
	stop, cancel := context.WithCancel(ctx)
	b.before = func(op graph.Op) {
		if op.Name() == "toy.neg" {
			cancel()
		}
	}
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2)
	p, err := graph.Compile(b, graph.Apply(doubled(t, neg), x))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(stop, graph.Feed{"x": vec(1, 2)}); !errors.Is(err, context.Canceled) || b.runs.Load() != 1 {
		t.Errorf("%v after %d kernels", err, b.runs.Load())
	}
	v := newVar(graph.NewStore(b, 0), "v", 1, 2)
	h := graph.New()
	step, err := graph.Compile(b, v.Assign(graph.Apply(doubled(t, func(x *graph.Node) *graph.Node { return neg(add(x, x)) }), v.Read(h))))
	if err != nil {
		t.Fatal(err)
	}
	stop, cancel = context.WithCancel(ctx)
	defer cancel()
	_, err = step.Run(stop, nil) // it writes over the variable
	if got := valueOf(t, v); err != nil || got[0] != 4 || stop.Err() == nil {
		t.Errorf("a step is whole or not at all: %v, %v", err, got)
	}
	bad := doubled(t, func(x *graph.Node) *graph.Node { return check(neg(x)) })
	b.before = nil
	e := graph.Eager(b)
	err = graph.Apply(bad, e.Const(vec(1, 2))).Err()
	if !errors.Is(err, errNegative) || strings.Count(err.Error(), "_test.go:") != 2 {
		t.Errorf("%v, want both lines", err)
	}
}

// TestCompileFunc: any layout of operands and results; what is not used is not computed.
func TestCompileFunc(t *testing.T) {
	b := &toyBackend{}
	f, err := graph.NewFunc("f", []tensor.Spec{vector, vector, vector}, func(g *graph.Graph, in []*graph.Node) []*graph.Node {
		sum := add(in[0], in[1])
		return []*graph.Node{sum, sum, in[0], g.Const(vec(8, 9)), check(in[2])}
	})
	if err != nil {
		t.Fatal(err)
	}
	backwards := tensor.Layout{Shape: []int{2}, Strides: []int{-2}, Offset: 3}
	row := tensor.RowMajor([]int{2})
	view := func(l tensor.Layout, a, b float64) tensor.View {
		mem := tensor.Must(tensor.NewView(tensor.NewStorage(40), tensor.Float64, l))
		tensor.Elements[float64](mem.Storage())[l.At([]int{0})], tensor.Elements[float64](mem.Storage())[l.At([]int{1})] = a, b
		return mem
	}
	in := []tensor.View{view(backwards, 1, 2), view(row, 10, 20), view(row, -1, -1)}
	outs := []tensor.View{view(backwards, 0, 0), view(row, 0, 0), view(backwards, 0, 0), view(row, 0, 0), view(row, 7, 7)}
	operands := func(views []tensor.View) (r []graph.Operand) {
		for _, v := range views {
			r = append(r, graph.Operand{DType: v.DType(), Layout: v.Layout()})
		}
		return r
	}
	k, err := graph.CompileFunc(b, f, operands(outs), operands(in), []bool{true, true, true, true, false})
	if err != nil {
		t.Fatal(err)
	}
	var writes []tensor.Write
	var reads []tensor.Read
	for _, v := range outs {
		writes = append(writes, tensor.Must(tensor.NewWrite(v)))
	}
	for _, v := range in {
		reads = append(reads, v.Read())
	}
	for range 2 {
		if err := k.Run(b, writes, reads); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range [][]float64{{11, 22}, {11, 22}, {1, 2}, {8, 9}, {7, 7}} {
		if got := tensor.Must(tensor.Values[float64](outs[i])); !slices.Equal(got, want) {
			t.Errorf("result %d is %v, want %v", i, got, want)
		}
	}
	if err := k.Run(b, writes[1:], reads); !errors.Is(err, tensor.ErrPlanMismatch) {
		t.Errorf("a result too few: %v", err)
	}
}

// TestCompileFuncRefuses: a kernel is made and run for the dtypes and layouts of the function alone. Others would be
// read as if they were these.
func TestCompileFuncRefuses(t *testing.T) {
	b := &toyBackend{}
	f := tensor.Must(graph.NewFunc("f", []tensor.Spec{vector}, func(_ *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{neg(in[0]), add(in[0], in[0])}
	}))
	row := tensor.RowMajor([]int{2})
	right := graph.Operand{DType: tensor.Float64, Layout: row}
	half := graph.Operand{DType: tensor.Float32, Layout: row}
	long := graph.Operand{DType: tensor.Float64, Layout: tensor.RowMajor([]int{3})}
	ragged := graph.Operand{DType: tensor.Float64, Layout: tensor.Layout{Shape: []int{2}}}
	type list = []graph.Operand
	for _, c := range []struct {
		name    string
		f       *graph.Func
		out, in list
		used    []bool
		kind    error
	}{
		{"no function", nil, list{right, right}, list{right}, []bool{true, true}, tensor.ErrUnsupported},
		{"operands", f, list{right, right}, nil, []bool{true, true}, tensor.ErrUnsupported},
		{"results", f, list{right}, list{right}, []bool{true, true}, tensor.ErrUnsupported},
		{"marks", f, list{right, right}, list{right}, []bool{true}, tensor.ErrUnsupported},
		{"dtype of an operand", f, list{right, right}, list{half}, []bool{true, true}, tensor.ErrDType},
		{"dtype of a result", f, list{right, half}, list{right}, []bool{true, true}, tensor.ErrDType},
		{"shape of an operand", f, list{right, right}, list{long}, []bool{true, true}, tensor.ErrShape},
		{"shape of a result", f, list{long, right}, list{right}, []bool{true, true}, tensor.ErrShape},
		{"no layout", f, list{right, right}, list{ragged}, []bool{true, true}, tensor.ErrStride},
	} {
		if _, err := graph.CompileFunc(b, c.f, c.out, c.in, c.used); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", c.name, err, c.kind)
		}
	}
	k, err := graph.CompileFunc(b, f, list{right, half}, list{right}, []bool{true, false})
	if err != nil {
		t.Fatalf("a result that is not used may be anything: %v", err)
	}
	in, out := vec(1, 2, 3), vec(0, 0)
	shifted := tensor.Must(tensor.NewView(in.Storage(), tensor.Float64, tensor.Layout{Shape: []int{2}, Strides: []int{1}, Offset: 1}))
	short := tensor.Of[float32](5, 6, 7, 8)
	other := tensor.Must(tensor.NewView(short.Storage(), tensor.Float32, row))
	for _, c := range []struct {
		name string
		out  tensor.Write
		in   tensor.Read
		kind error
	}{
		{"another offset", out.Write(), shifted.Read(), tensor.ErrPlanMismatch},
		{"another shape", out.Write(), in.Read(), tensor.ErrPlanMismatch},
		{"another dtype", out.Write(), other.Read(), tensor.ErrDType},
		{"a result of another dtype", tensor.Must(tensor.NewWrite(other)), out.Read(), tensor.ErrDType},
		{"a result of another offset", tensor.Must(tensor.NewWrite(shifted)), out.Read(), tensor.ErrPlanMismatch},
		{"nothing", tensor.Write{}, tensor.Read{}, tensor.ErrDType},
	} {
		if err := k.Run(b, []tensor.Write{c.out, {}}, []tensor.Read{c.in}); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", c.name, err, c.kind)
		}
	}
	if got := tensor.Must(tensor.Values[float64](out)); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("what is refused is not written: %v", got)
	}
}

// more is an Extender: minmax, and the sum as well if More.
type more struct {
	toyOp
	More bool
}

func (o more) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.More {
		return []tensor.Spec{in[0], in[0]}, nil
	}
	return in[:1], nil
}
func (o more) Key() string             { return graph.KeyOf([]bool{o.More}) }
func (o more) Base() string            { return more{o.toyOp, false}.Key() }
func (o more) Extends(p graph.Op) bool { return true }

// TestExtender: a call with further results stands for the one without them, in its place in the order.
func TestExtender(t *testing.T) {
	op := toyOp{Kind: "minmax"}
	g := graph.New()
	x, y := g.Input("x", tensor.Float64, 2), g.Input("y", tensor.Float64, 2)
	plain := graph.Apply(more{op, false}, x, y)
	other := graph.Apply(more{op, false}, y, x)
	low := neg(plain)
	both := graph.ApplyN(2, more{op, true}, x, y)
	p, err := graph.Compile(&toyBackend{}, low, both[1], other)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Merged != 1 || s.Steps != 3 {
		t.Errorf("%+v", s)
	}
	text := p.String()
	if strings.Index(text, "toy.minmax") > strings.Index(text, "toy.neg") {
		t.Errorf("it comes too late:\n%s", text)
	}
}
