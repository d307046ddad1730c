package ops

import "github.com/adjoint-go/adjoint/graph"

// GatherOp is u[i, w] = x[place(i, w)], 0 where Mode skips. Operands x, idx…
type GatherOp struct {
	Window Window
	Mode   Mode
	Origin []Origin // per index operand, for errors; nil: the operand's number and the axis it indexes
}

// Key is the canonical form of the attributes.
func (o GatherOp) Key() string { return graph.KeyOf(o) }
