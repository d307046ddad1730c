package ops

import "github.com/adjoint-go/adjoint/graph"

// ScatterScanOp shows a scatter step by step. At each place of x, over its writers in row-major order of the
// updates (reversed if Reverse), h starts at x and becomes
//
//	Affine    h ← a·h + b   operands x, a, b, idx…
//	Exchange  h ← b         operands x, b, idx…
//
// Results: y, the last h, of x's spec; before, of b's spec: h just before each writer, 0 where skipped.
type ScatterScanOp struct {
	Window          Window
	Mode            Mode
	Affine, Reverse bool
	Origin          []Origin // per index operand, for errors; nil: the operand's number and the axis it indexes
}

// Key is the canonical form of the attributes.
func (o ScatterScanOp) Key() string { return graph.KeyOf(o) }
