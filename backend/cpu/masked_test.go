package cpu

import (
	"fmt"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestMasked: long masks of any density, in blocks and on threads, keep what a loop keeps and put it back, past the
// caches or not.
func TestMasked(t *testing.T) {
	old := tuning.past
	t.Cleanup(func() { tuning.past = old })
	for _, tuning.past = range []int{1, 1 << 60} {
		testMasked(t)
	}
}

func testMasked(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 63, 8192, 8193, 100003} {
		for _, every := range []int{1, 2, 3, 97, 1 << 30} {
			mask, x := make([]bool, n), make([]float32, n)
			var kept []float32
			back := make([]float32, n)
			for i, h := 0, uint32(1); i < n; i++ {
				h = h*1664525 + 1013904223
				x[i] = float32(i + 1)
				if mask[i] = int(h>>8)%every == 0; mask[i] {
					kept = append(kept, x[i])
					back[i] = x[i]
				}
			}
			for threads := 1; threads <= 3; threads++ {
				name := fmt.Sprintf("%d elements, one of %d, %d threads", n, every, threads)
				m, v := tensor.Must(tensor.FromSlice(mask, n)), tensor.Must(tensor.FromSlice(x, n))
				y := tensor.Must(tensor.New(tensor.Float32, len(kept)))
				z := tensor.Must(tensor.New(tensor.Float32, n))
				fillBytes(z)
				runMasked(t, threads, ops.CompressOp{Count: len(kept)}, y, v, m)
				sameFloats(t, name+", kept", y, kept)
				runMasked(t, threads, ops.ExpandOp{}, z, y, m)
				sameFloats(t, name+", put back", z, back)
			}
		}
	}
}

// TestMaskedAllocates: runs in the steady state allocate nothing.
func TestMaskedAllocates(t *testing.T) {
	const n = 1 << 16
	m, x := tensor.Must(tensor.New(tensor.Bool, n)), tensor.Must(tensor.New(tensor.Float32, n))
	for i := range tensor.Elements[bool](m.Storage())[:n] {
		tensor.Elements[bool](m.Storage())[i] = i%3 == 0
	}
	y := tensor.Must(tensor.New(tensor.Float32, (n+2)/3))
	for threads := 1; threads <= 2; threads++ {
		if a := steadyAllocations(maskedRunner(t, threads, ops.CompressOp{Count: (n + 2) / 3}, y, x, m)); a != 0 {
			t.Errorf("%d threads: a compression allocates %v times", threads, a)
		}
		if a := steadyAllocations(maskedRunner(t, threads, ops.ExpandOp{}, x, y, m)); a != 0 {
			t.Errorf("%d threads: an expansion allocates %v times", threads, a)
		}
	}
}

func fillBytes(t *tensor.Tensor) {
	for i := range tensor.Must(t.Storage().Bytes()) {
		tensor.Must(t.Storage().Bytes())[i] = 0xa5
	}
}

func sameFloats(t *testing.T, name string, got *tensor.Tensor, want []float32) {
	t.Helper()
	for i, v := range tensor.Elements[float32](got.Storage())[:len(want)] {
		if v != want[i] {
			t.Fatalf("%s: element %d is %v, want %v", name, i, v, want[i])
		}
	}
}

func runMasked(t *testing.T, threads int, op graph.Op, out, x, mask *tensor.Tensor) {
	t.Helper()
	maskedRunner(t, threads, op, out, x, mask)()
}

func maskedRunner(t *testing.T, threads int, op graph.Op, out, x, mask *tensor.Tensor) func() {
	t.Helper()
	k, err := compile(op, []graph.Operand{operandOf(out.View())}, []graph.Operand{operandOf(x.View()), operandOf(mask.View())}, []bool{true})
	if err != nil {
		t.Fatal(err)
	}
	exec := Threads(threads)
	to, from := []tensor.Write{out.Write()}, []tensor.Read{x.Read(), mask.Read()}
	return func() {
		if err := k.Run(exec, to, from); err != nil {
			t.Fatal(err)
		}
	}
}
