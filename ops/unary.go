package ops

import "github.com/adjoint-go/adjoint/graph"

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

// UnaryOp is out[i…] = fn(x[i…]). IsNaN, IsInf and IsFinite give bool; Abs, Real and Imag of a complex
// operand give its real dtype.
type UnaryOp struct{ Fn UnaryFn }

// Key is the canonical form of the attributes.
func (o UnaryOp) Key() string { return graph.KeyOf(o) }
