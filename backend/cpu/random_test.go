package cpu

import (
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/philox"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestRandomBitsOfKeys compares with the blocks themselves: every key, in any layout, has the words that it has
// alone, whatever the number of threads.
func TestRandomBitsOfKeys(t *testing.T) {
	flat := make([]uint32, 30)
	for i := range flat {
		flat[i] = uint32(i * i)
	}
	mem := tensor.Of(flat...).View()
	layout := func(offset int, shape []int, strides ...int) tensor.View {
		return tensor.Must(mem.With(tensor.Layout{Shape: shape, Strides: strides, Offset: offset}))
	}
	for _, r := range []struct {
		why   string
		keys  tensor.View
		shape []int
	}{
		{"one key", layout(4, []int{2}, 1), []int{3, 5}},
		{"one key, its words apart and reversed", layout(9, []int{2}, -7), []int{4}},
		{"one word", layout(0, []int{2}, 1), nil},
		{"many words for the threads to share", layout(1, []int{2}, 1), []int{100_003}},
		{"keys one after the other; a key does not begin with a block", layout(0, []int{3, 2}, 2, 1), []int{7}},
		{"keys transposed and reversed", layout(28, []int{2, 3, 2}, -3, -7, 1), []int{2, 3}},
		{"the same key for all", layout(6, []int{4, 2}, 0, 1), []int{5}},
		{"no keys", layout(0, []int{0, 2}, 2, 1), []int{5}},
		{"no words", layout(0, []int{3, 2}, 2, 1), []int{0}},
	} {
		for _, offset := range []uint64{0, 1 << 63} {
			want := wordsOf(r.keys, tensor.Size(r.shape), offset)
			for threads := 1; threads <= 3; threads++ {
				g := graph.Eager(On(Threads(threads)))
				y := graph.Apply(ops.RandomBitsOp{Shape: r.shape, Offset: offset}, g.Const(r.keys))
				v, err := y.Value()
				if err != nil {
					t.Fatalf("%s: %v", r.why, err)
				}
				if got := tensor.Must(tensor.Values[uint32](v)); !slices.Equal(got, want) {
					t.Errorf("%s, %d threads: words differ from the blocks", r.why, threads)
				}
			}
		}
	}
}

func wordsOf(keys tensor.View, n int, offset uint64) []uint32 {
	words := tensor.Must(tensor.Values[uint32](keys))
	r := []uint32{}
	for k := 0; k < len(words); k += 2 {
		for i := range n {
			r = append(r, philox.Block([2]uint32(words[k:]), offset+uint64(i/4))[i%4])
		}
	}
	return r
}

func TestRandomBitsKeyErrors(t *testing.T) {
	out := graph.Operand{DType: tensor.Uint32, Layout: tensor.RowMajor([]int{3})}
	for _, key := range []graph.Operand{
		{DType: tensor.Uint32},
		{DType: tensor.Uint32, Layout: tensor.RowMajor([]int{2, 3})},
		{DType: tensor.Int32, Layout: tensor.RowMajor([]int{2})},
	} {
		_, err := compileRandomBits(ops.RandomBitsOp{Shape: []int{3}}, out, key)
		wantError(t, err, tensor.ErrDType)
	}
}
