package graph

import (
	"sync/atomic"

	"github.com/adjoint-go/adjoint/tensor"
)

// Copy is the identity into memory of its own. The planner inserts it where a layout, an output or a
// variable needs one; backends compile it for any layout.
type Copy struct{}

// Name is graph.Copy.
func (Copy) Name() string { return "graph.Copy" }

// Key is empty: there are no attributes.
func (Copy) Key() string { return "" }

// Infer is the operand's spec.
func (Copy) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if len(in) != 1 {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d operands, want 1", len(in))
	}
	return in, nil
}

// VJP passes the cotangent on.
func (Copy) VJP(_ *Call, ct []*Node, _ []bool) []*Node { return ct }

// JVP passes the tangent on.
func (Copy) JVP(_ *Call, tan []*Node) []*Node { return tan }

// Batch is the identity on the batch.
func (Copy) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node { return in }

// Elementwise: an element is that of the operand.
func (Copy) Elementwise() bool { return true }

// BarrierOp is the identity that the passes do not look through: what is computed from its result is never
// merged with what is computed from its operand. Checkpointing rests on it.
type BarrierOp struct{ ID uint64 }

var barriers atomic.Uint64

// Barrier returns x as a value of its own in the eyes of the passes.
func Barrier(x *Node) *Node { return Apply(BarrierOp{barriers.Add(1)}, x) }

// Name is graph.Barrier.
func (BarrierOp) Name() string { return "graph.Barrier" }

// Key tells barriers apart: no two are the same.
func (o BarrierOp) Key() string { return KeyOf(o) }

// Infer is the operand's spec.
func (BarrierOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) { return in[:1], nil }

// VJP passes the cotangent on.
func (BarrierOp) VJP(_ *Call, ct []*Node, _ []bool) []*Node { return ct }

// JVP passes the tangent on.
func (BarrierOp) JVP(_ *Call, tan []*Node) []*Node { return tan }

// Batch is a barrier around the batch.
func (BarrierOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node { return []*Node{Barrier(in[0])} }

// Alias is the operand.
func (BarrierOp) Alias(int) int { return 0 }

// Opaque marks it for the passes.
func (BarrierOp) Opaque() {}
