package ops

import "github.com/adjoint-go/adjoint/graph"

// PutSliceOp is x with the elements that SliceOp{Start, Step, Size} reads replaced by u. Operands x, u.
type PutSliceOp struct{ Start, Step, Size []int }

// Key is the canonical form of the attributes.
func (o PutSliceOp) Key() string { return graph.KeyOf(o) }
