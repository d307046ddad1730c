package nn

import (
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestInitialValuesAreTheGraphs: under a variable's key the random ops of a graph give its initial values: the
// uniform ones to the bit, the normal ones but for the rounding of the graph's Erfinv.
func TestInitialValuesAreTheGraphs(t *testing.T) {
	words := keyOf(5, "w")
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		g := graph.Eager(cpu.On(cpu.Serial()))
		key := g.Const(tensor.Of(words[:]...))
		spec := tensor.Spec{DType: dt, Shape: []int{7, 9}}
		compare := func(name string, init graph.Initializer, n *graph.Node, within float64) {
			t.Helper()
			view, err := n.Value()
			if err != nil {
				t.Fatal(err)
			}
			want := tensor.Must(view.Read().Float64s())
			got := tensor.Must(tensor.Must(init.Init(5, "w", spec)).Read().Float64s())
			for i := range want {
				if math.Abs(got[i]-want[i]) > within*math.Abs(want[i]) {
					t.Errorf("%s of %s, element %d: %v, the graph gives %v", name, dt, i, got[i], want[i])
				}
			}
		}
		ulp := map[tensor.DType]float64{
			tensor.Float16: 1.0 / 1024, tensor.BFloat16: 1.0 / 128, tensor.Float32: 1e-6, tensor.Float64: 1e-14,
		}[dt]
		compare("uniform", Uniform(0, 1), ops.RandomUniform(key, dt, 7, 9), 0)
		compare("normal", Normal(1), ops.RandomNormal(key, dt, 7, 9), ulp)
	}
}
