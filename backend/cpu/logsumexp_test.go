package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestLogSumExp_of_all_kinds has lines and columns next to one another of which some are summed as those of a softmax and
// some cannot be: the bits are those of elements that are not neighbours.
func TestLogSumExp_of_all_kinds(t *testing.T) {
	inf, nan := float32(posInf), float32(aNaN)
	for _, row := range []struct {
		why   string
		shape []int
		at    map[[2]int]float32
	}{
		{"whole blocks, several panels and a rest", []int{384, 1300}, nil},
		{"lines longer than what is summed at a time", []int{5, 6400}, nil},
		{"one short block of columns", []int{16, 256}, nil},
		{"one block more than short", []int{17, 300}, nil},
		{"NaN, first, in between and last", []int{200, 640}, map[[2]int]float32{{0, 0}: nan, {99, 300}: nan, {199, 639}: nan}},
		{"infinities", []int{256, 512}, map[[2]int]float32{{0, 3}: -inf, {7, 300}: inf, {255, 511}: -inf}},
		{"elements far apart", []int{256, 512}, map[[2]int]float32{{3, 200}: 4000, {254, 511}: -90}},
	} {
		values := randomValues[float32](rand.New(rand.NewPCG(3, 4)), tensor.Size(row.shape), false)
		for at, v := range row.at {
			values[at[0]*row.shape[1]+at[1]] = v
		}
		in := tensor.Must(tensor.FromSlice(values, row.shape...)).View()
		apart := viewAs(t, "holed", row.shape, values, 7)
		for axis, x := range execs[:2] {
			op := ops.ReduceOp{Fn: ops.ReduceLogSumExp, Axes: []int{axis}}
			got := tensor.Must(tensor.New(tensor.Float32, row.shape[1-axis]))
			want := tensor.Must(tensor.New(tensor.Float32, row.shape[1-axis]))
			if err := reduceInto(x, op, got.View(), in); err != nil {
				t.Fatal(err)
			}
			if err := reduceInto(x, op, want.View(), apart); err != nil {
				t.Fatal(err)
			}
			if !sameBits(tensor.Must(tensor.Values[float32](got)), tensor.Must(tensor.Values[float32](want))) {
				t.Errorf("%s, axis %d: other bits", row.why, axis)
			}
		}
	}
}
