package ops

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ComposedOp is made, the operands behind the first From: they are what calls made of those, and what the op Of
// would make of them, bit by bit. See graph.Composite.
type ComposedOp struct {
	Of   graph.Op
	From int
}

// compose is made, the results that the op of has on the operands from, in the eyes of a backend that has a
// kernel for it; for all others, and for every rule, they are the nodes that they are.
func compose(of graph.Op, from, made []*Node) []*Node {
	operands := slices.Concat(from, made)
	if bad := graph.Invalid("ops.Composed", operands...); bad != nil {
		return repeat(bad, len(made))
	}
	return graph.ApplyN(len(made), ComposedOp{of, len(from)}, operands...)
}

// Name is ops.Composed.
func (o ComposedOp) Name() string { return "ops.Composed" }

// Key is the op with its attributes.
func (o ComposedOp) Key() string { return fmt.Sprintf("%s %s %d", o.Of.Name(), o.Of.Key(), o.From) }

// Infer is the specs of what was made; they must be those of the op.
func (o ComposedOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Of == nil || o.From < 0 || o.From > len(in) {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d of %d operands are those of %v", o.From, len(in), o.Of)
	}
	whole, err := o.Of.Infer(in[:o.From])
	if err != nil {
		return nil, err
	}
	if made := in[o.From:]; !slices.EqualFunc(whole, made, tensor.Spec.Equal) {
		return nil, tensor.Errorf("", tensor.ErrShape, "%s gives %v, what was made is %v", o.Of.Name(), whole, made)
	}
	return whole, nil
}

// VJP passes the cotangents to what was made.
func (o ComposedOp) VJP(_ *graph.Call, ct []*Node, need []bool) []*Node {
	in := none(len(need))
	for r, y := range ct {
		if need[o.From+r] {
			in[o.From+r] = y
		}
	}
	return in
}

// JVP passes the tangents of what was made on.
func (o ComposedOp) JVP(_ *graph.Call, tan []*Node) []*Node { return tan[o.From:] }

// batcher is an op that is another on a batch of all of its operands.
type batcher interface {
	onBatch(batched []bool) (op graph.Op, ok bool)
}

// Batch is the batch of what was made.
func (o ComposedOp) Batch(_ *graph.Call, in []*Node, batched []bool, size int) []*Node {
	all := batchAll(in, batched, size)
	if of, ok := o.Of.(batcher); ok {
		if op, ok := of.onBatch(batched[:o.From]); ok {
			from := all[:o.From]
			for i, b := range batched[:o.From] {
				if !b && in[i].Rank() == 0 { // the same for every example
					from[i] = in[i]
				}
			}
			return compose(op, from, all[o.From:])
		}
	}
	return all[o.From:]
}

// Alias is what was made.
func (o ComposedOp) Alias(r int) int { return o.From + r }

// Whole is the op and how many operands it has.
func (o ComposedOp) Whole() (op graph.Op, operands int) { return o.Of, o.From }
