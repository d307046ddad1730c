package cuda

import (
	"fmt"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestTraffic holds the bytes that kernels move, in whole sectors, against those that must be moved.
func TestTraffic(t *testing.T) {
	if device(t); !Simulated() {
		t.Skip("sectors are counted by the simulator")
	}
	r := rng(t)
	f32 := func(shape ...int) tensor.View { return randomView(r, tensor.Float32, tensor.RowMajor(shape)) }
	into := func(n, extent int) tensor.View { // each place at most once
		perm := r.Perm(extent)
		return integersView(tensor.Int32, tensor.RowMajor([]int{n}), func() int64 {
			v := perm[0]
			perm = perm[1:]
			return int64(v)
		})
	}
	across := func(v tensor.View) tensor.View { return tensor.Must(v.Transpose(1, 0)) }
	row := func(d int) int { return 4 * d }
	for _, c := range []struct {
		name      string
		op        graph.Op
		in        []tensor.View
		out       []int
		inPlace   bool
		necessary int
		most      float64
	}{
		{name: "copy", op: graph.Copy{}, in: []tensor.View{f32(1 << 15)}, out: []int{1 << 15}, necessary: 8 << 15, most: 1.05},
		{name: "transpose", op: graph.Copy{}, in: []tensor.View{across(f32(256, 320))}, out: []int{320, 256}, necessary: 8 * 256 * 320, most: 1.15},
		{name: "gather of rows of 128 bytes", op: ops.GatherOp{Window: rows(2000, 32)},
			in: []tensor.View{f32(3000, 32), into(2000, 3000)}, out: []int{2000, 32}, necessary: 2000 * (2*row(32) + 4), most: 1.05},
		{name: "gather of rows of 1 KB", op: ops.GatherOp{Window: rows(300, 256)},
			in: []tensor.View{f32(400, 256), into(300, 400)}, out: []int{300, 256}, necessary: 300 * (2*row(256) + 4), most: 1.05},
		{name: "set of rows of 128 bytes", op: ops.ScatterOp{Window: rows(2000, 32)}, inPlace: true,
			in: []tensor.View{f32(3000, 32), f32(2000, 32), into(2000, 3000)}, out: []int{3000, 32}, necessary: 2000 * (2*row(32) + 4), most: 1.2}, // a sector of the table a row
		{name: "set of rows of 1 KB", op: ops.ScatterOp{Window: rows(300, 256)}, inPlace: true,
			in: []tensor.View{f32(400, 256), f32(300, 256), into(300, 400)}, out: []int{400, 256}, necessary: 300 * (2*row(256) + 4), most: 1.05},
		{name: "set of rows of 1 KB into another y", op: ops.ScatterOp{Window: rows(300, 256)},
			in: []tensor.View{f32(400, 256), f32(300, 256), into(300, 400)}, out: []int{400, 256}, necessary: 400*2*row(256) + 1200, most: 1.05},
		{name: "sum into rows of 128 bytes", op: ops.ScatterOp{Window: rows(2000, 32), Combine: ops.CombineAdd}, inPlace: true,
			in: []tensor.View{f32(3000, 32), f32(2000, 32), into(2000, 3000)}, out: []int{3000, 32}, necessary: 2000 * (3*row(32) + 4), most: 2.5},
		{name: "sum into rows of 1 KB", op: ops.ScatterOp{Window: rows(300, 256), Combine: ops.CombineAdd}, inPlace: true,
			in: []tensor.View{f32(400, 256), f32(300, 256), into(300, 400)}, out: []int{400, 256}, necessary: 300 * (3*row(256) + 4), most: 2.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := twin{op: c.op, in: c.in, out: []tensor.Layout{tensor.RowMajor(c.out)}, inPlace: c.inPlace, loose: true, used: []bool{true}}
			ptxsim.ResetTraffic()
			if _, err := w.run(device(t)); err != nil {
				t.Fatal(err)
			}
			moved := int64(0)
			for name, k := range ptxsim.Traffic() {
				moved += k.Moved()
				t.Logf("%-16s %2d launches, %8d bytes", name, k.Launches, k.Moved())
			}
			if !c.inPlace {
				moved /= 2 // a twin runs twice
			}
			ratio := float64(moved) / float64(c.necessary)
			t.Log(fmt.Sprintf("%.3f of %d bytes", ratio, c.necessary))
			if ratio > c.most {
				t.Errorf("%d bytes moved, %.3f of the necessary ones, want %.2f", moved, ratio, c.most)
			}
		})
	}
}
