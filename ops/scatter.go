package ops

import "github.com/adjoint-go/adjoint/graph"

// Combine says what a scatter does with an update u and the value h it finds.
type Combine uint8

// The combinations, in the row-major order of the updates.
const (
	CombineSet Combine = iota // u: the last writer wins
	CombineAdd                // h + u; or, for bool
	CombineMul                // h · u; and, for bool
	CombineMax                // NaN wins, −0 is below +0; or, for bool
	CombineMin                // NaN wins, −0 is below +0; and, for bool
)

// ScatterOp is y = x with y[place(i, w)] = combine(y[place(i, w)], u[i, w]) for every (i, w) in row-major
// order of u. Operands x, u, idx…
type ScatterOp struct {
	Window  Window
	Mode    Mode
	Combine Combine
	Origin  []Origin // per index operand, for errors; nil: the operand's number and the axis it indexes
}

// Key is the canonical form of the attributes.
func (o ScatterOp) Key() string { return graph.KeyOf(o) }
