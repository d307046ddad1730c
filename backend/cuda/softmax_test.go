package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	cases := []struct {
		why   string
		shape []int
		axis  int
		kind  int // of both layouts; −1 is any
	}{
		{"a line of one", []int{5, 1}, 1, -1},
		{"no elements", []int{5, 0}, 1, -1},
		{"no lines", []int{0, 5}, 1, -1},
		{"a part of a warp does a line", []int{7, 17}, 1, 0},
		{"a warp does a line of several blocks", []int{3, 700}, 1, 0},
		{"rows in any layout", []int{9, 40}, 1, -1},
		{"columns", []int{150, 35}, 0, 0},
		{"tiles of some columns", []int{400, 20}, 0, 0},
		{"columns too long for a tile", []int{1607, 20}, 0, 0},
		{"columns of the middle axis", []int{3, 20, 7}, 1, -1},
		{"a block does a line that it keeps", []int{2, 2100}, 1, 0},
		{"a block does a line that it reads again", []int{1, 12500}, 1, 0},
	}
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		for _, log := range []bool{false, true} {
			for _, c := range cases {
				if testing.Short() && tensor.Size(c.shape) > 10000 && dt != tensor.Float32 {
					continue
				}
				for _, special := range []int{0, 2, -2, 100} {
					if spared(rng, 6) {
						continue
					}
					from, to := c.kind, c.kind
					if c.kind < 0 {
						from, to = rng.IntN(layoutKinds), rng.IntN(layoutKinds)
					}
					in := foldView(rng, dt, laid(from, c.shape), special)
					out := graph.Operand{DType: dt, Layout: laid(to, c.shape)}
					sameAsCPU(t, ops.SoftmaxOp{Axis: c.axis, Log: log}, []tensor.View{in}, []graph.Operand{out}, nil)
				}
			}
		}
	}
}

// TestSoftmaxPeaks: the greatest element of each line is found wherever it is: without it the exponentials
// overflow, where rounding to half floats would hide one that is a little less.
func TestSoftmaxPeaks(t *testing.T) {
	const length, lines = 1607, 20 // too long for a tile
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		for axis := range 2 {
			shape := []int{lines, length}
			if axis == 0 {
				shape = []int{length, lines}
			}
			i := -1
			in := floatsView(dt, tensor.RowMajor(shape), func() float64 {
				i++
				line, place := i/shape[1], i%shape[1]
				if axis == 0 {
					line, place = place, line
				}
				if place == 77*line {
					return 1000
				}
				return -1000
			})
			for _, log := range []bool{false, true} {
				if testing.Short() && log == (axis == 0) {
					continue
				}
				out := graph.Operand{DType: dt, Layout: tensor.RowMajor(shape)}
				sameAsCPU(t, ops.SoftmaxOp{Axis: axis, Log: log}, []tensor.View{in}, []graph.Operand{out}, nil)
			}
		}
	}
}
