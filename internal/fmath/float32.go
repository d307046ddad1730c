package fmath

import "math"

// The float32 functions round a float64 result once, so they are correctly rounded except where that
// result lies within its own error of a midpoint: within 0.5000001 ULP. Exp32, Log32, Tanh32 and
// Sigmoid32, which training loops are made of, have bodies of their own: one short polynomial in float64
// without a table and with one branch, for the arguments that overflow. A subnormal float32 is a normal
// float64, so they need no care here.

// widen is float64(x) for normal x; it takes ±0 and subnormals to values of their sign below 2⁻¹²⁶.
// On amd64 the conversion instruction also reads the register that it writes, so that an element waits for
// the one before it: Tanh32 took 18 ns by float64(x) where it takes 5 by this.
func widen(x float32) float64 {
	b := uint64(math.Float32bits(x))
	return math.Float64frombits(b>>31<<63 | b<<33>>4 + (1023-127)<<52)
}

// expCore is e^v for |v| ≤ 200 with an error of 2⁻²⁸·⁶: e^r on |r| ≤ ln 2 / 2, the power of two added to
// the exponent field, where the sum with shift has left it in the low bits.
func expCore(v float64) float64 {
	t := float64(v*log2E) + shift
	r := v - float64((t-shift)*math.Ln2)
	z := float64(r * r)
	lo := 1 + float64(r*1.0000000378644356)
	mid := 0.500000004730289 + float64(r*0.16666414856827044)
	hi := 0.041666352075160784 + float64(r*(0.008375181135257006+float64(r*0.0013941176798309988)))
	p := lo + float64(z*(mid+float64(z*hi)))
	return math.Float64frombits(math.Float64bits(p) + math.Float64bits(t)<<52)
}

// Exp32 is e^x, within 0.54 ULP.
// Exp32(+Inf) = +Inf, Exp32(-Inf) = 0, Exp32(NaN) = NaN.
func Exp32(x float32) float32 {
	if !(x > -104 && x < 89) {
		return expEdge32(x)
	}
	return float32(expCore(widen(x)))
}

// expEdge32 answers where e^x is no float32, or x is NaN.
func expEdge32(x float32) float32 {
	switch {
	case x > 0:
		return float32(inf)
	case x < 0:
		return 0
	}
	return float32(nan)
}

// Sigmoid32 is 1 / (1 + e^−x), within 0.54 ULP.
// Sigmoid32(+Inf) = 1, Sigmoid32(-Inf) = 0, Sigmoid32(NaN) = NaN.
func Sigmoid32(x float32) float32 {
	if !(x > -104 && x < 89) {
		if x > 0 {
			return 1
		}
		return expEdge32(x)
	}
	return float32(1 / (1 + expCore(-widen(x))))
}

// Tanh32 is t / (t + 2) with t = e^2x − 1, where the polynomial is that of eʳ − 1 and keeps its relative
// accuracy near 0; within 0.51 ULP.
// Tanh32(±0) = ±0, Tanh32(±Inf) = ±1, Tanh32(NaN) = NaN.
func Tanh32(x float32) float32 {
	if a := math.Float32bits(x) &^ (1 << 31); a-tanhLow >= tanhHigh-tanhLow {
		return tanhEdge32(x)
	}
	v := widen(x)
	n := float64(v*(2*log2E)) + shift
	r := (v + v) - float64((n-shift)*math.Ln2)
	z := float64(r * r)
	lo := 1 + float64(r*0.500000004730289)
	mid := 0.16666666719203097 + float64(r*0.041666352075160784)
	hi := 0.00833329839251839 + float64(r*(0.0013941176798309988+float64(r*0.0001989934987295068)))
	q := lo + float64(z*(mid+float64(z*hi)))
	s := math.Float64frombits(1023<<52 + math.Float64bits(n)<<52)
	t := float64(s*float64(r*q)) + (s - 1)
	return float32(t / (t + 2))
}

// The bits of 2⁻¹³ and 10, between which Tanh32 needs its polynomial.
const (
	tanhLow  = 0x39000000
	tanhHigh = 0x41200000
)

// tanhEdge32 answers where tanh x rounds to ±1 or to x, or x is NaN.
func tanhEdge32(x float32) float32 {
	switch {
	case x > 1:
		return 1
	case x < -1:
		return -1
	case x != x:
		return float32(nan)
	}
	v := float64(x)
	return float32(v - float64(float64(float64(v*v)*v)/3))
}

// Log32 is the natural logarithm, within 0.52 ULP: 2 atanh s on s = f / (2 + f), as Log.
// Log32(+Inf) = +Inf, Log32(±0) = -Inf, Log32(x < 0) = NaN, Log32(NaN) = NaN.
func Log32(x float32) float32 {
	if !(x > 0 && x <= math.MaxFloat32) {
		return float32(logEdge(float64(x)))
	}
	b := math.Float64bits(float64(x)) - sqrtHalfBits
	k := float64(int64(b) >> 52)
	f := math.Float64frombits(b&(1<<52-1)+sqrtHalfBits) - 1
	s := f / (2 + f)
	z := float64(s * s)
	p := 1.9999999986202002 + float64(z*0.6666681624644926)
	p += float64(float64(z*z) * (0.39974747580492864 + float64(z*0.29927188570985336)))
	return float32(float64(k*math.Ln2) + float64(s*p))
}

// Expm132 is Expm1 in float32.
func Expm132(x float32) float32 { return float32(Expm1(float64(x))) }

// Exp232 is Exp2 in float32.
func Exp232(x float32) float32 { return float32(Exp2(float64(x))) }

// Softplus32 is Softplus in float32.
func Softplus32(x float32) float32 { return float32(Softplus(float64(x))) }

// Log1p32 is Log1p in float32.
func Log1p32(x float32) float32 { return float32(Log1p(float64(x))) }

// Log232 is Log2 in float32.
func Log232(x float32) float32 { return float32(Log2(float64(x))) }

// Log1032 is Log10 in float32.
func Log1032(x float32) float32 { return float32(Log10(float64(x))) }

// Sin32 is Sin in float32.
func Sin32(x float32) float32 { return float32(Sin(float64(x))) }

// Cos32 is Cos in float32.
func Cos32(x float32) float32 { return float32(Cos(float64(x))) }

// Tan32 is Tan in float32.
func Tan32(x float32) float32 { return float32(Tan(float64(x))) }

// Asin32 is Asin in float32.
func Asin32(x float32) float32 { return float32(Asin(float64(x))) }

// Acos32 is Acos in float32.
func Acos32(x float32) float32 { return float32(Acos(float64(x))) }

// Atan32 is Atan in float32.
func Atan32(x float32) float32 { return float32(Atan(float64(x))) }

// Sinh32 is Sinh in float32.
func Sinh32(x float32) float32 { return float32(Sinh(float64(x))) }

// Cosh32 is Cosh in float32.
func Cosh32(x float32) float32 { return float32(Cosh(float64(x))) }

// Asinh32 is Asinh in float32.
func Asinh32(x float32) float32 { return float32(Asinh(float64(x))) }

// Acosh32 is Acosh in float32.
func Acosh32(x float32) float32 { return float32(Acosh(float64(x))) }

// Atanh32 is Atanh in float32.
func Atanh32(x float32) float32 { return float32(Atanh(float64(x))) }

// Erf32 is Erf in float32.
func Erf32(x float32) float32 { return float32(Erf(float64(x))) }

// Erfc32 is Erfc in float32.
func Erfc32(x float32) float32 { return float32(Erfc(float64(x))) }

// Erfinv32 is Erfinv in float32.
func Erfinv32(x float32) float32 { return float32(Erfinv(float64(x))) }

// Cbrt32 is Cbrt in float32.
func Cbrt32(x float32) float32 { return float32(Cbrt(float64(x))) }

// Atan232 is Atan2 in float32.
func Atan232(y, x float32) float32 { return float32(Atan2(float64(y), float64(x))) }

// Pow32 is Pow in float32.
func Pow32(x, y float32) float32 { return float32(Pow(float64(x), float64(y))) }

// Hypot32 is Hypot in float32.
func Hypot32(x, y float32) float32 { return float32(Hypot(float64(x), float64(y))) }
