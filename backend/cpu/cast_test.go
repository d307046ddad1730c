package cpu

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func castCase(from, to tensor.DType) elementCase {
	return elementCase{
		fmt.Sprintf("%s_to_%s", from, to), to, []tensor.DType{from},
		func(out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
			return compileCast(ops.CastOp{To: to}, out, in[0])
		},
		func(in []any) any { return slowCast(in[0], to) },
	}
}

// slowCast goes through exact numbers.
func slowCast(v any, to tensor.DType) any {
	if z, ok := complexOf(v); ok {
		switch {
		case to == tensor.Complex64:
			return complex64(z)
		case to == tensor.Complex128:
			return z
		case to == tensor.Bool:
			return z != 0
		}
		return slowCast(real(z), to)
	}
	if b, ok := v.(bool); ok {
		if to == tensor.Bool {
			return b
		}
		return slowCast(map[bool]int64{true: 1}[b], to)
	}
	if f, ok := realOf(v); ok {
		if to == tensor.Bool {
			return f != 0
		}
		if to.IsInteger() {
			return saturateTo(f, to)
		}
		return roundTo(f, f, to)
	}
	x, _, _ := bigOf(v)
	switch {
	case to == tensor.Bool:
		return x.Sign() != 0
	case to.IsInteger():
		return wrapLike(zeroOf(to), x)
	}
	// To 8 bits for bfloat16, else to float64's and float32's, each rounded from the exact integer.
	f64, _ := new(big.Float).SetPrec(80).SetInt(x).Float64()
	f32, _ := new(big.Float).SetPrec(80).SetInt(x).Float32()
	b16, _ := new(big.Float).SetPrec(8).SetInt(x).Float64()
	switch to {
	case tensor.BFloat16:
		return roundTo(b16, b16, to)
	case tensor.Float32, tensor.Complex64:
		return roundTo(float64(f32), f64, to)
	}
	return roundTo(f64, f64, to)
}

func zeroOf(dt tensor.DType) any {
	return elementAt(tensor.Must(tensor.New(dt)).View(), 0)
}

func saturateTo(f float64, to tensor.DType) any {
	if math.IsNaN(f) {
		return zeroOf(to)
	}
	width := uint(8 * to.Size())
	least, greatest := new(big.Int), new(big.Int).Lsh(big.NewInt(1), width)
	if !to.IsUnsigned() {
		greatest.Rsh(greatest, 1)
		least.Neg(greatest)
	}
	greatest.Sub(greatest, big.NewInt(1))
	x := least
	if math.IsInf(f, 1) {
		x = greatest
	} else if !math.IsInf(f, -1) {
		x, _ = big.NewFloat(f).Int(nil)
		if x.Cmp(least) < 0 {
			x = least
		}
		if x.Cmp(greatest) > 0 {
			x = greatest
		}
	}
	return wrapLike(zeroOf(to), x)
}

// roundTo gives f, or f64 where float64 holds more of it, in a floating-point dtype.
func roundTo(f, f64 float64, to tensor.DType) any {
	switch to {
	case tensor.Float16:
		return tensor.ToF16From64(f64)
	case tensor.BFloat16:
		return tensor.ToBF16From64(f)
	case tensor.Float32:
		return float32(f)
	case tensor.Float64:
		return f64
	case tensor.Complex64:
		return complex(float32(f), 0)
	}
	return complex(f64, 0)
}

func TestCast(t *testing.T) {
	for _, from := range tensor.DTypes {
		for _, to := range tensor.DTypes {
			c := castCase(from, to)
			t.Run(c.name, func(t *testing.T) { checkElementwise(t, c, []int{5, 3, 7}) })
		}
	}
}

func TestCastExact(t *testing.T) {
	tests := []struct {
		name, why string
		x, want   any
	}{
		{"float_to_int_truncates", "toward zero", -2.7, int32(-2)},
		{"float_to_int_saturates", "above", 3e9, int32(math.MaxInt32)},
		{"float_to_int_saturates_below", "below", float32(-3e9), int32(math.MinInt32)},
		{"float32_to_int64_saturates", "2⁶³ is the first float32 above", float32(1 << 63),
			int64(math.MaxInt64)},
		{"float_to_uint8_negative", "saturates at 0", -1.5, uint8(0)},
		{"float_to_uint64_high", "above MaxInt64", 0x1p63, uint64(1 << 63)},
		{"nan_to_int", "0", math.NaN(), int32(0)},
		{"nan_to_bool", "NaN is not 0", math.NaN(), true},
		{"minus_zero_to_bool", "−0 is 0", math.Copysign(0, -1), false},
		{"int_wraps", "modulo 2⁸", int32(300), uint8(44)},
		{"negative_to_unsigned_wraps", "modulo 2⁶⁴", int32(-1), uint64(math.MaxUint64)},
		{"int64_to_float32_rounds_once", "2²⁴ + 1 and a half, and a little", int64(1<<54 + 1<<30 + 1),
			float32(1<<54 + 1<<31)},
		{"int64_to_bfloat16_rounds_once", "through float64 it would tie to even",
			int64(1<<60 + 1<<52 + 1), tensor.ToBF16(0x1.02p60)},
		{"float64_to_half_rounds_once", "through float32 it would tie to even", 1 + 0x1p-11 + 0x1p-40,
			tensor.ToF16(1 + 0x1p-10)},
		{"complex_to_real", "the real part", 2.5 + 3i, 2.5},
		{"complex_to_bool", "either component", 3i, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, to := viewOfAny(tt.x), viewOfAny(tt.want).DType()
			out := blank(to, x.Layout())
			runOn(t, 1, compileFor(t, castCase(x.DType(), to), out, []tensor.View{x}), out, x)
			if got := elementAt(out, 0); !sameValue(got, tt.want) {
				t.Errorf("%v is %v, want %v: %s", tt.x, got, tt.want, tt.why)
			}
		})
	}
}
