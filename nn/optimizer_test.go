package nn_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The problem of the tests: loss = Σ w⁴/4 + Σ 3·b²/2, with gradients w³ and 3·b.

var startW, startB = []float64{1, -2, 0.5}, []float64{-1.5}

func problem(s *graph.Store, dt tensor.DType) (g *graph.Graph, loss *graph.Node, w, b *graph.Variable) {
	make := func(name string, v []float64) *graph.Variable {
		return s.New(name, graph.Value(tensor.Must(tensor.FromFloat64s(dt, v, len(v)))), dt, len(v))
	}
	w, b = make("w", startW), make("b", startB)
	g = graph.New()
	return g, problemLoss(g, w, b), w, b
}

func problemLoss(g *graph.Graph, w, b *graph.Variable) *graph.Node {
	quartic := ops.Sum(ops.Square(ops.Square(w.Read(g))))
	return ops.Add(ops.Div(quartic, 4), ops.Mul(ops.Sum(ops.Square(b.Read(g))), 1.5))
}

// reference is an optimizer as a plain loop over all parameters in float64: it moves x, given the gradient, in
// step t = 1, 2, ….
type reference func(t int, x, grad []float64)

func runReference(steps int, r reference) []float64 {
	x := append(slices.Clone(startW), startB...)
	for t := 1; t <= steps; t++ {
		grad := make([]float64, len(x))
		for i, v := range x {
			grad[i] = v * v * v
		}
		grad[3] = 3 * x[3]
		r(t, x, grad)
	}
	return x
}

func sgdReference(lr, momentum, decay float64, nesterov bool) reference {
	b := make([]float64, 4)
	return func(_ int, x, grad []float64) {
		for i, g := range grad {
			g += decay * x[i]
			b[i] = momentum*b[i] + g
			if nesterov {
				x[i] -= lr * (g + momentum*b[i])
			} else {
				x[i] -= lr * b[i]
			}
		}
	}
}

func adamReference(lr func(t int) float64, beta1, beta2, eps, penalty, decay float64) reference {
	m, v := make([]float64, 4), make([]float64, 4)
	return func(t int, x, grad []float64) {
		for i, g := range grad {
			g += penalty * x[i]
			m[i] = beta1*m[i] + (1-beta1)*g
			v[i] = beta2*v[i] + (1-beta2)*g*g
			mHat := m[i] / (1 - math.Pow(beta1, float64(t)))
			vHat := v[i] / (1 - math.Pow(beta2, float64(t)))
			x[i] -= lr(t) * (mHat/(math.Sqrt(vHat)+eps) + decay*x[i])
		}
	}
}

// clipped is a reference whose gradients have no greater norm together.
func clipped(most float64, r reference) reference {
	return func(t int, x, grad []float64) {
		norm := 0.0
		for _, g := range grad {
			norm += g * g
		}
		if norm = math.Sqrt(norm); norm > most {
			for i := range grad {
				grad[i] *= most / norm
			}
		}
		r(t, x, grad)
	}
}

func always(lr float64) func(int) float64 { return func(int) float64 { return lr } }

var optimizers = []struct {
	name string
	o    nn.Optimizer
	want func() reference
}{
	{"SGD", nn.SGD{LR: 0.05}, func() reference { return sgdReference(0.05, 0, 0, false) }},
	{"SGD, decay",
		nn.SGD{LR: 0.05, WeightDecay: 0.3}, func() reference { return sgdReference(0.05, 0, 0.3, false) }},
	{"SGD, momentum",
		nn.SGD{LR: 0.02, Momentum: 0.9}, func() reference { return sgdReference(0.02, 0.9, 0, false) }},
	{"SGD, Nesterov and decay", nn.SGD{LR: 0.02, Momentum: 0.8, Nesterov: true, WeightDecay: 0.1},
		func() reference { return sgdReference(0.02, 0.8, 0.1, true) }},
	{"SGD, clipped",
		nn.SGD{LR: 0.05, ClipNorm: 2}, func() reference { return clipped(2, sgdReference(0.05, 0, 0, false)) }},
	{"SGD, clipped in the first step alone", nn.SGD{LR: 0.05, ClipNorm: 8.5},
		func() reference { return clipped(8.5, sgdReference(0.05, 0, 0, false)) }},
	{"Adam", nn.Adam{LR: 0.1}, func() reference { return adamReference(always(0.1), 0.9, 0.999, 1e-8, 0, 0) }},
	{"Adam, own numbers", nn.Adam{LR: 0.1, Beta1: 0.5, Beta2: 0.9, Epsilon: 0.1, WeightDecay: 0.2},
		func() reference { return adamReference(always(0.1), 0.5, 0.9, 0.1, 0.2, 0) }},
	{"Adam, clipped", nn.Adam{LR: 0.1, ClipNorm: 0.5},
		func() reference { return clipped(0.5, adamReference(always(0.1), 0.9, 0.999, 1e-8, 0, 0)) }},
	{"AdamW", nn.AdamW{LR: 0.1, WeightDecay: 0.25},
		func() reference { return adamReference(always(0.1), 0.9, 0.999, 1e-8, 0, 0.25) }},
	{"AdamW, schedule", nn.AdamW{LR: 0.1, WeightDecay: 0.25, Schedule: nn.StepDecay(2, 0.5)},
		func() reference {
			halved := func(t int) float64 { return 0.1 * math.Pow(0.5, float64((t-1)/2)) }
			return adamReference(halved, 0.9, 0.999, 1e-8, 0, 0.25)
		}},
}

// TestOptimizersAgainstReference: seven steps of a compiled program are those of a plain loop in float64.
func TestOptimizersAgainstReference(t *testing.T) {
	for _, row := range optimizers {
		for dt, tolerance := range map[tensor.DType]float64{
			tensor.Float64: 1e-13, tensor.Float32: 2e-6, tensor.Float16: 4e-3, tensor.BFloat16: 3e-2,
		} {
			s := store(1)
			_, loss, w, b := problem(s, dt)
			program, err := graph.Compile(backend, row.o.Step(loss)...)
			if err != nil {
				t.Fatalf("%s of %s: %v", row.name, dt, err)
			}
			for range 7 {
				if _, err := program.Run(context.Background(), nil); err != nil {
					t.Fatal(err)
				}
			}
			got, want := append(floats(t, w), floats(t, b)...), runReference(7, row.want())
			for i := range want {
				if !near(got[i], want[i], tolerance) {
					t.Errorf("%s of %s: %v, want %v", row.name, dt, got, want)
					break
				}
			}
		}
	}
}

// TestOptimizersEager: an eager graph steps at once, with the bits of the compiled program.
func TestOptimizersEager(t *testing.T) {
	for _, row := range optimizers {
		s, eager := store(1), store(1)
		_, loss, w, b := problem(s, tensor.Float32)
		_, _, ew, eb := problem(eager, tensor.Float32)
		program, err := graph.Compile(backend, row.o.Step(loss)...)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := program.Run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			g := graph.Eager(backend)
			row.o.Step(problemLoss(g, ew, eb))
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(floats(t, w), floats(t, ew)) || !slices.Equal(floats(t, b), floats(t, eb)) {
			t.Errorf("%s: compiled %v, eager %v", row.name, floats(t, w), floats(t, ew))
		}
	}
}

func TestOptimizerState(t *testing.T) {
	names := func(s *graph.Store) (r []string) {
		for _, v := range s.Variables() {
			r = append(r, v.Name()+" "+v.Spec().String())
		}
		return r
	}
	for _, row := range []struct {
		why  string
		o    nn.Optimizer
		dt   tensor.DType
		want []string
	}{
		{"moments and a count", nn.Adam{LR: 1}, tensor.Float64,
			[]string{"adam/step int64[]", "adam/w/m float64[3]", "adam/w/v float64[3]",
				"adam/b/m float64[1]", "adam/b/v float64[1]"}},
		{"half floats have moments of float32", nn.AdamW{LR: 1}, tensor.BFloat16,
			[]string{"adamw/step int64[]", "adamw/w/m float32[3]", "adamw/w/v float32[3]",
				"adamw/b/m float32[1]", "adamw/b/v float32[1]"}},
		{"a name of its own", nn.SGD{Momentum: 0.5, Name: "critic"}, tensor.Float32,
			[]string{"critic/step int64[]", "critic/w/momentum float32[3]", "critic/b/momentum float32[1]"}},
		{"no momentum, no state", nn.SGD{}, tensor.Float32, []string{"sgd/step int64[]"}},
	} {
		s := store(1)
		_, loss, w, b := problem(s, row.dt)
		first := row.o.Step(loss)
		if got := names(s)[2:]; !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.why, got, row.want)
		}
		second := row.o.Step(problemLoss(graph.New(), w, b)) // another program
		if got := names(s)[2:]; !slices.Equal(got, row.want) {
			t.Errorf("%s: the second program makes %q", row.why, got)
		}
		for _, outs := range [][]*graph.Node{first, second} {
			program, err := graph.Compile(backend, outs...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := program.Run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		}
		prefix, _, _ := strings.Cut(row.want[0], " ")
		step, _ := s.Lookup(prefix)
		if n := floats(t, step)[0]; n != 2 {
			t.Errorf("%s: two programs ran once each and counted %v steps", row.why, n)
		}
	}
}

func TestOptimizerMovesWhatItIsTold(t *testing.T) {
	s := store(1)
	_, loss, w, b := problem(s, tensor.Float64)
	count := s.New("count", nn.Zeros, tensor.Int32)
	other := s.New("other", nn.Ones, tensor.Float64)
	counted := ops.Add(loss, ops.Cast(count.Read(loss.Graph()), tensor.Float64))
	if got := nn.Trainable(counted); !slices.Equal(got, []*graph.Variable{w, b}) {
		t.Errorf("trainable are %d variables, want w and b", len(got))
	}
	program, err := graph.Compile(backend, nn.SGD{LR: 0.1}.Step(loss, b, other)...)
	if err != nil {
		t.Fatal(err)
	}
	outs, err := program.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Must(tensor.Values[float64](outs[0]))[0]; got != (1+16+0.0625)/4+1.5*2.25 {
		t.Errorf("loss %v, want that of the values before the step", got)
	}
	if !slices.Equal(floats(t, w), startW) || floats(t, b)[0] == startB[0] || floats(t, other)[0] != 1 {
		t.Errorf("w %v, b %v, other %v: want b alone to move", floats(t, w), floats(t, b), floats(t, other))
	}
}

func TestOptimizerErrors(t *testing.T) {
	for _, row := range []struct {
		why  string
		step func(s *graph.Store, loss *graph.Node) []*graph.Node
		kind error
	}{
		{"a negative rate",
			func(_ *graph.Store, l *graph.Node) []*graph.Node { return nn.SGD{LR: -1}.Step(l) }, tensor.ErrBounds},
		{"a NaN rate",
			func(_ *graph.Store, l *graph.Node) []*graph.Node { return nn.Adam{LR: nan}.Step(l) }, tensor.ErrBounds},
		{"momentum 1",
			func(_ *graph.Store, l *graph.Node) []*graph.Node { return nn.SGD{Momentum: 1}.Step(l) }, tensor.ErrBounds},
		{"beta 1",
			func(_ *graph.Store, l *graph.Node) []*graph.Node { return nn.Adam{Beta2: 1}.Step(l) }, tensor.ErrBounds},
		{"negative decay",
			func(_ *graph.Store, l *graph.Node) []*graph.Node { return nn.AdamW{WeightDecay: -1}.Step(l) }, tensor.ErrBounds},
		{"a negative norm",
			func(_ *graph.Store, l *graph.Node) []*graph.Node { return nn.SGD{ClipNorm: -1}.Step(l) }, tensor.ErrBounds},
		{"a vector as loss", func(s *graph.Store, l *graph.Node) []*graph.Node {
			w, _ := s.Lookup("w")
			return nn.SGD{}.Step(w.Read(l.Graph()))
		}, tensor.ErrShape},
		{"nothing to train", func(_ *graph.Store, l *graph.Node) []*graph.Node {
			return nn.SGD{}.Step(l.Graph().Literal(tensor.Float32, 1))
		}, tensor.ErrUnsupported},
		{"a nil parameter",
			func(_ *graph.Store, l *graph.Node) []*graph.Node { return nn.SGD{}.Step(l, nil) }, tensor.ErrUnsupported},
		{"a nil loss",
			func(*graph.Store, *graph.Node) []*graph.Node { return nn.SGD{}.Step(nil) }, tensor.ErrUnsupported},
		{"an integer parameter", func(s *graph.Store, l *graph.Node) []*graph.Node {
			return nn.SGD{}.Step(l, s.New("n", nn.Zeros, tensor.Int32))
		}, tensor.ErrDType},
		{"a variable of the name of a moment", func(s *graph.Store, l *graph.Node) []*graph.Node {
			s.New("adam/w/m", nn.Zeros, tensor.Float64, 4)
			return nn.Adam{}.Step(l)
		}, tensor.ErrShape},
		{"a schedule that falls before it has risen", func(_ *graph.Store, l *graph.Node) []*graph.Node {
			return nn.SGD{Schedule: nn.Cosine(5, 5)}.Step(l)
		}, tensor.ErrBounds},
		{"decay every 0 steps", func(_ *graph.Store, l *graph.Node) []*graph.Node {
			return nn.SGD{Schedule: nn.StepDecay(0, 1)}.Step(l)
		}, tensor.ErrBounds},
	} {
		s := store(1)
		_, loss, _, _ := problem(s, tensor.Float64)
		outs := row.step(s, loss)
		_, err := graph.Compile(backend, outs...)
		if !errors.Is(err, row.kind) || !strings.HasPrefix(err.Error(), "optimizer_test.go:") {
			t.Errorf("%s: %v, want %v", row.why, err, row.kind)
		}
	}
}

// TestClipOfExplodedGradients: gradients whose squares are beyond float32, or below it, are clipped like others.
func TestClipOfExplodedGradients(t *testing.T) {
	for _, slope := range []float64{1e25, 1e-30} {
		s := store(1)
		w := s.New("w", nn.Zeros, tensor.Float32, 4)
		g := graph.New()
		loss := ops.Sum(ops.Mul(w.Read(g), slope)) // a gradient of norm 2·slope
		step, err := graph.Compile(backend, nn.SGD{LR: 1, ClipNorm: slope / 1e3}.Step(loss)...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := step.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		want := -slope / 2e3
		for _, got := range floats(t, w) {
			if !(math.Abs(got-want) <= 1e-6*math.Abs(want)) {
				t.Errorf("slope %v: the step is %v, want %v", slope, got, want)
			}
		}
	}
}

// TestOptimizersBuiltTogether: programs on one store are built by several goroutines and share their state.
func TestOptimizersBuiltTogether(t *testing.T) {
	for range 40 {
		s := store(1)
		w := s.New("w", nn.Ones, tensor.Float32, 4)
		var wg sync.WaitGroup
		start := make(chan bool)
		for range 8 {
			wg.Go(func() {
				g := graph.New()
				loss := ops.Sum(ops.Square(w.Read(g)))
				<-start
				step, err := graph.Compile(backend, nn.Adam{LR: 0.1}.Step(loss)...)
				if err == nil {
					_, err = step.Run(context.Background(), nil)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		number, ok := s.Lookup("adam/step")
		if err := s.Err(); err != nil || !ok || floats(t, number)[0] != 8 {
			t.Fatalf("%v, want 8 steps counted by one variable", err)
		}
	}
}

func TestSchedules(t *testing.T) {
	half := func(part float64) float64 { return (1 + math.Cos(math.Pi*part)) / 2 }
	for _, row := range []struct {
		why  string
		s    nn.Schedule
		want map[int64]float64 // after so many steps
	}{
		{"constant", nn.Constant(), map[int64]float64{0: 1, 1000: 1}},
		{"cosine",
			nn.Cosine(0, 8), map[int64]float64{0: 1, 2: half(0.25), 4: 0.5, 7: half(7.0 / 8), 8: 0, 100: 0}},
		{"warmup rises by equal parts, not from 0", nn.Cosine(4, 12),
			map[int64]float64{0: 0.25, 1: 0.5, 3: 1, 4: 1, 6: half(0.25), 8: 0.5, 12: 0, 13: 0}},
		{"decay in steps", nn.StepDecay(3, 0.1), map[int64]float64{0: 1, 2: 1, 3: 0.1, 5: 0.1, 6: 0.01}},
	} {
		for done, want := range row.want {
			g := graph.Eager(backend)
			n := row.s(g.Const(tensor.Scalar(done)))
			if got := value(t, n)[0]; !near(got, want, 1e-15) || n.DType() != tensor.Float64 {
				t.Errorf("%s after %d steps: %v (%s), want %v", row.why, done, got, n.DType(), want)
			}
		}
	}
}
