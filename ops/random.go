package ops

import "github.com/adjoint-go/adjoint/graph"

// RandomBitsOp is uint32 words of Philox4x32-10. The operand is the key, uint32[2]; element i (row-major) is
// word i mod 4 of the block whose counter is (i div 4 + Offset). The same numbers everywhere.
type RandomBitsOp struct {
	Shape  []int
	Offset uint64
}

// Key is the canonical form of the attributes.
func (o RandomBitsOp) Key() string { return graph.KeyOf(o) }
