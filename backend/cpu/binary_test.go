package cpu

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func binaryCase(fn ops.BinaryFn, dt tensor.DType) elementCase {
	return elementCase{
		fmt.Sprint(fn, dt), dt, []tensor.DType{dt, dt},
		func(out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
			return compileBinary(ops.BinaryOp{Fn: fn}, out, in)
		},
		func(in []any) any { return slowBinary(fn, in[0], in[1]) },
	}
}

// slowBinary is the definition: integers without bound and then wrapped, floats in float64 and then rounded.
func slowBinary(fn ops.BinaryFn, a, b any) any {
	switch a := a.(type) {
	case bool:
		return slowLogic(fn, a, b.(bool))
	case float32:
		return float32(slowFloat(fn, float64(a), float64(b.(float32))))
	case float64:
		return slowFloat(fn, a, b.(float64))
	case tensor.F16:
		return tensor.ToF16(slowBinary(fn, a.Float32(), b.(tensor.F16).Float32()).(float32))
	case tensor.BF16:
		return tensor.ToBF16(slowBinary(fn, a.Float32(), b.(tensor.BF16).Float32()).(float32))
	case complex64:
		return complex64(slowComplex(fn, complex128(a), complex128(b.(complex64))))
	case complex128:
		return slowComplex(fn, a, b.(complex128))
	}
	x, width, signed := bigOf(a)
	y, _, _ := bigOf(b)
	return wrapLike(a, slowInteger(fn, x, y, width, signed))
}

func slowLogic(fn ops.BinaryFn, a, b bool) bool {
	switch fn {
	case ops.BinaryAdd, ops.BinaryMax, ops.BinaryOr:
		return a || b
	case ops.BinaryMul, ops.BinaryMin, ops.BinaryAnd:
		return a && b
	case ops.BinaryXor:
		return a != b
	}
	return b
}

func slowFloat(fn ops.BinaryFn, a, b float64) float64 {
	switch fn {
	case ops.BinaryAdd:
		return a + b
	case ops.BinarySub:
		return a - b
	case ops.BinaryMul:
		return a * b
	case ops.BinaryDiv:
		return a / b
	case ops.BinaryPow:
		return fmath.Pow(a, b)
	case ops.BinaryAtan2:
		return fmath.Atan2(a, b)
	case ops.BinaryMax:
		return math.Max(a, b) + 0*nanOf(a, b)
	case ops.BinaryMin:
		return math.Min(a, b) + 0*nanOf(a, b)
	case ops.BinaryRem:
		return math.Mod(a, b)
	case ops.BinaryMod:
		r := math.Mod(a, b)
		if r == 0 {
			return math.Copysign(0, b)
		}
		if math.Signbit(r) != math.Signbit(b) {
			r += b
		}
		return r
	}
	if a == 0 && (math.IsInf(b, 0) || math.IsNaN(b)) {
		return 0
	}
	return b
}

// nanOf is −0, or NaN where an operand is: math.Max prefers an infinity to NaN.
func nanOf(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Copysign(0, -1)
}

func slowComplex(fn ops.BinaryFn, a, b complex128) complex128 {
	switch fn {
	case ops.BinaryAdd:
		return a + b
	case ops.BinarySub:
		return a - b
	case ops.BinaryMul: // in steps: Go may fuse a * b
		re := float64(real(a)*real(b)) - float64(imag(a)*imag(b))
		return complex(re, float64(imag(a)*real(b))+float64(real(a)*imag(b)))
	case ops.BinaryDiv:
		return quotient(a, b) // TestQuotient holds its values
	case ops.BinaryPow:
		return fmath.CPow(a, b)
	}
	finite := func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }
	if a == 0 && !(finite(real(b)) && finite(imag(b))) {
		return 0
	}
	return b
}

func bigOf(v any) (x *big.Int, width uint, signed bool) {
	switch v := v.(type) {
	case int8:
		return big.NewInt(int64(v)), 8, true
	case int16:
		return big.NewInt(int64(v)), 16, true
	case int32:
		return big.NewInt(int64(v)), 32, true
	case int64:
		return big.NewInt(v), 64, true
	case uint8:
		return big.NewInt(int64(v)), 8, false
	case uint16:
		return big.NewInt(int64(v)), 16, false
	case uint32:
		return big.NewInt(int64(v)), 32, false
	}
	return new(big.Int).SetUint64(v.(uint64)), 64, false
}

// wrapLike is x modulo 2^width in the type of like.
func wrapLike(like any, x *big.Int) any {
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	switch like.(type) {
	case int8:
		return int8(low)
	case int16:
		return int16(low)
	case int32:
		return int32(low)
	case int64:
		return int64(low)
	case uint8:
		return uint8(low)
	case uint16:
		return uint16(low)
	case uint32:
		return uint32(low)
	}
	return low
}

func slowInteger(fn ops.BinaryFn, a, b *big.Int, width uint, signed bool) *big.Int {
	r, zero := new(big.Int), new(big.Int)
	switch fn {
	case ops.BinaryAdd:
		return r.Add(a, b)
	case ops.BinarySub:
		return r.Sub(a, b)
	case ops.BinaryMul:
		return r.Mul(a, b)
	case ops.BinaryAnd:
		return r.And(a, b)
	case ops.BinaryOr:
		return r.Or(a, b)
	case ops.BinaryXor:
		return r.Xor(a, b)
	case ops.BinaryGuard:
		return b
	case ops.BinaryPow:
		return slowPower(a, b, width)
	case ops.BinaryShiftLeft, ops.BinaryShiftRight:
		n := width // everything is shifted out
		if b.Sign() >= 0 && b.Cmp(big.NewInt(int64(width))) < 0 {
			n = uint(b.Int64())
		}
		if fn == ops.BinaryShiftLeft {
			return r.Lsh(a, n)
		}
		return r.Rsh(a, n) // rounds down: the sign comes in
	case ops.BinaryMax, ops.BinaryMin:
		if (a.Cmp(b) < 0) == (fn == ops.BinaryMax) {
			return b
		}
		return a
	}
	if b.Sign() == 0 {
		return zero
	}
	switch fn {
	case ops.BinaryDiv:
		return r.Quo(a, b)
	case ops.BinaryRem:
		return r.Rem(a, b)
	}
	r.Rem(a, b)
	if r.Sign() != 0 && r.Sign() != b.Sign() {
		r.Add(r, b)
	}
	return r
}

func slowPower(a, b *big.Int, width uint) *big.Int {
	one := big.NewInt(1)
	if b.Sign() >= 0 {
		modulus := new(big.Int).Lsh(one, width)
		return new(big.Int).Exp(new(big.Int).Mod(a, modulus), b, modulus)
	}
	switch {
	case a.Cmp(one) == 0, a.CmpAbs(one) == 0 && b.Bit(0) == 0:
		return one
	case a.CmpAbs(one) == 0:
		return a
	}
	return new(big.Int)
}

// takesBinary is the table of what is supported.
func takesBinary(fn ops.BinaryFn, dt tensor.DType) bool {
	switch fn {
	case ops.BinaryAdd, ops.BinaryMul, ops.BinaryGuard:
		return true
	case ops.BinarySub, ops.BinaryDiv, ops.BinaryPow:
		return dt != tensor.Bool
	case ops.BinaryMax, ops.BinaryMin:
		return !dt.IsComplex()
	case ops.BinaryRem, ops.BinaryMod:
		return dt.IsInteger() || dt.IsFloat()
	case ops.BinaryAnd, ops.BinaryOr, ops.BinaryXor:
		return dt.IsInteger() || dt == tensor.Bool
	case ops.BinaryShiftLeft, ops.BinaryShiftRight:
		return dt.IsInteger()
	case ops.BinaryAtan2:
		return dt.IsFloat()
	}
	return false
}

func TestBinary(t *testing.T) {
	for fn := ops.BinaryAdd; fn <= ops.BinaryGuard; fn++ {
		if fn == ops.BinaryComplex {
			continue // TestBinaryComplex
		}
		for _, dt := range tensor.DTypes {
			t.Run(fmt.Sprintf("%v_of_%s", fn, dt), func(t *testing.T) {
				if takesBinary(fn, dt) {
					checkElementwise(t, binaryCase(fn, dt), []int{5, 3, 7})
					return
				}
				o := graph.Operand{DType: dt, Layout: tensor.RowMajor([]int{2})}
				_, err := compileBinary(ops.BinaryOp{Fn: fn}, o, []graph.Operand{o, o})
				wantError(t, err, wrongKind(dt))
			})
		}
	}
}

func wrongKind(dt tensor.DType) error {
	if dt == tensor.Bool {
		return tensor.ErrDType
	}
	return tensor.ErrUnsupported
}

// TestBinaryShapes takes lines short and long, many planes, several threads, and nothing at all.
func TestBinaryShapes(t *testing.T) {
	for _, shape := range [][]int{
		{}, {0}, {3, 0, 2}, {1}, {1, 1}, {1, 9}, {2100}, {700, 3}, {3, 700}, {67, 131},
		{2, 3, 2, 3, 2, 3}, {210, 190},
	} {
		for _, c := range []elementCase{
			binaryCase(ops.BinaryAdd, tensor.Float32),
			binaryCase(ops.BinaryMul, tensor.BFloat16),
			binaryCase(ops.BinaryXor, tensor.Uint8),
			binaryCase(ops.BinarySub, tensor.Complex64),
		} {
			if tensor.Size(shape) > 10000 && c.out != tensor.Float32 {
				continue
			}
			t.Run(fmt.Sprint(c.name, shape), func(t *testing.T) { checkElementwise(t, c, shape) })
		}
	}
}

func TestBinaryExact(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	tests := []struct {
		name, why string
		fn        ops.BinaryFn
		a, b      any
		want      any
	}{
		{"max_of_zeros", "−0 is below +0", ops.BinaryMax, zero, 0.0, 0.0},
		{"max_of_zeros_exchanged", "CASES 35: in either order", ops.BinaryMax, 0.0, zero, 0.0},
		{"min_of_zeros", "−0 is below +0", ops.BinaryMin, 0.0, zero, zero},
		{"max_of_nan", "NaN wins over infinity", ops.BinaryMax, inf, nan, nan},
		{"min_of_nan", "NaN wins over infinity", ops.BinaryMin, nan, -inf, nan},
		{"add_bool", "add is or", ops.BinaryAdd, true, true, true},
		{"mul_bool", "mul is and", ops.BinaryMul, true, false, false},
		{"add_int8", "integers wrap", ops.BinaryAdd, int8(127), int8(1), int8(-128)},
		{"div_truncates", "toward zero", ops.BinaryDiv, int32(-7), int32(2), int32(-3)},
		{"div_by_zero", "0", ops.BinaryDiv, int32(5), int32(0), int32(0)},
		{"div_overflow", "MinInt / −1 wraps", ops.BinaryDiv, int8(-128), int8(-1), int8(-128)},
		{"rem_sign", "of the dividend", ops.BinaryRem, int32(-7), int32(3), int32(-1)},
		{"mod_sign", "of the divisor", ops.BinaryMod, int32(-7), int32(3), int32(2)},
		{"mod_by_zero", "0", ops.BinaryMod, int32(-7), int32(0), int32(0)},
		{"rem_float", "C's fmod", ops.BinaryRem, -7.5, 2.0, -1.5},
		{"rem_by_infinity", "C's fmod: the dividend", ops.BinaryRem, -1.0, inf, -1.0},
		{"mod_float", "Python's %", ops.BinaryMod, -7.5, 2.0, 0.5},
		{"mod_by_infinity", "Python's array languages: −1 + ∞", ops.BinaryMod, -1.0, inf, inf},
		{"mod_of_multiple", "the zero has the divisor's sign", ops.BinaryMod, 6.0, -3.0, zero},
		{"mod_by_zero_float", "NaN", ops.BinaryMod, 1.0, 0.0, nan},
		{"pow_wraps", "repeated multiplication", ops.BinaryPow, int8(3), int8(5), int8(-13)},
		{"pow_negative", "the reciprocal truncates", ops.BinaryPow, int32(2), int32(-1), int32(0)},
		{"pow_of_minus_one", "its reciprocals are itself and 1", ops.BinaryPow, int32(-1), int32(-3),
			int32(-1)},
		{"pow_zero_zero", "1", ops.BinaryPow, int32(0), int32(0), int32(1)},
		{"pow_of_zero_negative", "0, as division by zero is", ops.BinaryPow, int32(0), int32(-1), int32(0)},
		{"pow_unsigned_max", "2⁸ − 1 is no −1", ops.BinaryPow, uint8(255), uint8(2), uint8(1)},
		{"shift_left_beyond", "0", ops.BinaryShiftLeft, int32(1), int32(32), int32(0)},
		{"shift_left_negative", "0", ops.BinaryShiftLeft, int32(1), int32(-1), int32(0)},
		{"shift_right_beyond", "the sign", ops.BinaryShiftRight, int32(-8), int32(40), int32(-1)},
		{"shift_right_unsigned", "zeros come in", ops.BinaryShiftRight, uint8(0x80), uint8(7), uint8(1)},
		{"guard_stops", "0 · ∞ is stopped", ops.BinaryGuard, 0.0, inf, 0.0},
		{"guard_stops_minus_zero", "−0 is 0", ops.BinaryGuard, zero, nan, 0.0},
		{"guard_passes_finite", "only what is not finite", ops.BinaryGuard, 0.0, -3.0, -3.0},
		{"guard_passes_nonzero", "a singularity shows", ops.BinaryGuard, 2.0, inf, inf},
		{"guard_complex", "one component not finite", ops.BinaryGuard, 0i, complex(1, inf), 0i},
		{"guard_complex_nonzero", "one component not zero", ops.BinaryGuard, 1e-300i, complex(1, inf),
			complex(1, inf)},
		{"half_rounds_once", "2048 + 1 ties to even", ops.BinaryAdd, tensor.ToF16(2048), tensor.ToF16(1),
			tensor.ToF16(2048)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := viewOfAny(tt.a), viewOfAny(tt.b)
			out := blank(a.DType(), a.Layout())
			c := binaryCase(tt.fn, a.DType())
			runOn(t, 1, compileFor(t, c, out, []tensor.View{a, b}), out, a, b)
			if got := elementAt(out, 0); !sameValue(got, tt.want) {
				t.Errorf("%v is %v, want %v: %s", []any{tt.a, tt.b}, got, tt.want, tt.why)
			}
		})
	}
}

func viewOfAny(v any) tensor.View {
	switch v := v.(type) {
	case bool:
		return tensor.Scalar(v).View()
	case int8:
		return tensor.Scalar(v).View()
	case uint8:
		return tensor.Scalar(v).View()
	case int32:
		return tensor.Scalar(v).View()
	case int64:
		return tensor.Scalar(v).View()
	case uint64:
		return tensor.Scalar(v).View()
	case tensor.F16:
		return tensor.Scalar(v).View()
	case tensor.BF16:
		return tensor.Scalar(v).View()
	case float32:
		return tensor.Scalar(v).View()
	case float64:
		return tensor.Scalar(v).View()
	case complex64:
		return tensor.Scalar(v).View()
	}
	return tensor.Scalar(v.(complex128)).View()
}

func TestQuotient(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		name       string
		n, m, want complex128
	}{
		{"real_divisor", 3 + 4i, 2, 1.5 + 2i},
		{"imaginary_divisor", 3 + 4i, 2i, 2 - 1.5i},
		{"full", 5 + 5i, 1 + 2i, 3 - 1i},
		{"no_overflow", 1e300 + 1e300i, 1e300 + 1e300i, 1},
		{"by_zero", 1, 0, complex(inf, nan)},
		{"by_infinity", 1 + 1i, complex(inf, inf), 0},
		{"of_infinity", complex(inf, 1), 1 + 1i, complex(inf, -inf)},
		{"of_infinities", complex(inf, -inf), 2, complex(inf, -inf)},
		{"of_infinities_turned", complex(inf, inf), 2i, complex(inf, -inf)},
		{"both_infinite", complex(inf, inf), complex(inf, inf), complex(nan, nan)},
		{"nan", complex(nan, 0), 1, complex(nan, nan)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := quotient(tt.n, tt.m); !sameComplex(got, tt.want) {
				t.Errorf("%v / %v is %v, want %v", tt.n, tt.m, got, tt.want)
			}
		})
	}
}

func TestBinaryComplex(t *testing.T) {
	for to, dt := range map[tensor.DType]tensor.DType{
		tensor.Complex64: tensor.Float32, tensor.Complex128: tensor.Float64,
	} {
		c := binaryCase(ops.BinaryComplex, dt)
		c.out = to
		c.want = func(in []any) any {
			if dt == tensor.Float32 {
				return complex(in[0].(float32), in[1].(float32))
			}
			return complex(in[0].(float64), in[1].(float64))
		}
		t.Run(dt.String(), func(t *testing.T) { checkElementwise(t, c, []int{5, 3, 7}) })
	}
	t.Run("half_has_no_complex_type", func(t *testing.T) {
		o := graph.Operand{DType: tensor.Float16, Layout: tensor.RowMajor([]int{2})}
		_, err := compileBinary(ops.BinaryOp{Fn: ops.BinaryComplex}, o, []graph.Operand{o, o})
		wantError(t, err, tensor.ErrUnsupported)
	})
}

// TestBinaryOfItself takes one memory as both operands, and as the output too.
func TestBinaryOfItself(t *testing.T) {
	x := tensor.Of[float32](1, 2, 3, 4)
	k := compileFor(t, binaryCase(ops.BinaryMul, tensor.Float32), x.View(),
		[]tensor.View{x.View(), x.View()})
	runOn(t, 1, k, x.View(), x.View(), x.View())
	if got := tensor.Must(tensor.Values[float32](x)); got[3] != 16 || got[1] != 4 {
		t.Errorf("x·x is %v, want [1 4 9 16]", got)
	}
}
