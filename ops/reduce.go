package ops

import "github.com/adjoint-go/adjoint/graph"

// ReduceFn is a reduction.
type ReduceFn uint8

// The functions of ReduceOp.
const (
	ReduceSum  ReduceFn = iota // or, for bool
	ReduceProd                 // and, for bool
	ReduceMax                  // or, for bool
	ReduceMin                  // and, for bool
	ReduceLogSumExp
	reduceCount
)

// ReduceOp folds Axes (sorted, unique, non-negative) of x with Fn and drops them. With Init a second operand
// of rank 0 takes part as one more element.
type ReduceOp struct {
	Fn   ReduceFn
	Axes []int
	Init bool
}

// Key is the canonical form of the attributes.
func (o ReduceOp) Key() string { return graph.KeyOf(o) }
