package fmath

import (
	"math"
	"math/cmplx"
	"testing"
)

// stdULP is how far package math may be from us. It is no judge of the last bits (against 1500-bit
// references it was off by 19 ULP and more in Sin of large arguments, 5 in Erfinv, 2²⁵ in Pow near 1), but a gross
// fault anywhere in the range would show; TestAccuracy holds the bits.
const stdULP = 1 << 20

// stdWrong are the arguments where package math of Go 1.26 on amd64 is beyond any bound: its assembly takes
// subnormals wrongly in Log and overflows early in Exp, and its Atan2 loses a sign when y/x underflows.
func stdWrong(x, want float64) bool {
	return math.Abs(x) < 0x1p-1022 || math.Abs(want) < 0x1p-1022 || math.Abs(x) > 709 && math.IsInf(want, 0)
}

func sweepCount() int {
	if testing.Short() {
		return 1 << 12
	}
	return 1 << 17
}

func TestAgainstMath(t *testing.T) {
	for _, u := range unary {
		if u.std == nil {
			continue
		}
		s := splitMix(1)
		for range sweepCount() {
			x := s.argument()
			got, want := u.f(x), u.std(x)
			if !stdWrong(x, want) && !(ulps(got, want, 0) <= stdULP) {
				t.Errorf("%s(%x) = %x, package math %x", u.name, x, got, want)
				break
			}
			if got != got && !same(nan, got) {
				t.Errorf("%s(%x): NaN with bits %#x", u.name, x, math.Float64bits(got))
				break
			}
		}
	}
	for _, b := range binaryFuncs {
		s := splitMix(2)
		for range sweepCount() {
			x, y := s.argument(), s.argument()
			got, want := b.f(x, y), b.std(x, y)
			underflow := b.name == "Atan2" && math.Abs(x/y) < 0x1p-1022
			huge := b.name == "Pow" && math.Abs(y) > 1e6 // math.Pow keeps few bits there
			if !underflow && !huge && !stdWrong(x, want) && !(ulps(got, want, 0) <= stdULP) {
				t.Errorf("%s(%x, %x) = %x, package math %x", b.name, x, y, got, want)
				break
			}
		}
	}
}

// TestIdentities covers what package math lacks, or knows to fewer bits than we do.
func TestIdentities(t *testing.T) {
	for _, row := range []struct {
		why    string
		f, g   func(x float64) float64
		lo, hi float64
		ulp    float64
	}{
		{"σ(x) = 1 − σ(−x)", Sigmoid, func(x float64) float64 { return 1 - Sigmoid(-x) }, 0, 40, 1},
		{"σ(x) = (1 + tanh x/2) / 2", Sigmoid,
			func(x float64) float64 { return 0.5 + Tanh(x/2)/2 }, 0, 40, 1},
		{"softplus(x) = x + softplus(−x)", Softplus,
			func(x float64) float64 { return x + Softplus(-x) }, 0, 800, 1},
		{"log2 x = log x / log 2", Log2, func(x float64) float64 { return Log(x) / math.Ln2 }, 0, 1e9, 3},
		{"log10 x = log x / log 10", Log10,
			func(x float64) float64 { return Log(x) / math.Ln10 }, 0, 1e9, 3},
		{"asin x = atan x/√(1−x²)", Asin,
			func(x float64) float64 { return Atan2(x, math.Sqrt((1-x)*(1+x))) }, -1, 1, 3},
		{"acos x = π/2 − asin x", Acos, func(x float64) float64 { return math.Pi/2 - Asin(x) }, -1, 0.5, 2},
		{"sinh x = (e^x − e^−x) / 2", Sinh, func(x float64) float64 { return (Exp(x) - Exp(-x)) / 2 }, 1, 700, 3},
		{"erf(erfinv y) = y", func(y float64) float64 { return y },
			func(y float64) float64 { return Erf(Erfinv(y)) }, -0.9, 0.9, 3},
		{"(∛x)³ = x", func(x float64) float64 { return x },
			func(x float64) float64 { c := Cbrt(x); return c * c * c }, -1e30, 1e30, 4},
	} {
		s := splitMix(3)
		for range sweepCount() / 8 {
			x := s.uniform(row.lo, row.hi)
			if f, g := row.f(x), row.g(x); !(ulps(f, g, 0) <= row.ulp) {
				t.Errorf("%s: x = %x: %x and %x, %.1f ULP", row.why, x, f, g, ulps(f, g, 0))
				break
			}
		}
	}
}

// TestMonotone walks 4096 neighbours across every border between two formulas.
func TestMonotone(t *testing.T) {
	for _, row := range []struct {
		name    string
		f       func(float64) float64
		borders []float64
	}{
		{"Exp", Exp, []float64{0, math.Ln2 / 2, -math.Ln2 / 2, 1.5 * math.Ln2, 700.5 * math.Ln2}},
		{"Expm1", Expm1, []float64{0, 0x1p-54, math.Ln2 / 2, -math.Ln2 / 2, 50, -50}},
		{"Log", Log, []float64{1, math.Sqrt2, math.Sqrt2 / 2, 2}},
		{"Log1p", Log1p, []float64{0, -0.29, 0.41, 0x1p-54}},
		{"Sin", Sin, []float64{0, 0x1p-27, math.Pi / 4}},
		{"Tan", Tan, []float64{0, 0x1p-27, math.Pi / 4}},
		{"Asin", Asin, []float64{0, 0x1p-27, 0.5, -0.5}},
		{"Atan", Atan, []float64{0x1p-27, 7. / 16, 11. / 16, 19. / 16, 39. / 16, 0x1p60}},
		{"Sinh", Sinh, []float64{0x1p-28, math.Ln2 / 2, 40}},
		{"Tanh", Tanh, []float64{0x1p-28, math.Ln2 / 4, 22}},
		{"Asinh", Asinh, []float64{0x1p-28, 0x1p28}},
		{"Acosh", Acosh, []float64{1.1, 0x1p28}},
		{"Atanh", Atanh, []float64{0x1p-28, 0.17}},
		{"Erf", Erf, []float64{0, 0.85, 1, 2, 4, 6}},
		{"-Erfc", func(x float64) float64 { return -Erfc(x) }, []float64{0.5, -0.85, 1, 2, 4, 26}},
		{"Erfinv", Erfinv, []float64{0, 0.75, -0.75}},
		{"Sigmoid", Sigmoid, []float64{0, -40, 40}},
		{"Softplus", Softplus, []float64{0, -40, 40}},
		{"Cbrt", Cbrt, []float64{1, 8, 0x1p-1022}},
	} {
		for _, b := range row.borders {
			x := b
			for range 2048 {
				x = math.Nextafter(x, math.Inf(-1))
			}
			low := row.f(x)
			for range 4096 {
				x = math.Nextafter(x, math.Inf(1))
				y := row.f(x)
				if y < low && ulps(y, low, 0) > 1 {
					t.Errorf("%s falls by %.0f ULP at %x near %v", row.name, ulps(y, low, 0), x, b)
					break
				}
				low = y
			}
		}
	}
}

func TestFloat32(t *testing.T) {
	for _, u := range unary {
		stride := uint64(9973 * 101)
		switch u.name {
		case "Exp", "Log", "Tanh", "Sigmoid": // these have bodies of their own
			if stride = 997; testing.Short() {
				stride = 99991
			}
		}
		worst := 0.0
		for bits := uint64(0); bits < 1<<32; bits += stride {
			x := math.Float32frombits(uint32(bits))
			got, want := u.f32(x), u.f(float64(x))
			rounded := float32(want)
			if math.Float32bits(got) == math.Float32bits(rounded) {
				continue
			}
			_, e := math.Frexp(want)
			miss := math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
			if !(miss <= 0.55) {
				t.Fatalf("%s32(%x) = %x, exact %x: %.3f ULP", u.name, x, got, want, miss)
			}
			worst = max(worst, miss)
		}
		if worst > 0 {
			t.Logf("%s32: %.4f ULP", u.name, worst)
		}
	}
	for _, b := range binaryFuncs {
		for i := range 64 {
			x, y := float32(i)/7-3, float32(i%9)/3-1
			got, want := b.f32(x, y), float32(b.f(float64(x), float64(y)))
			if math.Float32bits(got) != math.Float32bits(want) {
				t.Errorf("%s32(%v, %v) = %v, want %v", b.name, x, y, got, want)
			}
		}
	}
}

// TestComplexAgainstCmplx takes math/cmplx as a coarse reference over more magnitudes than the file has.
func TestComplexAgainstCmplx(t *testing.T) {
	for _, c := range complexUnary {
		s := splitMix(4)
		for range sweepCount() / 8 {
			z := complex(s.uniform(-30, 30), math.Ldexp(s.uniform(-1, 1), int(s.bits()%16)-10))
			got, want := c.f(z), c.std(z)
			if cmplx.Abs(got-want) > 1e-13*cmplx.Abs(want) {
				t.Errorf("%s(%v) = %v, math/cmplx %v", c.name, z, got, want)
				break
			}
		}
	}
}

// TestReduce compares the two reductions modulo π/2 where both apply.
func TestReduce(t *testing.T) {
	s := splitMix(5)
	for range 1 << 12 {
		x := math.Floor(s.uniform(0x1p19, 0x1p20))
		r, q := reduce(x)
		l, p := reduceLarge(x)
		if q != p || math.Abs((r.hi-l.hi)+(r.lo-l.lo)) > 0x1p-90 {
			t.Fatalf("%v: %d %v, by Payne and Hanek %d %v", x, q, r, p, l)
		}
	}
}
