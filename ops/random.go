package ops

import "github.com/adjoint-go/adjoint/graph"

// RandomBitsOp is uint32 words of Philox4x32-10. The operand is a key, uint32[2], or an array of keys,
// uint32[b…, 2]; the result has shape [b…, Shape…]. Element i of what a key gives (row-major in Shape) is
// word i mod 4 of the block whose key it is and whose counter is (i div 4 + Offset), so equal keys give equal
// numbers wherever they stand. The same numbers everywhere.
type RandomBitsOp struct {
	Shape  []int
	Offset uint64
}

// Key is the canonical form of the attributes.
func (o RandomBitsOp) Key() string { return graph.KeyOf(o) }
