package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// CompareFn is an elementwise predicate of two operands of one spec.
type CompareFn uint8

// The predicates of CompareOp.
const (
	CompareEqual CompareFn = iota
	CompareNotEqual
	CompareLess
	CompareLessEqual
	CompareGreater
	CompareGreaterEqual
	CompareAttains // equal, or both NaN
	CompareGuards  // a is 0 and b is not finite: where BinaryGuard gives 0
	compareCount
)

var compareTraits = [compareCount]struct {
	name  string
	takes accept
}{
	CompareEqual:        {"ops.Equal", acceptAny},
	CompareNotEqual:     {"ops.NotEqual", acceptAny},
	CompareLess:         {"ops.Less", acceptOrdered},
	CompareLessEqual:    {"ops.LessEqual", acceptOrdered},
	CompareGreater:      {"ops.Greater", acceptOrdered},
	CompareGreaterEqual: {"ops.GreaterEqual", acceptOrdered},
	CompareAttains:      {"ops.Attains", acceptAny},
	CompareGuards:       {"ops.Guards", acceptAnalog},
}

// CompareOp is out[i…] = fn(a[i…], b[i…]), a bool. Complex operands have no order: only Equal, NotEqual,
// Attains and Guards take them.
type CompareOp struct{ Fn CompareFn }

// Name is that of the builder, ops.Less for example.
func (o CompareOp) Name() string {
	if o.Fn >= compareCount {
		return unknown("Compare", uint8(o.Fn))
	}
	return compareTraits[o.Fn].name
}

// Key is the canonical form of the attributes.
func (o CompareOp) Key() string { return graph.KeyOf(o) }

// Infer wants two operands of one spec and gives bool.
func (o CompareOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Fn >= compareCount {
		return nil, noFunction(uint8(o.Fn))
	}
	if err := sameSpecs(in, 2, compareTraits[o.Fn].takes); err != nil {
		return nil, err
	}
	return one(tensor.Bool, in[0].Shape), nil
}

// VJP is zero: a predicate is constant between its jumps.
func (o CompareOp) VJP(*Call, []*Node, []bool) []*Node { return none(2) }

// JVP is zero.
func (o CompareOp) JVP(*Call, []*Node) []*Node { return none(1) }

// Batch is the same op: its operands gain the batch.
func (o CompareOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	return []*Node{graph.Apply(o, batchAll(in, batched, size)...)}
}

func compare(fn CompareFn, a, b any) *Node {
	o := CompareOp{fn}
	x, bad := liftBroadcast(o.Name(), a, b)
	if bad != nil {
		return bad
	}
	return graph.Apply(o, x...)
}

// Elementwise: an element is made of its operands' elements at the same place.
func (CompareOp) Elementwise() bool { return true }

// The predicates take operands and have errors like Add. None has a gradient.

// Equal is a = b. NaN equals nothing, −0 equals +0.
func Equal(a, b any) *Node { return compare(CompareEqual, a, b) }

// NotEqual is a ≠ b, true where either is NaN.
func NotEqual(a, b any) *Node { return compare(CompareNotEqual, a, b) }

// Less is a < b, false where either is NaN. Complex operands have no order: tensor.ErrUnsupported.
func Less(a, b any) *Node { return compare(CompareLess, a, b) }

// LessEqual is a ≤ b, false where either is NaN. Complex operands have no order: tensor.ErrUnsupported.
func LessEqual(a, b any) *Node { return compare(CompareLessEqual, a, b) }

// Greater is a > b, false where either is NaN. Complex operands have no order: tensor.ErrUnsupported.
func Greater(a, b any) *Node { return compare(CompareGreater, a, b) }

// GreaterEqual is a ≥ b, false where either is NaN. Complex operands have no order: tensor.ErrUnsupported.
func GreaterEqual(a, b any) *Node { return compare(CompareGreaterEqual, a, b) }

// Attains is a = b, or both NaN: whether a is the extreme b that was found. A complex is NaN where a
// component is.
func Attains(a, b any) *Node { return compare(CompareAttains, a, b) }

// guards is where Guard(a, b) is 0 in place of b.
func guards(a, b any) *Node { return compare(CompareGuards, a, b) }
