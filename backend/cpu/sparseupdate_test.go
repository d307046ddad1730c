package cpu_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestSparseUpdates holds formulas that touch the named places alone to the bits of the dense ones.
func TestSparseUpdates(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	const sparse, dense = true, false
	for _, c := range []struct {
		why    string
		build  func(w, i, u, s *node) *node
		scale  float64
		sparse bool
	}{
		{"a step of SGD", func(w, i, u, s *node) *node { return ops.Sub(w, ops.Mul(sumRows(w, i, u), s)) }, 0.1, sparse},
		{"the factor first", func(w, i, u, s *node) *node { return ops.Sub(w, ops.Mul(s, sumRows(w, i, u))) }, 0.1, sparse},
		{"a factor of 0", func(w, i, u, s *node) *node { return ops.Sub(w, ops.Mul(sumRows(w, i, u), s)) }, 0, sparse},
		{"w − (−0) is +0 for w = −0: all places", func(w, i, u, s *node) *node { return ops.Sub(w, ops.Mul(sumRows(w, i, u), s)) }, -0.1, sparse},
		{"w + (−0) is w", func(w, i, u, s *node) *node { return ops.Add(w, ops.Mul(sumRows(w, i, u), s)) }, -0.1, sparse},
		{"w + (+0) is +0 for w = −0: all places", func(w, i, u, s *node) *node { return ops.Add(ops.Mul(sumRows(w, i, u), s), w) }, 0.1, sparse},
		{"∞·0 is NaN: all places", func(w, i, u, s *node) *node { return ops.Sub(w, ops.Mul(sumRows(w, i, u), s)) }, inf, sparse},
		{"NaN·0 is NaN: all places", func(w, i, u, s *node) *node { return ops.Add(w, ops.Mul(sumRows(w, i, u), s)) }, nan, sparse},
		{"no factor", func(w, i, u, _ *node) *node { return ops.Sub(w, sumRows(w, i, u)) }, 0, sparse},
		{"w + S makes −0 to +0", func(w, i, u, _ *node) *node { return ops.Add(w, sumRows(w, i, u)) }, 0, dense},
		{"S − w is no update of w", func(w, i, u, _ *node) *node { return ops.Sub(sumRows(w, i, u), w) }, 0, dense},
		{"the sum is wanted too", func(w, i, u, s *node) *node {
			sum := sumRows(w, i, u)
			return ops.Mul(ops.Sub(w, ops.Mul(sum, s)), sum)
		}, 0.5, sparse},
		{"elements", func(w, i, u, s *node) *node {
			z := ops.AddIndex(ops.ZerosLike(w), ops.Index(u, index.All, index.At(1)), index.Of(i), index.At(2))
			return ops.Sub(w, ops.Mul(z, s))
		}, 0.25, sparse},
		{"columns", func(w, i, u, s *node) *node {
			z := ops.AddIndex(ops.ZerosLike(w), 1.5, index.All, index.Of(ops.Mod(i, 37)))
			return ops.Sub(w, ops.Mul(z, s))
		}, 0.25, sparse},
		{"dropped indices", func(w, i, u, s *node) *node {
			z := ops.Scatter(ops.ZerosLike(w), u, []*node{ops.Mul(i, 3)}, ops.CombineAdd, rowsWindow(w.Shape()), ops.Mode{OOB: ops.OOBSkip})
			return ops.Sub(w, ops.Mul(z, s))
		}, 0.25, sparse},
		{"windows that overlap", func(w, i, u, s *node) *node {
			win := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2, w.Shape()[1]}, OffsetAxes: []int{1, 2}}
			z := ops.Scatter(ops.ZerosLike(w), ops.Concat(1, ops.ExpandDims(u, 1), ops.ExpandDims(u, 1)), []*node{i}, ops.CombineAdd, win, ops.Mode{})
			return ops.Sub(w, ops.Mul(z, s))
		}, 0.25, sparse},
	} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
			for _, threads := range []int{1, 2, 3} {
				for _, rows := range []int{7, 900} {
					t.Run(fmt.Sprintf("%s/%s/%d threads/%d", c.why, dt, threads, rows), func(t *testing.T) {
						var want string
						for _, off := range []bool{true, false} {
							g, b := graph.New(), cpu.On(cpu.Threads(threads))
							w, i := g.Input("w", dt, rows, 37), g.Input("i", tensor.Int32, 3*rows)
							u, s := g.Input("u", dt, 3*rows, 37), g.Input("s", dt)
							y := c.build(w, i, u, s)
							p, err := graph.CompileWith(b, graph.Options{NoPasses: off}, y)
							if err != nil {
								t.Fatal(err)
							}
							if got := strings.Contains(p.String(), "SparseUpdate"); !off && got != c.sparse {
								t.Errorf("sparse: %v\n%s", got, p)
							}
							rng := rand.New(rand.NewPCG(uint64(rows), 1))
							all := graph.Feed{"w": draw(rng, dt, rows, 37), "u": draw(rng, dt, 3*rows, 37), "s": cast(tensor.Scalar(c.scale), dt)}
							at := tensor.Must(tensor.New(tensor.Int32, 3*rows))
							for k := range tensor.Elements[int32](at.Storage())[:3*rows] {
								tensor.Elements[int32](at.Storage())[k] = rng.Int32N(int32(rows)-1) / 2
							}
							all["i"] = at
							feed := graph.Feed{}
							names, _ := p.Inputs()
							for _, n := range names {
								feed[n] = all[n]
							}
							for range 2 { // the second run finds the tables of the first
								outs, err := p.Run(context.Background(), feed)
								if err != nil {
									t.Fatal(err)
								}
								got := bitsOf(outs[0])
								if want == "" {
									want = got
								}
								if got != want {
									t.Fatal("the bits differ")
								}
							}
						}
					})
				}
			}
		}
	}
}

func sumRows(w, i, u *node) *node { return ops.AddIndex(ops.ZerosLike(w), u, index.Of(i)) }

func rowsWindow(shape []int) ops.Window {
	return ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, shape[1]}, Collapsed: []int{0}, OffsetAxes: []int{1}}
}

// draw has zeros of both signs, and now and then something that is not finite.
func draw(rng *rand.Rand, dt tensor.DType, shape ...int) *tensor.Tensor {
	v := make([]float64, tensor.Size(shape))
	for k := range v {
		switch rng.IntN(40) {
		case 0:
			v[k] = math.Copysign(0, -1)
		case 1:
			v[k] = 0
		case 2:
			v[k] = []float64{math.Inf(1), math.NaN(), math.Inf(-1)}[rng.IntN(3)] * float64(rng.IntN(20)/19)
		default:
			v[k] = rng.NormFloat64()
		}
	}
	return cast(tensor.Must(tensor.FromSlice(v, shape...)), dt)
}

func cast(t *tensor.Tensor, dt tensor.DType) *tensor.Tensor {
	g := graph.Eager(cpu.On(cpu.Serial()))
	return tensor.Must(tensor.Must(ops.Cast(g.Const(t), dt).Value()).Copy())
}

// TestSparseUpdates_integers: a scatter-add onto zeros that is added is added where it belongs.
func TestSparseUpdates_integers(t *testing.T) {
	g := graph.New()
	w, i, u := g.Input("w", tensor.Int8, 4), g.Input("i", tensor.Int64, 3), g.Input("u", tensor.Int8, 3)
	p, err := graph.Compile(cpu.On(cpu.Serial()), ops.Add(ops.AddIndex(ops.ZerosLike(w), u, index.Of(i)), w))
	if err != nil {
		t.Fatal(err)
	}
	if p.Stats().Steps != 1 {
		t.Errorf("%d steps\n%s", p.Stats().Steps, p)
	}
	outs, err := p.Run(context.Background(), graph.Feed{
		"w": tensor.Of[int8](1, 2, 3, 127), "i": tensor.Of[int64](3, -1, 0), "u": tensor.Of[int8](1, 1, 5)})
	if err != nil || bitsOf(outs[0]) != bitsOf(tensor.Of[int8](6, 2, 3, -127)) {
		t.Error(outs, err)
	}
}

// TestEmbeddingStep: a step on a table touches the rows that it names. No other kernel sees the table, none
// copies it, and no buffer is as large.
func TestEmbeddingStep(t *testing.T) {
	const rows, width, tokens = 5000, 64, 512
	step := func(off bool) (*graph.Program, *graph.Variable) {
		b := cpu.On(cpu.Threads(2))
		s := graph.NewStore(b, 1)
		table := s.New("table", graph.Value(draw(rand.New(rand.NewPCG(1, 1)), tensor.Float32, rows, width)), tensor.Float32, rows, width)
		g := graph.New()
		w := table.Read(g)
		h := ops.Index(w, index.Of(g.Input("tokens", tensor.Int32, tokens)))
		loss := ops.Mean(ops.Square(h))
		next := ops.Sub(w, ops.Mul(autograd.Grad(loss, w)[0], 0.1))
		p, err := graph.CompileWith(b, graph.Options{NoPasses: off}, loss, table.Assign(next))
		if err != nil {
			t.Fatal(err)
		}
		return p, table
	}
	p, table := step(false)
	q, same := step(true)
	st := p.Stats()
	if st.Direct != 1 || st.Bytes >= rows*width*4 {
		t.Errorf("%+v\n%s", st, p)
	}
	for line := range strings.Lines(p.String()) {
		seesTable := strings.Contains(line, "[5000 64]") || strings.Contains(line, "variable(table) =")
		if seesTable && !strings.Contains(line, "Gather") && !strings.Contains(line, "SparseUpdate") {
			t.Errorf("touches the whole table: %s", line)
		}
	}
	tokensOf := tensor.Must(tensor.New(tensor.Int32, tokens))
	at := tensor.Elements[int32](tokensOf.Storage())
	for k := range tokens {
		at[k] = int32(k * k % 999)
	}
	feed, ctx := graph.Feed{"tokens": tokensOf}, context.Background()
	for range 3 {
		a, err := p.Run(ctx, feed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := q.Run(ctx, feed)
		if err != nil {
			t.Fatal(err)
		}
		if bitsOf(a[0]) != bitsOf(b[0]) || bitsOf(tensor.Must(table.Value())) != bitsOf(tensor.Must(same.Value())) {
			t.Fatal("the bits are not those of the dense step")
		}
	}
	before := bitsOf(tensor.Must(table.Value()))
	at[7] = rows
	_, err := p.Run(ctx, feed)
	if e := (*ops.IndexError)(nil); !errors.As(err, &e) || e.Index != rows {
		t.Errorf("a bad index: %v", err)
	}
	if bitsOf(tensor.Must(table.Value())) != before {
		t.Error("a step that failed changed the table")
	}
}

// TestScatterIntoVariable: what writes some places of a variable writes them where they are, after a check of
// its own: nothing is written when an index is bad.
func TestScatterIntoVariable(t *testing.T) {
	b := cpu.On(cpu.Threads(2))
	s := graph.NewStore(b, 1)
	cache := s.New("cache", graph.Value(tensor.Must(tensor.New(tensor.Float32, 300, 8))), tensor.Float32, 300, 8)
	g := graph.New()
	i := g.Input("i", tensor.Int32, 2)
	next := ops.SetIndex(cache.Read(g), g.Input("x", tensor.Float32, 2, 8), index.Of(i))
	p, err := graph.Compile(b, cache.Assign(next))
	if err != nil {
		t.Fatal(err)
	}
	if st := p.Stats(); st.Direct != 1 || st.Copies != 0 || st.Bytes >= 300*8*4 {
		t.Errorf("%+v\n%s", st, p)
	}
	x := draw(rand.New(rand.NewPCG(1, 1)), tensor.Float32, 2, 8)
	if _, err := p.Run(context.Background(), graph.Feed{"i": tensor.Of[int32](5, -1), "x": x}); err != nil {
		t.Fatal(err)
	}
	now := bitsOf(tensor.Must(cache.Value()))
	_, err = p.Run(context.Background(), graph.Feed{"i": tensor.Of[int32](7, 300), "x": x})
	if e := (*ops.IndexError)(nil); !errors.As(err, &e) || e.Index != 300 || !strings.Contains(err.Error(), "sparseupdate_test.go") {
		t.Errorf("a bad index: %v", err)
	}
	if bitsOf(tensor.Must(cache.Value())) != now {
		t.Error("a run that failed changed the variable")
	}
}
