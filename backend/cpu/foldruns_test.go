package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestReduce_runs: a line of several runs of memory has the tree of one run. What is taken of a run at once is
// a subtree only where as many blocks stand before it as it has, or a multiple.
func TestReduce_runs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	folds := refFloats(fmath.Exp32, fmath.Log32)
	for _, row := range []int{128, 256, 3 * 128, 5 * 128, 5*128 + 1, 7*128 - 1} {
		t.Run(fmt.Sprint(row), func(t *testing.T) {
			shape := []int{7, row}
			whole := tensor.Must(tensor.New(tensor.Float32, 7, row+40))
			normals(rng, tensor.Must(tensor.Slice[float32](whole)))
			in := tensor.Must(whole.View().Slice([]int{0, 3}, []int{1, 1}, shape))
			data := tensor.Must(tensor.Values[float32](in))
			for _, fn := range []ops.ReduceFn{ops.ReduceSum, ops.ReduceLogSumExp} {
				want := refReduce(data, shape, []int{0, 1}, identityOf[float32], identityOf, folds[fn])
				for _, x := range execs {
					if got := reduced[float32](t, x, fn, []int{0, 1}, in); !sameBits(got, want) {
						t.Errorf("fn %d with %d threads: got %v, want %v", fn, x.NumThreads(), got, want)
					}
				}
			}
		})
	}
}

// TestReduce_upwards: rows of a strip are taken from the last one in memory to the first where the axis is reversed.
func TestReduce_upwards(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	folds := refFloats(fmath.Exp32, fmath.Log32)
	for _, rows := range []int{1, 15, 17, 300} {
		for _, columns := range []int{8, 50, 70} {
			whole := tensor.Must(tensor.New(tensor.Float32, rows, columns))
			normals(rng, tensor.Must(tensor.Slice[float32](whole)))
			in := tensor.Must(whole.View().Reverse(0))
			data := tensor.Must(tensor.Values[float32](in))
			for _, fn := range []ops.ReduceFn{ops.ReduceSum, ops.ReduceMax, ops.ReduceMin, ops.ReduceLogSumExp} {
				want := refReduce(data, in.Shape(), []int{0}, identityOf[float32], identityOf, folds[fn])
				for _, x := range execs {
					if got := reduced[float32](t, x, fn, []int{0}, in); !sameBits(got, want) {
						t.Errorf("fn %d of %d rows and %d columns, %d threads: got %v, want %v", fn, rows, columns,
							x.NumThreads(), got, want)
					}
				}
			}
		}
	}
}
