package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// fusedTypes is every element type.
var fusedTypes = []tensor.DType{
	tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
	tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128,
}

// elementwiseProgram is a random program on two inputs of any types and one shape: elementwise chains, casts, views
// and reductions of what they make, values used more than once, several results.
func elementwiseProgram(rng *rand.Rand, x, y *node) []*node {
	pool := []*node{x, y}
	pick := func() *node { return pool[max(rng.IntN(len(pool)), rng.IntN(len(pool)))] }
	same := func(a *node) *node { // of the type and shape of a
		b := pick()
		if b.DType() != a.DType() {
			b = ops.Cast(b, a.DType())
		}
		if s, err := tensor.BroadcastShapes(a.Shape(), b.Shape()); err != nil || !slices.Equal(s, a.Shape()) {
			return a
		}
		return b
	}
	for range 6 + rng.IntN(14) {
		a := pick()
		dt := a.DType()
		number, ordered := dt != tensor.Bool, !dt.IsComplex()
		switch k := rng.IntN(13); {
		case k <= 2:
			pool = append(pool, ops.Add(a, same(a)))
		case k == 3:
			pool = append(pool, ops.Mul(a, same(a)))
		case k == 4 && number:
			pool = append(pool, ops.Neg(a), ops.Sub(same(a), a))
		case k == 5 && ordered:
			b := same(a)
			pool = append(pool, ops.Where(ops.Less(a, b), a, ops.Maximum(a, b)))
		case k == 6 && (dt.IsFloat() || dt.IsComplex()):
			pool = append(pool, ops.Tanh(a), ops.Exp(ops.Mul(a, same(a))))
		case k == 7:
			pool = append(pool, ops.Cast(a, fusedTypes[rng.IntN(len(fusedTypes))]))
		case k == 8 && a.Rank() == 2:
			pool = append(pool, ops.Transpose(a, 1, 0))
		case k == 9 && a.Rank() > 0:
			pool = append(pool, ops.Reverse(a, rng.IntN(a.Rank())))
		case k == 10 && a.Rank() > 0 && number:
			pool = append(pool, ops.Add(a, ops.Iota(a.Graph(), dt, rng.IntN(a.Rank()), a.Shape()...)))
		case k == 11 && a.Rank() > 0:
			axis := rng.IntN(a.Rank())
			f := []func(*node, ...int) *node{ops.Sum, ops.Prod, ops.Sum}[rng.IntN(3)]
			if ordered && a.Size() > 0 && rng.IntN(3) == 0 {
				f = ops.Max
			}
			if dt.IsFloat() && rng.IntN(3) == 0 {
				f = ops.LogSumExp
			}
			sum := f(ops.Mul(a, same(a)), axis)
			pool = append(pool, sum, ops.Add(a, ops.BroadcastTo(ops.ExpandDims(sum, axis), a.Shape()...)))
		case k == 12 && number:
			pool = append(pool, ops.Sum(ops.Add(a, same(a))))
			if a.Rank() > 0 && a.Shape()[0] > 2 {
				pool = append(pool, ops.AddIndex(a, ops.Index(a, index.Of(tensor.Of[int32](1, 0, 1))), index.Of(tensor.Of[int32](2, 2, 0))))
			}
		}
	}
	outs := []*node{pool[len(pool)-1]}
	for range rng.IntN(4) {
		outs = append(outs, pick())
	}
	return outs
}

var fusedShapes = [][]int{{5}, {3, 4}, {}, {70, 130}, {3, 40, 50}, {4500}, {1, 3000}, {2100, 2}, {0, 3}, {2, 0}, {33, 1, 17}, {20, 300}, {3, 5000}}

// TestFusedPrograms: the bits of eager evaluation, with the passes and without, for every number of threads.
func TestFusedPrograms(t *testing.T) {
	backends := []graph.Backend{cpu.On(cpu.Threads(1)), cpu.On(cpu.Threads(2)), cpu.On(cpu.Threads(3))}
	fused, folds, lines := 0, 0, 0
	for seed := range 2 * programCount() {
		rng := rand.New(rand.NewPCG(seed, 3))
		shape := fusedShapes[rng.IntN(len(fusedShapes))]
		feed := graph.Feed{}
		for _, name := range []string{"x", "y"} {
			v := draw(rng, tensor.Float64, shape...)
			for i, e := range tensor.Elements[float64](v.Storage())[:v.Size()] {
				tensor.Elements[float64](v.Storage())[i] = e * 3
			}
			feed[name] = cast(v, fusedTypes[rng.IntN(len(fusedTypes))])
		}
		g := graph.Eager(backends[0])
		var want []string
		for _, n := range elementwiseProgram(rand.New(rand.NewPCG(seed, 4)), g.Const(feed["x"]), g.Const(feed["y"])) {
			v, err := n.Value()
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			want = append(want, bitsOf(v))
		}
		for i, b := range backends {
			for _, off := range []bool{false, true} {
				g := graph.New()
				x, y := feed["x"].Read(), feed["y"].Read()
				outs := elementwiseProgram(rand.New(rand.NewPCG(seed, 4)), g.Input("x", x.DType(), x.Shape()...), g.Input("y", y.DType(), y.Shape()...))
				p, err := graph.CompileWith(b, graph.Options{NoPasses: off}, outs...)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if !off && i == 0 {
					fused, lines = fused+p.Stats().Fused, lines+p.Stats().Lines
					folds += strings.Count(p.String(), "ops.Sum)") + strings.Count(p.String(), "ops.Max)")
				}
				given := graph.Feed{}
				names, _ := p.Inputs()
				for _, n := range names {
					given[n] = feed[n]
				}
				for range 2 {
					got, err := p.Run(context.Background(), given)
					if err != nil {
						t.Fatalf("seed %d: %v\n%s", seed, err, p)
					}
					for k, o := range got {
						if bitsOf(o) != want[k] {
							t.Fatalf("seed %d, %d threads, no passes %v, result %d of %s:\n%s", seed, i+1, off, k, o.Spec(), p)
						}
					}
				}
			}
		}
	}
	if fused < 100 || folds < 10 || lines < 10 {
		t.Errorf("%d steps were fused, %d folds fed, %d kernels take rows: the test shows too little", fused, folds, lines)
	}
}

// TestFusedSteps: what becomes one kernel and what does not.
func TestFusedSteps(t *testing.T) {
	for _, c := range []struct {
		why   string
		build func(x *node) []*node
		steps int
	}{
		{"a chain", func(x *node) []*node { return []*node{ops.Exp(ops.Neg(ops.Mul(x, x)))} }, 1},
		{"a value that is wanted too is a result of the kernel", func(x *node) []*node {
			y := ops.Exp(x)
			return []*node{ops.Neg(y), y}
		}, 1},
		{"a product stands between", func(x *node) []*node {
			y := ops.Exp(x)
			return []*node{ops.Add(y, ops.MatMul(y, y))}
		}, 3},
		{"a transposed value is another pass", func(x *node) []*node {
			y := ops.Exp(x)
			return []*node{ops.Add(y, ops.Transpose(y, 1, 0))}
		}, 2},
		{"operands of any layout", func(x *node) []*node {
			return []*node{ops.Exp(ops.Add(ops.Transpose(x, 1, 0), ops.Reverse(x, 0)))}
		}, 1},
		{"a sum is fed", func(x *node) []*node { return []*node{ops.Sum(ops.Exp(ops.Neg(x)))} }, 1},
		{"a mean of squares", func(x *node) []*node { return []*node{ops.Sum(ops.Square(ops.Sub(x, 1)), 0)} }, 1},
		{"a sum and what it sums", func(x *node) []*node {
			y := ops.Exp(x)
			return []*node{ops.Sum(y, 1), y}
		}, 1},
		{"positions are made as they are read", func(x *node) []*node {
			return []*node{ops.Add(x, ops.Iota(x.Graph(), x.DType(), 0, x.Shape()...))}
		}, 1},
		{"two sums of the same rows, which they use", func(x *node) []*node {
			s, p := ops.KeepDims(ops.Sum, ops.Square(x), 1), ops.KeepDims(ops.Sum, ops.Exp(x), 1)
			return []*node{ops.Add(ops.Mul(x, s), p)}
		}, 1},
		{"sums of other rows are made apart", func(x *node) []*node {
			w := x.Graph().Input("w", x.DType(), 8, 8)
			return []*node{ops.Mul(x, ops.KeepDims(ops.Sum, x, 1)), ops.Sum(ops.Square(w), 1)}
		}, 2},
		{"small results do not hold up a kernel", func(x *node) []*node {
			m := ops.Sum(x, 0)
			return []*node{ops.Exp(ops.Sub(x, ops.Mul(m, 0.1)))}
		}, 3},
	} {
		g := graph.New()
		p, err := graph.Compile(cpu.On(cpu.Serial()), c.build(g.Input("x", tensor.Float32, 8, 8))...)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Stats().Steps; got != c.steps {
			t.Errorf("%s: %d kernels, want %d\n%s", c.why, got, c.steps, p)
		}
	}
}

// TestFusedBeside: where a second fold of the rows makes them too large for the cache, they are worked on without it.
func TestFusedBeside(t *testing.T) {
	for _, c := range []struct{ columns, steps int }{{200, 1}, {25000, 2}} {
		g := graph.New()
		x, y := g.Input("x", tensor.Float32, 2, c.columns), g.Input("y", tensor.Float32, 2, c.columns)
		p, err := graph.Compile(cpu.On(cpu.Serial()), ops.Mul(x, ops.KeepDims(ops.Sum, ops.Square(x), 1)), ops.Sum(ops.Mul(x, y), 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Stats(); got.Steps != c.steps || got.Lines != 1 {
			t.Errorf("rows of %d: %d kernels, %d of them on rows, want %d and 1\n%s", c.columns, got.Steps, got.Lines, c.steps, p)
		}
	}
}

// TestFused_allocates_nothing in the steady state, whatever the layouts and types.
func TestFused_allocates_nothing(t *testing.T) {
	for _, threads := range []int{1, 2} {
		g := graph.New()
		x := g.Input("x", tensor.BFloat16, 300, 200)
		y := ops.Tanh(ops.Add(ops.Cast(ops.Mul(x, x), tensor.Float32), ops.Iota(g, tensor.Float32, 1, 300, 200)))
		z := ops.Transpose(y, 1, 0)
		p, err := graph.Compile(cpu.On(cpu.Threads(threads)), ops.Sum(ops.Add(ops.Exp(z), z), 0), ops.Sum(ops.Exp(ops.Neg(z))), ops.Neg(ops.Neg(z)))
		if err != nil {
			t.Fatal(err)
		}
		outs, feed := results(p), graph.Feed{"x": tensor.Must(tensor.New(tensor.BFloat16, 300, 200))}
		step := func() {
			if err := p.RunInto(context.Background(), feed, outs); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			step()
		}
		least := 1.0
		for range 20 { // a thread that takes part late makes its state late
			least = min(least, testing.AllocsPerRun(5, step))
		}
		if least != 0 {
			t.Errorf("%d threads: %v allocations a run\n%s", threads, least, p)
		}
	}
}

// TestFusedInPlace: a chain over a variable writes the variable, several at a time, and a value that dies gives its
// buffer.
func TestFusedInPlace(t *testing.T) {
	b := cpu.On(cpu.Threads(2))
	s := graph.NewStore(b, 1)
	var vars []*graph.Variable
	for i := range 3 {
		v := draw(rand.New(rand.NewPCG(uint64(i), 1)), tensor.Float32, 90, 50)
		vars = append(vars, s.New(fmt.Sprint(i), graph.Value(v), tensor.Float32, 90, 50))
	}
	g := graph.New()
	w, m, v, d := vars[0].Read(g), vars[1].Read(g), vars[2].Read(g), g.Input("d", tensor.Float32, 90, 50)
	m2 := ops.Add(ops.Mul(m, 0.9), ops.Mul(d, 0.1))
	v2 := ops.Add(ops.Mul(v, 0.99), ops.Mul(ops.Square(d), 0.01))
	w2 := ops.Sub(w, ops.Div(m2, ops.Add(ops.Sqrt(v2), 1e-3)))
	p, err := graph.Compile(b, vars[0].Assign(w2), vars[1].Assign(m2), vars[2].Assign(v2))
	if err != nil {
		t.Fatal(err)
	}
	if st := p.Stats(); st.Steps != 1 || st.Direct != 3 || st.Bytes != 0 {
		t.Errorf("%+v, want one kernel over three variables\n%s", st, p)
	}
}
