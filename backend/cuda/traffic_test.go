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
	moves := func(rows, d, times int) int { return rows * (times*4*d + 4) } // of rows of float32, and their indices
	gather := func(n, d, of int) ([]tensor.View, []int) { return []tensor.View{f32(of, d), into(n, of)}, []int{n, d} }
	scatter := func(n, d, of int) ([]tensor.View, []int) {
		return []tensor.View{f32(of, d), f32(n, d), into(n, of)}, []int{of, d}
	}
	short, shortU := gather(2000, 32, 3000)
	long, longU := gather(300, 256, 400)
	shortSet, shortY := scatter(2000, 32, 3000)
	longSet, longY := scatter(300, 256, 400)
	sum := func(n, d int) graph.Op { return ops.ScatterOp{Window: rows(n, d), Combine: ops.CombineAdd} }
	for _, c := range []struct {
		name      string
		op        graph.Op
		in        []tensor.View
		out       []int
		inPlace   bool
		necessary int
		most      float64
	}{
		{"copy", graph.Copy{}, []tensor.View{f32(1 << 15)}, []int{1 << 15}, false, 8 << 15, 1.05},
		{"transpose", graph.Copy{}, []tensor.View{across(f32(256, 320))}, []int{320, 256}, false, 8 * 256 * 320, 1.15},
		{"gather of rows of 128 bytes", ops.GatherOp{Window: rows(2000, 32)}, short, shortU, false,
			moves(2000, 32, 2), 1.05},
		{"gather of rows of 1 KB", ops.GatherOp{Window: rows(300, 256)}, long, longU, false,
			moves(300, 256, 2), 1.05},
		{"set of rows of 128 bytes", ops.ScatterOp{Window: rows(2000, 32)}, shortSet, shortY, true,
			moves(2000, 32, 2), 1.25}, // and a sector of the table a row
		{"set of rows of 1 KB", ops.ScatterOp{Window: rows(300, 256)}, longSet, longY, true,
			moves(300, 256, 2), 1.05},
		{"set of rows of 1 KB into another y", ops.ScatterOp{Window: rows(300, 256)}, longSet, longY, false,
			moves(400, 256, 2), 1.05},
		{"sum into rows of 128 bytes", sum(2000, 32), shortSet, shortY, true, moves(2000, 32, 3), 2.5},
		{"sum into rows of 1 KB", sum(300, 256), longSet, longY, true, moves(300, 256, 3), 2.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := twin{op: c.op, in: c.in, out: []tensor.Layout{tensor.RowMajor(c.out)}, inPlace: c.inPlace}
			w.used = []bool{true}
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
