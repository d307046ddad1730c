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

func allNear(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(v, w float64) bool { return near(v, w, 1e-12) })
}

// TestNorms: what each layer normalises over, and where its gain and bias go.
func TestNorms(t *testing.T) {
	s := store(1)
	gain, bias := given(s, "gain", shape(2), 2, 3), given(s, "bias", shape(2), 10, 20)
	whole := given(s, "whole", shape(2, 2), 1, 2, 3, 4)
	mean, variance := given(s, "mean", shape(2), 1, 0), given(s, "variance", shape(2), 4, 9)
	x := []float64{1, 3, -4, 6, 5, 5, 0, 8} // [2 2 2]
	for _, row := range []struct {
		why   string
		layer nn.Layer
		want  []float64
	}{
		{"layer norm is over the last axis", &nn.LayerNorm{Gain: gain, Bias: bias},
			[]float64{8, 23, 8, 23, nan, nan, 8, 23}}, // a constant line without an epsilon
		{"layer norm is over as many axes as the gain has", &nn.LayerNorm{Gain: whole, Epsilon: 2.75},
			// of the first example the mean is 1.5 and the variance 13.25, of the second 4.5 and 8.25
			[]float64{-0.125, 0.75, -4.125, 4.5, 0.5 / math.Sqrt(11), 1 / math.Sqrt(11), -13.5 / math.Sqrt(11), 14 / math.Sqrt(11)}},
		{"RMS norm has no mean", &nn.RMSNorm{Gain: gain, Epsilon: 0},
			[]float64{2 / math.Sqrt(5), 9 / math.Sqrt(5), -8 / math.Sqrt(26), 18 / math.Sqrt(26), 2, 3, 0, 3 * math.Sqrt2}},
		{"instance norm is over what is behind a channel", &nn.GroupNorm{Gain: gain, Groups: 2, Axis: 1, Epsilon: 0},
			[]float64{-2, 2, -3, 3, nan, nan, -3, 3}},
		{"one group is all channels, the gain stays by channel",
			&nn.GroupNorm{Gain: gain, Bias: bias, Groups: 1, Axis: -2, Epsilon: 2.75},
			[]float64{9.75, 10.75, 20 - 3*5.5/4, 20 + 3*4.5/4, 10 + 1/math.Sqrt(11), 10 + 1/math.Sqrt(11),
				20 - 13.5/math.Sqrt(11), 20 + 10.5/math.Sqrt(11)}},
		{"batch norm in use takes the running statistics",
			&nn.BatchNorm{Gain: gain, Bias: bias, Mean: mean, Variance: variance, Axis: 1},
			[]float64{10, 12, 16, 26, 14, 14, 20, 28}},
		{"channels last", &nn.BatchNorm{Mean: mean, Variance: variance, Axis: -1, Epsilon: 0},
			[]float64{0, 1, -2.5, 2, 2, 5.0 / 3, -0.5, 8.0 / 3}},
	} {
		g := graph.Eager(backend)
		got := value(t, row.layer.Apply(constant(g, shape(2, 2, 2), x...)))
		for i, w := range row.want {
			if !near(got[i], w, 1e-12) && !(math.IsNaN(got[i]) && math.IsNaN(w)) {
				t.Errorf("%s: %v, want %v", row.why, got, row.want)
				break
			}
		}
	}
}

// TestBatchNormTrain: the batch's own statistics normalise it, and move the running ones.
func TestBatchNormTrain(t *testing.T) {
	s := store(1)
	l := nn.NewBatchNorm(s, "bn", tensor.Float64, 2)
	l.Epsilon, l.Rate = 0, 0.25
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2, 2)
	y, updates := l.Train(x)
	loss := ops.Sum(ops.Mul(y, y))
	step, err := graph.Compile(backend, append([]*graph.Node{y, autograd.Grad(loss, x)[0]}, updates...)...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := step.Run(context.Background(), graph.Feed{"x": tensor.Must(tensor.FromSlice([]float64{1, 10, 3, 30}, 2, 2))})
	if err != nil {
		t.Fatal(err)
	}
	read := func(r graph.Readable) []float64 { return tensor.Must(r.Read().Float64s()) }
	if got := read(out[0]); !allNear(got, []float64{-1, -1, 1, 1}) {
		t.Errorf("the batch becomes %v", got)
	}
	for _, v := range read(out[1]) { // the sum of squares is the number of elements, whatever they are
		if math.Abs(v) > 1e-12 {
			t.Errorf("the gradient is %v, want 0", read(out[1]))
		}
	}
	for _, c := range []struct {
		v    *graph.Variable
		want []float64
	}{{l.Mean, []float64{0.5, 5}}, {l.Variance, []float64{1, 25.75}}} {
		if got := tensor.Must(tensor.Must(c.v.Value()).Read().Float64s()); !allNear(got, c.want) {
			t.Errorf("%s is %v, want %v", c.v.Name(), got, c.want)
		}
	}
}

// TestNormsOfHalves: running statistics of half floats are float32; what is made is named and of its dtype.
func TestNormsOfHalves(t *testing.T) {
	s := store(1)
	bn := nn.NewBatchNorm(s, "bn", tensor.Float16, 3)
	ln, gn := nn.NewLayerNorm(s, "ln", tensor.Float16, 4, 5), nn.NewGroupNorm(s, "gn", tensor.Float16, 3, 3)
	rms := nn.NewRMSNorm(s, "rms", tensor.Float16, 5)
	g := graph.New()
	x := g.Input("x", tensor.Float16, 2, 3, 4, 5)
	y, updates := bn.Train(gn.Apply(ln.Apply(rms.Apply(x))))
	if _, err := graph.Compile(backend, append(updates, bn.Apply(y))...); err != nil {
		t.Fatal(err)
	}
	if y.DType() != tensor.Float16 || bn.Mean.Spec().DType != tensor.Float32 || bn.Gain.Name() != "bn/gain" {
		t.Errorf("the result is %s, the running mean %s, the gain called %s", y.DType(), bn.Mean.Spec(), bn.Gain.Name())
	}
}

func TestNormErrors(t *testing.T) {
	s := store(1)
	two := given(s, "two", shape(2), 1, 1)
	for _, row := range []struct {
		why   string
		layer nn.Layer
		err   error
	}{
		{"another extent", &nn.LayerNorm{Gain: two}, tensor.ErrShape},
		{"more axes than x has", &nn.RMSNorm{Gain: given(s, "deep", shape(1, 3, 3), slices.Repeat([]float64{1}, 9)...)}, tensor.ErrShape},
		{"no gain", &nn.LayerNorm{}, tensor.ErrUnsupported},
		{"no gain", &nn.RMSNorm{}, tensor.ErrUnsupported},
		{"no layer", (*nn.GroupNorm)(nil), tensor.ErrUnsupported},
		{"no groups", &nn.GroupNorm{Axis: 1}, tensor.ErrShape},
		{"another number of channels", &nn.GroupNorm{Gain: two, Groups: 1, Axis: 0}, tensor.ErrShape},
		{"an axis outside", &nn.BatchNorm{Mean: two, Variance: two, Axis: 2}, tensor.ErrAxis},
		{"no statistics", &nn.BatchNorm{Axis: 1}, tensor.ErrUnsupported},
		{"another number of channels", &nn.BatchNorm{Mean: two, Variance: two, Axis: 1}, tensor.ErrShape},
	} {
		g := graph.Eager(backend)
		if y := row.layer.Apply(constant(g, shape(3, 3), slices.Repeat([]float64{1}, 9)...)); y.Valid() || !errors.Is(g.Err(), row.err) {
			t.Errorf("%T, %s: %v, want %v", row.layer, row.why, g.Err(), row.err)
		}
	}
	g := graph.Eager(backend)
	bn := &nn.BatchNorm{Mean: two, Variance: two, Rate: 2}
	if y, _ := bn.Train(constant(g, shape(2, 2), 1, 2, 3, 4)); y.Valid() || !errors.Is(g.Err(), tensor.ErrBounds) {
		t.Errorf("a rate of 2: %v, want %v", g.Err(), tensor.ErrBounds)
	}
}

func TestNLL(t *testing.T) {
	g := graph.Eager(backend)
	x, labels := constant(g, shape(3, 3), logits...), g.Const(tensor.Of[uint8](2, 0, 1))
	got, want := value(t, nn.NLL(ops.LogSoftmax(x, -1), labels))[0], value(t, nn.CrossEntropy(x, labels))[0]
	if got != want {
		t.Errorf("%v, want the cross entropy, %v", got, want)
	}
	if y := nn.NLL(x, x); y.Valid() || !errors.Is(g.Err(), tensor.ErrDType) {
		t.Errorf("labels of float64: %v, want %v", g.Err(), tensor.ErrDType)
	}
}
