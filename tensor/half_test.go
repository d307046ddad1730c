package tensor_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// half is a 16-bit format: how many exponent and fraction bits it has, and the conversions under test.
type half struct {
	name      string
	exp, frac int
	value     func(uint16) float32
	round32   func(float32) uint16
	round64   func(float64) uint16
}

var halves = []half{
	{"float16", 5, 10,
		func(b uint16) float32 { return tensor.F16(b).Float32() },
		func(f float32) uint16 { return uint16(tensor.ToF16(f)) },
		func(f float64) uint16 { return uint16(tensor.ToF16From64(f)) }},
	{"bfloat16", 8, 7,
		func(b uint16) float32 { return tensor.BF16(b).Float32() },
		func(f float32) uint16 { return uint16(tensor.ToBF16(f)) },
		func(f float64) uint16 { return uint16(tensor.ToBF16From64(f)) }},
}

// exact is the value of finite bits by the definition of IEEE 754: no bit tricks.
func (h half) exact(b uint16) float64 {
	bias := 1<<(h.exp-1) - 1
	e, f := int(b>>h.frac)&(1<<h.exp-1), float64(b&(1<<h.frac-1))
	v := math.Ldexp(f, 1-bias-h.frac)
	if e > 0 {
		v = math.Ldexp(f+math.Ldexp(1, h.frac), e-bias-h.frac)
	}
	if b>>15 == 1 {
		v = -v
	}
	return v
}

func (h half) inf() uint16 { return uint16(1<<h.exp-1) << h.frac }

func TestHalfAllValues(t *testing.T) {
	for _, h := range halves {
		t.Run(h.name, func(t *testing.T) {
			for i := range 1 << 16 {
				b := uint16(i)
				v := h.value(b)
				switch abs := b &^ 0x8000; {
				case abs > h.inf():
					quiet := b | 1<<(h.frac-1)
					if v == v || h.round32(v) != quiet || h.round64(float64(v)) != quiet {
						t.Fatalf("NaN %#x: value %v, back %#x and %#x, want %#x", b, v, h.round32(v),
							h.round64(float64(v)), quiet)
					}
					continue
				case abs == h.inf():
					if !math.IsInf(float64(v), 1-2*int(b>>15)) {
						t.Fatalf("%#x is %v, want an infinity", b, v)
					}
				case float64(v) != h.exact(b) || math.Signbit(float64(v)) != (b>>15 == 1):
					t.Fatalf("%#x is %v, want %v", b, v, h.exact(b))
				}
				if h.round32(v) != b || h.round64(float64(v)) != b {
					t.Fatalf("%#x = %v comes back as %#x and %#x", b, v, h.round32(v), h.round64(float64(v)))
				}
			}
		})
	}
}

// TestHalfMidpoints walks every pair of neighbours, subnormals and the step to infinity included: the point
// midway goes to the even one, its next neighbours in float64 and in float32 to the nearer one.
func TestHalfMidpoints(t *testing.T) {
	for _, h := range halves {
		t.Run(h.name, func(t *testing.T) {
			for b := uint16(0); b < h.inf(); b++ {
				lo, hi := h.exact(b), h.exact(b+1) // exact(inf) is the power of two that follows
				mid := lo + (hi-lo)/2
				even := b + b&1
				for _, sign := range []uint16{0, 0x8000} {
					s := float64(1 - 2*int(sign>>15))
					check := func(what string, got, want uint16) {
						if got != want|sign {
							t.Fatalf("%s the middle of %#x and its successor (sign %#x): %#x, want %#x",
								what, b, sign, got, want|sign)
						}
					}
					check("64 at", h.round64(s*mid), even)
					check("64 below", h.round64(s*math.Nextafter(mid, 0)), b)
					check("64 above", h.round64(s*math.Nextafter(mid, math.Inf(1))), b+1)
					m := float32(mid)
					if float64(m) != mid {
						t.Fatalf("%v is no float32", mid)
					}
					check("32 at", h.round32(float32(s)*m), even)
					check("32 below", h.round32(float32(s)*math.Nextafter32(m, 0)), b)
					check("32 above", h.round32(float32(s)*math.Nextafter32(m, math.MaxFloat32)), b+1)
				}
			}
		})
	}
}

func TestHalfExact(t *testing.T) {
	rows := []struct {
		why  string
		h    half
		f    float64
		want uint16
	}{
		{"one", halves[0], 1, 0x3c00},
		{"largest", halves[0], 65504, 0x7bff},
		{"just below the middle rounds down", halves[0], 65519.99, 0x7bff},
		{"the middle is even at infinity", halves[0], 65520, 0x7c00},
		{"negative overflow", halves[0], -65520, 0xfc00},
		{"far beyond", halves[0], 1e300, 0x7c00},
		{"least subnormal", halves[0], 0x1p-24, 0x0001},
		{"half of it ties to zero", halves[0], 0x1p-25, 0x0000},
		{"a little more than half", halves[0], 0x1.000001p-25, 0x0001},
		{"negative zero", halves[0], math.Copysign(0, -1), 0x8000},
		{"float64 subnormal", halves[0], -5e-324, 0x8000},
		{"largest subnormal rounds up to normal", halves[0], 0x1p-14 - 0x1p-26, 0x0400},
		{"double rounding: float32 lands on a tie", halves[0], 1 + 0x1p-11 + 0x1p-40, 0x3c01},
		{"double rounding, from below", halves[0], 1 + 3*0x1p-11 - 0x1p-40, 0x3c01},
		{"one", halves[1], 1, 0x3f80},
		{"float32's largest is beyond bfloat16's", halves[1], math.MaxFloat32, 0x7f80},
		{"largest", halves[1], 0x1.fep127, 0x7f7f},
		{"just below the middle to infinity", halves[1], 0x1.fefffffffffp127, 0x7f7f},
		{"beyond float32", halves[1], 1e300, 0x7f80},
		{"negative, beyond float32", halves[1], -1e300, 0xff80},
		{"least subnormal", halves[1], 0x1p-133, 0x0001},
		{"half of it ties to zero", halves[1], 0x1p-134, 0x0000},
		{"half of it and a float64 step", halves[1], math.Nextafter(0x1p-134, 1), 0x0001},
		{"below float32's subnormals", halves[1], 1e-300, 0x0000},
		{"double rounding: float32 lands on a tie", halves[1], 1 + 0x1p-8 + 0x1p-40, 0x3f81},
		{"double rounding, from below", halves[1], 1 + 3*0x1p-8 - 0x1p-40, 0x3f81},
		{"negative double rounding", halves[1], -1 - 0x1p-8 - 0x1p-40, 0xbf81},
	}
	for _, row := range rows {
		if got := row.h.round64(row.f); got != row.want {
			t.Errorf("%s, %s: %v becomes %#x, want %#x", row.h.name, row.why, row.f, got, row.want)
		}
	}
	for _, h := range halves { // the rows above are worth their place only if float32 differs
		one := h.round64(1)
		f := 1 + math.Ldexp(1, -h.frac-1) + 0x1p-40
		if h.round32(float32(f)) != one || h.round64(f) != one+1 {
			t.Errorf("%s: %v is no case of double rounding", h.name, f)
		}
	}
}

func TestHalfNaN(t *testing.T) {
	for _, row := range []struct {
		why  string
		f    uint32
		f16  tensor.F16
		bf16 tensor.BF16
	}{
		{"quiet, no payload", 0x7fc00000, 0x7e00, 0x7fc0},
		{"sign kept", 0xffc00000, 0xfe00, 0xffc0},
		{"upper payload kept", 0x7fd40000, 0x7ea0, 0x7fd4},
		{"a low payload alone must not become infinity", 0x7f800001, 0x7e00, 0x7fc0},
	} {
		f := math.Float32frombits(row.f)
		if a, b := tensor.ToF16(f), tensor.ToBF16(f); a != row.f16 || b != row.bf16 {
			t.Errorf("%s: %#x and %#x, want %#x and %#x", row.why, a, b, row.f16, row.bf16)
		}
	}
	low := math.Float64frombits(0x7ff0000000000001)
	if a, b := tensor.ToF16From64(low), tensor.ToBF16From64(low); a != 0x7e00 || b != 0x7fc0 {
		t.Errorf("a low float64 payload: %#x and %#x", a, b)
	}
}

// TestHalfRandom compares with a search for the nearest value.
func TestHalfRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, h := range halves {
		for range 20000 {
			f := math.Ldexp(1+rng.Float64(), rng.IntN(2<<h.exp)-(1<<h.exp))
			lo, hi := uint16(0), h.inf() // exact(lo) ≤ f < exact(hi)
			for hi-lo > 1 {
				if mid := lo + (hi-lo)/2; h.exact(mid) <= f {
					lo = mid
				} else {
					hi = mid
				}
			}
			want := hi
			if below, above := f-h.exact(lo), h.exact(hi)-f; below < above || below == above && lo&1 == 0 {
				want = lo
			}
			if got := h.round64(f); got != want {
				t.Fatalf("%s: %v becomes %#x, want %#x", h.name, f, got, want)
			}
		}
	}
}
