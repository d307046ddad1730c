package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/philox"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileRandomBits is word i mod 4 of the Philox block i div 4 + Offset, i the row-major position: a
// function of the position alone, so any part of the output can be made by itself. Bound by the twenty
// multiplications of a block.
func compileRandomBits(op ops.RandomBitsOp, out, key graph.Operand) (graph.Kernel, error) {
	if key.DType != tensor.Uint32 || !tensor.EqualShapes(key.Shape, []int{2}) {
		return nil, tensor.Errorf("", tensor.ErrDType, "the key is %s, want uint32[2]", key.Spec())
	}
	positions := tensor.RowMajor(op.Shape)
	if err := accepts(tensor.Uint32, out, graph.Operand{Layout: positions}); err != nil {
		return nil, err
	}
	words := wordSource{key.At([]int{0}), key.At([]int{1}), op.Offset}
	t := mapTiles(dear, copyTile[uint32], sourceBy(words.make), out, positions)
	return &elementwiseKernel{fixed{out: []graph.Operand{out}, in: []graph.Operand{key}}, t}, nil
}

// wordSource is where the key's words are, and the counter of the first block.
type wordSource struct {
	lo, hi int
	offset uint64
}

// make gives the words at the places of a plane. A block is computed again only where the next place is in
// another one.
func (s wordSource) make(to []uint32, t *tile, place walk) {
	mem := tensor.Elements[uint32](t.mem[1])
	key := [2]uint32{mem[s.lo], mem[s.hi]}
	var block [4]uint32
	have := -1
	for range t.h {
		at := place.at
		for j := range to[:t.w] {
			if at/4 != have {
				have = at / 4
				block = philox.Block(key, uint64(have)+s.offset)
			}
			to[j] = block[at%4]
			at += place.col
		}
		to = to[t.w:]
		place.at += place.row
	}
}
