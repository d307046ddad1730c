package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// nansAlike takes all NaNs to be one: which bits those of a product have is not promised.
func nansAlike(dt tensor.DType, got, want []byte) bool {
	return firstDifference(dt, got, want, true) < 0
}

// fusedCPU reports whether the CPU multiplies and adds floats with one rounding.
func fusedCPU(t *testing.T) bool {
	t.Helper()
	x := tensor.Must(tensor.FromFloat64s(tensor.Float32, []float64{1, 1 + 0x1p-12}, 1, 2)).View()
	y := tensor.Must(tensor.FromFloat64s(tensor.Float32, []float64{-1 - 0x1p-11, 1 + 0x1p-12}, 2, 1)).View()
	out := tensor.Must(tensor.FromFloat64s(tensor.Float32, []float64{1}, 1, 1)).View()
	operand := func(v tensor.View) graph.Operand { return graph.Operand{DType: v.DType(), Layout: v.Layout()} }
	c := cpu.New()
	in := []graph.Operand{operand(x), operand(y)}
	k, err := c.Compile(ops.MatMulOp{}, []graph.Operand{operand(out)}, in, []bool{true})
	if err == nil {
		err = k.Run(c.Exec(), []tensor.Write{tensor.Must(tensor.NewWrite(out))}, []tensor.Read{x.Read(), y.Read()})
	}
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Elements[float32](out.Storage())[0] != 0
}

// TestMatMul: on CPUs with fused multiply-adds the products of floats have the same bits; others round every
// product, and only the products of integers are compared.
func TestMatMul(t *testing.T) {
	rng, fused := rand.New(rand.NewPCG(11, 12)), fusedCPU(t)
	tune := anyTuning(t, rng)
	cases := []struct {
		why     string
		batch   []int
		m, k, n int
	}{
		{"one product", nil, 1, 1, 1},
		{"nothing to add", nil, 3, 0, 2},
		{"no rows", nil, 0, 4, 2},
		{"a part of a tile", nil, 5, 7, 3},
		{"tiles with edges", nil, 37, 45, 70},
		{"batches", []int{2, 3}, 4, 5, 6},
		{"a row times a matrix", nil, 1, 90, 40},
		{"two blocks of k and a short one", nil, 3, 530, 4},
		{"large tiles with edges", nil, 130, 20, 70},
	}
	for _, dt := range allDTypes[1:] {
		for _, c := range cases {
			if dt.IsFloat() && !fused || !dt.IsFloat() && c.m > 100 {
				continue
			}
			for _, special := range []int{0, 3} {
				if spared(rng, 8) {
					continue
				}
				tune()
				lie := func(rows, columns int) tensor.Layout {
					return laid(rng.IntN(layoutKinds), append(slices.Clone(c.batch), rows, columns))
				}
				x, y := foldView(rng, dt, lie(c.m, c.k), special), foldView(rng, dt, lie(c.k, c.n), special)
				out := graph.Operand{DType: dt, Layout: lie(c.m, c.n)}
				sameAsCPU(t, ops.MatMulOp{}, []tensor.View{x, y}, []graph.Operand{out}, nansAlike)
			}
		}
	}
}
