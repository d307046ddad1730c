package control_test

import (
	"errors"
	"reflect"
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

var elements = ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}}

// TestScatterByLanes: a step for every update that another can meet, and each step on all that cannot.
func TestScatterByLanes(t *testing.T) {
	rows := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 5}, Collapsed: []int{0}, OffsetAxes: []int{1}}
	blocks := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2, 5}, OffsetAxes: []int{1, 2}}
	for _, c := range []struct {
		why   string
		w     ops.Window
		x     []int
		u     []int
		idx   []int
		steps int
		carry string
	}{
		{"elements", elements, []int{9}, []int{6}, []int{6}, 6, "float64[1 1]"},
		{"rows", rows, []int{9, 7}, []int{6, 5}, []int{6}, 6, "float64[1 5]"},
		{"blocks meet at their rows", blocks, []int{9, 7}, []int{6, 2, 5}, []int{6}, 12, "float64[1 5]"},
		{"one block", blocks, []int{9, 7}, []int{1, 2, 5}, []int{1}, 0, ""},
		{"a batch", ops.Window{IndexAxes: []int{1}, SliceSizes: []int{1, 1, 3}, Collapsed: []int{1}, XBatch: []int{0}, IndexBatch: []int{0}, OffsetAxes: []int{2}},
			[]int{4, 9, 3}, []int{4, 6, 3}, []int{4, 6}, 6, "float64[4 3]"},
		{"a batch of one each", ops.Window{IndexAxes: []int{1}, SliceSizes: []int{1, 1}, Collapsed: []int{1}, XBatch: []int{0}, IndexBatch: []int{0}},
			[]int{4, 9}, []int{4, 1}, []int{4, 1}, 0, ""},
		{"no updates", elements, []int{9}, []int{0}, []int{0}, 0, ""},
		{"nothing to write to", rows, []int{3, 0}, []int{6, 0}, []int{6}, 0, ""},
	} {
		g := graph.New()
		if c.x[len(c.x)-1] == 0 {
			c.w.SliceSizes = []int{1, 0}
		}
		y := scattered(doubled, c.w, ops.Mode{})([]*Node{
			g.Input("x", tensor.Float64, c.x...), g.Input("u", tensor.Float64, c.u...), g.Input("i", tensor.Int64, c.idx...),
		})
		if g.Err() != nil {
			t.Fatal(c.why, g.Err())
		}
		scans := scansOf(y...)
		switch {
		case c.steps == 0 && len(scans) != 0:
			t.Errorf("%s: %d steps where no two updates can meet", c.why, scans[0].Length)
		case c.steps == 0:
		case len(scans) != 1 || scans[0].Length != c.steps || scans[0].Body.Out()[0].String() != c.carry:
			t.Errorf("%s: scans %v, want one of %d steps that carries %s", c.why, scans, c.steps, c.carry)
		}
	}
}

// TestScatterByMemory: neither it nor its derivatives, to second order, keep x for an update: every value is of the
// size of x or of the updates.
func TestScatterByMemory(t *testing.T) {
	const places, updates = 1000, 300
	g := graph.New()
	in := []*Node{g.Input("x", tensor.Float64, places), g.Input("u", tensor.Float64, updates), g.Input("i", tensor.Int64, updates)}
	f := gradients(scattered(bent, elements, ops.Mode{}))
	for what, outs := range map[string][]*Node{
		"values": scattered(bent, elements, ops.Mode{})(in), "gradients": f(in), "second order": gradients(f)(in),
		"forward mode": autograd.JVP(scattered(bent, elements, ops.Mode{})(in), in[:2], in[:2]),
	} {
		if g.Err() != nil {
			t.Fatal(what, g.Err())
		}
		for _, c := range graph.Topo(outs) {
			for _, n := range c.Out {
				if n.Size() > places {
					t.Errorf("%s: %s makes %s", what, c.Op.Name(), n.Spec())
				}
			}
		}
		if p := compile(t, outs...).PeakBytes(); p > 60*8*(places+updates) {
			t.Errorf("%s: %d bytes at once, of %d elements", what, p, places+updates)
		}
	}
}

// table is 10, 20, 30 at an index that it may not bear.
func table(at *Node) *Node {
	x := at.Graph().Const(tensor.Of[int64](10, 20, 30))
	return ops.Index(x, index.Of(at))
}

// TestScatterByFails: a function that can fail is called for what is written alone, and what it finds there is an
// error of the run.
func TestScatterByFails(t *testing.T) {
	look := func(old, u *Node) *Node { return ops.Add(ops.Mul(old, 2), table(u)) }
	rows := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 2}, Collapsed: []int{0}, OffsetAxes: []int{1}}
	x, idx := where([]int{2, 2}, 1, 2, 3, 4), where([]int{4}, 1, 5, 1, -9)
	f := scattered(look, rows, ops.Mode{OOB: ops.OOBSkip})
	in := []*tensor.Tensor{x, where([]int{4, 2}, 0, 1, 7, 7, 2, 0, -8, 9), idx}
	want := []tensor.View{where([]int{2, 2}, 1, 2, 2*(2*3+10)+30, 2*(2*4+20)+10).View()}
	sameBits(t, "skipped", eager(t, backend, f, in), want)
	sameBits(t, "compiled", compiled(t, backend, graph.Options{}, f, in), want)
	in[1] = where([]int{4, 2}, 0, 1, 7, 7, 2, 5, -8, 9)
	if e := indexError(t, f, in); e == nil || e.Index != 5 {
		t.Errorf("the error is %v, want that of index 5", e)
	}
	alone := []*tensor.Tensor{x, where([]int{1, 2}, 7, 7), where([]int{1}, 2)}
	sameBits(t, "one that is skipped", eager(t, backend, f, alone), []tensor.View{x.View()})
	scaled := tensor.Must(graph.NewFunc("scaled", []tensor.Spec{{DType: tensor.Float64}, {DType: tensor.Float64}, {DType: tensor.Int64}},
		func(_ *graph.Graph, in []*Node) []*Node {
			return []*Node{bent(in[0], ops.Mul(in[1], ops.Cast(table(in[2]), tensor.Float64)))}
		}))
	if err := autograd.Check(backend, func(in []*Node) []*Node {
		return control.ScatterBy(scaled, in[:1], in[1:3], in[3:], rows, ops.Mode{OOB: ops.OOBSkip})
	}, pseudo(1, 2, 2), tensor.Must(tensor.FromSlice([]float64{.01, .02, .03, -.04, .05, -.06}, 3, 2)),
		where([]int{3, 2}, 0, 1, 2, 2, 1, 0), where([]int{3}, 1, 5, 1)); err != nil {
		t.Error(err)
	}
}

// TestScatterByOfSeveral: a function of several elements and updates, of dtypes of their own: the greatest update of
// a place, how many there were, and which was the last.
func TestScatterByOfSeveral(t *testing.T) {
	specs := []tensor.Spec{{DType: tensor.Float64}, {DType: tensor.Int32}, {DType: tensor.Float64}, {DType: tensor.Int64}, {DType: tensor.Bool}}
	f := tensor.Must(graph.NewFunc("greatest", specs, func(_ *graph.Graph, in []*Node) []*Node {
		best := ops.Where(in[4], ops.Maximum(in[0], in[2]), in[0])
		return []*Node{best, ops.Add(in[1], ops.Cast(in[3], tensor.Int32))}
	}))
	got := eager(t, backend, func(in []*Node) []*Node {
		return control.ScatterBy(f, in[:2], in[2:5], in[5:], elements, ops.Mode{})
	}, []*tensor.Tensor{
		tensor.Of(0.0, 0, 5), tensor.Of[int32](0, 0, 0),
		tensor.Of(1.0, 9, 3, 2), tensor.Of[int64](1, 2, 3, 4), tensor.Of(true, false, true, true), where([]int{4}, 1, 1, 1, 2),
	})
	sameBits(t, "several", got, []tensor.View{tensor.Of(0.0, 3, 5).View(), tensor.Of[int32](0, 6, 4).View()})
}

// TestScatterByDTypes: an element of any dtype. Of half floats each step is rounded: 2048 and 1 is 2048, twice.
func TestScatterByDTypes(t *testing.T) {
	f := scattered(func(old, u *Node) *Node { return ops.Add(ops.Mul(old, u), u) }, elements, ops.Mode{})
	for _, dt := range tensor.DTypes {
		g := graph.Eager(backend)
		cast := func(x *tensor.Tensor) *Node { return ops.Cast(g.Const(x), dt) }
		y := f([]*Node{cast(tensor.Of(1.0, 2, 3)), cast(tensor.Of(1.0, 5, 2, 3)), g.Const(where([]int{4}, 2, 0, 2, 2))})[0]
		want := cast(tensor.Of(10.0, 2, 33))
		sameBits(t, dt.String(), []tensor.View{tensor.Must(y.Value())}, []tensor.View{tensor.Must(want.Value())})
	}
	half := func(v ...float64) *Node { return ops.Cast(graph.Eager(backend).Const(tensor.Of(v...)), tensor.Float16) }
	x := half(2048)
	g := x.Graph()
	y := scattered(func(old, u *Node) *Node { return ops.Add(old, u) }, elements, ops.Mode{})([]*Node{
		x, ops.Cast(g.Const(tensor.Of(1.0, 1)), tensor.Float16), g.Const(where([]int{2}, 0, 0)),
	})[0]
	sameBits(t, "halves", []tensor.View{tensor.Must(y.Value())}, []tensor.View{tensor.Must(half(2048).Value())})
}

// TestScatterByErrors: every mistake is an error of ScatterBy that names it.
func TestScatterByErrors(t *testing.T) {
	type call struct {
		f           *graph.Func
		xs, us, idx []*Node
		w           ops.Window
		m           ops.Mode
	}
	scalars := func(dts ...tensor.DType) (r []tensor.Spec) {
		for _, dt := range dts {
			r = append(r, tensor.Spec{DType: dt})
		}
		return r
	}
	first := func(in []tensor.Spec) *graph.Func {
		return tensor.Must(graph.NewFunc("first", in, func(_ *graph.Graph, x []*Node) []*Node { return x[:1] }))
	}
	other := graph.New().Input("x", tensor.Float64, 3)
	for _, c := range []struct {
		name  string
		spoil func(c *call)
		kind  error
		says  string
	}{
		{"nil function", func(c *call) { c.f = nil }, tensor.ErrUnsupported, "the function is nil"},
		{"no updates", func(c *call) { c.us = nil }, tensor.ErrUnsupported, "1 operands and 0 updates"},
		{"no operands", func(c *call) { c.xs = nil }, tensor.ErrUnsupported, "0 operands and 1 updates"},
		{"nil operand", func(c *call) { c.us = []*Node{nil} }, tensor.ErrUnsupported, "operand 1 is nil"},
		{"mode", func(c *call) { c.m.OOB = 9 }, tensor.ErrUnsupported, "mode 9"},
		{"another graph", func(c *call) { c.us = []*Node{other} }, nil, "operand 1 belongs to another graph"},
		{"shapes of operands", func(c *call) { c.xs = append(c.xs, ops.Concat(0, c.xs[0], c.xs[0])) }, tensor.ErrShape, "operand 1 has shape [6]"},
		{"shape of updates", func(c *call) { c.us = c.xs }, tensor.ErrShape, "updates 0 have shape [3], the window gives [2]"},
		{"a window", func(c *call) { c.w.SliceSizes = []int{2} }, tensor.ErrShape, "slice size 2 on axis 0"},
		{"an index dtype", func(c *call) { c.idx = c.us }, tensor.ErrDType, "index operand 0"},
		{"indices that do not broadcast", func(c *call) { c.w.IndexAxes, c.idx = []int{0, 1}, append(c.idx, ops.Concat(0, c.idx[0], c.idx[0])) },
			tensor.ErrShape, "broadcast"},
		{"number of arguments", func(c *call) { c.f = first(scalars(tensor.Float64)) }, tensor.ErrShape, "function first has 1 arguments"},
		{"argument", func(c *call) { c.f = first(scalars(tensor.Float64, tensor.Int8)) }, tensor.ErrDType, "argument 1 of function first is int8"},
		{"result", func(c *call) {
			c.f = tensor.Must(graph.NewFunc("whole", scalars(tensor.Float64, tensor.Float64), func(_ *graph.Graph, x []*Node) []*Node {
				return []*Node{ops.Cast(x[0], tensor.Int8)}
			}))
		}, tensor.ErrDType, "result 0 of function whole is int8"},
		{"rank", func(c *call) {
			c.f = first([]tensor.Spec{{DType: tensor.Float64, Shape: []int{1}}, {DType: tensor.Float64}})
		}, tensor.ErrRank, "argument 0 of function first has shape [1]"},
		{"rank of a result", func(c *call) {
			c.f = tensor.Must(graph.NewFunc("wide", scalars(tensor.Float64, tensor.Float64), func(_ *graph.Graph, x []*Node) []*Node {
				return []*Node{ops.BroadcastTo(x[0], 2)}
			}))
		}, tensor.ErrRank, "result 0 of function wide has shape [2]"},
	} {
		g := graph.New()
		k := call{function(tensor.Float64, doubled), []*Node{g.Input("x", tensor.Float64, 3)}, []*Node{g.Input("u", tensor.Float64, 2)},
			[]*Node{g.Input("i", tensor.Int32, 2)}, elements, ops.Mode{}}
		k.w.SliceSizes = slices.Clone(k.w.SliceSizes)
		c.spoil(&k)
		out := control.ScatterBy(k.f, k.xs, k.us, k.idx, k.w, k.m)
		if len(out) != max(len(k.xs), 1) || out[0].Valid() {
			t.Errorf("%s: the results are %v", c.name, out)
			continue
		}
		err := out[0].Err()
		if c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), "control.ScatterBy") || !strings.Contains(err.Error(), "scatterbyuse_test.go:") {
			t.Errorf("%s: the error is %v, want %v that says %q", c.name, err, c.kind, c.says)
		}
	}
}

// TestScatterByIndexErrors: the index that is reported is that of ops.Scatter: first in the whole of the operands, the
// lowest of them, also where nothing would be written.
func TestScatterByIndexErrors(t *testing.T) {
	empty := tensor.Must(tensor.New(tensor.Float64, 3, 0))
	two := ops.Window{IndexAxes: []int{0, 1}, SliceSizes: []int{1, 1}, Collapsed: []int{0, 1}}
	for _, c := range []struct {
		name string
		w    ops.Window
		in   []*tensor.Tensor
	}{
		{"the first of several", elements, []*tensor.Tensor{pseudo(1, 3), pseudo(2, 5), where([]int{5}, 0, 1, 7, 9, -1)}},
		{"the lowest operand", two, []*tensor.Tensor{pseudo(1, 3, 3), pseudo(2, 2, 2), where([]int{2, 1}, 1, 8), where([]int{2}, 0, 4)}},
		{"beside an empty slice", ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 0}, Collapsed: []int{0}, OffsetAxes: []int{1}},
			[]*tensor.Tensor{empty, tensor.Must(tensor.New(tensor.Float64, 2, 0)), where([]int{2}, 0, 3)}},
		{"one that broadcasts to nothing", ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}, IndexShape: []int{0}},
			[]*tensor.Tensor{pseudo(1, 3), tensor.Must(tensor.New(tensor.Float64, 0)), where([]int{1}, 3)}},
	} {
		got := indexError(t, scattered(doubled, c.w, ops.Mode{}), c.in)
		want := indexError(t, func(in []*Node) []*Node {
			return []*Node{ops.Scatter(in[0], in[1], in[2:], ops.CombineAdd, c.w, ops.Mode{})}
		}, c.in)
		if want == nil || got == nil {
			t.Errorf("%s: the errors are %v and %v", c.name, got, want)
			continue
		}
		if got.Op = want.Op; !reflect.DeepEqual(got, want) { // it is made of gathers and scatters
			t.Errorf("%s: the error is %#v, want %#v", c.name, *got, *want)
		}
	}
}
