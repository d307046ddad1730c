package nn_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// line is a trainer that fits y = a·x + b to n points of y = 3x − 1, in batches of 4.
func line(s *graph.Store, n int) (t *nn.Trainer, a, b *graph.Variable) {
	a, b = s.New("a", nn.Zeros, tensor.Float32), s.New("b", nn.Zeros, tensor.Float32)
	g := graph.New()
	x, y := g.Input("x", tensor.Float32, 4), g.Input("y", tensor.Float32, 4)
	guess := ops.Add(ops.Mul(x, a.Read(g)), b.Read(g))
	xs, ys := make([]float32, n), make([]float32, n)
	for i := range xs {
		xs[i] = float32(i%17)/8 - 1
		ys[i] = 3*xs[i] - 1
	}
	return &nn.Trainer{
		Backend: backend,
		Outputs: nn.SGD{LR: 0.2, Momentum: 0.5}.Step(nn.MSE(guess, y)),
		Metrics: []nn.Metric{{Name: "worst", Value: ops.Max(ops.Abs(ops.Sub(guess, y)))}},
		Data: &nn.Table{
			Columns: map[string]*tensor.Tensor{"x": tensor.Of(xs...), "y": tensor.Of(ys...)},
			Batch:   4, Shuffle: true,
		},
		Epochs:   3,
		Progress: io.Discard,
	}, a, b
}

func TestFit(t *testing.T) {
	tr, a, b := line(store(1), 400)
	var seen []nn.Epoch
	tr.AfterEpoch = func(e nn.Epoch) error { seen = append(seen, e); return nil }
	h, err := tr.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !near(floats(t, a)[0], 3, 1e-4) || !near(floats(t, b)[0], -1, 1e-4) {
		t.Errorf("fitted %v·x + %v", floats(t, a), floats(t, b))
	}
	if len(h.Losses) != 300 || len(h.Epochs) != 3 || len(seen) != 3 {
		t.Fatalf("%d losses, %d epochs, %d seen", len(h.Losses), len(h.Epochs), len(seen))
	}
	e := h.Epochs[0]
	sum := 0.0
	for _, l := range h.Losses[:100] {
		sum += l
	}
	if e.Number != 1 || e.Steps != 100 || !near(e.Loss, sum/100, 1e-12) || len(e.Metrics) != 1 ||
		!(e.Metrics[0] > h.Epochs[2].Metrics[0]) {
		t.Errorf("epoch %+v, want a mean loss of %v", e, sum/100)
	}
}

// TestMetricDTypes: floats of every width and int64, which is what counting gives.
func TestMetricDTypes(t *testing.T) {
	tr, _, _ := line(store(1), 40)
	g := tr.Outputs[0].Graph()
	tr.Metrics, tr.Epochs = nil, 1
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Int64} {
		tr.Metrics = append(tr.Metrics, nn.Metric{Name: dt.String(), Value: g.Literal(dt, 3)})
	}
	h, err := tr.Fit(context.Background())
	if err != nil || !slices.Equal(h.Epochs[0].Metrics, []float64{3, 3, 3, 3, 3}) {
		t.Errorf("%+v, %v", h.Epochs, err)
	}
}

// TestProgressLines: a line for the first step, one for every so many, one for the epoch's mean.
func TestProgressLines(t *testing.T) {
	tr, _, _ := line(store(1), 40)
	var out bytes.Buffer
	tr.Progress, tr.Every, tr.Epochs = &out, 4, 2
	if _, err := tr.Fit(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`\d+\.\d{4}`).ReplaceAllString(out.String(), "N")
	got = regexp.MustCompile(`[\d.]+(ns|µs|ms|s)( a step)?\n`).ReplaceAllString(got, "T$2\n")
	want := strings.Join([]string{
		"epoch 1/2  step 1/10  loss N  worst N  T a step",
		"epoch 1/2  step 4/10  loss N  worst N  T a step",
		"epoch 1/2  step 8/10  loss N  worst N  T a step",
		"epoch 1/2  mean  loss N  worst N  T",
		"epoch 2/2  step 4/10  loss N  worst N  T a step",
		"epoch 2/2  step 8/10  loss N  worst N  T a step",
		"epoch 2/2  mean  loss N  worst N  T", ""}, "\n")
	if got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

// TestFitStopsBetweenSteps: a cancelled training returns what it reached, and the variables are those of that
// many steps.
func TestFitStopsBetweenSteps(t *testing.T) {
	tr, a, _ := line(store(1), 400)
	ctx, cancel := context.WithCancel(context.Background())
	tr.Data = stopping{tr.Data, 7, cancel}
	h, err := tr.Fit(ctx)
	if err != context.Canceled || len(h.Losses) != 7 || len(h.Epochs) != 0 {
		t.Fatalf("%v after %d steps, %d epochs", err, len(h.Losses), len(h.Epochs))
	}
	again, b, _ := line(store(1), 400)
	again.Data = limited{again.Data, 7}
	again.Epochs = 1
	if _, err := again.Fit(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(floats(t, a), floats(t, b)) {
		t.Errorf("stopped at %v, seven steps give %v", floats(t, a), floats(t, b))
	}
}

// stopping cancels when it is asked for batch n.
type stopping struct {
	nn.Dataset
	n      int
	cancel func()
}

func (s stopping) Batches(epoch int) iter.Seq2[graph.Feed, error] {
	return func(yield func(graph.Feed, error) bool) {
		n := 0
		for feed, err := range s.Dataset.Batches(epoch) {
			if n == s.n {
				s.cancel()
			}
			if n++; !yield(feed, err) {
				return
			}
		}
	}
}

// limited ends an epoch after n batches.
type limited struct {
	nn.Dataset
	n int
}

func (l limited) Batches(epoch int) iter.Seq2[graph.Feed, error] {
	return func(yield func(graph.Feed, error) bool) {
		n := 0
		for feed, err := range l.Dataset.Batches(epoch) {
			if n == l.n || !yield(feed, err) {
				return
			}
			n++
		}
	}
}

func TestDebugNaN(t *testing.T) {
	s := store(1)
	w := s.New("w", nn.Ones, tensor.Float32)
	build := func() *nn.Trainer {
		g := graph.New()
		x := g.Input("x", tensor.Float32, 2)
		loss := ops.Sum(ops.Mul(ops.Log(x), w.Read(g))) // NaN for a negative x
		xs := tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, -6, 7, 8}, 8))
		return &nn.Trainer{Backend: backend, Outputs: nn.SGD{LR: 1e-3}.Step(loss), Epochs: 2, Progress: io.Discard,
			Data: &nn.Table{Columns: map[string]*tensor.Tensor{"x": xs}, Batch: 2}}
	}
	tr := build()
	tr.DebugNaN = true
	h, err := tr.Fit(context.Background())
	if err == nil || !strings.HasPrefix(err.Error(), "step 3 in epoch 1: trainer_test.go:") {
		t.Errorf("%v", err)
	}
	var step *nn.StepError
	var cause *graph.NaNError
	if !errors.As(err, &step) || step.Step != 3 || step.Epoch != 1 || !errors.As(err, &cause) || cause.Op != "ops.Log" ||
		!strings.Contains(cause.Pos, "trainer_test.go:") || len(h.Losses) != 2 {
		t.Errorf("%v after %d steps; want ops.Log in step 3", err, len(h.Losses))
	}
	if v := floats(t, w)[0]; math.IsNaN(v) {
		t.Error("the NaN reached the variable")
	}
	if h, err := build().Fit(context.Background()); err != nil || len(h.Losses) != 8 || !math.IsNaN(h.Losses[7]) {
		t.Errorf("without the option: %v after %d steps", err, len(h.Losses))
	}
}

type failing struct{ after int }

var errData = errors.New("data ran dry")

func (failing) Len() int { return 0 }
func (f failing) Batches(int) iter.Seq2[graph.Feed, error] {
	return func(yield func(graph.Feed, error) bool) {
		four := tensor.Must(tensor.New(tensor.Float32, 4))
		for range f.after {
			if !yield(graph.Feed{"x": four, "y": four}, nil) {
				return
			}
		}
		yield(nil, errData)
	}
}

func TestFitErrors(t *testing.T) {
	late := errors.New("enough")
	for _, row := range []struct {
		why   string
		spoil func(*nn.Trainer)
		kind  error
		steps int
	}{
		{"the data fails", func(t *nn.Trainer) { t.Data = failing{3} }, errData, 3},
		{"no batches", func(t *nn.Trainer) { t.Data = limited{t.Data, 0} }, nil, 0},
		{"a batch of another size", func(t *nn.Trainer) { t.Data.(*nn.Table).Batch = 5 }, tensor.ErrShape, 0},
		{"no data", func(t *nn.Trainer) { t.Data = nil }, tensor.ErrUnsupported, 0},
		{"no outputs", func(t *nn.Trainer) { t.Outputs = nil }, tensor.ErrUnsupported, 0},
		{"a vector as a metric", func(t *nn.Trainer) {
			t.Metrics[0].Value = t.Outputs[0].Graph().Input("x", tensor.Float32, 4)
		}, tensor.ErrShape, 0},
		{"a bool as a metric", func(t *nn.Trainer) {
			t.Metrics[0].Value = ops.Less(t.Outputs[0], 1)
		}, tensor.ErrDType, 0},
		{"an assignment as the loss", func(t *nn.Trainer) {
			t.Metrics, t.Outputs = nil, t.Outputs[1:]
		}, tensor.ErrShape, 0},
		{"after the epoch",
			func(t *nn.Trainer) { t.AfterEpoch = func(nn.Epoch) error { return late } }, late, 100},
	} {
		tr, _, _ := line(store(1), 400)
		row.spoil(tr)
		h, err := tr.Fit(context.Background())
		if err == nil || row.kind != nil && !errors.Is(err, row.kind) || len(h.Losses) != row.steps {
			t.Errorf("%s: %v after %d steps, want %v after %d", row.why, err, len(h.Losses), row.kind, row.steps)
		}
	}
}

// TestFitNilContext: a caller's mistake is an error.
func TestFitNilContext(t *testing.T) {
	tr, _, _ := line(store(1), 400)
	var none context.Context
	if _, err := tr.Fit(none); !errors.Is(err, tensor.ErrUnsupported) {
		t.Errorf("got %v, want an error that wraps %v", err, tensor.ErrUnsupported)
	}
}

// TestFitAllocatesNoTensorsPerStep: a thousand steps more cost a few bytes each: the history.
func TestFitAllocatesNoTensorsPerStep(t *testing.T) {
	bytes := func(n int) uint64 {
		tr, _, _ := line(store(1), n)
		tr.Data.(*nn.Table).Shuffle = false
		tr.Epochs = 1
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := tr.Fit(context.Background()); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := bytes(4*1000), bytes(4*5000)
	if each := (float64(many) - float64(few)) / 4000; each > 64 {
		t.Errorf("%.0f bytes a step", each)
	}
}
