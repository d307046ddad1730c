package ops

import (
	"math"

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

// Prod's rules come from a scan over the elements of each line: never a division, never a count of zeros, so
// any number of zeros is right, in every order of differentiation. Partial products of half floats are kept in
// float32, whose range they may need where the derivative does not. A scan is a ScatterScan in which x is the
// updates and every line writes to a place of its own.

// scan is h ← a·h + b along each line, in order or reversed, from h = start, of the shape of the result. last
// is the last h, before the h just before each element, of the shape of a.
func (o ReduceOp) scan(reverse bool, start, a, b *Node) (last, before *Node) {
	if bad := graph.Invalid(o.Name(), start, a, b); bad != nil {
		return bad, bad
	}
	lines := start.Shape()
	op := ScatterScanOp{
		Window: Window{
			IndexAxes:  []int{0},
			SliceSizes: prepend(1, lines),
			Collapsed:  []int{0},
			OffsetAxes: without(o.Axes, a.Rank()),
			IndexShape: pick(a.Shape(), o.Axes),
		},
		Mode:    Mode{OOB: OOBSkip},
		Affine:  true,
		Reverse: reverse,
	}
	place := start.Graph().Literal(tensor.Int64, 0)
	r := graph.ApplyN(2, op, Reshape(start, prepend(1, lines)...), a, b, place)
	return Reshape(r[0], lines...), r[1]
}

// factor is the first factor of each line, widened: the initial value or 1.
func (o ReduceOp) factor(c *Call) *Node {
	first := OnesLike(c.Out[0])
	if o.Init {
		first = BroadcastTo(c.In[1], c.Out[0].Shape()...)
	}
	return Cast(first, widened(first.DType()))
}

// prodVJP multiplies the product of what comes before each element by ct times that of what comes after.
func (o ReduceOp) prodVJP(c *Call, ct *Node, need []bool) []*Node {
	r := none(len(need))
	dt := ct.DType()
	wide := widened(dt)
	x := Conj(Cast(c.In[0], wide))
	all, after := o.scan(true, Cast(ct, wide), x, ZerosLike(x))
	if need[0] {
		_, before := o.scan(false, Conj(o.factor(c)), x, ZerosLike(x))
		r[0] = Cast(Mul(before, after), dt)
	}
	if o.Init && need[1] {
		r[1] = Cast(Sum(all), dt)
	}
	return r
}

// prodJVP carries the tangent through the products: h′ ← x·h′ + x′·h.
func (o ReduceOp) prodJVP(c *Call, tan []*Node) []*Node {
	dt := c.Out[0].DType()
	wide := widened(dt)
	x := Cast(c.In[0], wide)
	start := ZerosLike(c.Out[0])
	if o.Init && tan[1] != nil {
		start = BroadcastTo(tan[1], c.Out[0].Shape()...)
	} else if tan[0] == nil {
		return none(1)
	}
	added := ZerosLike(x)
	if tan[0] != nil {
		_, before := o.scan(false, o.factor(c), x, added)
		added = Mul(before, Cast(tan[0], wide))
	}
	last, _ := o.scan(false, Cast(start, wide), x, added)
	return []*Node{Cast(last, dt)}
}
