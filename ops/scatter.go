package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Combine says what a scatter does with an update u and the value h it finds: CombineSet, CombineAdd, CombineMul,
// CombineMax or CombineMin.
type Combine uint8

// The combinations, in the row-major order of the updates.
const (
	CombineSet Combine = iota // u: the last writer wins
	CombineAdd                // h + u; or, for bool
	CombineMul                // h · u; and, for bool
	CombineMax                // NaN wins, −0 is below +0; or, for bool
	CombineMin                // NaN wins, −0 is below +0; and, for bool
	combineCount
)

var combineNames = [combineCount]string{"set", "add", "mul", "max", "min"}

// String is set, add, mul, max or min.
func (c Combine) String() string {
	if c < combineCount {
		return combineNames[c]
	}
	return "unknown"
}

// ScatterOp is y = x with y[place(i, w)] = combine(y[place(i, w)], u[i, w]) for every (i, w) in row-major
// order of u. Operands x, u, idx…
type ScatterOp struct {
	Window  Window
	Mode    Mode
	Combine Combine
	Origin  []Origin // per index operand, for errors; nil: the operand's number and the axis it indexes
}

// Scatter is y = x with y[place(i, w)] = combine(y[place(i, w)], u[i, w]) for every (i, w) in row-major order
// of u: the places that w and the index operands name. u is of x's dtype and of the shape that Gather gives
// with the same window. A nil w.IndexShape stands for the shape that the index operands broadcast to.
//
// IndexAdd and IndexCopy write slices along an axis, PutAlongAxis and ScatterElements elements, ScatterND and
// SetIndex either, without a window to spell out.
//
// Gradients: of Set, zero to what was overwritten and ū to the last writer alone; of Add, to all; of Mul, the
// products of the others; of Max and Min, equal shares to all that attain the extreme, x included.
//
// Errors (sticky): those of Window.Resolve; for u tensor.ErrDType and tensor.ErrShape; tensor.ErrUnsupported
// for Max and Min of complex numbers, an unknown mode or combination. When it is evaluated: *IndexError where
// m.OOB is OOBError, and then nothing is written.
func Scatter(x, u *Node, idx []*Node, c Combine, w Window, m Mode) *Node {
	p, bad := generalPlaces("ops.Scatter", idx, w, m, x, u)
	if bad != nil {
		return bad
	}
	return p.scatter(c, x, u)
}

// Name is ops.Scatter.
func (ScatterOp) Name() string { return "ops.Scatter" }

// Key is the canonical form of the attributes.
func (o ScatterOp) Key() string { return graph.KeyOf(o) }

// Infer is x's spec.
func (o ScatterOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := atLeast(in, 2); err != nil {
		return nil, err
	}
	switch ordered := o.Combine == CombineMax || o.Combine == CombineMin; {
	case o.Combine >= combineCount:
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "combination %d is unknown", o.Combine)
	case ordered && in[0].DType.IsComplex():
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%s of %s: complex numbers have no order",
			o.Combine, in[0].DType)
	}
	if err := inferUpdates(o.Window, o.Mode, in[0], in[1:2], in[2:]); err != nil {
		return nil, err
	}
	return in[:1], nil
}

// inferUpdates checks that each of us is what a gather of x with the same places gives.
func inferUpdates(w Window, m Mode, x tensor.Spec, us, idx []tensor.Spec) error {
	if err := m.check(); err != nil {
		return err
	}
	r, err := w.Resolve(x.Shape, idx, m.OOB == OOBClamp)
	if err != nil {
		return err
	}
	for _, u := range us {
		if u.DType != x.DType {
			return tensor.Errorf("", tensor.ErrDType, "updates are %s, the operand is %s", u, x)
		}
		if !slices.Equal(u.Shape, r.Shape) {
			return tensor.Errorf("", tensor.ErrShape, "updates have shape %v, the window gives %v",
				u.Shape, r.Shape)
		}
	}
	return nil
}

// Fallible: an index can be out of bounds.
func (o ScatterOp) Fallible() bool { return fallible(o.Window, o.Mode) }

// Check is a check of the indices.
func (o ScatterOp) Check(in []tensor.Spec) (graph.Op, []int) {
	return checkPlaces(o.Window, o.Mode, o.Origin, in, 2)
}

// InPlace: the result may overwrite x.
func (ScatterOp) InPlace(i int) bool { return i == 0 }

func (o ScatterOp) places(idx []*Node) places { return places{o.Window, o.Mode, o.Origin, idx} }

// VJP, with G the gather of the same places:
//
//	Add       x̄ = ȳ, ū = G ȳ
//	Set       (x̄, ū) = Exchange reversed (ȳ, 0): the last writer finds ȳ, those before it the 0 that it left
//	Mul       (x̄, s) = Affine reversed (ȳ, u, 0), ū = s ⊙ before of Affine (x, u, 0)
//	Max, Min  q = ȳ/n; x̄ = where(mₓ, q, 0), ū = where(mᵤ, G q, 0)
func (o ScatterOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	if ct[0] == nil || !need[0] && !need[1] {
		return none(len(c.In))
	}
	x, u, g := c.In[0], c.In[1], ct[0]
	at, grads := o.places(c.In[2:]), make([]*Node, len(c.In))
	switch o.Combine {
	case CombineAdd:
		grads[0] = g
		if need[1] {
			grads[1] = at.gather(g)
		}
	case CombineSet:
		if !need[1] {
			grads[0] = at.scatter(CombineSet, g, ZerosLike(u))
			break
		}
		grads[0], grads[1] = at.scan(true, g, nil, ZerosLike(u))
	case CombineMul:
		if !need[1] {
			grads[0] = at.scatter(CombineMul, g, Conj(u))
			break
		}
		wide := widened(x.DType())
		x, u, g = Cast(x, wide), Conj(Cast(u, wide)), Cast(g, wide)
		y, s := at.scan(true, g, u, ZerosLike(u))
		grads[0] = Cast(y, c.In[0].DType())
		grads[1] = Cast(Mul(s, at.before(Conj(x), u)), c.In[1].DType())
	case CombineMax, CombineMin:
		mx, mu, n := at.shares(x, u, c.Out[0])
		q := over(g, n)
		if need[0] {
			grads[0] = Where(mx, q, 0)
		}
		if need[1] {
			grads[1] = Where(mu, at.gather(q), 0)
		}
	}
	return grads
}

// JVP: Add and Set are linear; Mul is Affine (ẋ, u, before ⊙ u̇); Max and Min average the tangents of what
// attains the extreme.
func (o ScatterOp) JVP(c *Call, tan []*Node) []*Node {
	if tan[0] == nil && tan[1] == nil {
		return []*Node{nil}
	}
	x, u, at := c.In[0], c.In[1], o.places(c.In[2:])
	dx, du := orZero(tan[0], x), orZero(tan[1], u)
	switch o.Combine {
	case CombineMul:
		if tan[1] == nil {
			return []*Node{at.scatter(CombineMul, dx, u)}
		}
		wide := widened(x.DType())
		u, dx = Cast(u, wide), Cast(dx, wide)
		y, _ := at.scan(false, dx, u, Mul(at.before(Cast(x, wide), u), Cast(du, wide)))
		return []*Node{Cast(y, x.DType())}
	case CombineMax, CombineMin:
		mx, mu, n := at.shares(x, u, c.Out[0])
		dx, du = Cast(Where(mx, dx, 0), n.DType()), Cast(Where(mu, du, 0), n.DType())
		return []*Node{Cast(Div(at.scatter(CombineAdd, dx, du), n), x.DType())}
	}
	return []*Node{at.scatter(o.Combine, dx, du)}
}

// before is what each place held just before each update of a product: the exclusive product, by products
// alone.
func (p places) before(x, u *Node) *Node {
	_, before := p.scan(false, x, u, ZerosLike(u))
	return before
}

// shares marks what attains the extremes y, among x and among u, and counts it at each place, in a dtype that
// holds the count.
func (p places) shares(x, u, y *Node) (mx, mu, n *Node) {
	mx, mu = Attains(x, y), Attains(u, p.gather(y))
	wide := widened(y.DType())
	return mx, mu, p.scatter(CombineAdd, Cast(mx, wide), Cast(mu, wide))
}

// Batch broadcasts x and u as views. Batched indices make a pair of batch axes, others one more window axis.
func (o ScatterOp) Batch(c *Call, in []*Node, batched []bool, size int) []*Node {
	xu := batchAll(in[:2], batched[:2], size)
	p := o.places(c.In[2:]).batch(true, in[2:], batched[2:], size)
	return []*Node{p.scatter(o.Combine, xu[0], xu[1])}
}
