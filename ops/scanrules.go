package ops

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
)

// The derivatives of scans are scans. Two are closed: the adjoint of Sum is Sum in the other direction, and
// that of y ← a·y + b is r ← a′·r + ȳ in the other direction, a′ being the coefficient of the element met
// next, which brings a cotangent back. Prod and LogSumExp are affine to first order, so they need no division
// and no exponential above 1. Max and Min pass on the element that they name.

// VJP, with ȳ the cotangent: Sum, x̄ = the sum in the other direction; Affine, b̄ = that of y ← a·y + b and
// ā = b̄ ⊙ yᵢ₋₁; Prod, x̄ = Π before ⊙ the adjoint with a = x; LogSumExp, x̄ = exp(x − y) ⊙ the adjoint with
// a = exp(yᵢ₋₁ − yᵢ); Max and Min, x̄ = ȳ added up at the indices.
func (o ScanOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	g := ct[0]
	switch {
	case g == nil:
		return none(len(c.In))
	case o.Fn == ScanAffine:
		return o.affineVJP(c, g, need)
	}
	return pull(c, ct, need, func(int) *Node {
		x := c.In[0]
		switch o.Fn {
		case ScanSum:
			o.Reverse = !o.Reverse
			return graph.Apply(o, g)
		case ScanProd:
			return o.withoutUnread(Mul(Conj(o.before(c, 1)), o.adjoint(Conj(x), g)))
		case ScanLogSumExp:
			weight, decay := o.weights(c)
			r := o.adjoint(decay, Cast(g, widened(x.DType())))
			return Cast(o.withoutUnread(Mul(weight, r)), x.DType())
		}
		return o.places(c).scatter(CombineAdd, ZerosLike(x), g)
	})
}

// affineVJP is b̄ and ā = b̄ ⊙ yᵢ₋₁.
func (o ScanOp) affineVJP(c *Call, ct *Node, need []bool) []*Node {
	db := o.adjoint(Conj(c.In[0]), ct)
	r := none(2)
	if need[0] {
		r[0] = o.withoutUnread(Mul(db, Conj(o.before(c, 0))))
	}
	if need[1] {
		r[1] = db
	}
	return r
}

// JVP is the tangents' scan: that of Sum; the Affine one of (a, ȧ ⊙ yᵢ₋₁ + ḃ), for Prod of (x, Π before ⊙ ẋ),
// for LogSumExp of (exp(yᵢ₋₁ − yᵢ), exp(x − y) ⊙ ẋ); for Max and Min the tangents at the indices.
func (o ScanOp) JVP(c *Call, tan []*Node) []*Node {
	r := none(len(c.Out))
	t := tan[len(tan)-1]
	if o.Fn == ScanAffine && tan[0] != nil {
		t = addTangents(Mul(tan[0], o.before(c, 0)), t)
	}
	if t == nil {
		return r
	}
	x := c.In[0]
	switch o.Fn {
	case ScanSum:
		r[0] = graph.Apply(o, t)
	case ScanProd:
		r[0] = o.affine(x, Mul(o.before(c, 1), t))
	case ScanLogSumExp:
		weight, decay := o.weights(c)
		t = o.affine(decay, Mul(weight, Cast(t, widened(x.DType()))))
		r[0] = Cast(t, x.DType())
	case ScanAffine:
		r[0] = graph.Apply(o, x, t)
	default:
		r[0] = o.places(c).gather(t)
	}
	return r
}

// affine is the Affine scan with o's way of going.
func (o ScanOp) affine(a, b *Node) *Node {
	o.Fn = ScanAffine
	return graph.Apply(o, a, b)
}

// adjoint is the adjoint by b of the Affine scan with o's way of going. Without the element itself, the
// coefficient that brings a cotangent back is the element's own.
func (o ScanOp) adjoint(a, ct *Node) *Node {
	if !o.Exclusive {
		a = o.shifted(a, 0, !o.Reverse)
	}
	o.Reverse = !o.Reverse
	return o.affine(a, ct)
}

// before is result 0 without the element itself: its identity, or what was met up to the element before.
func (o ScanOp) before(c *Call, identity any) *Node {
	if o.Exclusive {
		return c.Out[0]
	}
	return o.shifted(c.Out[0], identity, o.Reverse)
}

// withoutUnread is a cotangent with 0 for the last element met, which an Exclusive scan never reads: it has none,
// also where what it is multiplied with is not finite.
func (o ScanOp) withoutUnread(ct *Node) *Node {
	if !o.Exclusive || !ct.Valid() || ct.Shape()[o.Axis] == 0 {
		return ct
	}
	n, edge := ct.Shape()[o.Axis]-1, keptShape(ct.Shape(), []int{o.Axis})
	unread := Zeros(ct.Graph(), ct.DType(), edge...)
	if o.Reverse {
		return Concat(o.Axis, unread, SliceAxis(ct, o.Axis, 1, n))
	}
	return Concat(o.Axis, SliceAxis(ct, o.Axis, 0, n), unread)
}

// shifted is x moved on along the axis by one element, or back, with v in what is left free.
func (o ScanOp) shifted(x *Node, v any, back bool) *Node {
	if !x.Valid() || x.Shape()[o.Axis] == 0 {
		return x
	}
	n, edge := x.Shape()[o.Axis]-1, keptShape(x.Shape(), []int{o.Axis})
	free := BroadcastTo(x.Graph().Literal(x.DType(), v), edge...)
	if back {
		return Concat(o.Axis, SliceAxis(x, o.Axis, 1, n), free)
	}
	return Concat(o.Axis, free, SliceAxis(x, o.Axis, 0, n))
}

// places is where the indices of Max and Min point: −1 is nowhere.
func (o ScanOp) places(c *Call) places {
	at := c.Out[1]
	w, _, _ := along(o.Name(), c.In[0], at, o.Axis)
	return places{window: w, mode: Mode{OOB: OOBSkip}, idx: []*Node{at}}
}

// weights is the derivatives of LogSumExp, y with the element itself: by the element, exp(x − y), and by what
// was met before, exp(yᵢ₋₁ − yᵢ). Where y is −∞ both are 0. Where it is +∞ they are limits: of k elements that
// are +∞ each has the share 1/k. Half floats have theirs in float32, from a y that was not rounded to one.
func (o ScanOp) weights(c *Call) (weight, decay *Node) {
	wide := widened(c.In[0].DType())
	x, y := Cast(c.In[0], wide), c.Out[0]
	exclusive := o.Exclusive
	o.Exclusive = false
	if exclusive || c.In[0].DType() != wide {
		y = graph.Apply(o, x)
	}
	count, inf := ScanOp{Fn: ScanSum, Axis: o.Axis, Reverse: o.Reverse}, math.Inf(1)
	top, hit := Equal(y, inf), Cast(Equal(x, inf), wide)
	k := graph.Apply(count, hit)
	finite := Where(IsInf(y), 0, y) // exp(−∞ − 0) is 0, as it should be
	weight = Where(top, Div(hit, Maximum(k, 1)), Exp(Sub(x, finite)))
	decay = Where(top, Div(Sub(k, hit), Maximum(k, 1)), Exp(Sub(o.shifted(y, -inf, o.Reverse), finite)))
	return weight, decay
}
