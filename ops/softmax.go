package ops

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// SoftmaxOp is out = exp(x − m) / Σ exp(x − m) along Axis, m the maximum of the line; with Log it is
// out = x − m − log Σ exp(x − m). A line of −∞ has nothing to weigh: it gives 0, with Log −∞. The +∞ of a
// line share the whole weight equally. A line with NaN is NaN.
type SoftmaxOp struct {
	Axis int
	Log  bool
}

// Name is ops.Softmax or ops.LogSoftmax.
func (o SoftmaxOp) Name() string {
	if o.Log {
		return "ops.LogSoftmax"
	}
	return "ops.Softmax"
}

// Key is the canonical form of the attributes.
func (o SoftmaxOp) Key() string { return graph.KeyOf(o) }

// Infer is the operand's spec; it is a float.
func (o SoftmaxOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	if err := acceptFloat.check(0, in[0].DType); err != nil {
		return nil, err
	}
	if o.Axis < 0 || o.Axis >= in[0].Rank() {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", o.Axis, in[0].Rank())
	}
	return in, nil
}

// VJP is y ⊙ (ct − Σ ct·y); with Log it is ct − exp(y)·Σ ct, 0 on a line of −∞.
func (o SoftmaxOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	y := c.Out[0]
	return pull(c, ct, need, func(int) *Node {
		if o.Log {
			wide := widened(y.DType()) // a half may not hold Σ ct
			g, p := Cast(ct[0], wide), Exp(Cast(y, wide))
			return o.alive(y, Cast(Sub(g, Mul(p, o.sum(g))), y.DType()))
		}
		return Mul(y, Sub(ct[0], o.sum(Mul(ct[0], y))))
	})
}

// JVP is y ⊙ (tan − Σ tan·y); with Log it is tan − Σ exp(y)·tan, 0 on a line of −∞.
func (o SoftmaxOp) JVP(c *Call, tan []*Node) []*Node {
	y := c.Out[0]
	return push(tan, func(_ int, t *Node) *Node {
		if o.Log {
			return o.alive(y, Sub(t, o.sum(Mul(Exp(y), t))))
		}
		return Mul(y, Sub(t, o.sum(Mul(t, y))))
	})
}

func (o SoftmaxOp) sum(x *Node) *Node { return KeepDims(Sum, x, o.Axis) }

// alive is v, but 0 on the lines whose logarithms y are all −∞.
func (o SoftmaxOp) alive(y, v *Node) *Node {
	if y.Shape()[o.Axis] == 0 {
		return v
	}
	return Where(Equal(KeepDims(Max, y, o.Axis), math.Inf(-1)), 0, v)
}

// Batch moves the axis up by one.
func (o SoftmaxOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node {
	return []*Node{graph.Apply(SoftmaxOp{o.Axis + 1, o.Log}, in...)}
}

// InPlace allows the operand.
func (o SoftmaxOp) InPlace(int) bool { return true }

// Softmax is exp(x) / Σ exp(x) along an axis, of floats, shifted by the maximum so that it does not overflow.
// A line of −∞ gives 0 and gradient 0; the +∞ of a line share the whole weight equally. The cotangent of x is
// y ⊙ (ct − Σ ct·y).
//
// Errors (sticky): tensor.ErrDType for integers and bool, tensor.ErrUnsupported for complex and for nil,
// tensor.ErrAxis.
func Softmax(x *Node, axis int) *Node { return softmax(SoftmaxOp{axis, false}, x) }

// LogSoftmax is x − log Σ exp(x) along an axis, of floats, shifted by the maximum so that it does not
// overflow. A line of −∞ gives −∞ and gradient 0. The cotangent of x is ct − exp(y)·Σ ct.
//
// Errors (sticky): as Softmax.
func LogSoftmax(x *Node, axis int) *Node { return softmax(SoftmaxOp{axis, true}, x) }

func softmax(o SoftmaxOp, x *Node) *Node {
	if bad := graph.Invalid(o.Name(), x); bad != nil {
		return bad
	}
	axis, err := axisOf(o.Axis, x.Rank())
	if err != nil {
		return x.Graph().Fail(o.Name(), err)
	}
	return graph.Apply(SoftmaxOp{axis, o.Log}, x)
}

// Hardmax is 1 at the greatest element of each line along an axis, the first of those that tie or the first
// NaN, and 0 elsewhere, in x's dtype. It has no gradient.
//
// Errors (sticky): tensor.ErrDType for bool, tensor.ErrUnsupported for complex, for an axis of extent 0 and for
// nil, tensor.ErrAxis.
func Hardmax(x *Node, axis int) *Node {
	const name = "ops.Hardmax"
	if bad := checked(name, x, acceptReal); bad != nil {
		return bad
	}
	axis, err := axisOf(axis, x.Rank())
	if err != nil {
		return x.Graph().Fail(name, err)
	}
	at := ArgMax(x, axis)
	if !at.Valid() {
		return at
	}
	position := Iota(x.Graph(), tensor.Int64, axis, x.Shape()...)
	return Cast(Equal(ExpandDims(at, axis), position), x.DType())
}
