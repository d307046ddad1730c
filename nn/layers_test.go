package nn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var backend = cpu.On(cpu.Threads(2))

// store is an empty store with a seed.
func store(seed uint64) *graph.Store { return graph.NewStore(backend, seed) }

// given makes a float64 variable of values.
func given(s *graph.Store, name string, shape []int, v ...float64) *graph.Variable {
	return s.New(name, graph.Value(tensor.Must(tensor.FromSlice(v, shape...))), tensor.Float64, shape...)
}

func constant(g *graph.Graph, shape []int, v ...float64) *graph.Node {
	return g.Const(tensor.Must(tensor.FromSlice(v, shape...)))
}

// value is the elements of an eager node.
func value(t *testing.T, n *graph.Node) []float64 {
	t.Helper()
	v, err := n.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Must(v.Read().Float64s())
}

func shape(d ...int) []int { return d }

func TestLinear(t *testing.T) {
	s := store(1)
	w, b := given(s, "w", shape(2, 3), 1, 2, 3, 4, 5, 6), given(s, "b", shape(3), 10, 20, 30)
	for _, row := range []struct {
		why   string
		layer *nn.Linear
		x     []float64
		in    []int
		want  []float64
		out   []int
	}{
		{"rows times the weight plus the bias", &nn.Linear{W: w, B: b},
			[]float64{1, 1, 1, 3}, shape(2, 2), []float64{15, 27, 39, 23, 37, 51}, shape(2, 3)},
		{"without a bias",
			&nn.Linear{W: w}, []float64{1, 1, 1, 3}, shape(2, 2), []float64{5, 7, 9, 13, 17, 21}, shape(2, 3)},
		{"leading axes are kept", &nn.Linear{W: w, B: b},
			[]float64{1, 1, 1, 3}, shape(1, 2, 1, 2), []float64{15, 27, 39, 23, 37, 51}, shape(1, 2, 1, 3)},
		{"no leading axis: one row",
			&nn.Linear{W: w, B: b}, []float64{1, 1}, shape(2), []float64{15, 27, 39}, shape(3)},
		{"no rows", &nn.Linear{W: w, B: b}, []float64{}, shape(0, 2), []float64{}, shape(0, 3)},
	} {
		g := graph.Eager(backend)
		y := row.layer.Apply(constant(g, row.in, row.x...))
		if got := value(t, y); !slices.Equal(got, row.want) || !slices.Equal(y.Shape(), row.out) {
			t.Errorf("%s: %v of shape %v, want %v of %v", row.why, got, y.Shape(), row.want, row.out)
		}
	}
}

func TestSequential(t *testing.T) {
	double := nn.LayerFunc(func(x *graph.Node) *graph.Node { return ops.Mul(x, 2) })
	g := graph.Eager(backend)
	x := constant(g, shape(2), -1, 3)
	y := nn.Sequential{double, nn.LayerFunc(ops.Relu), nn.Sequential{double}}.Apply(x)
	if got := value(t, y); !slices.Equal(got, []float64{0, 12}) {
		t.Errorf("%v, want [0 12]", got)
	}
	if nn.Sequential(nil).Apply(x) != x {
		t.Error("no layers: want x itself")
	}
}

func TestEmbedding(t *testing.T) {
	s := store(1)
	e := &nn.Embedding{Table: given(s, "table", shape(3, 2), 1, 2, 3, 4, 5, 6)}
	g := graph.Eager(backend)
	y := e.Apply(g.Const(tensor.Must(tensor.FromSlice([]uint8{2, 0, 2}, 3, 1))))
	if got := value(t, y); !slices.Equal(got, []float64{5, 6, 1, 2, 5, 6}) || !slices.Equal(y.Shape(), shape(3, 1, 2)) {
		t.Errorf("%v of shape %v", got, y.Shape())
	}
	dw := autograd.Grad(ops.Sum(y), e.Table.Read(g))[0]
	if got := value(t, dw); !slices.Equal(got, []float64{1, 1, 0, 0, 2, 2}) {
		t.Errorf("a row named twice has gradient %v, want twice", got)
	}
	g = graph.Eager(backend)
	e.Apply(g.Const(tensor.Of[int32](3)))
	var bad *ops.IndexError
	if !errors.As(g.Err(), &bad) || bad.Index != 3 || bad.Extent != 3 {
		t.Errorf("row 3 of 3: %v", g.Err())
	}
}

func TestNewLayersNameTheirVariables(t *testing.T) {
	s := store(1)
	nn.NewLinear(s, "hidden", nn.HeNormal, tensor.Float32, 4, 3)
	nn.NewEmbedding(s, "words", nn.Normal(1), tensor.BFloat16, 5, 2)
	var got []string
	for _, v := range s.Variables() {
		got = append(got, v.Name()+" "+v.Spec().String())
	}
	want := []string{"hidden/w float32[4 3]", "hidden/b float32[3]", "words/table bfloat16[5 2]"}
	if !slices.Equal(got, want) || s.Err() != nil {
		t.Errorf("%q, %v, want %q", got, s.Err(), want)
	}
	nn.NewLinear(s, "hidden", nn.HeNormal, tensor.Float32, 4, 3)
	if s.Err() == nil || !strings.Contains(s.Err().Error(), "hidden/w") {
		t.Errorf("a name twice: %v", s.Err())
	}
}

// TestLayerErrors: a mistake is an error with this file's line, an invalid operand is silent.
func TestLayerErrors(t *testing.T) {
	s := store(1)
	linear := &nn.Linear{W: given(s, "w", shape(2, 3), 1, 2, 3, 4, 5, 6)}
	table := &nn.Embedding{Table: given(s, "table", shape(3), 1, 2, 3)}
	key := func(g *graph.Graph) *graph.Node { return ops.Key(g, 1) }
	for _, row := range []struct {
		why   string
		build func(g *graph.Graph, x *graph.Node) *graph.Node // x is float64[4 5]
		kind  error
	}{
		{"5 features for a weight of 2",
			func(_ *graph.Graph, x *graph.Node) *graph.Node { return linear.Apply(x) }, tensor.ErrShape},
		{"no weight",
			func(_ *graph.Graph, x *graph.Node) *graph.Node { return (&nn.Linear{}).Apply(x) }, tensor.ErrUnsupported},
		{"a nil layer",
			func(_ *graph.Graph, x *graph.Node) *graph.Node { return nn.Sequential{nil}.Apply(x) }, tensor.ErrUnsupported},
		{"a nil operand",
			func(*graph.Graph, *graph.Node) *graph.Node { return linear.Apply(nil) }, tensor.ErrUnsupported},
		{"ids that are no integers",
			func(_ *graph.Graph, x *graph.Node) *graph.Node { return table.Apply(x) }, tensor.ErrDType},
		{"no table",
			func(_ *graph.Graph, x *graph.Node) *graph.Node { return (&nn.Embedding{}).Apply(x) }, tensor.ErrUnsupported},
		{"everything dropped",
			func(g *graph.Graph, x *graph.Node) *graph.Node { return nn.Dropout(x, 1, key(g)) }, tensor.ErrBounds},
		{"a NaN probability",
			func(g *graph.Graph, x *graph.Node) *graph.Node { return nn.Dropout(x, nan, key(g)) }, tensor.ErrBounds},
		{"dropout of integers", func(g *graph.Graph, x *graph.Node) *graph.Node {
			return nn.Dropout(ops.Cast(x, tensor.Int32), 0.5, key(g))
		}, tensor.ErrDType},
		{"no key",
			func(_ *graph.Graph, x *graph.Node) *graph.Node { return nn.Dropout(x, 0.5, x) }, tensor.ErrDType},
		{"a counter that is none", func(g *graph.Graph, _ *graph.Node) *graph.Node {
			return nn.NewKeys(g, s, "w").Next()
		}, tensor.ErrDType},
	} {
		g := graph.New()
		n := row.build(g, g.Input("x", tensor.Float64, 4, 5))
		err := n.Err()
		if g.Err() != nil {
			err = g.Err()
		}
		if !errors.Is(err, row.kind) || !strings.HasPrefix(err.Error(), "layers_test.go:") {
			t.Errorf("%s: %v, want %v", row.why, err, row.kind)
		}
	}
	g := graph.New()
	bad := ops.Reshape(g.Input("x", tensor.Float64, 2), 3)
	first := g.Err()
	for _, n := range []*graph.Node{linear.Apply(bad), table.Apply(bad), nn.Dropout(bad, 0.5, key(g)),
		nn.Sequential{linear}.Apply(bad), nn.MSE(bad, bad), nn.CrossEntropy(bad, bad), nn.Accuracy(bad, bad),
		nn.BinaryCrossEntropyWithLogits(bad, bad), nn.SGD{}.Step(bad)[0], nn.Adam{}.Step(bad)[0]} {
		if n.Valid() || g.Err() != first {
			t.Errorf("an invalid operand: %v", g.Err())
		}
	}
}

// masks runs a program that drops out ones, twice, and gives what each of two layers made of them.
func masks(t *testing.T, seed uint64, p float64) (runs [2][2][]float64) {
	t.Helper()
	s, g := store(seed), graph.New()
	keys := nn.NewKeys(g, s, "dropout")
	x := ops.Ones(g, tensor.Float64, 40, 50)
	program, err := graph.Compile(backend, nn.Dropout(x, p, keys.Next()), nn.Dropout(x, p, keys.Next()), keys.Advance())
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		outs, err := program.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, o := range outs {
			runs[i][k] = tensor.Must(tensor.Values[float64](o))
		}
	}
	return runs
}

func TestDropout(t *testing.T) {
	for _, p := range []float64{0.1, 0.5, 0.75} {
		a, again := masks(t, 1, p), masks(t, 1, p)
		for i := range a {
			for k := range a[i] {
				kept := 0
				for _, v := range a[i][k] {
					if v != 0 && v != 1/(1-p) {
						t.Fatalf("p = %v: an element is %v, want 0 or %v", p, v, 1/(1-p))
					}
					if v != 0 {
						kept++
					}
				}
				if share := float64(kept) / 2000; share < 1-p-0.05 || share > 1-p+0.05 {
					t.Errorf("p = %v: %v are kept", p, share)
				}
				if !slices.Equal(a[i][k], again[i][k]) {
					t.Errorf("p = %v: the same seed, run %d and layer %d give another mask", p, i, k)
				}
			}
			if slices.Equal(a[i][0], a[i][1]) {
				t.Errorf("p = %v: two layers have one mask", p)
			}
		}
		if slices.Equal(a[0][0], a[1][0]) {
			t.Errorf("p = %v: two runs have one mask", p)
		}
		if other := masks(t, 2, p); slices.Equal(a[0][0], other[0][0]) {
			t.Errorf("p = %v: two seeds have one mask", p)
		}
	}
}

func TestDropoutEvaluation(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Float32, 3)
	var keys *nn.Keys
	if nn.Dropout(x, 0.5, keys.Next()) != x {
		t.Error("nil keys: want x itself")
	}
	if nn.Dropout(x, 0, ops.Key(g, 1)) != x {
		t.Error("p = 0: want x itself")
	}
	if keys.Advance() != nil {
		t.Error("nil keys count nothing")
	}
}

// TestDropoutGrad: what was dropped gets no gradient, not even where it is infinite.
func TestDropoutGrad(t *testing.T) {
	g := graph.Eager(backend)
	x := constant(g, shape(200), slices.Repeat([]float64{1}, 200)...)
	y := nn.Dropout(x, 0.5, ops.Key(g, 3))
	if dx := autograd.Grad(ops.Sum(y), x)[0]; !slices.Equal(value(t, dx), value(t, y)) {
		t.Errorf("gradient %v of %v", value(t, dx), value(t, y))
	}
}
