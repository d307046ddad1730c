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

// binaryTraits says what each function is called and takes.
var binaryTraits = [binaryCount]struct {
	name  string
	takes accept
}{
	BinaryAdd:        {"ops.Add", acceptAny},
	BinarySub:        {"ops.Sub", acceptNumber},
	BinaryMul:        {"ops.Mul", acceptAny},
	BinaryDiv:        {"ops.Div", acceptNumber},
	BinaryPow:        {"ops.Pow", acceptNumber},
	BinaryAtan2:      {"ops.Atan2", acceptFloat},
	BinaryMax:        {"ops.Maximum", acceptOrdered},
	BinaryMin:        {"ops.Minimum", acceptOrdered},
	BinaryRem:        {"ops.Rem", acceptReal},
	BinaryMod:        {"ops.Mod", acceptReal},
	BinaryAnd:        {"ops.And", acceptBits},
	BinaryOr:         {"ops.Or", acceptBits},
	BinaryXor:        {"ops.Xor", acceptBits},
	BinaryShiftLeft:  {"ops.ShiftLeft", acceptInt},
	BinaryShiftRight: {"ops.ShiftRight", acceptInt},
	BinaryComplex:    {"ops.Complex", acceptFloat},
	BinaryGuard:      {"ops.Guard", acceptAnalog},
}

// BinaryOp is out[i…] = fn(a[i…], b[i…]).
type BinaryOp struct{ Fn BinaryFn }

// Name is that of the builder, ops.Add for example.
func (o BinaryOp) Name() string {
	if o.Fn >= binaryCount {
		return unknown("Binary", uint8(o.Fn))
	}
	return binaryTraits[o.Fn].name
}

// Key is the canonical form of the attributes.
func (o BinaryOp) Key() string { return graph.KeyOf(o) }

// Infer wants two operands of one spec and gives a result of the same spec; Complex gives the complex dtype
// of its real operands.
func (o BinaryOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Fn >= binaryCount {
		return nil, noFunction(uint8(o.Fn))
	}
	if err := sameSpecs(in, 2, binaryTraits[o.Fn].takes); err != nil {
		return nil, err
	}
	dt := in[0].DType
	if o.Fn == BinaryComplex {
		switch dt {
		case tensor.Float32:
			dt = tensor.Complex64
		case tensor.Float64:
			dt = tensor.Complex128
		default:
			return nil, tensor.Errorf("", tensor.ErrDType,
				"no complex dtype has %s components: cast to float32 first", dt)
		}
	}
	return one(dt, in[0].Shape), nil
}

// sameSpecs checks operands of an elementwise op.
func sameSpecs(in []tensor.Spec, n int, takes accept) error {
	if err := arity(in, n); err != nil {
		return err
	}
	if err := sameDTypes(in...); err != nil {
		return err
	}
	if err := takes.check(0, in[0].DType); err != nil {
		return err
	}
	return sameShapes(in...)
}

// VJP is ct · Guard(ct, conj ∂y/∂operand); what is linear passes the cotangent on, an extreme shares it
// equally among those that attain it.
func (o BinaryOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(i int) *Node {
		g := ct[0]
		switch o.Fn {
		case BinaryComplex:
			if i == 0 {
				return Real(g)
			}
			return Imag(g)
		case BinaryMax, BinaryMin:
			return Where(Attains(c.In[i], c.Out[0]), Div(g, ties(c)), 0)
		}
		return o.along(c, i, g, true)
	})
}

// JVP is the sum of tan · Guard(tan, ∂y/∂operand).
func (o BinaryOp) JVP(c *Call, tan []*Node) []*Node {
	if o.Fn == BinaryComplex {
		if tan[0] == nil && tan[1] == nil {
			return none(1)
		}
		return []*Node{Complex(orZero(tan[0], c.In[0]), orZero(tan[1], c.In[1]))}
	}
	return push(tan, func(i int, t *Node) *Node {
		if o.Fn == BinaryMax || o.Fn == BinaryMin {
			return Where(Attains(c.In[i], c.Out[0]), Div(t, ties(c)), 0)
		}
		return o.along(c, i, t, false)
	})
}

// ties counts the operands that attain the result.
func ties(c *Call) *Node {
	dt := c.Out[0].DType()
	return Add(Cast(Attains(c.In[0], c.Out[0]), dt), Cast(Attains(c.In[1], c.Out[0]), dt))
}

// along is v times the derivative by operand i, or by its conjugate.
func (o BinaryOp) along(c *Call, i int, v *Node, conj bool) *Node {
	a, b, y := c.In[0], c.In[1], c.Out[0]
	var slope *Node
	switch o.Fn {
	case BinaryAdd:
		return v
	case BinarySub, BinaryRem, BinaryMod:
		switch {
		case i == 0:
			return v
		case o.Fn == BinarySub:
			return Neg(v)
		}
		slope = Round(Div(Sub(y, a), b)) // y = a − q·b with a whole q, which rounding recovers
	case BinaryMul:
		slope = c.In[1-i]
	case BinaryDiv:
		slope = Div(1, b)
		if i == 1 {
			slope = Neg(Div(y, b))
		}
	case BinaryPow:
		if i == 0 { // the guard makes the derivative of x⁰ zero at x = 0 too, and only there cuts the graph
			slope = Mul(b, Guard(b, Pow(a, Sub(b, 1))))
		} else {
			slope = Mul(y, Guard(y, Log(a)))
		}
	case BinaryAtan2:
		// b/(a² + b²), over m² so that no square overflows or vanishes; it does not depend on m.
		m := StopGradient(Maximum(Abs(a), Abs(b)))
		a, b = Div(a, m), Div(b, m)
		r2 := Mul(Add(Square(a), Square(b)), m)
		slope = Div(b, r2)
		if i == 1 {
			slope = Neg(Div(a, r2))
		}
	case BinaryGuard: // the first operand only selects
		if i == 0 {
			return nil
		}
		return Where(guards(a, b), 0, v)
	default: // bits
		return nil
	}
	if conj {
		slope = Conj(slope)
	}
	return times(v, slope)
}

// Batch is the same op: its operands gain the batch.
func (o BinaryOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	return []*Node{graph.Apply(o, batchAll(in, batched, size)...)}
}

// Elementwise: an element is made of its operands' elements at the same place.
func (BinaryOp) Elementwise() bool { return true }

// InPlace allows both operands, except where the result has another dtype.
func (o BinaryOp) InPlace(int) bool { return o.Fn != BinaryComplex }

// binary is the builder of every function: scalars become literals, shapes broadcast.
func binary(fn BinaryFn, a, b any) *Node {
	o := BinaryOp{fn}
	x, bad := liftBroadcast(o.Name(), a, b)
	if bad != nil {
		return bad
	}
	return graph.Apply(o, x...)
}

func liftBroadcast(op string, a, b any) ([]*Node, *Node) {
	x, bad := lift(op, 0, a, b)
	if bad != nil {
		return nil, bad
	}
	return broadcast(op, x)
}
