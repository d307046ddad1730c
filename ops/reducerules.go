package ops

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// VJP, with y the result and the initial value one more element of each line: Sum repeats the cotangent; Prod
// multiplies it by the products of all the other elements; Max and Min share it equally among the elements
// that attain y; LogSumExp multiplies it by the weights exp(x − y).
func (o ReduceOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	if ct[0] != nil && o.Fn == ReduceProd {
		return o.prodVJP(c, ct[0], need)
	}
	return pull(c, ct, need, func(i int) *Node {
		g := ct[0]
		if o.Fn == ReduceMax || o.Fn == ReduceMin {
			g = o.share(c, g)
		}
		if i == 0 {
			g = o.spread(g, c.In[0])
		}
		switch o.Fn {
		case ReduceMax, ReduceMin:
			g = Where(o.attains(c, i), g, 0)
		case ReduceLogSumExp:
			g = Mul(g, o.weights(c, i))
		}
		return SumTo(g, c.In[i].Shape()...)
	})
}

// JVP is the sum over each line of the tangents, each times what VJP multiplies by.
func (o ReduceOp) JVP(c *Call, tan []*Node) []*Node {
	if o.Fn == ReduceProd {
		return o.prodJVP(c, tan)
	}
	wide := c.Out[0].DType()
	if o.Fn == ReduceMax || o.Fn == ReduceMin {
		wide = widened(wide) // a sum that is then divided must not overflow before
	}
	sum := push(tan, func(i int, t *Node) *Node {
		if i == 1 {
			t = BroadcastTo(t, c.Out[0].Shape()...)
		}
		switch o.Fn {
		case ReduceMax, ReduceMin:
			t = Cast(Where(o.attains(c, i), t, 0), wide)
		case ReduceLogSumExp:
			t = Mul(t, o.weights(c, i))
		}
		if i == 1 {
			return t
		}
		return o.sumLines(t)
	})
	if sum[0] != nil && (o.Fn == ReduceMax || o.Fn == ReduceMin) {
		sum[0] = Cast(o.share(c, sum[0]), c.Out[0].DType())
	}
	return sum
}

// operand is operand i and the result, both of the shape in which they compare: that of x, or for the initial
// value that of the result.
func (o ReduceOp) operand(c *Call, i int, y *Node) (v, of *Node) {
	if i == 0 {
		return c.In[0], o.spread(y, c.In[0])
	}
	return BroadcastTo(c.In[1], y.Shape()...), y
}

func (o ReduceOp) attains(c *Call, i int) *Node {
	v, y := o.operand(c, i, c.Out[0])
	return Attains(v, y)
}

// share divides a value per line by the number of elements that attain the result.
func (o ReduceOp) share(c *Call, v *Node) *Node {
	return over(v, o.count(c, func(v, y *Node) *Node { return Attains(v, y) }))
}

// count is the number of elements of each line, the initial value included, of which a predicate holds.
func (o ReduceOp) count(c *Call, holds func(v, y *Node) *Node) *Node {
	wide := widened(c.Out[0].DType())
	n := o.sumLines(Cast(holds(o.operand(c, 0, c.Out[0])), wide))
	if o.Init {
		n = Add(n, Cast(holds(o.operand(c, 1, c.Out[0])), wide))
	}
	return n
}

// over is v/n, for an n that a half float may not hold.
func over(v, n *Node) *Node {
	return Cast(Div(Cast(v, n.DType()), n), v.DType())
}

// weights is ∂LogSumExp by the elements of operand i: exp(v − y), where y = −∞ zero, where y = +∞ equal
// shares of the elements that are +∞. A NaN y gives NaN.
func (o ReduceOp) weights(c *Call, i int) *Node {
	y := c.Out[0]
	inf := math.Inf(1)
	finite := Where(IsInf(y), 0, y) // exp(−∞ − 0) is 0, as it should be
	share := over(OnesLike(y), o.count(c, func(v, _ *Node) *Node { return Equal(v, inf) }))
	v, top := o.operand(c, i, Equal(y, inf))
	_, finite = o.operand(c, i, finite)
	_, share = o.operand(c, i, share)
	return Where(top, Where(Equal(v, inf), share, 0), Exp(Sub(v, finite)))
}

// Prod's rules come from scans over the elements of each line: never a division, never a count of zeros, so
// any number of zeros is right, in every order of differentiation. Half floats have theirs in float32, which
// holds products of some factors where that of all is a half.

// lines is x with the reduced axes joined to one, and that axis. Axes that are no neighbours are moved to the
// end.
func (o ReduceOp) lines(x *Node) (*Node, int) {
	perm, at := o.order(x)
	x = permute(x, perm)
	if !x.Valid() {
		return x, 0
	}
	s := x.Shape()
	n := at + len(o.Axes)
	return Reshape(x, slices.Concat(s[:at], []int{tensor.Size(s[at:n])}, s[n:])...), at
}

// unlined is lines undone: r, of the shape that lines gave, in the shape of x.
func (o ReduceOp) unlined(r, x *Node) *Node {
	perm, _ := o.order(x)
	return permute(Reshape(r, pick(x.Shape(), perm)...), inverse(perm))
}

// order is the axes of x with the reduced ones side by side, and where those begin.
func (o ReduceOp) order(x *Node) (perm []int, at int) {
	switch n := len(o.Axes); {
	case n == 0:
		return upTo(x.Rank()), 0
	case o.Axes[n-1]-o.Axes[0] == n-1:
		return upTo(x.Rank()), o.Axes[0]
	}
	kept := without(o.Axes, x.Rank())
	return slices.Concat(kept, o.Axes), len(kept)
}

// others is the product of all the other elements of the line, the initial value not included. x is wide.
func (o ReduceOp) others(x *Node) *Node {
	l, at := o.lines(x)
	return o.unlined(Mul(CumProd(l, at, Exclusive), CumProd(l, at, Exclusive, Reversed)), x)
}

// wide is the operands, and what else is given, in the dtype in which the rules of Prod multiply.
func (o ReduceOp) wide(c *Call, v *Node) (x, init, w *Node) {
	dt := widened(c.Out[0].DType())
	if o.Init {
		init = Cast(c.In[1], dt)
	}
	return Cast(c.In[0], dt), init, Cast(v, dt)
}

// prodVJP multiplies the product of all the others by ct.
func (o ReduceOp) prodVJP(c *Call, ct *Node, need []bool) []*Node {
	dt, r := ct.DType(), none(len(need))
	x, init, ct := o.wide(c, ct)
	if o.Init && need[1] {
		r[1] = Cast(Sum(Mul(ct, Conj(o.product(x)))), dt)
	}
	if need[0] {
		if o.Init {
			ct = Mul(ct, Conj(init))
		}
		r[0] = Cast(Mul(o.spread(ct, x), Conj(o.others(x))), dt)
	}
	return r
}

// prodJVP is the sum over each line of the tangents, each times the product of all the others.
func (o ReduceOp) prodJVP(c *Call, tan []*Node) []*Node {
	sum := push(tan, func(i int, t *Node) *Node {
		x, init, t := o.wide(c, t)
		if i == 1 {
			return Mul(t, o.product(x))
		}
		t = o.sumLines(Mul(t, o.others(x)))
		if o.Init {
			t = Mul(t, init)
		}
		return t
	})
	if sum[0] != nil {
		sum[0] = Cast(sum[0], c.Out[0].DType())
	}
	return sum
}

// product is the result without an initial value.
func (o ReduceOp) product(x *Node) *Node { return graph.Apply(ReduceOp{ReduceProd, o.Axes, false}, x) }
