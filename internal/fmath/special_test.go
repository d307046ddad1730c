package fmath

import (
	"math"
	"math/cmplx"
	"testing"
)

var negZero = math.Copysign(0, -1)

func TestSpecial(t *testing.T) {
	// NaN gives NaN for every function of one argument, with the bits of math.NaN whatever the input's.
	for _, u := range unary {
		for _, bits := range []uint64{0x7ff8000000000001, 0xfff8000000000000, 0x7ff00000dead0000} {
			if got := u.f(math.Float64frombits(bits)); !same(nan, got) {
				t.Errorf("%s(NaN %#x) = %v with bits %#x", u.name, bits, got, math.Float64bits(got))
			}
		}
	}
	for _, row := range []struct {
		why  string
		f    func(float64) float64
		x    float64
		want float64
	}{
		{"identity of the group", Exp, 0, 1}, {"overflow", Exp, 709.7827128933841, inf},
		{"largest finite", Exp, 709.782712893384, 0x1.fffffffffff2ap1023},
		{"smallest subnormal", Exp, -745.1332191019411, 0x1p-1074}, {"underflow", Exp, -745.1332191019412, 0},
		{"limit", Exp, inf, inf}, {"limit", Exp, -inf, 0},
		{"signed zero", Expm1, negZero, negZero}, {"limit", Expm1, -inf, -1}, {"limit", Expm1, inf, inf},
		{"linear", Expm1, 0x1p-1074, 0x1p-1074},
		{"exact", Exp2, 10, 1024}, {"exact subnormal", Exp2, -1074, 0x1p-1074}, {"overflow", Exp2, 1024, inf},
		{"half an ULP rounds to even", Exp2, -1075, 0}, {"limit", Exp2, -inf, 0},
		{"symmetric", Sigmoid, 0, 0.5}, {"limit", Sigmoid, inf, 1}, {"limit", Sigmoid, -inf, 0},
		{"subnormal, not 0", Sigmoid, -745, 0x1p-1074},
		{"log 2", Softplus, 0, math.Ln2}, {"limit", Softplus, inf, inf}, {"limit", Softplus, -inf, 0},
		{"no overflow", Softplus, 1e300, 1e300},
		{"exact", Log, 1, 0}, {"pole", Log, 0, -inf}, {"pole", Log, negZero, -inf}, {"domain", Log, -1, nan},
		{"domain", Log, -inf, nan}, {"limit", Log, inf, inf}, {"subnormal", Log, 0x1p-1074, -744.4400719213812},
		{"signed zero", Log1p, negZero, negZero}, {"pole", Log1p, -1, -inf}, {"domain", Log1p, -2, nan},
		{"limit", Log1p, inf, inf}, {"domain", Log1p, -inf, nan}, {"linear", Log1p, 0x1p-1074, 0x1p-1074},
		{"exact", Log2, 8, 3}, {"exact subnormal", Log2, 0x1p-1074, -1074}, {"pole", Log2, 0, -inf},
		{"exact", Log10, 1000, 3}, {"exact", Log10, 1e22, 22}, {"rounded", Log10, 1e-300, -300},
		{"signed zero", Sin, negZero, negZero}, {"domain", Sin, inf, nan}, {"domain", Cos, -inf, nan},
		{"exact", Cos, negZero, 1}, {"signed zero", Tan, negZero, negZero}, {"domain", Tan, inf, nan},
		{"π less its rounding", Sin, math.Pi, 1.2246467991473532e-16},
		{"Kahan's worst near π/2", Cos, 6381956970095103 * 0x1p797, -4.687165924254628e-19},
		{"end", Asin, 1, math.Pi / 2}, {"end", Asin, -1, -math.Pi / 2}, {"domain", Asin, 1.5, nan},
		{"signed zero", Asin, negZero, negZero}, {"end", Acos, 1, 0}, {"end", Acos, -1, math.Pi},
		{"middle", Acos, 0, math.Pi / 2}, {"domain", Acos, -1.5, nan}, {"domain", Acos, inf, nan},
		{"limit", Atan, inf, math.Pi / 2}, {"limit", Atan, -inf, -math.Pi / 2}, {"π/4", Atan, 1, math.Pi / 4},
		{"signed zero", Atan, negZero, negZero},
		{"signed zero", Sinh, negZero, negZero}, {"limit", Sinh, -inf, -inf}, {"overflow", Sinh, 711, inf},
		{"finite past e^x", Sinh, 710, 1.1169973830808555e308}, {"exact", Cosh, negZero, 1},
		{"finite past e^x", Cosh, -710, 1.1169973830808555e308}, {"limit", Cosh, -inf, inf},
		{"signed zero", Tanh, negZero, negZero}, {"limit", Tanh, inf, 1}, {"limit", Tanh, -inf, -1},
		{"signed zero", Asinh, negZero, negZero}, {"limit", Asinh, -inf, -inf}, {"exact", Acosh, 1, 0},
		{"domain", Acosh, 0.5, nan}, {"limit", Acosh, inf, inf}, {"domain", Acosh, -inf, nan},
		{"signed zero", Atanh, negZero, negZero}, {"pole", Atanh, 1, inf}, {"pole", Atanh, -1, -inf},
		{"domain", Atanh, 2, nan}, {"domain", Atanh, inf, nan},
		{"signed zero", Erf, negZero, negZero}, {"limit", Erf, inf, 1}, {"limit", Erf, -inf, -1},
		{"limit", Erfc, inf, 0}, {"limit", Erfc, -inf, 2}, {"exact", Erfc, 0, 1},
		{"signed zero", Erfinv, negZero, negZero}, {"pole", Erfinv, 1, inf}, {"pole", Erfinv, -1, -inf},
		{"domain", Erfinv, 2, nan},
		{"signed zero", Cbrt, negZero, negZero}, {"exact", Cbrt, -27, -3}, {"limit", Cbrt, -inf, -inf},
		{"exact subnormal", Cbrt, 0x1p-1074, 0x1p-358},
	} {
		if got := row.f(row.x); !same(row.want, got) {
			t.Errorf("%s: f(%v) = %v, want %v", row.why, row.x, got, row.want)
		}
	}
}

// TestPowSpecial crosses every class of operand with every other, and takes package math as the table:
// its special cases are those of C99 Annex F, and elsewhere it is right to 4 ULP. The rest are exact powers.
func TestPowSpecial(t *testing.T) {
	var values []float64
	for _, a := range []float64{0, 0.5, 1, 1.5, 2, 3, 1e300, 0x1p53, 0x1p53 - 1, math.MaxFloat64, inf} {
		values = append(values, a, -a)
	}
	for _, x := range append(values, nan) {
		for _, y := range append(values, nan) {
			for _, p := range []struct {
				name string
				got  float64
				want float64
			}{
				{"Pow", Pow(x, y), math.Pow(x, y)},
				{"Atan2", Atan2(x, y), math.Atan2(x, y)},
				{"Hypot", Hypot(x, y), math.Hypot(x, y)},
			} {
				if !same(p.want, p.got) && !(ulps(p.got, p.want, 0) <= 4 && p.want != 0) {
					t.Errorf("%s(%v, %v) = %v, want %v", p.name, x, y, p.got, p.want)
				}
			}
		}
	}
	for base := 2.0; base <= 12; base++ {
		want := 1.0
		for n := 1; want*base < 0x1p53; n++ {
			want *= base
			if got := Pow(base, float64(n)); got != want {
				t.Errorf("Pow(%v, %d) = %v, want %v exactly", base, n, got, want)
			}
		}
	}
}

func TestComplexSpecial(t *testing.T) {
	at := func(re, im float64) complex128 { return complex(re, im) }
	for _, row := range []struct {
		why     string
		f       func(complex128) complex128
		z, want complex128
	}{
		{"real axis keeps its side", CExp, at(0, negZero), at(1, negZero)},
		{"limit", CExp, at(-inf, inf), at(0, 0)}, {"limit", CExp, at(inf, 0), at(inf, 0)},
		{"direction is unknown", CExp, at(inf, inf), at(inf, nan)}, {"NaN", CExp, at(nan, 1), at(nan, nan)},
		{"e^x overflows, the product does not", CExp, at(710, math.Pi/2),
			at(1.3679272698459396e292, inf)},
		{"cut from above", CLog, at(-1, 0), at(0, math.Pi)},
		{"cut from below", CLog, at(-1, negZero), at(0, -math.Pi)},
		{"pole", CLog, at(0, 0), at(-inf, 0)}, {"pole", CLog, at(negZero, 0), at(-inf, math.Pi)},
		{"limit", CLog, at(-inf, inf), at(inf, 3*math.Pi/4)}, {"infinite wins", CLog, at(nan, inf), at(inf, nan)},
		{"cut from above", CSqrt, at(-4, 0), at(0, 2)}, {"cut from below", CSqrt, at(-4, negZero), at(0, -2)},
		{"zero", CSqrt, at(negZero, negZero), at(0, negZero)}, {"exact", CSqrt, at(3, -4), at(2, -1)},
		{"infinite wins", CSqrt, at(nan, -inf), at(inf, -inf)}, {"limit", CSqrt, at(-inf, -1), at(0, -inf)},
		{"limit", CSqrt, at(inf, nan), at(inf, nan)}, {"no overflow", CSqrt, at(0x1p1022, 0), at(0x1p511, 0)},
		{"real axis", CSin, at(0, 0), at(0, 0)}, {"odd", CSin, at(negZero, negZero), at(negZero, negZero)},
		{"domain", CSin, at(inf, 1), at(nan, nan)}, {"domain", CSin, at(inf, 0), at(nan, 0)},
		{"even", CCos, at(0, 0), at(1, negZero)}, {"even", CCos, at(negZero, negZero), at(1, negZero)},
		{"even", CCos, at(0, negZero), at(1, 0)},
		{"odd", CTanh, at(negZero, negZero), at(negZero, negZero)}, {"limit", CTanh, at(-inf, 1), at(-1, 0)},
		{"NaN", CTanh, at(nan, 1), at(nan, nan)}, {"far", CTanh, at(400, 1), at(1, 0)},
	} {
		got := row.f(row.z)
		if !same(real(row.want), real(got)) || !same(imag(row.want), imag(got)) {
			t.Errorf("%s: f(%v) = %v, want %v", row.why, row.z, got, row.want)
		}
	}
	for _, row := range []struct {
		why        string
		z, w, want complex128
	}{
		{"empty product", 0, 0, 1}, {"empty product of NaN", cmplx.NaN(), 0, 1}, {"zero", 0, 2, 0},
		{"pole", 0, -1, at(inf, 0)}, {"pole off the axis", 0, at(-1, 1), at(inf, inf)},
		{"no limit", 0, 1i, at(nan, nan)}, {"real", 2, 10, 1024}, {"infinite", at(inf, 0), 1, at(nan, nan)},
	} {
		got := CPow(row.z, row.w)
		if !same(real(row.want), real(got)) || !same(imag(row.want), imag(got)) {
			t.Errorf("%s: CPow(%v, %v) = %v, want %v", row.why, row.z, row.w, got, row.want)
		}
	}
}
