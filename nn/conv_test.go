package nn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestConv(t *testing.T) {
	s := store(1)
	w, b := given(s, "w", shape(2, 1, 2), 1, 10, 2, 20), given(s, "b", shape(2), 100, 200)
	last := []int{0, 2, 1}
	for _, row := range []struct {
		why   string
		layer *nn.Conv
		in    []int
		want  []float64
		out   []int
	}{
		{"windows times the weight plus the bias", &nn.Conv{W: w, B: b}, shape(1, 1, 3), []float64{105, 108, 250, 280}, shape(1, 2, 2)},
		{"without a bias", &nn.Conv{W: w}, shape(1, 1, 3), []float64{5, 8, 50, 80}, shape(1, 2, 2)},
		{"as the spec says", &nn.Conv{W: w, Spec: ops.ConvSpec{High: []int{1}, Strides: []int{2}}}, shape(1, 1, 3), []float64{5, 3, 50, 30}, shape(1, 2, 2)},
		{"the bias goes to channels that come last", &nn.Conv{W: w, B: b, Spec: ops.ConvSpec{XAxes: last, OutAxes: []int{0, -1, 1}}},
			shape(1, 3, 1), []float64{105, 250, 108, 280}, shape(1, 2, 2)},
		{"a weight in another order", &nn.Conv{W: w, Spec: ops.ConvSpec{WAxes: []int{0, 1, 2}}}, shape(1, 1, 3), []float64{21, 32, 42, 64}, shape(1, 2, 2)},
	} {
		g := graph.Eager(backend)
		y := row.layer.Apply(constant(g, row.in, 1, 2, 3))
		if got := value(t, y); !slices.Equal(got, row.want) || !slices.Equal(y.Shape(), row.out) {
			t.Errorf("%s: %v of shape %v, want %v of %v", row.why, got, y.Shape(), row.want, row.out)
		}
	}
	g := graph.Eager(backend)
	grads := autograd.Grad(ops.Sum((&nn.Conv{W: w, B: b}).Apply(constant(g, shape(1, 1, 3), 1, 2, 3))), w.Read(g), b.Read(g))
	if dw, db := value(t, grads[0]), value(t, grads[1]); !slices.Equal(dw, []float64{3, 3, 5, 5}) || !slices.Equal(db, []float64{2, 2}) {
		t.Errorf("gradients %v and %v", dw, db)
	}
}

func TestNewConv(t *testing.T) {
	s := store(1)
	l := nn.NewConv(s, "c", nn.HeNormal, tensor.Float32, 4, 6, ops.ConvSpec{Groups: 2, Low: []int{1, 1}}, 3, 5)
	if got := l.W.Spec().String() + l.B.Spec().String(); got != "float32[3 5 2 6]float32[6]" || s.Err() != nil {
		t.Errorf("%s, %v", got, s.Err())
	}
	g := graph.New()
	if y := l.Apply(g.Input("x", tensor.Float32, 2, 4, 7, 9)); !slices.Equal(y.Shape(), shape(2, 6, 6, 6)) {
		t.Errorf("shape %v, %v", y.Shape(), g.Err())
	}
	for _, row := range []struct {
		why   string
		layer *nn.Conv
		in    []int
		kind  error
	}{
		{"channels of one group", l, shape(2, 2, 7, 9), tensor.ErrShape},
		{"no batch", l, shape(4, 7, 9), tensor.ErrRank},
		{"no weight", &nn.Conv{}, shape(4, 7, 9), tensor.ErrUnsupported},
		{"no layer", nil, shape(4, 7, 9), tensor.ErrUnsupported},
	} {
		g := graph.New()
		y := row.layer.Apply(g.Input("x", tensor.Float32, row.in...))
		if y.Valid() || !errors.Is(g.Err(), row.kind) || !strings.HasPrefix(g.Err().Error(), "conv_test.go:") {
			t.Errorf("%s: %v, want %v", row.why, g.Err(), row.kind)
		}
		if bad := l.Apply(y); bad.Valid() {
			t.Errorf("%s: an invalid operand gives a result", row.why)
		}
	}
}

// leNet is LeCun's network of 1998 for images of 28 × 28 with one channel, with Relu and pools of maxima.
func leNet(s *graph.Store) nn.Sequential {
	pool := nn.LayerFunc(func(x *graph.Node) *graph.Node {
		return ops.MaxPool(x, ops.Sliding{Sizes: []int{2, 2}, Strides: []int{2, 2}})
	})
	flat := nn.LayerFunc(func(x *graph.Node) *graph.Node { return ops.Reshape(x, x.Shape()[0], -1) })
	relu := nn.LayerFunc(ops.Relu)
	same := ops.ConvSpec{Low: []int{2, 2}, High: []int{2, 2}}
	return nn.Sequential{
		nn.NewConv(s, "c1", nn.HeNormal, tensor.Float32, 1, 6, same, 5, 5), relu, pool,
		nn.NewConv(s, "c2", nn.HeNormal, tensor.Float32, 6, 16, ops.ConvSpec{}, 5, 5), relu, pool, flat,
		nn.NewLinear(s, "f1", nn.HeNormal, tensor.Float32, 400, 120), relu,
		nn.NewLinear(s, "f2", nn.HeNormal, tensor.Float32, 120, 84), relu,
		nn.NewLinear(s, "out", nn.XavierUniform, tensor.Float32, 84, 10),
	}
}

// TestLeNet: steps along the gradient of a whole network take its loss down.
func TestLeNet(t *testing.T) {
	s, g := store(1), graph.New()
	logits := leNet(s).Apply(ops.RandomNormal(ops.Key(g, 1), tensor.Float32, 8, 1, 28, 28))
	if !slices.Equal(logits.Shape(), shape(8, 10)) {
		t.Fatalf("shape %v, %v", logits.Shape(), g.Err())
	}
	labels := ops.Iota(g, tensor.Int32, 0, 8)
	step, err := graph.Compile(backend, nn.SGD{LR: 0.02}.Step(nn.CrossEntropy(logits, labels))...)
	if err != nil {
		t.Fatal(err)
	}
	var losses []float32
	for range 12 {
		outs, err := step.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, tensor.Must(tensor.Values[float32](outs[0]))[0])
	}
	if last := losses[len(losses)-1]; last > losses[0]/2 {
		t.Errorf("losses %v", losses)
	}
}
