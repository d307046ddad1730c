package cpu

import (
	"fmt"
	"math"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func unaryCase(fn ops.UnaryFn, dt tensor.DType) elementCase {
	out := dt
	switch fn {
	case ops.UnaryIsNaN, ops.UnaryIsInf, ops.UnaryIsFinite:
		out = tensor.Bool
	case ops.UnaryAbs, ops.UnaryReal, ops.UnaryImag:
		out = dt.Real()
	}
	return elementCase{
		fmt.Sprint(fn, dt), out, []tensor.DType{dt},
		func(out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
			return compileUnary(ops.UnaryOp{Fn: fn}, out, in[0])
		},
		func(in []any) any { return slowUnary(fn, in[0]) },
	}
}

// slowUnary is the definition. Of complex numbers it knows what has one in a line; the others are held by
// TestUnaryComplex.
func slowUnary(fn ops.UnaryFn, v any) any {
	switch v := v.(type) {
	case bool:
		if fn == ops.UnaryNot {
			return !v
		}
		return fn == ops.UnaryIsFinite
	case float32:
		r := slowUnaryFloat(fn, float64(v))
		if f, ok := r.(float64); ok {
			if f32, ok := direct32[fn]; ok {
				return f32(v)
			}
			return float32(f)
		}
		return r
	case float64:
		return slowUnaryFloat(fn, v)
	case tensor.F16:
		if f, ok := slowUnary(fn, v.Float32()).(float32); ok {
			return tensor.ToF16(f)
		}
		return slowUnary(fn, v.Float32())
	case tensor.BF16:
		if f, ok := slowUnary(fn, v.Float32()).(float32); ok {
			return tensor.ToBF16(f)
		}
		return slowUnary(fn, v.Float32())
	case complex64:
		switch r := slowUnaryComplex(fn, complex128(v)).(type) {
		case complex128:
			return complex64(r)
		case float64:
			return float32(r)
		default:
			return r
		}
	case complex128:
		return slowUnaryComplex(fn, v)
	}
	x, _, _ := bigOf(v)
	switch fn {
	case ops.UnaryNeg:
		x.Neg(x)
	case ops.UnaryAbs:
		x.Abs(x)
	case ops.UnarySign:
		x.SetInt64(int64(x.Sign()))
	case ops.UnaryNot:
		x.Not(x)
	case ops.UnaryImag:
		x.SetInt64(0)
	case ops.UnaryIsNaN, ops.UnaryIsInf:
		return false
	case ops.UnaryIsFinite:
		return true
	}
	return wrapLike(v, x)
}

// direct32 is the functions with a body of their own in float32.
var direct32 = map[ops.UnaryFn]func(float32) float32{
	ops.UnaryExp: fmath.Exp32, ops.UnaryLog: fmath.Log32, ops.UnaryTanh: fmath.Tanh32,
	ops.UnarySigmoid: fmath.Sigmoid32,
}

var slowFloats = map[ops.UnaryFn]func(float64) float64{
	ops.UnaryNeg: func(v float64) float64 { return -v }, ops.UnaryAbs: math.Abs,
	ops.UnarySign: func(v float64) float64 {
		if v == 0 || v != v {
			return v
		}
		return math.Copysign(1, v)
	},
	ops.UnaryExp: fmath.Exp, ops.UnaryExp2: fmath.Exp2, ops.UnaryExpm1: fmath.Expm1,
	ops.UnaryLog: fmath.Log, ops.UnaryLog2: fmath.Log2, ops.UnaryLog10: fmath.Log10,
	ops.UnaryLog1p: fmath.Log1p,
	ops.UnarySqrt:  math.Sqrt, ops.UnaryCbrt: fmath.Cbrt,
	ops.UnaryRsqrt: func(v float64) float64 { return 1 / math.Sqrt(v) },
	ops.UnarySin:   fmath.Sin, ops.UnaryCos: fmath.Cos, ops.UnaryTan: fmath.Tan,
	ops.UnaryAsin: fmath.Asin, ops.UnaryAcos: fmath.Acos, ops.UnaryAtan: fmath.Atan,
	ops.UnarySinh: fmath.Sinh, ops.UnaryCosh: fmath.Cosh, ops.UnaryTanh: fmath.Tanh,
	ops.UnaryAsinh: fmath.Asinh, ops.UnaryAcosh: fmath.Acosh, ops.UnaryAtanh: fmath.Atanh,
	ops.UnarySigmoid: fmath.Sigmoid, ops.UnarySoftplus: fmath.Softplus,
	ops.UnaryErf: fmath.Erf, ops.UnaryErfc: fmath.Erfc, ops.UnaryErfinv: fmath.Erfinv,
	ops.UnaryFloor: math.Floor, ops.UnaryCeil: math.Ceil,
	ops.UnaryRound: math.RoundToEven, ops.UnaryTrunc: math.Trunc,
	ops.UnaryConj: func(v float64) float64 { return v }, ops.UnaryReal: func(v float64) float64 { return v },
	ops.UnaryImag: func(float64) float64 { return 0 },
}

func slowUnaryFloat(fn ops.UnaryFn, v float64) any {
	switch fn {
	case ops.UnaryIsNaN:
		return math.IsNaN(v)
	case ops.UnaryIsInf:
		return math.IsInf(v, 0)
	case ops.UnaryIsFinite:
		return !math.IsInf(v, 0) && !math.IsNaN(v)
	}
	return slowFloats[fn](v)
}

func slowUnaryComplex(fn ops.UnaryFn, z complex128) any {
	x, y := real(z), imag(z)
	switch fn {
	case ops.UnaryNeg:
		return complex(-x, -y)
	case ops.UnaryConj:
		return complex(x, -y)
	case ops.UnaryReal:
		return x
	case ops.UnaryImag:
		return y
	case ops.UnaryAbs:
		if math.IsNaN(x) || math.IsNaN(y) {
			return math.NaN()
		}
		return fmath.Hypot(x, y)
	case ops.UnaryIsNaN:
		return math.IsNaN(x) || math.IsNaN(y)
	case ops.UnaryIsInf:
		return math.IsInf(x, 0) || math.IsInf(y, 0)
	case ops.UnaryIsFinite:
		return !(math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y))
	}
	return complexFunctions[fn](z)
}

// takesUnary is the table of what is supported.
func takesUnary(fn ops.UnaryFn, dt tensor.DType) bool {
	switch fn {
	case ops.UnaryIsNaN, ops.UnaryIsInf, ops.UnaryIsFinite:
		return true
	case ops.UnaryNeg, ops.UnaryAbs, ops.UnarySign, ops.UnaryConj, ops.UnaryReal, ops.UnaryImag:
		return dt != tensor.Bool
	case ops.UnaryNot:
		return dt.IsInteger() || dt == tensor.Bool
	case ops.UnaryFloor, ops.UnaryCeil, ops.UnaryRound, ops.UnaryTrunc:
		return dt.IsInteger() || dt.IsFloat()
	case ops.UnaryExp, ops.UnaryExpm1, ops.UnaryLog, ops.UnaryLog1p, ops.UnarySqrt, ops.UnaryRsqrt,
		ops.UnarySin, ops.UnaryCos,
		ops.UnaryTan, ops.UnarySinh, ops.UnaryCosh, ops.UnaryTanh, ops.UnarySigmoid:
		return dt.IsFloat() || dt.IsComplex()
	}
	return dt.IsFloat()
}

func TestUnary(t *testing.T) {
	for fn := ops.UnaryNeg; fn <= ops.UnaryImag; fn++ {
		for _, dt := range tensor.DTypes {
			t.Run(fmt.Sprintf("%v_of_%s", fn, dt), func(t *testing.T) {
				c := unaryCase(fn, dt)
				if takesUnary(fn, dt) {
					checkElementwise(t, c, []int{5, 3, 7})
					return
				}
				l := tensor.RowMajor([]int{2})
				out, in := graph.Operand{DType: c.out, Layout: l}, graph.Operand{DType: dt, Layout: l}
				_, err := c.compile(out, []graph.Operand{in})
				wantError(t, err, wrongKind(dt))
			})
		}
	}
}

// TestUnaryManyThreads takes enough elements for several threads.
func TestUnaryManyThreads(t *testing.T) {
	checkElementwise(t, unaryCase(ops.UnaryExp, tensor.Float32), []int{41, 3, 39})
	checkElementwise(t, unaryCase(ops.UnaryAbs, tensor.Complex64), []int{67, 63})
}

func TestUnaryExact(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	tests := []struct {
		name, why string
		fn        ops.UnaryFn
		x, want   any
	}{
		{"neg_unsigned", "wraps", ops.UnaryNeg, uint8(1), uint8(255)},
		{"abs_least", "wraps", ops.UnaryAbs, int8(-128), int8(-128)},
		{"sign_of_minus_zero", "−0", ops.UnarySign, zero, zero},
		{"sign_of_nan", "NaN", ops.UnarySign, nan, nan},
		{"round_half_down", "to even", ops.UnaryRound, 2.5, 2.0},
		{"round_half_up", "to even", ops.UnaryRound, 3.5, 4.0},
		{"round_negative_half", "to even, the sign stays", ops.UnaryRound, -0.5, zero},
		{"ceil", "the sign stays", ops.UnaryCeil, -0.3, zero},
		{"floor_integer", "the identity", ops.UnaryFloor, int32(-7), int32(-7)},
		{"not_bool", "logical", ops.UnaryNot, true, false},
		{"not_integer", "bitwise", ops.UnaryNot, uint8(0x0f), uint8(0xf0)},
		{"not_nan", "an integer never is", ops.UnaryIsNaN, int32(0), false},
		{"infinite", "either sign", ops.UnaryIsInf, -inf, true},
		{"infinite_nan", "NaN is not", ops.UnaryIsInf, nan, false},
		{"finite_nan", "NaN is not", ops.UnaryIsFinite, nan, false},
		{"rsqrt_zero", "the limit", ops.UnaryRsqrt, 0.0, inf},
		{"sqrt_negative", "NaN", ops.UnarySqrt, -1.0, nan},
		{"sqrt", "correctly rounded", ops.UnarySqrt, float32(2), float32(math.Sqrt2)},
		{"exp", "1", ops.UnaryExp, float32(0), float32(1)},
		{"sigmoid", "one half", ops.UnarySigmoid, float32(0), float32(0.5)},
		{"modulus", "3 4 5", ops.UnaryAbs, -3 + 4i, 5.0},
		{"modulus_large", "no overflow on the way", ops.UnaryAbs, complex(3e300, 4e300), 5e300},
		{"modulus_nan", "NaN comes before infinity", ops.UnaryAbs, complex(inf, nan), nan},
		{"complex_sign", "z/|z|", ops.UnarySign, 3 - 4i, 0.6 - 0.8i},
		{"complex_sign_zero", "0", ops.UnarySign, 0i, 0i},
		{"complex_sign_large", "the modulus is infinite", ops.UnarySign,
			complex(math.MaxFloat64, math.MaxFloat64), complex(math.Sqrt2/2, math.Sqrt2/2)},
		{"complex_sign_small", "the modulus has one bit", ops.UnarySign, complex(5e-324, 5e-324),
			complex(math.Sqrt2/2, math.Sqrt2/2)},
		{"conj", "the other sign", ops.UnaryConj, 1 + 2i, 1 - 2i},
		{"imag", "a component", ops.UnaryImag, 1 + 2i, 2.0},
		{"imag_of_real", "0", ops.UnaryImag, 3.5, 0.0},
		{"complex_infinite", "a component is", ops.UnaryIsInf, complex(nan, inf), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := viewOfAny(tt.x)
			c := unaryCase(tt.fn, x.DType())
			out := blank(c.out, x.Layout())
			runOn(t, 1, compileFor(t, c, out, []tensor.View{x}), out, x)
			got := elementAt(out, 0)
			if z, ok := tt.want.(complex128); ok && near(z, got.(complex128), 1e-15) {
				return
			}
			if !sameValue(got, tt.want) {
				t.Errorf("%v is %v, want %v: %s", tt.x, got, tt.want, tt.why)
			}
		})
	}
}

func near(a, b complex128, tolerance float64) bool {
	return math.Hypot(real(a)-real(b), imag(a)-imag(b)) <= tolerance*math.Hypot(real(a), imag(a))
}

// TestUnaryComplex holds the functions that are composed here to identities with others.
func TestUnaryComplex(t *testing.T) {
	f := complexFunctions
	for _, z := range []complex128{
		0.3 + 0.4i, -1.5 + 2i, 2 - 0.7i, -0.2 - 3i, 1e-9 + 1e-9i, 12 + 1i, -12 - 1i,
	} {
		e := f[ops.UnaryExp](z)
		for name, pair := range map[string][2]complex128{
			"expm1":   {f[ops.UnaryExpm1](z) + 1, e},
			"log1p":   {f[ops.UnaryExp](f[ops.UnaryLog1p](z)), 1 + z},
			"rsqrt":   {f[ops.UnaryRsqrt](z) * f[ops.UnarySqrt](z), 1},
			"tan":     {f[ops.UnaryTan](z) * f[ops.UnaryCos](z), f[ops.UnarySin](z)},
			"tanh":    {f[ops.UnaryTanh](z) * f[ops.UnaryCosh](z), f[ops.UnarySinh](z)},
			"euler":   {f[ops.UnaryCosh](z) + f[ops.UnarySinh](z), e},
			"sigmoid": {f[ops.UnarySigmoid](z) * (1 + e), e},
			"sign":    {f[ops.UnarySign](z) * complex(absComplex(z), 0), z},
		} {
			tolerance := 1e-14 * (1 + absComplex(f[ops.UnaryCosh](z))/absComplex(e))
			if !near(pair[1], pair[0], tolerance) {
				t.Errorf("%s at %v: %v, want %v", name, z, pair[0], pair[1])
			}
		}
	}
	t.Run("small_arguments_keep_their_digits", func(t *testing.T) {
		z := complex(1e-12, -2e-12)
		for name, got := range map[string]complex128{
			"expm1": f[ops.UnaryExpm1](z), "log1p": f[ops.UnaryLog1p](z),
		} {
			if !near(z, got, 1e-11) {
				t.Errorf("%s of %v is %v", name, z, got)
			}
		}
	})
	t.Run("sigmoid_does_not_overflow", func(t *testing.T) {
		if got := complexSigmoid(-800 + 1i); got != 0 {
			t.Errorf("sigmoid(−800 + i) is %v, want 0", got)
		}
		if got := complexSigmoid(800 + 1i); got != 1 {
			t.Errorf("sigmoid(800 + i) is %v, want 1", got)
		}
	})
}
