package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestConvTraffic counts the sectors that convolutions load, against the bytes that they ask for, and instructions: in
// each layout neighbouring threads take neighbours in memory.
func TestConvTraffic(t *testing.T) {
	b := device(t)
	if !Simulated() {
		t.Skip("only the simulator counts sectors")
	}
	was := b.about.Multiprocessors
	b.about.Multiprocessors = 1 // so that few tiles do for large ones
	t.Cleanup(func() { b.about.Multiprocessors = was })
	rng := rand.New(rand.NewPCG(1, 2))
	same, plain := [5]int{1, 1, 1, 1, 1}, [5]int{1, 1, 1, 0, 0}
	channelsLast := func(s []int) tensor.Layout {
		return tensor.Must(tensor.RowMajor([]int{s[0], s[2], s[3], s[1]}).Transpose(0, 3, 1, 2))
	}
	for _, c := range []struct {
		name    string
		axis    [5]int
		x, w    []int
		layout  func([]int) tensor.Layout
		sectors float64 // bytes of sectors over those asked for
		work    float64 // thread instructions a product
	}{
		{"3x3", same, []int{2, 16, 14, 14}, []int{64, 16, 3, 3}, tensor.RowMajor, 1.2, 2.4},
		{"1x1", plain, []int{2, 144, 14, 14}, []int{64, 144, 1, 1}, tensor.RowMajor, 1.1, 2.4},
		{"1x1, channels last", plain, []int{2, 144, 14, 14}, []int{64, 144, 1, 1}, channelsLast, 1, 2.4},
		{"the gradient of a weight", same, []int{64, 2, 14, 14}, []int{64, 2, 14, 14}, tensor.RowMajor, 1.1, 2},
	} {
		op := sliding(c.axis, c.axis)
		spec := func(s []int) tensor.Spec { return tensor.Spec{DType: tensor.Float32, Shape: s} }
		out := tensor.Must(op.Infer([]tensor.Spec{spec(c.x), spec(c.w)}))[0].Shape
		x, w := foldView(rng, tensor.Float32, c.layout(c.x), 0), foldView(rng, tensor.Float32, c.layout(c.w), 0)
		if err := b.Sync(); err != nil {
			t.Fatal(err)
		}
		ptxsim.ResetTraffic()
		to := graph.Operand{DType: tensor.Float32, Layout: c.layout(out)}
		sameAsCPU(t, op, []tensor.View{x, w}, []graph.Operand{to}, func(tensor.DType, []byte, []byte) bool { return true })
		products := float64(tensor.Size(out) * tensor.Size(c.w) / c.w[0])
		for name, n := range ptxsim.Traffic() {
			sectors, work := 32*float64(n.LoadSectors)/float64(n.LoadBytes), float64(n.Threads)/products
			t.Logf("%s: %.2f of the bytes asked for, %.2f thread instructions a product, by %s", c.name, sectors, work, name)
			if sectors > c.sectors || work > c.work {
				t.Errorf("%s: %.2f of the bytes and %.2f instructions, want %.2f and %.2f at most",
					c.name, sectors, work, c.sectors, c.work)
			}
		}
	}
}
