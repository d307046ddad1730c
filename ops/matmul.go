package ops

import "github.com/adjoint-go/adjoint/graph"

// MatMulOp is out[b…, i, j] = Σₖ x[b…, i, k]·y[b…, k, j]. Both operands have the same rank ≥ 2 and the same
// batch extents.
type MatMulOp struct{}

// Key is the canonical form of the attributes.
func (o MatMulOp) Key() string { return graph.KeyOf(o) }
