package backendtest

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Exact is a case with the very values of the results, and of the gradients where a cotangent is given: ties,
// NaN, duplicates, bounds, where finite differences say nothing.
type Exact struct {
	Name  string
	Why   string
	In    []*tensor.Tensor
	Build func(in []*Node) []*Node
	Want  []*tensor.Tensor
	// Cotangent is that of result 0; Grads are those of the inputs, nil for one that is not asked for.
	Cotangent *tensor.Tensor
	Grads     []*tensor.Tensor
	// Err is the kind of error that evaluation gives.
	Err error
}

// Check evaluates a case on a backend, eager and compiled, and says what is wrong.
func (e Exact) Check(b graph.Backend) error {
	s := &suite{backends: []graph.Backend{b}}
	var in []tensor.View
	for _, t := range e.In {
		in = append(in, t.View())
	}
	f := e.withGradients()
	got, _, err := s.eager(b, f, in)
	compiled, cerr := s.program(graph.Options{}, f, in)
	if e.Err != nil {
		if !errors.Is(err, e.Err) || !errors.Is(cerr, e.Err) {
			return fmt.Errorf("the errors are %v (eager) and %v (compiled), want %v", err, cerr, e.Err)
		}
		return nil
	}
	if err = errors.Join(err, cerr); err != nil {
		return err
	}
	want := append([]*tensor.Tensor{}, e.Want...)
	for _, g := range e.Grads {
		if g != nil {
			want = append(want, g)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d results and gradients, want %d", len(got), len(want))
	}
	for i, w := range want {
		o := outcome{array: tensor.Must(arrayOf(w.Read())), ulps: 2}
		what := fmt.Sprintf("result %d", i)
		if i >= len(e.Want) {
			what = fmt.Sprintf("gradient %d", i-len(e.Want))
		}
		if why := o.differs(got[i]); why != "" {
			return fmt.Errorf("%s %s", what, why)
		}
		if why := sameBits(compiled[i], got[i]); why != "" {
			return fmt.Errorf("%s, compiled against eager: %s", what, why)
		}
	}
	return nil
}

// withGradients gives the results and then the gradients asked for.
func (e Exact) withGradients() func(in []*Node) []*Node {
	return func(in []*Node) []*Node {
		outs := e.Build(in)
		if e.Cotangent == nil {
			return outs
		}
		var wrt []*Node
		for k, g := range e.Grads {
			if g != nil {
				wrt = append(wrt, in[k])
			}
		}
		ct := in[0].Graph().Const(e.Cotangent)
		return append(append([]*Node{}, outs...), autograd.VJP(outs[:1], []*Node{ct}, wrt)...)
	}
}

func (s *suite) exact(t *testing.T) {
	s = s.parallel(t, 0)
	for k, e := range Exacts() {
		if s.options.Sample > 0 && s.leftOut(k) {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			if err := e.Check(s.next()); err != nil {
				t.Errorf("%s (%s)", err, e.Why)
			}
		})
	}
}

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// f64 is a float64 tensor; without a shape of rank 1.
func f64(values ...float64) *tensor.Tensor { return tensor.Of(values...) }

func f64s(shape []int, values ...float64) *tensor.Tensor {
	return tensor.Must(tensor.FromSlice(values, shape...))
}

func ints(values ...int64) *tensor.Tensor { return tensor.Of(values...) }

func scalar(v float64) *tensor.Tensor { return tensor.Scalar(v) }
