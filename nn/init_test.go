package nn_test

import (
	"errors"
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/tensor"
)

// initial is the first value of a variable of a fresh store.
func initial(t *testing.T, seed uint64, name string, init graph.Initializer, dt tensor.DType, shape ...int) []float64 {
	t.Helper()
	s := graph.NewStore(cpu.On(cpu.Serial()), seed)
	v := s.New(name, init, dt, shape...)
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return floats(t, v)
}

// floats is a variable's elements.
func floats(t *testing.T, v *graph.Variable) []float64 {
	t.Helper()
	view, err := v.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Must(view.Read().Float64s())
}

func TestInitialValuesDependOnSeedAndNameAlone(t *testing.T) {
	s := graph.NewStore(cpu.On(cpu.Serial()), 7)
	s.New("other", nn.Normal(1), tensor.Float32, 100)
	late := floats(t, s.New("w", nn.Normal(1), tensor.Float32, 10))
	same := func(a, b []float64) bool {
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	if first := initial(t, 7, "w", nn.Normal(1), tensor.Float32, 10); !same(first, late) {
		t.Errorf("made first %v, made second %v", first, late)
	}
	if long := initial(t, 7, "w", nn.Normal(1), tensor.Float32, 11); !same(late, long[:10]) {
		t.Errorf("10 values %v, the first of 11 %v", late, long)
	}
	if other := initial(t, 8, "w", nn.Normal(1), tensor.Float32, 10); same(late, other) {
		t.Error("another seed gives the same values")
	}
	if other := initial(t, 7, "v", nn.Normal(1), tensor.Float32, 10); same(late, other) {
		t.Error("another name gives the same values")
	}
}

func TestInitialDistribution(t *testing.T) {
	const rows, cols = 300, 100
	for _, row := range []struct {
		name        string
		init        graph.Initializer
		mean, std   float64
		least, most float64 // bounds of every value
	}{
		{"uniform", nn.Uniform(-1, 3), 1, 4 / math.Sqrt(12), -1, 3},
		{"normal", nn.Normal(0.5), 0, 0.5, -4, 4},
		{"Xavier, uniform: 6/(300+100)",
			nn.XavierUniform, 0, math.Sqrt(2.0 / 400), -math.Sqrt(6.0 / 400), math.Sqrt(6.0 / 400)},
		{"Xavier, normal: 2/(300+100)", nn.XavierNormal, 0, math.Sqrt(2.0 / 400), -1, 1},
		{"He, uniform: 6/300",
			nn.HeUniform, 0, math.Sqrt(2.0 / 300), -math.Sqrt(6.0 / 300), math.Sqrt(6.0 / 300)},
		{"He, normal: 2/300", nn.HeNormal, 0, math.Sqrt(2.0 / 300), -1, 1},
	} {
		for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
			v := initial(t, 3, "w", row.init, dt, rows, cols)
			sum, squares, least, most := 0.0, 0.0, math.Inf(1), math.Inf(-1)
			for _, x := range v {
				sum += x
				squares += (x - row.mean) * (x - row.mean)
				least, most = min(least, x), max(most, x)
			}
			n := float64(len(v))
			slack := 1.0 // of the bounds
			if dt.IsHalf() {
				slack = 1 + 1.0/128
			}
			if mean := sum / n; math.Abs(mean-row.mean) > 5*row.std/math.Sqrt(n)+row.std/100 {
				t.Errorf("%s, %s: mean %v, want %v", row.name, dt, mean, row.mean)
			}
			if std := math.Sqrt(squares / n); math.Abs(std-row.std) > 0.02*row.std {
				t.Errorf("%s, %s: deviation %v, want %v", row.name, dt, std, row.std)
			}
			if least < row.least*slack || most > row.most*slack {
				t.Errorf("%s, %s: from %v to %v, want from %v to %v", row.name, dt, least, most, row.least, row.most)
			}
		}
	}
}

func TestScaledFans(t *testing.T) {
	for _, row := range []struct {
		why   string
		shape []int
		bound float64
	}{
		{"a matrix: in is axis 0", []int{24, 1000}, math.Sqrt(6.0 / 24)},
		{"leading axes are a receptive field", []int{3, 2, 4, 1000}, math.Sqrt(6.0 / 24)},
	} {
		most := 0.0
		for _, x := range initial(t, 1, "w", nn.HeUniform, tensor.Float64, row.shape...) {
			most = max(most, math.Abs(x))
		}
		if most > row.bound || most < 0.99*row.bound {
			t.Errorf("%s: the greatest is %v, want just below %v", row.why, most, row.bound)
		}
	}
}

func TestFill(t *testing.T) {
	for _, dt := range tensor.DTypes {
		if dt.IsComplex() {
			continue
		}
		for init, want := range map[nn.Fill]float64{nn.Zeros: 0, nn.Ones: 1} {
			for _, x := range initial(t, 1, "w", init, dt, 2, 3) {
				if x != want {
					t.Errorf("%v of %s gives %v", init, dt, x)
				}
			}
		}
	}
	if v := initial(t, 1, "w", nn.Fill(-2.5), tensor.Float32, 1); v[0] != -2.5 {
		t.Errorf("Fill(-2.5) gives %v", v)
	}
}

func TestInitErrors(t *testing.T) {
	for _, row := range []struct {
		why   string
		init  graph.Initializer
		dt    tensor.DType
		shape []int
		kind  error
	}{
		{"random integers have no scale", nn.Uniform(0, 10), tensor.Int32, []int{2}, tensor.ErrDType},
		{"complex is not said", nn.Normal(1), tensor.Complex64, []int{2}, tensor.ErrDType},
		{"a vector has no fans", nn.HeNormal, tensor.Float32, []int{2}, tensor.ErrRank},
		{"300 is no int8", nn.Fill(300), tensor.Int8, []int{2}, tensor.ErrOverflow},
		{"there are four", nn.Scaled(4), tensor.Float32, []int{2, 2}, tensor.ErrUnsupported},
	} {
		s := graph.NewStore(cpu.On(cpu.Serial()), 1)
		if s.New("w", row.init, row.dt, row.shape...); !errors.Is(s.Err(), row.kind) {
			t.Errorf("%s: %v, want %v", row.why, s.Err(), row.kind)
		}
	}
	if v := initial(t, 1, "w", nn.HeNormal, tensor.Float32, 0, 3); len(v) != 0 {
		t.Errorf("an empty weight has %v", v)
	}
}
