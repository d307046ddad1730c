package nn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Trainer runs a training step over the batches of a dataset for a number of epochs. In the steady state a
// step allocates no tensors.
type Trainer struct {
	Backend graph.Backend
	// Outputs is what an Optimizer's Step returned: the loss and the assignments. More assignments may follow,
	// that of Keys.Advance for one.
	Outputs []*Node
	Metrics []Metric
	Data    Dataset
	Epochs  int
	// DebugNaN stops at the first op whose result holds a NaN, with a *graph.NaNError. It is slow.
	DebugNaN bool
	// Progress is where it is shown how far training has come: nil stands for standard error, io.Discard shows
	// nothing. A terminal gets a bar, anything else a line now and then.
	Progress io.Writer
	// Every is the number of steps between two lines; 0 stands for 100. The first step has a line too.
	Every int
	// AfterEpoch is called after each epoch, if there is one; an error of it stops training.
	AfterEpoch func(Epoch) error
}

// Metric is a real scalar that is computed in each step, from the values before the step like the loss, and
// averaged over the epoch.
type Metric struct {
	Name  string
	Value *Node
}

// History is how training went.
type History struct {
	Losses []float64 // of each step
	Epochs []Epoch   // those that were finished
}

// Epoch is one pass over the data.
type Epoch struct {
	Number  int // from 1
	Steps   int
	Loss    float64   // the mean over the steps
	Metrics []float64 // the means, in the order of Trainer.Metrics
	Time    time.Duration
}

// StepError says in which step training failed.
type StepError struct {
	Epoch, Step int // from 1; Step counts through all epochs
	Err         error
}

// Error is "step 12 in epoch 1: train.go:42: ops.Log: result 0 holds a NaN".
func (e *StepError) Error() string {
	return fmt.Sprintf("step %d in epoch %d: %v", e.Step, e.Epoch, e.Err)
}

// Unwrap is the cause.
func (e *StepError) Unwrap() error { return e.Err }

// Fit compiles the program and trains. Data on the host are copied to the backend's device step by step. It stops between steps when ctx ends. The history is what was reached,
// with an error too, and every step in it is in the variables as a whole.
//
// Errors: those of graph.Compile; tensor.ErrShape, tensor.ErrDType for a loss or a metric that is no real
// scalar; ctx.Err(); *StepError for one of the program, *graph.NaNError for example, or of the data; that of
// AfterEpoch.
func (t *Trainer) Fit(ctx context.Context) (*History, error) {
	h := &History{}
	if len(t.Outputs) == 0 || t.Data == nil || t.Backend == nil {
		return h, tensor.Errorf("nn.Trainer", tensor.ErrUnsupported, "a trainer needs a backend, outputs and data")
	}
	if ctx == nil {
		return h, tensor.Errorf("nn.Trainer", tensor.ErrUnsupported, "the context is nil; use context.Background()")
	}
	outputs := []*Node{t.Outputs[0]}
	for _, m := range t.Metrics {
		outputs = append(outputs, m.Value)
	}
	outputs = append(outputs, t.Outputs[1:]...)
	program, err := graph.CompileWith(t.Backend, graph.Options{CheckNaN: t.DebugNaN}, outputs...)
	if err != nil {
		return h, err
	}
	r := run{Trainer: t, program: program, history: h, progress: newProgress(t)}
	if err := r.allocate(); err != nil {
		return h, err
	}
	for epoch := range t.Epochs {
		if err := r.epoch(ctx, epoch); err != nil {
			r.progress.stop()
			return h, err
		}
		if t.AfterEpoch != nil {
			if err := t.AfterEpoch(h.Epochs[epoch]); err != nil {
				return h, err
			}
		}
	}
	return h, nil
}

// run is training under way.
type run struct {
	*Trainer
	program  *graph.Program
	history  *History
	progress *progress
	results  []*tensor.Tensor
	feed     graph.Feed                // of the step, in a device's memory
	scalars  []func() (float64, error) // the loss and the metrics of the last step
	values   []float64                 // theirs
	sums     []float64                 // theirs, over the epoch
}

// allocate makes the tensors that every step writes.
func (r *run) allocate() error {
	for _, spec := range r.program.Outputs() {
		size, err := tensor.CheckedBytes(spec)
		if err != nil {
			return err
		}
		mem, err := r.Backend.Allocate(size)
		if err != nil {
			return err
		}
		result, err := tensor.OnStorage(mem, spec.DType, tensor.RowMajor(spec.Shape))
		if err != nil {
			return err
		}
		r.results = append(r.results, result)
	}
	for i := range 1 + len(r.Metrics) {
		if i >= len(r.results) { // an assignment stands where a value should
			return tensor.Errorf("nn.Trainer", tensor.ErrShape, "%s is an assignment, want a scalar", r.nameOf(i))
		}
		read, err := scalarOf(r.Backend, r.results[i])
		if err != nil {
			return fmt.Errorf("nn.Trainer: %s: %w", r.nameOf(i), err)
		}
		r.scalars = append(r.scalars, read)
	}
	r.values, r.sums = make([]float64, len(r.scalars)), make([]float64, len(r.scalars))
	return nil
}

func (r *run) nameOf(i int) string {
	if i == 0 {
		return "the loss"
	}
	return fmt.Sprintf("metric %q", r.Metrics[i-1].Name)
}

// scalarOf reads a tensor of one element, without an allocation.
func scalarOf(b graph.Backend, t *tensor.Tensor) (func() (float64, error), error) {
	if t.Rank() != 0 {
		return nil, tensor.Errorf("", tensor.ErrShape, "it has shape %v, want a scalar", t.Shape())
	}
	switch t.DType() {
	case tensor.Float16:
		return element(b, t, tensor.F16.Float32), nil
	case tensor.BFloat16:
		return element(b, t, tensor.BF16.Float32), nil
	case tensor.Float32:
		return element(b, t, func(v float32) float32 { return v }), nil
	case tensor.Float64:
		return element(b, t, func(v float64) float64 { return v }), nil
	case tensor.Int64:
		return element(b, t, func(v int64) float64 { return float64(v) }), nil
	}
	return nil, tensor.Errorf("", tensor.ErrDType, "it is %s, want a float or int64", t.DType())
}

func element[T tensor.Element, F float32 | float64](b graph.Backend, t *tensor.Tensor, to func(T) F) func() (float64, error) {
	return func() (float64, error) {
		v, err := b.Export(t.View())
		if err != nil {
			return 0, err
		}
		e, err := tensor.AsSlice[T](v.Read())
		if err != nil {
			return 0, err
		}
		return float64(to(e[0])), nil
	}
}

// epoch runs the steps of one epoch, counted from 0.
func (r *run) epoch(ctx context.Context, epoch int) error {
	began, first := time.Now(), len(r.history.Losses)
	clear(r.sums)
	r.progress.begin(epoch + 1)
	for feed, err := range r.Data.Batches(epoch) {
		if stop := ctx.Err(); stop != nil {
			return stop
		}
		if err == nil && r.Backend.Placement().Kind == tensor.Device {
			r.feed, err = feed.Import(r.Backend, r.feed)
			feed = r.feed
		}
		if err == nil {
			err = r.program.RunInto(ctx, feed, r.results)
		}
		if err != nil {
			if stop := ctx.Err(); stop != nil && errors.Is(err, stop) {
				return stop
			}
			return &StepError{epoch + 1, len(r.history.Losses) + 1, err}
		}
		for i, read := range r.scalars {
			if r.values[i], err = read(); err != nil {
				return &StepError{epoch + 1, len(r.history.Losses) + 1, err}
			}
			r.sums[i] += r.values[i]
		}
		r.history.Losses = append(r.history.Losses, r.values[0])
		r.progress.step(len(r.history.Losses)-first, r.values)
	}
	steps := len(r.history.Losses) - first
	if steps == 0 {
		return fmt.Errorf("nn.Trainer: epoch %d: %w", epoch+1, errNoBatches)
	}
	means := make([]float64, len(r.sums))
	for i, s := range r.sums {
		means[i] = s / float64(steps)
	}
	e := Epoch{epoch + 1, steps, means[0], means[1:], time.Since(began)}
	r.history.Epochs = append(r.history.Epochs, e)
	r.progress.end(e)
	return nil
}

var errNoBatches = errors.New("the data has no batch")
