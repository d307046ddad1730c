package ops

// The functions that rules are made of. A tangent or cotangent that is nil is zero.

// pull is the VJP of an op with one result: back(i) for every operand that wants a cotangent.
func pull(c *Call, ct []*Node, need []bool, back func(i int) *Node) []*Node {
	r := make([]*Node, len(c.In))
	if ct[0] == nil {
		return r
	}
	for i := range r {
		if need[i] {
			r[i] = back(i)
		}
	}
	return r
}

// push is the JVP of an op with one result: the sum of forward(i, tangent i) over the operands that have one.
func push(tan []*Node, forward func(i int, t *Node) *Node) []*Node {
	var sum *Node
	for i, t := range tan {
		if t != nil {
			sum = addTangents(sum, forward(i, t))
		}
	}
	return []*Node{sum}
}

// none is the answer of a rule without gradients: n zeros.
func none(n int) []*Node { return make([]*Node, n) }

// addTangents is a + b.
func addTangents(a, b *Node) *Node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return Add(a, b)
}

// orZero is t, or zeros of the spec of like.
func orZero(t, like *Node) *Node {
	if t == nil {
		return ZerosLike(like)
	}
	return t
}

// times is the product that elementwise rules are made of: ct·slope, where a zero ct stops a slope that is
// not finite. The guard is on the slope, so a finite one stays in the graph and second order is right.
func times(ct, slope *Node) *Node { return Mul(ct, Guard(ct, slope)) }

// batchAll gives every operand the batch of n examples at axis 0, by a stride-0 view where it had none.
func batchAll(in []*Node, batched []bool, n int) []*Node {
	r := make([]*Node, len(in))
	for i, x := range in {
		r[i] = x
		if !batched[i] {
			r[i] = BroadcastTo(x, prepend(n, x.Shape())...)
		}
	}
	return r
}
