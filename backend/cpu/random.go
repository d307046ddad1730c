package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/philox"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileRandomBits is word i mod 4 of the Philox block i div 4 + Offset, i the row-major position among the
// words of one key: a function of the position alone, so any part of the output can be made by itself. Bound
// by the twenty multiplications of a block.
func compileRandomBits(op ops.RandomBitsOp, out, key graph.Operand) (graph.Kernel, error) {
	last := key.Rank() - 1
	if key.DType != tensor.Uint32 || last < 0 || key.Shape[last] != 2 {
		return nil, tensor.Errorf("", tensor.ErrDType, "the key is %s, want uint32 with a last axis of 2", key.Spec())
	}
	positions := tensor.RowMajor(slices.Concat(key.Shape[:last], op.Shape))
	if err := accepts(tensor.Uint32, out, graph.Operand{Layout: positions}); err != nil {
		return nil, err
	}
	words := wordSource{
		keys:   tensor.Layout{Shape: key.Shape[:last], Strides: key.Strides[:last], Offset: key.Offset},
		hi:     key.Strides[last],
		each:   max(tensor.Size(op.Shape), 1),
		offset: op.Offset,
	}
	t := mapTiles(dear, copyTile[uint32], sourceBy(words.make), out, positions)
	return &elementwiseKernel{planning.Operands{Out: []graph.Operand{out}, In: []graph.Operand{key}}, t}, nil
}

// wordSource is where the keys' words are, how many words each key gives, and the counter of their first
// block.
type wordSource struct {
	keys   tensor.Layout // of the low words
	hi     int           // from a low word to its high word
	each   int
	offset uint64
}

// make gives the words at the places of a plane. A block is computed again only where the next place is in
// another one.
func (s wordSource) make(to []uint32, t *tile, place walk) {
	mem := tensor.Elements[uint32](t.mem[1])
	var key [2]uint32
	var block [4]uint32
	haveKey, have := -1, -1
	for range t.h {
		at := place.at
		for j := range to[:t.w] {
			k, i := at/s.each, at%s.each
			if k != haveKey {
				haveKey, have = k, -1
				key = s.key(mem, k)
			}
			if i/4 != have {
				have = i / 4
				block = philox.Block(key, uint64(have)+s.offset)
			}
			to[j] = block[i%4]
			at += place.col
		}
		to = to[t.w:]
		place.at += place.row
	}
}

// key is the words of the k-th key in row-major order.
func (s wordSource) key(mem []uint32, k int) [2]uint32 {
	lo := s.keys.Offset
	for a := s.keys.Rank() - 1; a >= 0; a-- {
		lo += k % s.keys.Shape[a] * s.keys.Strides[a]
		k /= s.keys.Shape[a]
	}
	return [2]uint32{mem[lo], mem[lo+s.hi]}
}
