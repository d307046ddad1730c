package cpu_test

import (
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestMean has means whose sums, added one after another, would lose their digits or overflow.
func TestMean(t *testing.T) {
	for _, c := range []struct {
		name, why string
		element   *tensor.Tensor
		n         int
		want      float64
		tolerance float64
	}{
		{"16 million tenths", "CASES 21: float32 sums by a block tree", tensor.Scalar[float32](0.1), 16_000_000, 0.1, 1e-7},
		{"halves", "they are computed in float32 and rounded once", tensor.Scalar(tensor.ToF16(60000)), 4, 60000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.Eager(cpu.New())
			v, err := ops.Mean(g.Const(tensor.Must(c.element.View().Broadcast(c.n)))).Value()
			if err != nil {
				t.Fatal(err)
			}
			got := tensor.Must(v.Read().Float64s())[0]
			if math.Abs(got-c.want) > c.tolerance || v.DType() != c.element.DType() {
				t.Errorf("%v of %s, want %v: %s", got, v.DType(), c.want, c.why)
			}
		})
	}
}
