package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// BinaryFn is an elementwise function of two operands of one spec.
type BinaryFn uint8

// The functions of BinaryOp.
const (
	BinaryAdd BinaryFn = iota // or, for bool
	BinarySub
	BinaryMul // and, for bool
	BinaryDiv // integers truncate; by zero they give 0; MinInt / -1 wraps
	BinaryPow
	BinaryAtan2
	BinaryMax // NaN wins, -0 is below +0; or, for bool
	BinaryMin // NaN wins, -0 is below +0; and, for bool
	BinaryRem // sign of the dividend, as C's fmod; integers by zero give 0
	BinaryMod // sign of the divisor, as Python's %; integers by zero give 0
	BinaryAnd
	BinaryOr
	BinaryXor
	BinaryShiftLeft  // counts below 0 or beyond the width give 0
	BinaryShiftRight // arithmetic for signed types; counts below 0 or beyond the width give 0 or the sign
	BinaryComplex    // a + b·i from two real operands
	BinaryGuard      // 0 where a is 0 and b is not finite, else b
	binaryCount
)

// BinaryOp is out[i…] = fn(a[i…], b[i…]).
type BinaryOp struct{ Fn BinaryFn }

// Key is the canonical form of the attributes.
func (o BinaryOp) Key() string { return graph.KeyOf(o) }

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

// CompareOp is out[i…] = fn(a[i…], b[i…]), a bool. Complex operands have no order: only Equal, NotEqual,
// Attains and Guards take them.
type CompareOp struct{ Fn CompareFn }

// Key is the canonical form of the attributes.
func (o CompareOp) Key() string { return graph.KeyOf(o) }

// SelectOp is out[i…] = cond[i…] ? a[i…] : b[i…]. Operands cond (bool), a, b of one shape.
type SelectOp struct{}

// Key is the canonical form of the attributes.
func (o SelectOp) Key() string { return graph.KeyOf(o) }

// CastOp changes the element type. Floats to integers truncate toward zero and saturate, NaN gives 0;
// numbers to bool test ≠ 0 (NaN is true); complex to real keeps the real part.
type CastOp struct{ To tensor.DType }

// Key is the canonical form of the attributes.
func (o CastOp) Key() string { return graph.KeyOf(o) }
