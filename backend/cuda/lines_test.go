package cuda

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestLineTraffic counts the sectors that kernels move, against the bytes that they must.
func TestLineTraffic(t *testing.T) {
	b := device(t)
	if !Simulated() {
		t.Skip("only the simulator counts sectors")
	}
	evenGrids = true
	defer func() { evenGrids, blocksEach = false, 32 }()
	rng := rand.New(rand.NewPCG(15, 16))
	f32 := func(shape ...int) graph.Operand {
		return graph.Operand{DType: tensor.Float32, Layout: tensor.RowMajor(shape)}
	}
	f16 := func(shape ...int) graph.Operand {
		return graph.Operand{DType: tensor.Float16, Layout: tensor.RowMajor(shape)}
	}
	u8 := func(shape ...int) graph.Operand {
		return graph.Operand{DType: tensor.Uint8, Layout: tensor.RowMajor(shape)}
	}
	sum, most := ops.ReduceOp{Fn: ops.ReduceSum, Axes: []int{1}}, ops.ReduceOp{Fn: ops.ReduceMax, Axes: []int{1}}
	over := func(op ops.ReduceOp, axis int) ops.ReduceOp {
		op.Axes = []int{axis}
		return op
	}
	index := func(n int) graph.Operand {
		return graph.Operand{DType: tensor.Int64, Layout: tensor.RowMajor([]int{n})}
	}
	for _, c := range []struct {
		name    string
		op      graph.Op
		in, out graph.Operand
		limit   float64 // moved over what the operand and the result have
	}{
		{"sum of rows", sum, f32(16, 1024), f32(16), 1.1},
		{"sum of short rows", sum, f32(128, 64), f32(128), 1.1},
		{"sum of columns", over(sum, 0), f32(256, 64), f32(64), 1.1},
		{"sum of halves", sum, f16(16, 1024), f16(16), 1.1},
		{"max of bytes", most, u8(16, 2048), u8(16), 1.1},
		{"max of rows", most, f32(16, 1024), f32(16), 1.1},
		{"max of rows, several to a warp", most, f32(96, 1024), f32(96), 1.1},
		{"arg max of rows, several to a warp", ops.ArgReduceOp{Axis: 1, Index: tensor.Int64}, f32(96, 1024), index(96), 1.1},
		{"sum of rows, several to a warp", sum, f32(96, 1024), f32(96), 1.1},
		{"softmax of rows, several to a warp", ops.SoftmaxOp{Axis: 1}, f32(96, 512), f32(96, 512), 1.1},
		{"max of columns", over(most, 0), f32(256, 64), f32(64), 1.1},
		{"arg max of rows", ops.ArgReduceOp{Axis: 1, Index: tensor.Int64}, f32(16, 1024), index(16), 1.1},
		{"arg max of columns", ops.ArgReduceOp{Axis: 0, Index: tensor.Int64}, f32(256, 64), index(64), 1.1},
		{"softmax of rows", ops.SoftmaxOp{Axis: 1}, f32(16, 512), f32(16, 512), 1.1},
		{"softmax of long rows", ops.SoftmaxOp{Axis: 1}, f32(2, 8192), f32(2, 8192), 1.1},
		{"softmax of columns", ops.SoftmaxOp{Axis: 0}, f32(128, 64), f32(128, 64), 1.1},
		{"scan of rows", ops.ScanOp{Axis: 1}, f32(32, 256), f32(32, 256), 1.1},
		{"scan of columns", ops.ScanOp{Axis: 0}, f32(256, 64), f32(256, 64), 1.1},
	} {
		if err := b.Sync(); err != nil {
			t.Fatal(err)
		}
		blocksEach = 32
		if strings.HasSuffix(c.name, "several to a warp") {
			blocksEach = 1
		}
		ptxsim.ResetTraffic()
		in := foldView(rng, c.in.DType, c.in.Layout, 0)
		sameAsCPU(t, c.op, []tensor.View{in}, []graph.Operand{c.out}, nil)
		var moved, threads int64
		var names []string
		for name, n := range ptxsim.Traffic() {
			moved, threads = moved+n.Moved(), threads+n.Threads
			names = append(names, name)
		}
		need := c.in.Size()*c.in.DType.Size() + c.out.Size()*c.out.DType.Size()
		ratio := float64(moved) / float64(need)
		slices.Sort(names)
		t.Logf("%s: %.3f of the bytes, %.1f thread instructions an element, by %s", c.name, ratio,
			float64(threads)/float64(c.in.Size()), strings.Join(names, ", "))
		if ratio > c.limit {
			t.Errorf("%s: %.3f of the bytes, want %.2f at most", c.name, ratio, c.limit)
		}
	}
}
