package ops

// The builders of two operands. Either may be a Go scalar, which takes the dtype of the node beside it;
// shapes broadcast by NumPy's rule. Every one has these errors (sticky): tensor.ErrDType for operands of
// different dtypes or of a dtype that the function does not take, tensor.ErrShape for shapes that do not
// broadcast, tensor.ErrUnsupported for nil and for complex operands of a function that needs an order.

// Add is a + b; for bool it is or. The cotangent goes to both operands as it is.
func Add(a, b any) *Node { return binary(BinaryAdd, a, b) }

// Sub is a − b, of numbers; unsigned integers wrap. The cotangent goes to a as it is and negated to b.
func Sub(a, b any) *Node { return binary(BinarySub, a, b) }

// Mul is a · b; for bool it is and. Its derivatives are b by a and a by b; where the cotangent is 0 an
// infinite or NaN derivative counts as 0.
func Mul(a, b any) *Node { return binary(BinaryMul, a, b) }

// Div is a / b, of numbers. Integers truncate toward zero and give 0 where b is 0. The derivatives are 1/b
// by a and −(a/b)/b by b.
func Div(a, b any) *Node { return binary(BinaryDiv, a, b) }

// Pow is a^b, of numbers. The derivatives are b·a^(b−1) by a, 0 where b is 0, and a^b·log a by b, 0 where a
// is 0 and b > 0.
func Pow(a, b any) *Node { return binary(BinaryPow, a, b) }

// Atan2 is the angle of the point (b, a), in [−π, π], of floats. The derivatives are b/(a²+b²) by a and
// −a/(a²+b²) by b.
func Atan2(a, b any) *Node { return binary(BinaryAtan2, a, b) }

// Maximum is the greater of a and b, NaN where either is, +0 of the two zeros; for bool it is or. The
// cotangent goes to the greater, in halves where they are equal or both NaN.
func Maximum(a, b any) *Node { return binary(BinaryMax, a, b) }

// Minimum is the lesser of a and b, NaN where either is, −0 of the two zeros; for bool it is and. The
// cotangent goes to the lesser, in halves where they are equal or both NaN.
func Minimum(a, b any) *Node { return binary(BinaryMin, a, b) }

// Rem is a − b·trunc(a/b), exactly, with the sign of a: C's fmod and Go's %, of integers and floats. Integers
// give 0 where b is 0. The derivatives are 1 by a and −trunc(a/b) by b.
func Rem(a, b any) *Node { return binary(BinaryRem, a, b) }

// Mod is a − b·floor(a/b), exactly, with the sign of b: Python's %, of integers and floats. Integers give 0
// where b is 0. The derivatives are 1 by a and −floor(a/b) by b.
func Mod(a, b any) *Node { return binary(BinaryMod, a, b) }

// And is a ∧ b of bools, bit by bit of integers.
func And(a, b any) *Node { return binary(BinaryAnd, a, b) }

// Or is a ∨ b of bools, bit by bit of integers.
func Or(a, b any) *Node { return binary(BinaryOr, a, b) }

// Xor is a ⊻ b of bools, bit by bit of integers.
func Xor(a, b any) *Node { return binary(BinaryXor, a, b) }

// ShiftLeft is a · 2^b of integers, the bits beyond the width lost; 0 where b is negative or the width and
// more.
func ShiftLeft(a, b any) *Node { return binary(BinaryShiftLeft, a, b) }

// ShiftRight is floor(a / 2^b) of integers: signed ones keep their sign. Where b is negative or the width
// and more it is 0, or −1 for a negative a.
func ShiftRight(a, b any) *Node { return binary(BinaryShiftRight, a, b) }

// Complex is a + b·i from two float32 or two float64 operands. The cotangent's real part goes to a, its
// imaginary part to b.
func Complex(a, b any) *Node { return binary(BinaryComplex, a, b) }

// Guard is b, but 0 where a is 0 and b is not finite, of floats and complexes. It makes a zero cotangent a
// stop an infinite or NaN derivative b: the rule of an elementwise function with derivative f′ is
// Mul(ct, Guard(ct, f′)). The cotangent goes to b where b was passed on, and never to a.
func Guard(a, b any) *Node { return binary(BinaryGuard, a, b) }

// FloorDiv is floor(a / b), of integers and floats: Python's //, with a = b·FloorDiv(a, b) + Mod(a, b).
// Integers give 0 where b is 0. It is constant between its jumps and has no gradient.
func FloorDiv(a, b any) *Node {
	const op = "ops.FloorDiv"
	x, bad := liftBroadcast(op, a, b)
	if bad != nil {
		return bad
	}
	n, d := x[0], x[1]
	if bad := checked(op, n, acceptReal); bad != nil {
		return bad
	}
	q := Div(n, d)
	if n.DType().IsUnsigned() {
		return q
	}
	opposite := And(NotEqual(n, 0), Xor(Less(n, 0), Less(d, 0)))
	if n.DType().IsInteger() {
		return Where(And(opposite, NotEqual(Rem(n, d), 0)), Sub(q, 1), q)
	}
	whole := Round(Sub(q, Div(Mod(n, d), d))) // it is whole but for the rounding of the quotients
	whole = Where(Equal(d, 0), q, whole)
	whole = Where(And(IsInf(d), IsFinite(n)), Where(opposite, -1, ZerosLike(n)), whole)
	return StopGradient(whole)
}

// LogAddExp is log(exp(a) + exp(b)) of floats, without overflow; −∞ is the log of nothing and adds nothing.
// The derivatives are the shares exp(a − out) and exp(b − out), halves where both are +∞.
func LogAddExp(a, b any) *Node {
	x, bad := liftBroadcast("ops.LogAddExp", a, b)
	if bad != nil {
		return bad
	}
	if bad := checked("ops.LogAddExp", x[0], acceptFloat); bad != nil {
		return bad
	}
	return LogSumExp(Stack(0, x...), 0)
}

// Square is x² of numbers. The derivative is 2x.
func Square(x *Node) *Node {
	if bad := checked("ops.Square", x, acceptNumber); bad != nil {
		return bad
	}
	return Mul(x, x)
}

// Reciprocal is 1/x of floats and complexes. The derivative is −1/x².
func Reciprocal(x *Node) *Node {
	if bad := checked("ops.Reciprocal", x, acceptAnalog); bad != nil {
		return bad
	}
	return Div(1, x)
}

// Clamp is x limited to [lo, hi]: lo where x < lo, then hi where that is > hi, of integers and floats. lo and
// hi are Go scalars or nodes that broadcast with x. A NaN x stays NaN, a NaN bound gives NaN. The cotangent
// goes to x inside and at the bounds, else to the bound that is the result.
//
// Errors (sticky): as those of Maximum.
func Clamp(x *Node, lo, hi any) *Node {
	n, bad := lift("ops.Clamp", 0, x, lo, hi)
	if bad != nil {
		return bad
	}
	if bad := checked("ops.Clamp", x, acceptReal); bad != nil {
		return bad
	}
	if n, bad = broadcast("ops.Clamp", n); bad != nil {
		return bad
	}
	y := n[0]
	y = Where(Or(Less(y, n[1]), NotEqual(n[1], n[1])), n[1], y)
	return Where(Or(Greater(y, n[2]), NotEqual(n[2], n[2])), n[2], y)
}
