package ops_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestArange has ranges whose elements or whose length float64 does not hold, and steps that dt does not.
func TestArange(t *testing.T) {
	const least, greatest = math.MinInt64, math.MaxInt64
	for _, r := range []struct {
		why               string
		dt                tensor.DType
		start, stop, step int64
		want              []int64
	}{
		{"up to the greatest", tensor.Int64, greatest - 3, greatest, 1, []int64{greatest - 3, greatest - 2, greatest - 1}},
		{"down to the least", tensor.Int64, least + 2, least, -1, []int64{least + 2, least + 1}},
		{"beyond 2⁵³ one apart", tensor.Int64, 1 << 60, 1<<60 + 2, 1, []int64{1 << 60, 1<<60 + 1}},
		{"from end to end", tensor.Int64, least, greatest, greatest, []int64{least, -1, greatest - 1}},
		{"the least step", tensor.Int64, greatest, least, least, []int64{greatest, -1}},
		{"a last step that is not whole", tensor.Int32, 0, 7, 3, []int64{0, 3, 6}},
		{"the stop is left out", tensor.Int32, 0, 6, 3, []int64{0, 3}},
		{"the wrong way", tensor.Int32, 0, 6, -3, nil},
		{"nowhere", tensor.Int32, 6, 6, 3, nil},
		{"down in an unsigned dtype", tensor.Uint8, 5, 0, -2, []int64{5, 3, 1}},
		{"a step that the dtype does not hold", tensor.Int8, -100, 127, 200, []int64{-100, 100}},
	} {
		v, err := ops.Cast(ops.Arange(graph.Eager(cpu.New()), r.dt, r.start, r.stop, r.step), tensor.Int64).Value()
		if err != nil {
			t.Errorf("%s: %v", r.why, err)
			continue
		}
		if got := tensor.Must(tensor.Values[int64](v)); !slices.Equal(got, r.want) {
			t.Errorf("%s: %v, want %v", r.why, got, r.want)
		}
	}
	g := graph.New()
	if n := ops.Arange(g, tensor.Int64, 0, int64(greatest), 1); n.Size() != greatest {
		t.Errorf("the longest range has %d elements: %v", n.Size(), g.Err())
	}
	if ops.Arange(g, tensor.Int64, int64(least), greatest, 1); !errors.Is(g.Err(), tensor.ErrOverflow) {
		t.Errorf("a longer one: %v, want ErrOverflow", g.Err())
	}
	g = graph.New()
	if ops.Arange(g, tensor.Int8, 128, 130, 1); !errors.Is(g.Err(), tensor.ErrOverflow) {
		t.Errorf("a start that int8 does not hold: %v, want ErrOverflow", g.Err())
	}
}

// TestBernoulliHalf: a probability less than the distance of two float16 numbers below 1 is what it says.
func TestBernoulliHalf(t *testing.T) {
	const n, p = 1 << 18, 1. / (1 << 13)
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		g := graph.Eager(cpu.New())
		hits := ops.Sum(ops.Cast(ops.Bernoulli(ops.Key(g, 1), g.Literal(dt, p), n), tensor.Int64))
		v, err := hits.Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tensor.Must(tensor.Values[int64](v))[0]; got < 10 || got > 60 { // 32 ± 5 σ
			t.Errorf("%s: %d of %d are true, want about %v", dt, got, n, n*p)
		}
	}
}
