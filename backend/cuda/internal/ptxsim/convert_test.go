package ptxsim

import (
	"fmt"
	"math"
	"math/big"
)

// convertRows are the conversions between all types, held against math/big.
func convertRows() []opRow {
	var rows []opRow
	ints := []string{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"}
	modes := map[string]big.RoundingMode{
		"rn": big.ToNearestEven, "rz": big.ToZero, "rm": big.ToNegativeInf, "rp": big.ToPositiveInf,
	}
	for _, from := range ints {
		for _, to := range ints {
			rows = append(rows, opRow{op: "cvt." + to + "." + from, out: wide(to), in: from, sources: 1,
				want: func(a, _, _ uint64) uint64 { return truncated(signed(a, from), to) }})
			rows = append(rows, opRow{op: "cvt.sat." + to + "." + from, out: wide(to), in: from, sources: 1,
				want: func(a, _, _ uint64) uint64 { return truncated(clamped(signed(a, from), to), to) }})
		}
		if width(from) == 8 {
			continue
		}
		for name, mode := range modes {
			for _, to := range []string{"f16", "f32", "f64"} {
				rows = append(rows, opRow{op: fmt.Sprintf("cvt.%s.%s.%s", name, to, from), out: to, in: from, sources: 1,
					want: func(a, _, _ uint64) uint64 {
						return rounded(new(big.Float).SetPrec(200).SetInt(signed(a, from)), to, mode)
					}})
			}
		}
	}
	for _, from := range []string{"f16", "f32", "f64"} {
		for _, to := range []string{"u16", "s16", "u32", "s32", "u64", "s64"} {
			for _, mode := range []string{"rni", "rzi", "rmi", "rpi"} {
				rows = append(rows, opRow{op: fmt.Sprintf("cvt.%s.%s.%s", mode, to, from), out: to, in: from, sources: 1,
					want: func(a, _, _ uint64) uint64 { return toInteger(value(a, from), to, from, mode) }})
			}
		}
		for name, mode := range modes {
			for _, to := range []string{"f16", "f32", "f64"} {
				if width(to) > width(from) && name != "rn" || to == from {
					continue
				}
				rows = append(rows, opRow{op: fmt.Sprintf("cvt.%s.%s.%s", name, to, from), out: to, in: from, sources: 1,
					want: func(a, _, _ uint64) uint64 { return refloat(value(a, from), to, mode) }})
			}
		}
		if from == "f16" {
			continue
		}
		for mode := range map[string]int{"rni": 0, "rzi": 0, "rmi": 0, "rpi": 0} {
			rows = append(rows, opRow{op: fmt.Sprintf("cvt.%s.%s.%s", mode, from, from), out: from, in: from, sources: 1,
				want: func(a, _, _ uint64) uint64 { return refloat(integral(value(a, from), mode), from, big.ToNearestEven) }})
		}
		rows = append(rows, opRow{op: "cvt.sat." + from + "." + from, out: from, in: from, sources: 1,
			want: func(a, _, _ uint64) uint64 {
				x := value(a, from)
				if !(x > 0) {
					x = 0
				}
				return refloat(min(x, 1), from, big.ToNearestEven)
			}})
	}
	return rows
}

// wide is the type of the register that receives an 8-bit result.
func wide(ty string) string {
	if width(ty) == 8 {
		return ty[:1] + "16"
	}
	return ty
}

func signed(a uint64, ty string) *big.Int {
	w := width(ty)
	if ty[0] == 's' {
		return big.NewInt(int64(a<<(64-w)) >> (64 - w))
	}
	return new(big.Int).SetUint64(a << (64 - w) >> (64 - w))
}

// truncated is the low bits of n, extended by the type's sign to the register.
func truncated(n *big.Int, ty string) uint64 {
	low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	w := width(ty)
	if ty[0] == 's' {
		return uint64(int64(low<<(64-w)) >> (64 - w))
	}
	return low << (64 - w) >> (64 - w)
}

func bounds(ty string) (lo, hi *big.Int) {
	w := uint(width(ty))
	one := big.NewInt(1)
	if ty[0] == 's' {
		hi = new(big.Int).Sub(new(big.Int).Lsh(one, w-1), one)
		return new(big.Int).Neg(new(big.Int).Lsh(one, w-1)), hi
	}
	return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, w), one)
}

func clamped(n *big.Int, ty string) *big.Int {
	lo, hi := bounds(ty)
	if n.Cmp(lo) < 0 {
		return lo
	} else if n.Cmp(hi) > 0 {
		return hi
	}
	return n
}

func value(a uint64, ty string) float64 {
	switch ty {
	case "f16":
		return fromHalf(a)
	case "f32":
		return float64(f32(a))
	}
	return f64(a)
}

func integral(x float64, mode string) float64 {
	switch mode {
	case "rzi":
		return math.Trunc(x)
	case "rmi":
		return math.Floor(x)
	case "rpi":
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

func toInteger(x float64, to, from, mode string) uint64 {
	lo, hi := bounds(to)
	switch {
	case x != x && (width(to) == 64 || from == "f64"):
		return 1 << (width(to) - 1)
	case x != x:
		return 0
	case math.IsInf(x, 1):
		return truncated(hi, to)
	case math.IsInf(x, -1):
		return truncated(lo, to)
	}
	n, _ := big.NewFloat(integral(x, mode)).Int(nil)
	return truncated(clamped(n, to), to)
}

func refloat(x float64, to string, mode big.RoundingMode) uint64 {
	if x != x {
		return map[string]uint64{"f16": nan16, "f32": nan32, "f64": nan64}[to]
	}
	if math.IsInf(x, 0) || x == 0 {
		switch to {
		case "f16":
			return map[bool]uint64{true: 0x7c00}[x != 0] | oneIf(math.Signbit(x))<<15
		case "f32":
			return uint64(math.Float32bits(float32(x)))
		}
		return math.Float64bits(x)
	}
	return rounded(new(big.Float).SetPrec(200).SetFloat64(x), to, mode)
}

// rounded rounds x to a float type by its definition: to a multiple of the last place's unit, in one
// direction.
func rounded(x *big.Float, to string, mode big.RoundingMode) uint64 {
	digits, low, top, exps := 11, -24, 16, 5 // of a half: precision, smallest unit's exponent, overflow's exponent
	switch to {
	case "f32":
		digits, low, top, exps = 24, -149, 128, 8
	case "f64":
		digits, low, top, exps = 53, -1074, 1024, 11
	}
	var sign uint64
	if x.Signbit() {
		sign = 1 << (digits - 1 + exps)
	}
	if x.Sign() == 0 {
		return sign
	}
	unit := max(x.MantExp(nil)-digits, low)
	scaled := new(big.Float).SetPrec(300).SetMantExp(x, -unit)
	n, _ := scaled.Int(nil) // toward zero
	rest := new(big.Float).SetPrec(400).Sub(scaled, new(big.Float).SetInt(n))
	if rest.Sign() != 0 {
		away := false
		switch half := rest.Abs(rest).Cmp(big.NewFloat(0.5)); mode {
		case big.ToNearestEven:
			away = half > 0 || half == 0 && n.Bit(0) == 1
		case big.ToNegativeInf:
			away = sign != 0
		case big.ToPositiveInf:
			away = sign == 0
		}
		if away {
			n.Add(n, big.NewInt(int64(1-2*int(oneIf(sign != 0)))))
		}
	}
	m := n.Abs(n).Uint64()
	infinity := uint64(1<<exps-1) << (digits - 1)
	if bitLen := n.BitLen(); bitLen+unit > top {
		if mode == big.ToNearestEven || mode == big.ToNegativeInf && sign != 0 || mode == big.ToPositiveInf && sign == 0 {
			return sign | infinity
		}
		return sign | (infinity - 1)
	}
	if m < 1<<(digits-1) {
		return sign | m
	}
	return sign | (uint64(unit-low)<<(digits-1) + m)
}
