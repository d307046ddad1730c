package fmath

import (
	"math"
	"math/cmplx"
)

// unary lists every function of one argument with its float32 twin, what package math has for it, and
// the bound that its doc comment states, in ULP of the exact value.
var unary = []struct {
	name string
	f    func(float64) float64
	f32  func(float32) float32
	std  func(float64) float64 // nil where package math has none
	ulp  float64
}{
	{"Exp", Exp, Exp32, math.Exp, 0.6},
	{"Expm1", Expm1, Expm132, math.Expm1, 0.8},
	{"Exp2", Exp2, Exp232, math.Exp2, 0.6},
	{"Sigmoid", Sigmoid, Sigmoid32, nil, 0.6},
	{"Softplus", Softplus, Softplus32, nil, 0.6},
	{"Log", Log, Log32, math.Log, 0.65},
	{"Log1p", Log1p, Log1p32, math.Log1p, 0.51},
	{"Log2", Log2, Log232, nil, 0.51}, // math.Log2 loses relative accuracy near 1
	{"Log10", Log10, Log1032, nil, 0.51},
	{"Sin", Sin, Sin32, math.Sin, 0.65},
	{"Cos", Cos, Cos32, math.Cos, 0.65},
	{"Tan", Tan, Tan32, math.Tan, 0.85},
	{"Asin", Asin, Asin32, nil, 0.6}, // math.Asin and Acos go through Atan of a rounded root
	{"Acos", Acos, Acos32, nil, 0.6},
	{"Atan", Atan, Atan32, math.Atan, 0.6},
	{"Sinh", Sinh, Sinh32, nil, 0.75},
	{"Cosh", Cosh, Cosh32, math.Cosh, 0.6},
	{"Tanh", Tanh, Tanh32, math.Tanh, 0.65},
	{"Asinh", Asinh, Asinh32, math.Asinh, 0.51},
	{"Acosh", Acosh, Acosh32, math.Acosh, 0.51},
	{"Atanh", Atanh, Atanh32, math.Atanh, 0.51},
	{"Erf", Erf, Erf32, math.Erf, 0.9},
	{"Erfc", Erfc, Erfc32, math.Erfc, 0.85},
	{"Erfinv", Erfinv, Erfinv32, math.Erfinv, 1},
	{"Cbrt", Cbrt, Cbrt32, math.Cbrt, 0.67},
}

// binaryFuncs lists every function of two arguments.
var binaryFuncs = []struct {
	name string
	f    func(x, y float64) float64
	f32  func(x, y float32) float32
	std  func(x, y float64) float64
	ulp  float64
}{
	{"Atan2", Atan2, Atan232, math.Atan2, 0.6},
	{"Pow", Pow, Pow32, math.Pow, 0.65},
	{"Hypot", Hypot, Hypot32, math.Hypot, 0.51},
}

// complexUnary lists every complex function of one argument.
var complexUnary = []struct {
	name string
	f    func(complex128) complex128
	std  func(complex128) complex128
	ulp  float64 // of each part
}{
	{"CExp", CExp, cmplx.Exp, 0.8},
	{"CLog", CLog, cmplx.Log, 0.7},
	{"CSqrt", CSqrt, cmplx.Sqrt, 1.8},
	{"CSin", CSin, cmplx.Sin, 1},
	{"CCos", CCos, cmplx.Cos, 1},
	{"CTanh", CTanh, cmplx.Tanh, 4},
}

// splitMix is Steele, Lea and Flood's generator (2014): the tests' arguments must not change with Go's.
type splitMix uint64

func (s *splitMix) bits() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform is a value in [lo, hi), exact in float64 up to its two roundings.
func (s *splitMix) uniform(lo, hi float64) float64 {
	return lo + float64((hi-lo)*float64(float64(s.bits()>>11)*0x1p-53))
}

// argument mixes any bit pattern, moderate exponents, and the neighbourhoods of 0, ±1 and multiples of ½.
func (s *splitMix) argument() float64 {
	switch s.bits() % 5 {
	case 0:
		return math.Float64frombits(s.bits())
	case 1:
		return s.uniform(-1, 1)
	case 2:
		return s.uniform(-40, 40)
	case 3:
		return s.uniform(-800, 800)
	}
	near := float64(float64(int(s.bits()%9)-4) * 0.5)
	return near + math.Ldexp(s.uniform(-1, 1), -int(s.bits()%60))
}

// specials are the arguments that functions treat apart.
var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, -3, math.Inf(1), math.Inf(-1), math.NaN(),
	math.Float64frombits(0xfff0dead0000beef), math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
	0x1p-1022, 0x1.fffffffffffffp-1023, math.MaxFloat64, -math.MaxFloat64, math.Pi, math.E, 1e22, -1e300,
}

// ulps is the distance of got from want + low, in ULP of want.
func ulps(got, want, low float64) float64 {
	if got == want || got != got && want != want {
		return math.Abs(low) / ulp(want)
	}
	if math.IsInf(got, 0) || math.IsInf(want, 0) || got != got || want != want {
		return math.Inf(1)
	}
	return math.Abs((got-want)-low) / ulp(want)
}

// ulp is the spacing of float64 at x.
func ulp(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-53, -1074))
}

// same compares bits, and takes any NaN for the one of this package.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && math.Float64bits(b) == math.Float64bits(nan)
}
