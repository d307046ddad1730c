package cuda

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileRandomBits makes the kernel of random words: word i mod 4 of the Philox block i div 4 + Offset, i being the
// place among the words of one key. An element depends on its place and its key alone, so it is elementwise work on
// the two words of the keys, repeated along the words that each key gives. Bound by the twenty multiplications of
// a block, of which every thread keeps one word of four.
func compileRandomBits(b *Backend, op ops.RandomBitsOp, out, in []graph.Operand) (graph.Kernel, error) {
	key := in[0]
	last := key.Rank() - 1
	word := graph.Operand{DType: key.DType, Layout: tensor.Layout{
		Shape:   out[0].Shape,
		Strides: slices.Concat(key.Strides[:last], make([]int, len(op.Shape))),
	}}
	steps := []graph.FusedStep{{Op: op, In: []int{0, 1}, Spec: out[0].Spec()}}
	k := &elementwise{operands: b.operands(out, in)}
	k.from = []source{{0, 0}, {0, key.Strides[last] * key.DType.Size()}}
	return k, k.write(b, newElementwiseWriter(steps, []int{0}, out, []graph.Operand{word, word}))
}

// withinKey is the layout whose offsets are the places among the words of one key.
func withinKey(op ops.RandomBitsOp, shape []int) tensor.Layout {
	words := tensor.RowMajor(op.Shape)
	keys := len(shape) - len(op.Shape)
	return tensor.Layout{Shape: shape, Strides: slices.Concat(make([]int, keys), words.Strides)}
}
