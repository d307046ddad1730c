package ops

import "github.com/adjoint-go/adjoint/graph"

// ConcatOp joins its operands along Axis.
type ConcatOp struct{ Axis int }

// Key is the canonical form of the attributes.
func (o ConcatOp) Key() string { return graph.KeyOf(o) }
