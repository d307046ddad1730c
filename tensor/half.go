package tensor

import "math"

// F16 is an IEEE 754 binary16 number by its bits: 1 sign, 5 exponent, 10 fraction bits.
type F16 uint16

// BF16 is a bfloat16 number by its bits: the upper half of a float32.
type BF16 uint16

// Float32 is the exact value of h.
func (h F16) Float32() float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exp == 0x1f: // infinity or NaN: payload kept
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
	}
	v := float32(frac) * 0x1p-24 // zero or subnormal: exact
	return math.Float32frombits(sign | math.Float32bits(v))
}

// Float32 is the exact value of b.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// ToF16 rounds to the nearest binary16 number, ties to even; from 65520 on the result is infinite. A NaN
// stays a quiet NaN with the upper bits of its payload.
func ToF16(f float32) F16 { return halfBits(float64(f)) }

// ToF16From64 rounds a float64 once; going through float32 would round twice.
func ToF16From64(f float64) F16 { return halfBits(f) }

func halfBits(f float64) F16 {
	b := math.Float64bits(f)
	sign := F16(b >> 48 & 0x8000)
	abs := b &^ (1 << 63)
	switch {
	case abs > 0x7ff<<52: // NaN
		return sign | 0x7e00 | F16(abs>>42&0x3ff)
	case abs >= 0x40effe0000000000: // 65520 and more
		return sign | 0x7c00
	case abs < 0x3f10000000000000: // below 2^-14: a multiple of 2^-24; 1024 carries into the exponent
		return sign | F16(math.RoundToEven(math.Float64frombits(abs)*0x1p24))
	}
	abs += 1<<41 - 1 + abs>>42&1 // round to even at bit 42; a carry moves on into the exponent
	return sign | F16(abs>>42-(1023-15)<<10)
}

// ToBF16 rounds to the nearest bfloat16 number, ties to even. A NaN stays a quiet NaN.
func ToBF16(f float32) BF16 {
	b := math.Float32bits(f)
	if b&^(1<<31) > 0xff<<23 {
		return BF16(b>>16 | 0x40)
	}
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// ToBF16From64 rounds a float64 once. Rounding to float32 first is made to keep what the second rounding
// must know (rounding to odd), so the pair rounds like one.
func ToBF16From64(f float64) BF16 {
	s := float32(f)
	if d := float64(s); d != f && f == f && math.Float32bits(s)&1 == 0 {
		b := math.Float32bits(s)
		switch {
		case math.Abs(d) > math.Abs(f): // rounded away from zero: step back, the odd neighbour
			b--
		default:
			b++
		}
		s = math.Float32frombits(b)
	}
	return ToBF16(s)
}
