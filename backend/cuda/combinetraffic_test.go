package cuda

import (
	"testing"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestCombineTraffic holds what folds and scans by a function move against the bytes that they must, and against what
// the calls move that they stand for: log₂ n passes.
func TestCombineTraffic(t *testing.T) {
	if device(t); !Simulated() {
		t.Skip("sectors are counted by the simulator")
	}
	r := rng(t)
	f := composedMaps.traced(t, tensor.Float32)
	fold := func(axes ...int) func(x []*graph.Node) []*graph.Node {
		return func(x []*graph.Node) []*graph.Node { return ops.ReduceBy(f, x, nil, axes...) }
	}
	scan := func(axis int) func(x []*graph.Node) []*graph.Node {
		return func(x []*graph.Node) []*graph.Node { return ops.ScanBy(f, x, nil, axis) }
	}
	for _, c := range []struct {
		name  string
		shape []int
		build func(x []*graph.Node) []*graph.Node
		reads float64 // of the operands, all in all
		most  float64 // moved over reads, writes and those
		calls float64 // at least: what the calls move over the same
	}{
		{"fold of rows", []int{64, 512}, fold(1), 1, 1.05, 7},
		{"fold of columns", []int{256, 256}, fold(0), 1, 1.05, 4.5},
		{"fold of all", []int{1 << 15}, fold(), 1, 1.05, 7},
		{"scan of rows of a tile", []int{64, 512}, scan(1), 2, 1.05, 13},
		{"scan of columns", []int{64, 512}, scan(0), 2, 1.05, 9},
		{"scan of a long row", []int{1 << 15}, scan(0), 3, 1.05, 8}, // read twice
	} {
		t.Run(c.name, func(t *testing.T) {
			in := drawnTensors(r, tensor.Float32, 2, c.shape...)
			moved := func(o graph.Options) float64 {
				g, b := graph.New(), device(t)
				x := []*graph.Node{g.Input("a", tensor.Float32, c.shape...), g.Input("b", tensor.Float32, c.shape...)}
				p := must(graph.CompileWith(b, o, c.build(x)...))
				feed := feedOf(b, map[string]*tensor.Tensor{"a": in[0], "b": in[1]})
				if err := b.Sync(); err != nil {
					t.Fatal(err)
				}
				ptxsim.ResetTraffic()
				must(p.Run(t.Context(), feed))
				if err := b.Sync(); err != nil {
					t.Fatal(err)
				}
				bytes := int64(0)
				for name, n := range ptxsim.Traffic() {
					bytes += n.Moved()
					t.Logf("%-16s %3d launches, %8d bytes", name, n.Launches, n.Moved())
				}
				return float64(bytes) / (c.reads * 8 * float64(tensor.Size(c.shape)))
			}
			one, calls := moved(graph.Options{}), moved(graph.Options{NoPasses: true})
			t.Logf("%.3f of the necessary bytes; the calls %.1f", one, calls)
			if one > c.most || calls < c.calls {
				t.Errorf("%.3f and %.1f, want at most %.2f, and the calls %.1f", one, calls, c.most, c.calls)
			}
		})
	}
}
