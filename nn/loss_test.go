package nn_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

var nan = math.NaN()

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*(1+math.Abs(b))
}

// logits are three examples of three classes; logp is their log softmax, from its definition.
var logits = []float64{1, 2, 3, 0, 0, 0, -1, 4, 2}

func logp(example, class int) float64 {
	row := logits[3*example : 3*example+3]
	sum := 0.0
	for _, v := range row {
		sum += math.Exp(v)
	}
	return row[class] - math.Log(sum)
}

func TestCrossEntropy(t *testing.T) {
	spread := func(example int) float64 { return -(logp(example, 0) + logp(example, 1) + logp(example, 2)) / 3 }
	for _, row := range []struct {
		why    string
		o      nn.CrossEntropyOptions
		labels graph.Readable
		want   float64
	}{
		{"the mean of -log p",
			nn.CrossEntropyOptions{}, tensor.Of[int32](2, 0, 1), -(logp(0, 2) + logp(1, 0) + logp(2, 1)) / 3},
		{"labels of uint8",
			nn.CrossEntropyOptions{}, tensor.Of[uint8](2, 0, 1), -(logp(0, 2) + logp(1, 0) + logp(2, 1)) / 3},
		{"labels of int64",
			nn.CrossEntropyOptions{}, tensor.Of[int64](0, 1, 0), -(logp(0, 0) + logp(1, 1) + logp(2, 0)) / 3},
		{"smoothing takes a share of the mean",
			nn.CrossEntropyOptions{Smoothing: 0.1}, tensor.Of[int32](2, 0, 1),
			0.9*-(logp(0, 2)+logp(1, 0)+logp(2, 1))/3 + 0.1*(spread(0)+spread(1)+spread(2))/3},
		{"an ignored example is not in the mean",
			nn.CrossEntropyOptions{Ignore: []int{-100}}, tensor.Of[int32](2, -100, 1),
			-(logp(0, 2) + logp(2, 1)) / 2},
		{"two ignored labels, one of them a class",
			nn.CrossEntropyOptions{Ignore: []int{-1, 0}}, tensor.Of[int16](-1, 0, 1), -logp(2, 1)},
		{"nothing is left", nn.CrossEntropyOptions{Ignore: []int{255}}, tensor.Of[uint8](255, 255, 255), 0},
		{"an ignored label that the dtype cannot hold",
			nn.CrossEntropyOptions{Ignore: []int{-100}}, tensor.Of[uint8](2, 0, 1),
			-(logp(0, 2) + logp(1, 0) + logp(2, 1)) / 3},
	} {
		g := graph.Eager(backend)
		loss := nn.CrossEntropyWith(row.o, constant(g, shape(3, 3), logits...), g.Const(row.labels))
		if got := value(t, loss); len(got) != 1 || loss.Rank() != 0 || !near(got[0], row.want, 1e-14) {
			t.Errorf("%s: %v, want %v", row.why, got, row.want)
		}
	}
}

// TestCrossEntropyGrad: the gradient is (softmax − one-hot)/n, 0 where the example is ignored.
func TestCrossEntropyGrad(t *testing.T) {
	g := graph.Eager(backend)
	x := constant(g, shape(3, 3), logits...)
	loss := nn.CrossEntropyWith(nn.CrossEntropyOptions{Ignore: []int{-1}}, x, g.Const(tensor.Of[int32](2, -1, 0)))
	got := value(t, autograd.Grad(loss, x)[0])
	for i := range got {
		want := math.Exp(logp(i/3, i%3)) / 2
		if i == 2 || i == 6 {
			want -= 0.5
		}
		if i/3 == 1 {
			want = 0
		}
		if !near(got[i], want, 1e-14) {
			t.Errorf("element %d: %v, want %v", i, got[i], want)
		}
	}
}

// TestCrossEntropyOfLargeLogits: the loss is shifted by the maximum, so nothing overflows.
func TestCrossEntropyOfLargeLogits(t *testing.T) {
	g := graph.Eager(backend)
	x := g.Const(tensor.Must(tensor.FromSlice([]float32{1000, -1000, 0, 1000, 1000, -1000}, 2, 3)))
	got := value(t, nn.CrossEntropy(x, g.Const(tensor.Of[int32](1, 0))))[0]
	if want := (2000 + math.Ln2) / 2; !near(got, want, 1e-6) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestLabelOutOfRange: a label that is no class is an error of the run that says which, and a negative one does
// not count from the end.
func TestLabelOutOfRange(t *testing.T) {
	g := graph.New()
	x, labels := g.Input("x", tensor.Float32, 2, 2, 3), g.Input("labels", tensor.Int32, 2, 2)
	program, err := graph.Compile(backend, nn.CrossEntropy(x, labels))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []int32{3, -1, math.MinInt32} {
		_, err := program.Run(context.Background(), graph.Feed{
			"x":      tensor.Must(tensor.New(tensor.Float32, 2, 2, 3)),
			"labels": tensor.Must(tensor.FromSlice([]int32{0, 2, bad, 5}, 2, 2)),
		})
		var e *ops.IndexError
		if !errors.As(err, &e) || e.Index != int64(bad) || e.Extent != 3 || !slices.Equal(e.Position, shape(1, 0)) {
			t.Errorf("label %d: %v", bad, err)
		}
	}
}

// TestIgnoreOfUnsigned: a uint64 label is not the negative one that it would wrap to.
func TestIgnoreOfUnsigned(t *testing.T) {
	g := graph.Eager(backend)
	labels := g.Const(tensor.Of[uint64](0, math.MaxUint64, 1))
	o := nn.CrossEntropyOptions{Ignore: []int{-1}}
	loss := nn.CrossEntropyWith(o, constant(g, shape(3, 3), logits...), labels)
	var bad *ops.IndexError
	if !errors.As(loss.Err(), &bad) {
		t.Errorf("label 2^64 − 1 is no class: %v", loss.Err())
	}
}

func TestOtherLosses(t *testing.T) {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, row := range []struct {
		why   string
		build func(g *graph.Graph) *graph.Node
		want  float64
	}{
		{"squares", func(g *graph.Graph) *graph.Node {
			return nn.MSE(constant(g, shape(2, 2), 1, 2, 3, 4), constant(g, shape(2, 2), 1, 0, 3, 7))
		}, 13.0 / 4},
		{"the target broadcasts", func(g *graph.Graph) *graph.Node {
			return nn.MSE(constant(g, shape(2, 2), 1, 2, 3, 4), constant(g, shape(2), 1, 2))
		}, 2},
		{"binary, from its definition", func(g *graph.Graph) *graph.Node {
			return nn.BinaryCrossEntropyWithLogits(constant(g, shape(3), 0, 2, -1), constant(g, shape(3), 1, 0, 0.25))
		}, -(math.Log(0.5) + math.Log(1-sigmoid(2)) + 0.25*math.Log(sigmoid(-1)) + 0.75*math.Log(1-sigmoid(-1))) / 3},
		{"binary, right by far keeps its digits", func(g *graph.Graph) *graph.Node {
			return nn.BinaryCrossEntropyWithLogits(constant(g, shape(2), 40, -40), constant(g, shape(2), 1, 0))
		}, math.Exp(-40)},
		{"binary, wrong by far does not overflow", func(g *graph.Graph) *graph.Node {
			return nn.BinaryCrossEntropyWithLogits(constant(g, shape(2), 1e4, -1e4), constant(g, shape(2), 0, 1))
		}, 1e4},
		{"accuracy, ties count for the lowest class", func(g *graph.Graph) *graph.Node {
			return nn.Accuracy(constant(g, shape(4, 2), 1, 2, 5, 5, 5, 5, 3, 1), g.Const(tensor.Of[uint8](1, 0, 1, 7)))
		}, 0.5},
	} {
		g := graph.Eager(backend)
		n := row.build(g)
		if got := value(t, n); len(got) != 1 || n.Rank() != 0 || math.Abs(got[0]-row.want) > 1e-14*math.Abs(row.want) {
			t.Errorf("%s: %v, want %v", row.why, got, row.want)
		}
	}
}

// TestBinaryGradAtZero: the gradient at logit 0 is σ(0) − t, which formulas by max(x, 0) and |x| can miss.
func TestBinaryGradAtZero(t *testing.T) {
	g := graph.Eager(backend)
	x := constant(g, shape(2), 0, 0)
	loss := nn.BinaryCrossEntropyWithLogits(x, constant(g, shape(2), 1, 0))
	if got := value(t, autograd.Grad(loss, x)[0]); !slices.Equal(got, []float64{-0.25, 0.25}) {
		t.Errorf("%v, want [-0.25 0.25]", got)
	}
}

func TestLossErrors(t *testing.T) {
	for _, row := range []struct {
		why            string
		logits, labels tensor.Spec
		o              nn.CrossEntropyOptions
		kind           error
	}{
		{"labels that are no integers",
			spec(tensor.Float32, 2, 3), spec(tensor.Float32, 2), nn.CrossEntropyOptions{}, tensor.ErrDType},
		{"bool labels",
			spec(tensor.Float32, 2, 3), spec(tensor.Bool, 2), nn.CrossEntropyOptions{}, tensor.ErrDType},
		{"integer logits",
			spec(tensor.Int32, 2, 3), spec(tensor.Int32, 2), nn.CrossEntropyOptions{}, tensor.ErrDType},
		{"labels for more examples",
			spec(tensor.Float32, 2, 3), spec(tensor.Int32, 3), nn.CrossEntropyOptions{}, tensor.ErrShape},
		{"labels as columns",
			spec(tensor.Float32, 2, 3), spec(tensor.Int32, 2, 1), nn.CrossEntropyOptions{}, tensor.ErrShape},
		{"no classes", spec(tensor.Float32), spec(tensor.Int32), nn.CrossEntropyOptions{}, tensor.ErrRank},
		{"smoothing above 1",
			spec(tensor.Float32, 2, 3), spec(tensor.Int32, 2), nn.CrossEntropyOptions{Smoothing: 1.5}, tensor.ErrBounds},
	} {
		g := graph.New()
		logits := g.Input("logits", row.logits.DType, row.logits.Shape...)
		n := nn.CrossEntropyWith(row.o, logits, g.Input("labels", row.labels.DType, row.labels.Shape...))
		if n.Valid() || !errors.Is(g.Err(), row.kind) {
			t.Errorf("%s: %v, want %v", row.why, g.Err(), row.kind)
		}
	}
}

func spec(dt tensor.DType, d ...int) tensor.Spec { return tensor.Spec{DType: dt, Shape: d} }
