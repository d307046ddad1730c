package ops_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func combiner(build func(a, b []*ops.Node) []*ops.Node, dts ...tensor.DType) *graph.Func {
	return tensor.Must(ops.Combiner("join", dts, build))
}

// composed joins x → a₀·x + a₁ and x → b₀·x + b₁; compose is the same of numbers.
func composed(a, b []*ops.Node) []*ops.Node {
	return []*ops.Node{ops.Mul(a[0], b[0]), ops.Add(ops.Mul(a[1], b[0]), b[1])}
}

type affine [2]int64

func (a affine) then(b affine) affine { return affine{a[0] * b[0], a[1]*b[0] + b[1]} }

// maps is a tensor of affine functions: int64 wraps, so every grouping gives the same bits.
type maps struct {
	shape []int
	at    []affine
}

func drawnMaps(r *rand.Rand, shape ...int) maps {
	m := maps{shape, make([]affine, tensor.Size(shape))}
	for i := range m.at {
		m.at[i] = affine{int64(r.Uint64()), int64(r.Uint64())}
	}
	return m
}

func (m maps) tensors() []*tensor.Tensor {
	a, b := make([]int64, len(m.at)), make([]int64, len(m.at))
	for i, v := range m.at {
		a[i], b[i] = v[0], v[1]
	}
	return inputs(tensor.Must(tensor.FromSlice(a, m.shape...)), tensor.Must(tensor.FromSlice(b, m.shape...)))
}

func (m maps) get(idx []int) affine { return m.at[tensor.RowMajor(m.shape).At(idx)] }

// reduced is ReduceBy by its definition.
func (m maps) reduced(init affine, axes []int) maps {
	var kept, shape []int
	for a, d := range m.shape {
		if !slices.Contains(axes, a) {
			kept, shape = append(kept, a), append(shape, d)
		}
	}
	out := maps{shape, slices.Repeat([]affine{init}, tensor.Size(shape))}
	for idx := range tensor.Indices(m.shape) {
		to := make([]int, len(kept))
		for k, a := range kept {
			to[k] = idx[a]
		}
		at := tensor.RowMajor(shape).At(to)
		out.at[at] = out.at[at].then(m.get(idx))
	}
	return out
}

// scanned is ScanBy by its definition.
func (m maps) scanned(init affine, axis int, exclusive, reverse bool) maps {
	out := maps{m.shape, slices.Clone(m.at)}
	lines := slices.Clone(m.shape)
	lines[axis] = min(lines[axis], 1)
	for idx := range tensor.Indices(lines) {
		h := init
		for i := range m.shape[axis] {
			to := slices.Clone(idx)
			if to[axis] = i; reverse {
				to[axis] = m.shape[axis] - 1 - i
			}
			next := h.then(m.get(to))
			if out.at[tensor.RowMajor(m.shape).At(to)] = next; exclusive {
				out.at[tensor.RowMajor(m.shape).At(to)] = h
			}
			h = next
		}
	}
	return out
}

// check compares f on every layout, thread count and way to run with want.
func (m maps) check(t *testing.T, where string, f func(x []*ops.Node) []*ops.Node, want maps) {
	t.Helper()
	wanted := want.tensors()
	for _, threads := range []int{1, 2} {
		b := cpu.On(cpu.Threads(threads))
		// The operands as they are, and as views of what is transposed and reversed.
		for _, turned := range []bool{false, true} {
			build := func(g *graph.Graph, x []*ops.Node) []*ops.Node {
				if turned {
					for i := range x {
						x[i] = ops.Reverse(ops.Transpose(x[i]))
					}
				}
				return f(x)
			}
			in := m.tensors()
			if turned {
				g := graph.Eager(b)
				for i, v := range in {
					x := ops.Transpose(ops.Reverse(g.Const(v)))
					in[i] = tensor.Must(tensor.Must(x.Value()).Copy())
				}
			}
			g := graph.Eager(b)
			outs := build(g, []*ops.Node{g.Const(in[0]), g.Const(in[1])})
			if g.Err() != nil {
				t.Fatalf("%s: %v", where, g.Err())
			}
			ran, err := graph.Jit(b, build).Call(t.Context(), in[0], in[1])
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			for i, w := range wanted {
				v := tensor.Must(outs[i].Value())
				for how, got := range map[string]tensor.View{"eager": v, "compiled": ran[i].View()} {
					if !tensor.EqualShapes(got.Shape(), w.Shape()) ||
						!slices.Equal(tensor.Must(tensor.Values[int64](got)), tensor.Must(tensor.Values[int64](w))) {
						t.Fatalf("%s, %s, %d threads, turned %t: result %d is %v, want %v", where, how, threads, turned, i, got, w)
					}
				}
			}
		}
	}
}

var lengths = []int{0, 1, 2, 3, 5, 8, 17}

func TestReduceBy(t *testing.T) {
	f := combiner(composed, tensor.Int64, tensor.Int64)
	r := rand.New(rand.NewPCG(1, 2))
	init := affine{3, -5}
	for _, n := range lengths {
		for _, shape := range [][]int{{n}, {n, 2, 3}, {2, n, 3}, {2, 3, n}} {
			m := drawnMaps(r, shape...)
			for subset := range 1 << len(shape) {
				axes := []int{}
				for a := range shape {
					if subset>>a&1 == 1 {
						axes = append(axes, a)
					}
				}
				where := fmt.Sprintf("%v over %v", shape, axes)
				m.check(t, where, func(x []*ops.Node) []*ops.Node {
					return ops.ReduceBy(f, x, []any{init[0], init[1]}, axes...)
				}, m.reduced(init, axes))
				if !slices.Contains(shape, 0) {
					m.check(t, where+", no init", func(x []*ops.Node) []*ops.Node {
						return ops.ReduceBy(f, x, nil, axes...)
					}, m.reduced(affine{1, 0}, axes))
				}
			}
		}
	}
}

func TestScanBy(t *testing.T) {
	f := combiner(composed, tensor.Int64, tensor.Int64)
	r := rand.New(rand.NewPCG(3, 2))
	init := affine{3, -5}
	for _, n := range lengths {
		for axis, shape := range [][]int{{n, 2, 3}, {2, n, 3}, {2, 3, n}} {
			m := drawnMaps(r, shape...)
			for k := range 4 {
				exclusive, reverse := k&1 == 1, k&2 == 2
				var options []ops.ScanOption
				if exclusive {
					options = append(options, ops.Exclusive)
				}
				if reverse {
					options = append(options, ops.Reversed)
				}
				where := fmt.Sprintf("%v along %d, exclusive %t, reverse %t", shape, axis, exclusive, reverse)
				m.check(t, where, func(x []*ops.Node) []*ops.Node {
					return ops.ScanBy(f, x, []any{init[0], init[1]}, axis-3, options...)
				}, m.scanned(init, axis, exclusive, reverse))
				if !exclusive {
					m.check(t, where+", no init", func(x []*ops.Node) []*ops.Node {
						return ops.ScanBy(f, x, nil, axis, options...)
					}, m.scanned(affine{1, 0}, axis, exclusive, reverse))
				}
			}
		}
	}
}

func TestReduceWindowBy(t *testing.T) {
	f := combiner(composed, tensor.Int64, tensor.Int64)
	init, built := affine{3, -5}, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 12))
		shape := make([]int, 1+r.IntN(3))
		for a := range shape {
			shape[a] = r.IntN(6)
		}
		w := drawnSliding(r, shape)
		m := drawnMaps(r, shape...)
		g := graph.New()
		if x := g.Placeholder(spec(tensor.Int64, shape...)); !ops.ReduceWindowBy(f, []*ops.Node{x, x}, []any{1, 0}, w)[0].Valid() {
			continue // more is cropped than there is
		}
		built++
		s := newSlider(w, shape)
		want := maps{shape: s.out}
		padded := false
		for o := range tensor.Indices(s.out) {
			h := init
			s.each(o, func(pos int, _ bool) {
				if pos < 0 {
					h, padded = h.then(init), true
				} else {
					h = h.then(m.at[pos])
				}
			})
			want.at = append(want.at, h)
		}
		m.check(t, fmt.Sprintf("seed %d: %v, %+v", seed, shape, w), func(x []*ops.Node) []*ops.Node {
			return ops.ReduceWindowBy(f, x, []any{init[0], init[1]}, w)
		}, want)
		none := ops.ReduceWindowBy(f, []*ops.Node{g.Placeholder(spec(tensor.Int64, shape...)), g.Placeholder(spec(tensor.Int64, shape...))}, nil, w)
		if padded && none[0].Valid() {
			t.Errorf("seed %d: %v, %+v: padded with nothing", seed, shape, w)
		}
	}
	if built < 100 {
		t.Errorf("only %d draws were windows", built)
	}
}

// TestCombinersOfBuiltIns: a combiner that is what a builder has gives what the builder gives, to the bit where
// nothing is rounded.
func TestCombinersOfBuiltIns(t *testing.T) {
	g := graph.Eager(cpu.On(cpu.Serial()))
	two := func(f func(a, b any) *ops.Node) func(a, b []*ops.Node) []*ops.Node {
		return func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{f(a[0], b[0])} }
	}
	x := g.Const(uniform(1, -2, 2, 3, 37))
	whole := ops.Cast(ops.Mul(x, 1000), tensor.Int64)
	for _, r := range []struct {
		name    string
		x       *ops.Node
		join    func(a, b any) *ops.Node
		reduce  ops.Reduction
		scan    func(x *ops.Node, axis int, options ...ops.ScanOption) *ops.Node
		rounded float64
	}{
		{"sums of integers", whole, ops.Add, ops.Sum, ops.CumSum, 0},
		{"products of integers", whole, ops.Mul, ops.Prod, ops.CumProd, 0},
		{"maxima", x, ops.Maximum, ops.Max, ops.CumMax, 0},
		{"minima", x, ops.Minimum, ops.Min, ops.CumMin, 0},
		{"sums", x, ops.Add, ops.Sum, ops.CumSum, 1e-14},
		{"logarithms of sums", x, ops.LogAddExp, ops.LogSumExp, ops.LogCumSumExp, 1e-14},
	} {
		f := combiner(two(r.join), r.x.DType())
		for what, pair := range map[string][2]*ops.Node{
			"reduced": {ops.ReduceBy(f, []*ops.Node{r.x}, nil, 1)[0], r.reduce(r.x, 1)},
			"scanned": {ops.ScanBy(f, []*ops.Node{r.x}, nil, 1, ops.Reversed)[0], r.scan(r.x, 1, ops.Reversed)},
		} {
			got := tensor.Must(tensor.Must(pair[0].Value()).Read().Float64s())
			for i, want := range tensor.Must(tensor.Must(pair[1].Value()).Read().Float64s()) {
				if math.Abs(got[i]-want) > r.rounded*(1+math.Abs(want)) {
					t.Errorf("%s, %s: element %d is %v, want %v", r.name, what, i, got[i], want)
				}
			}
		}
	}
	if g.Err() != nil {
		t.Error(g.Err())
	}
}

// TestCombinerGradients: forward and reverse, second order, every way to map, compiled against eager.
func TestCombinerGradients(t *testing.T) {
	product := combiner(func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{ops.Mul(a[0], b[0])} }, tensor.Float64)
	logsum := combiner(func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{ops.LogAddExp(a[0], b[0])} }, tensor.Float64)
	maps := combiner(composed, tensor.Complex128, tensor.Complex128)
	best := combiner(func(a, b []*ops.Node) []*ops.Node {
		later := ops.Greater(b[0], a[0])
		return []*ops.Node{ops.Where(later, b[0], a[0]), ops.Where(later, b[1], a[1])}
	}, tensor.Float64, tensor.Float64)
	zeros := tensor.Must(tensor.FromSlice([]float64{0, 2, 0, 3, 1, 4, 5, -2, 0, 7, 0, 0}, 3, 4))
	init := tensor.Scalar(0.75)
	w := ops.Sliding{Sizes: []int{2, 3}, Low: []int{1, 0}, High: []int{0, 1}}
	for name, r := range map[string]struct {
		f  autograd.Func
		in []*tensor.Tensor
	}{
		"product with zeros": {func(x []*ops.Node) []*ops.Node { return ops.ReduceBy(product, x[:1], []any{x[1]}, 1) }, inputs(zeros, init)},
		"product of all":     {func(x []*ops.Node) []*ops.Node { return ops.ReduceBy(product, x, nil) }, inputs(uniform(1, 0.5, 1.5, 3, 3))},
		"running product with zeros": {func(x []*ops.Node) []*ops.Node {
			return ops.ScanBy(product, x[:1], []any{x[1]}, 1, ops.Exclusive, ops.Reversed)
		}, inputs(zeros, init)},
		"logarithm of a sum":         {func(x []*ops.Node) []*ops.Node { return ops.ReduceBy(logsum, x, nil, 0) }, inputs(uniform(2, -3, 3, 5, 2))},
		"running logarithm of a sum": {func(x []*ops.Node) []*ops.Node { return ops.ScanBy(logsum, x, nil, 0) }, inputs(uniform(3, -3, 3, 7))},
		"windows of products":        {func(x []*ops.Node) []*ops.Node { return ops.ReduceWindowBy(product, x[:1], []any{x[1]}, w) }, inputs(zeros, init)},
		"complex affine functions": {func(x []*ops.Node) []*ops.Node { return ops.ScanBy(maps, x, nil, 0) },
			inputs(complexUniform(4, -1, 1, 5), complexUniform(5, -1, 1, 5))},
		"what stands beside the greatest": {func(x []*ops.Node) []*ops.Node {
			r := ops.ReduceBy(best, x, nil, 0)
			return []*ops.Node{ops.Mul(r[0], ops.Square(r[1]))}
		}, inputs(tensor.Must(tensor.FromSlice([]float64{1, 5, 3, 4, 2, 6}, 3, 2)), uniform(6, -1, 1, 3, 2))},
	} {
		if err := autograd.Check(cpu.On(cpu.Serial()), r.f, r.in...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMapIsWholeTensors: an elementwise function becomes its own ops on whole tensors, whatever the rank, and
// nothing is copied for it.
func TestMapIsWholeTensors(t *testing.T) {
	f := tensor.Must(graph.NewFunc("f", specs(s64, s64), func(_ *graph.Graph, in []*ops.Node) []*ops.Node {
		return []*ops.Node{ops.Sin(ops.Add(ops.Mul(in[0], in[1]), 2))}
	}))
	g := graph.New()
	x, y := g.Input("x", tensor.Float64, 2, 1, 3, 4), g.Input("y", tensor.Float64, 2, 5, 1, 4)
	p := tensor.Must(graph.CompileWith(cpu.On(cpu.Serial()), graph.Options{NoPasses: true}, ops.Map(f, x, y)...))
	if text := strings.TrimSpace(p.String()); strings.Count(text, "\n") != 2 {
		t.Errorf("three functions are not three steps:\n%s", text)
	}
}

func TestCombinerErrors(t *testing.T) {
	f64, i64 := tensor.Float64, tensor.Int64
	first := func(a, b []*ops.Node) []*ops.Node { return a }
	sum := combiner(func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{ops.Add(a[0], b[0])} }, f64)
	pair := combiner(first, f64, i64)
	rank1 := tensor.Must(graph.NewFunc("rows", specs(v64, v64), func(_ *graph.Graph, in []*ops.Node) []*ops.Node { return in[:1] }))
	wide := tensor.Must(graph.NewFunc("wide", specs(s64, s64), func(_ *graph.Graph, in []*ops.Node) []*ops.Node {
		return []*ops.Node{ops.Reshape(in[0], 1)}
	}))
	counts := tensor.Must(graph.NewFunc("counts", specs(s64, s64), func(_ *graph.Graph, in []*ops.Node) []*ops.Node {
		return []*ops.Node{ops.Cast(in[0], i64)}
	}))
	type nodes = []*ops.Node
	for _, r := range []struct {
		why   string
		build func(x, i, e *ops.Node) nodes
		err   error
		says  string
	}{
		{"there is a function", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(nil, nodes{x}, nil) }, tensor.ErrUnsupported, "ops.ReduceBy: the function is nil"},
		{"there is a function", func(x, i, e *ops.Node) nodes { return ops.Map(nil, x) }, tensor.ErrUnsupported, "ops.Map: the function is nil"},
		{"there are operands", func(x, i, e *ops.Node) nodes { return ops.ScanBy(sum, nil, nil, 0) }, tensor.ErrShape, "ops.ScanBy: there is nothing to combine"},
		{"there are operands", func(x, i, e *ops.Node) nodes { return ops.Map(sum) }, tensor.ErrShape, "ops.Map: function join has 2 arguments, there are 0 operands"},
		{"two arguments for each operand", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(pair, nodes{x}, nil) }, tensor.ErrShape, "ops.ReduceBy: combiner join takes 4 arguments and gives 2 results, want 2 and 1"},
		{"arguments are scalars", func(x, i, e *ops.Node) nodes { return ops.ReduceWindowBy(rank1, nodes{x}, nil, ops.Sliding{}) }, tensor.ErrRank, "ops.ReduceWindowBy: argument 0 of function rows has shape [3], want rank 0"},
		{"arguments are scalars", func(x, i, e *ops.Node) nodes { return ops.Map(rank1, x, x) }, tensor.ErrRank, "ops.Map: argument 0 of function rows has shape [3]"},
		{"results are scalars", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(wide, nodes{x}, nil) }, tensor.ErrRank, "ops.ReduceBy: result 0 of function wide has shape [1]"},
		{"results are scalars", func(x, i, e *ops.Node) nodes { return ops.Map(wide, x, x) }, tensor.ErrRank, "ops.Map: result 0 of function wide has shape [1]"},
		{"arguments have the operands' dtypes", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(pair, nodes{x, x}, nil) }, tensor.ErrDType, "argument 1 of function join is int64, operand 1 is float64"},
		{"arguments have the operands' dtypes", func(x, i, e *ops.Node) nodes { return ops.Map(sum, x, i) }, tensor.ErrDType, "argument 1 of function join is float64, operand 1 is int64"},
		{"results have the operands' dtypes", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(counts, nodes{x}, nil) }, tensor.ErrDType, "result 0 of function counts is int64, operand 0 is float64"},
		{"operands have one shape", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(pair, nodes{x, ops.Transpose(i)}, nil) }, tensor.ErrShape, "operand 0 has shape [2 3], operand 1 has shape [3 2]"},
		{"operands broadcast", func(x, i, e *ops.Node) nodes { return ops.Map(sum, x, ops.Transpose(x)) }, tensor.ErrShape, "ops.Map: shapes [2 3] and [3 2] do not broadcast"},
		{"an initial value each", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(pair, nodes{x, i}, []any{0}) }, tensor.ErrShape, "1 initial values for 2 operands"},
		{"initial values are scalars", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(sum, nodes{x}, []any{x}) }, tensor.ErrRank, "operand 1, an initial value, has shape [2 3], want rank 0"},
		{"initial values have the operands' dtypes", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(sum, nodes{x}, []any{ops.Sum(i)}) }, tensor.ErrDType, "operand 1, an initial value, is int64, operand 0 is float64"},
		{"initial values have the operands' dtypes", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(pair, nodes{x, i}, []any{0, 0.5}) }, tensor.ErrDType, "0.5"},
		{"each its own operand's", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(pair, nodes{x, i}, []any{0, ops.Sum(x)}) }, tensor.ErrDType, "operand 3, an initial value, is float64, operand 1 is int64"},
		{"initial values are there", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(sum, nodes{x}, []any{nil}) }, tensor.ErrUnsupported, "ops.ReduceBy: operand 1 is nil"},
		{"an axis is inside", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(sum, nodes{x}, nil, 2) }, tensor.ErrAxis, "ops.ReduceBy: axis 2 is outside of rank 2"},
		{"an axis is named once", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(sum, nodes{x}, nil, 1, -1) }, tensor.ErrAxis, "axis -1 is repeated"},
		{"an axis is inside", func(x, i, e *ops.Node) nodes { return ops.ScanBy(sum, nodes{x}, nil, -3) }, tensor.ErrAxis, "ops.ScanBy: axis -3 is outside of rank 2"},
		{"options are known", func(x, i, e *ops.Node) nodes { return ops.ScanBy(sum, nodes{x}, nil, 0, 7) }, tensor.ErrUnsupported, "ops.ScanBy: there is no option 7 of scans"},
		{"exclusive starts somewhere", func(x, i, e *ops.Node) nodes { return ops.ScanBy(sum, nodes{x}, nil, 0, ops.Exclusive) }, tensor.ErrUnsupported, "ops.ScanBy: what is exclusive starts from initial values"},
		{"nothing is no element", func(x, i, e *ops.Node) nodes { return ops.ReduceBy(sum, nodes{e}, nil, 0) }, tensor.ErrUnsupported, "ops.ReduceBy: operand shape [0 3] has no elements to combine"},
		{"windows are as many as axes", func(x, i, e *ops.Node) nodes {
			return ops.ReduceWindowBy(sum, nodes{x}, nil, ops.Sliding{Sizes: []int{1, 1, 1}})
		}, tensor.ErrAxis, "ops.ReduceWindowBy: windows of sizes [1 1 1] for operand shape [2 3]"},
		{"padding is of something", func(x, i, e *ops.Node) nodes {
			return ops.ReduceWindowBy(sum, nodes{x}, nil, ops.Sliding{Sizes: []int{2}, High: []int{1}})
		}, tensor.ErrUnsupported, "ops.ReduceWindowBy: axis 1 is padded by 0 and 1, 1 apart, and there are no initial values"},
		{"a window has elements", func(x, i, e *ops.Node) nodes {
			return ops.ReduceWindowBy(sum, nodes{x}, nil, ops.Sliding{Sizes: []int{0}})
		}, tensor.ErrUnsupported, "has no elements to combine"},
	} {
		t.Run(r.why, func(t *testing.T) {
			g := graph.New()
			y := r.build(g.Placeholder(a64), g.Placeholder(n64), g.Placeholder(spec(f64, 0, 3)))
			if len(y) == 0 || y[0].Valid() || !errors.Is(y[0].Err(), r.err) || !strings.Contains(y[0].Err().Error(), r.says) {
				t.Errorf("%v, want %v that says %q", y, r.err, r.says)
			}
		})
	}
}

// TestCombinerForeign: operands of another graph are named, even where the function reads only one of two.
func TestCombinerForeign(t *testing.T) {
	second := combiner(func(a, b []*ops.Node) []*ops.Node { return b }, tensor.Float64, tensor.Float64)
	pick := tensor.Must(graph.NewFunc("pick", specs(s64, s64), func(_ *graph.Graph, in []*ops.Node) []*ops.Node { return in[1:] }))
	foreign, scalar := graph.New().Placeholder(a64), graph.New().Placeholder(s64)
	for says, build := range map[string]func(x *ops.Node) []*ops.Node{
		"ops.ReduceBy: operand 1 belongs to another graph": func(x *ops.Node) []*ops.Node {
			return ops.ReduceBy(second, []*ops.Node{x, foreign}, nil)
		},
		"ops.ScanBy: operand 3 belongs to another graph": func(x *ops.Node) []*ops.Node {
			return ops.ScanBy(second, []*ops.Node{x, x}, []any{0, scalar}, 0)
		},
		"ops.Map: operand 1 belongs to another graph": func(x *ops.Node) []*ops.Node { return ops.Map(pick, x, foreign) },
	} {
		g := graph.New()
		y := build(g.Placeholder(a64))
		if err := g.Err(); y[len(y)-1].Valid() || err == nil || !strings.HasSuffix(err.Error(), says) {
			t.Errorf("the graph's error is %v, want %q", err, says)
		}
	}
}

func TestCombinerSignature(t *testing.T) {
	f64 := tensor.Float64
	for _, r := range []struct {
		why   string
		build func(a, b []*ops.Node) []*ops.Node
		err   error
	}{
		{"there is a function", nil, tensor.ErrUnsupported},
		{"a result for each operand", func(a, b []*ops.Node) []*ops.Node { return append(a, b...) }, tensor.ErrShape},
		{"results are scalars", func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{ops.Reshape(a[0], 1)} }, tensor.ErrRank},
		{"results keep the dtype", func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{ops.Less(a[0], b[0])} }, tensor.ErrDType},
		{"what the builders say", func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{ops.And(a[0], b[0])} }, tensor.ErrDType},
	} {
		if f, err := ops.Combiner("f", []tensor.DType{f64}, r.build); f != nil || !errors.Is(err, r.err) {
			t.Errorf("%s: %v, %v", r.why, f, err)
		}
	}
}
