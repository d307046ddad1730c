package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// UnaryFn is an elementwise function of one operand.
type UnaryFn uint8

// The functions of UnaryOp.
const (
	UnaryNeg  UnaryFn = iota
	UnaryAbs          // modulus for complex, real result
	UnarySign         // complex: z/|z|, 0 at 0
	UnaryExp
	UnaryExp2
	UnaryExpm1
	UnaryLog
	UnaryLog2
	UnaryLog10
	UnaryLog1p
	UnarySqrt
	UnaryRsqrt
	UnaryCbrt
	UnarySin
	UnaryCos
	UnaryTan
	UnaryAsin
	UnaryAcos
	UnaryAtan
	UnarySinh
	UnaryCosh
	UnaryTanh
	UnaryAsinh
	UnaryAcosh
	UnaryAtanh
	UnarySigmoid
	UnarySoftplus
	UnaryErf
	UnaryErfc
	UnaryErfinv
	UnaryFloor
	UnaryCeil
	UnaryRound // half to even
	UnaryTrunc
	UnaryNot // logical for bool, bitwise for integers
	UnaryIsNaN
	UnaryIsInf
	UnaryIsFinite
	UnaryConj
	UnaryReal
	UnaryImag
	unaryCount
)

// unaryTraits says what each function is called and takes.
var unaryTraits = [unaryCount]struct {
	name  string
	takes accept
}{
	UnaryNeg:      {"ops.Neg", acceptNumber},
	UnaryAbs:      {"ops.Abs", acceptNumber},
	UnarySign:     {"ops.Sign", acceptNumber},
	UnaryExp:      {"ops.Exp", acceptAnalog},
	UnaryExp2:     {"ops.Exp2", acceptFloat},
	UnaryExpm1:    {"ops.Expm1", acceptAnalog},
	UnaryLog:      {"ops.Log", acceptAnalog},
	UnaryLog2:     {"ops.Log2", acceptFloat},
	UnaryLog10:    {"ops.Log10", acceptFloat},
	UnaryLog1p:    {"ops.Log1p", acceptAnalog},
	UnarySqrt:     {"ops.Sqrt", acceptAnalog},
	UnaryRsqrt:    {"ops.Rsqrt", acceptAnalog},
	UnaryCbrt:     {"ops.Cbrt", acceptFloat},
	UnarySin:      {"ops.Sin", acceptAnalog},
	UnaryCos:      {"ops.Cos", acceptAnalog},
	UnaryTan:      {"ops.Tan", acceptAnalog},
	UnaryAsin:     {"ops.Asin", acceptFloat},
	UnaryAcos:     {"ops.Acos", acceptFloat},
	UnaryAtan:     {"ops.Atan", acceptFloat},
	UnarySinh:     {"ops.Sinh", acceptAnalog},
	UnaryCosh:     {"ops.Cosh", acceptAnalog},
	UnaryTanh:     {"ops.Tanh", acceptAnalog},
	UnaryAsinh:    {"ops.Asinh", acceptFloat},
	UnaryAcosh:    {"ops.Acosh", acceptFloat},
	UnaryAtanh:    {"ops.Atanh", acceptFloat},
	UnarySigmoid:  {"ops.Sigmoid", acceptAnalog},
	UnarySoftplus: {"ops.Softplus", acceptFloat},
	UnaryErf:      {"ops.Erf", acceptFloat},
	UnaryErfc:     {"ops.Erfc", acceptFloat},
	UnaryErfinv:   {"ops.Erfinv", acceptFloat},
	UnaryFloor:    {"ops.Floor", acceptFloat},
	UnaryCeil:     {"ops.Ceil", acceptFloat},
	UnaryRound:    {"ops.Round", acceptFloat},
	UnaryTrunc:    {"ops.Trunc", acceptFloat},
	UnaryNot:      {"ops.Not", acceptBits},
	UnaryIsNaN:    {"ops.IsNaN", acceptAnalog},
	UnaryIsInf:    {"ops.IsInf", acceptAnalog},
	UnaryIsFinite: {"ops.IsFinite", acceptAnalog},
	UnaryConj:     {"ops.Conj", acceptComplex},
	UnaryReal:     {"ops.Real", acceptComplex},
	UnaryImag:     {"ops.Imag", acceptComplex},
}

// UnaryOp is out[i…] = fn(x[i…]). IsNaN, IsInf and IsFinite give bool; Abs, Real and Imag of a complex
// operand give its real dtype.
type UnaryOp struct{ Fn UnaryFn }

// Name is that of the builder, ops.Exp for example.
func (o UnaryOp) Name() string {
	if o.Fn >= unaryCount {
		return unknown("Unary", uint8(o.Fn))
	}
	return unaryTraits[o.Fn].name
}

// Key is the canonical form of the attributes.
func (o UnaryOp) Key() string { return graph.KeyOf(o) }

// Infer keeps the shape, and the dtype but for the functions named at UnaryOp.
func (o UnaryOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Fn >= unaryCount {
		return nil, noFunction(uint8(o.Fn))
	}
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	dt := in[0].DType
	if err := unaryTraits[o.Fn].takes.check(0, dt); err != nil {
		return nil, err
	}
	switch o.Fn {
	case UnaryAbs, UnaryReal, UnaryImag:
		dt = dt.Real()
	case UnaryIsNaN, UnaryIsInf, UnaryIsFinite:
		dt = tensor.Bool
	}
	return one(dt, in[0].Shape), nil
}

// Batch is the same op.
func (o UnaryOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node {
	return []*Node{graph.Apply(o, in...)}
}

// Elementwise: an element is made of its operands' elements at the same place.
func (UnaryOp) Elementwise() bool { return true }

// InPlace is false for the functions that may change the dtype.
func (o UnaryOp) InPlace(int) bool {
	switch o.Fn {
	case UnaryAbs, UnaryReal, UnaryImag, UnaryIsNaN, UnaryIsInf, UnaryIsFinite:
		return false
	}
	return true
}

func unary(fn UnaryFn, x *Node) *Node {
	o := UnaryOp{fn}
	if bad := graph.Invalid(o.Name(), x); bad != nil {
		return bad
	}
	return graph.Apply(o, x)
}
