package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestNarrowIndices: large takes have the check leave indices narrow where it may, take the same elements, and
// allocate nothing once they have run.
func TestNarrowIndices(t *testing.T) {
	old := tuning
	t.Cleanup(func() { tuning = old })
	tuning.past, tuning.grain = 1, 5000
	assembly := simd.Narrows[uint32](&simd.Take{Extent: 1, Stride: 1})
	const n = 200
	r := rand.New(rand.NewPCG(3, 2))
	whole := func(l tensor.Layout) tensor.Layout { return l }
	for _, row := range []struct {
		why    string
		dt     tensor.DType
		index  func(l tensor.Layout) tensor.Layout
		narrow bool
	}{
		{"one run of int64", tensor.Int64, whole, true},
		{"int32 are narrow enough", tensor.Int32, whole, false},
		{"a run that begins later", tensor.Int64, func(l tensor.Layout) tensor.Layout {
			l.Shape, l.Offset = []int{n - 3, n}, 3*n
			return l
		}, true},
		{"rows with holes are widened block by block", tensor.Int64, func(l tensor.Layout) tensor.Layout {
			l.Shape = []int{n, n - 3}
			return l
		}, false},
		{"one row for all", tensor.Int64, func(l tensor.Layout) tensor.Layout {
			l.Strides = []int{0, 1}
			return l
		}, true},
	} {
		for axis := range 2 {
			index := indicesBelow(r, row.dt, n, n, n)
			index = tensor.Must(index.With(row.index(index.Layout())))
			shape := slices.Clone(index.Shape())
			shape[axis] = n
			x := randomFloats(r, shape...)
			takeAlong[float32](t, fmt.Sprint(row.why, ", axis ", axis), x, index, axis)
			k, out := takeKernel(t, x, index, axis)
			if got, want := k.single.narrow != nil, row.narrow && assembly; got != want {
				t.Errorf("%s, axis %d: narrow is %v, want %v", row.why, axis, got, want)
			}
			ex, to, from := Threads(2), []tensor.Write{out.Write()}, []tensor.Read{x.Read(), index.Read()}
			a := steadyAllocations(func() {
				if err := k.Run(ex, to, from); err != nil {
					t.Fatal(err)
				}
			})
			if a != 0 {
				t.Errorf("%s, axis %d: a run allocates %v times", row.why, axis, a)
			}
		}
	}
}

// takeKernel is the kernel of a take along an axis, and room for its result.
func takeKernel(t *testing.T, x, index tensor.View, axis int) (*gather, *tensor.Tensor) {
	t.Helper()
	g := graph.New()
	y := ops.TakeAlongAxis(g.Input("x", x.DType(), x.Shape()...), g.Input("i", index.DType(), index.Shape()...), axis)
	out := tensor.Must(tensor.New(x.DType(), y.Shape()...))
	k, err := compileGather(y.Call().Op.(ops.GatherOp), []graph.Operand{operandOf(out.View())},
		[]graph.Operand{operandOf(x), operandOf(index)})
	if err != nil {
		t.Fatal(err)
	}
	return k.(*gather), out
}
