package ops

import "github.com/adjoint-go/adjoint/graph"

// TransposeOp is out axis a = x axis Perm[a].
type TransposeOp struct{ Perm []int }

// Key is the canonical form of the attributes.
func (o TransposeOp) Key() string { return graph.KeyOf(o) }

// SliceOp is out[k…] = x[Start + k·Step, …]. Step is signed, so Reverse is a slice too.
type SliceOp struct{ Start, Step, Size []int }

// Key is the canonical form of the attributes.
func (o SliceOp) Key() string { return graph.KeyOf(o) }

// BroadcastOp repeats extent-1 axes and adds leading ones, by stride 0.
type BroadcastOp struct{ Shape []int }

// Key is the canonical form of the attributes.
func (o BroadcastOp) Key() string { return graph.KeyOf(o) }

// ReshapeOp keeps the elements in row-major order under another shape.
type ReshapeOp struct{ Shape []int }

// Key is the canonical form of the attributes.
func (o ReshapeOp) Key() string { return graph.KeyOf(o) }
