package ptxsim

import (
	"math"
	"math/big"
)

type rounding uint8

const (
	roundNone rounding = iota
	roundNearest
	roundZero
	roundDown
	roundUp
)

// mirrored is the rounding of −x seen from x.
func (m rounding) mirrored() rounding {
	switch m {
	case roundDown:
		return roundUp
	case roundUp:
		return roundDown
	}
	return m
}

// round rounds to an integral value.
func (m rounding) round(x float64) float64 {
	switch m {
	case roundZero:
		return math.Trunc(x)
	case roundDown:
		return math.Floor(x)
	case roundUp:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

// roundings reads a rounding modifier: towards an integral value (rni) or in the last place (rn).
func roundings(mods []string) (integral, last rounding) {
	for _, m := range mods {
		switch m {
		case "rni":
			integral = roundNearest
		case "rzi":
			integral = roundZero
		case "rmi":
			integral = roundDown
		case "rpi":
			integral = roundUp
		case "rn":
			last = roundNearest
		case "rz":
			last = roundZero
		case "rm":
			last = roundDown
		case "rp":
			last = roundUp
		}
	}
	return integral, last
}

// convert is the cvt from one type to another.
func convert(mods []string, to, from string) alu {
	sat := has(mods, "sat")
	integral, last := roundings(mods)
	switch {
	case from[0] != 'f' && to[0] != 'f':
		if sat {
			return clampInt(to, from)
		}
		narrow := from
		if width(to) <= width(from) {
			narrow = to
		}
		return extend(narrow)
	case from[0] == 'f' && to[0] == 'f':
		get, put := floatReader(from), floatWriter(to)
		if get == nil || put == nil {
			return nil
		}
		return func(d, a, _, _ *lanes) {
			for i := range d {
				x := get(a[i])
				if integral != roundNone {
					x = integral.round(x)
				}
				if sat {
					x = min(max(x, 0), 1)
					if x != x {
						x = 0
					}
				}
				d[i] = put(x, last)
			}
		}
	case from[0] == 'f':
		get, put := floatReader(from), intWriter(to, from)
		if get == nil || integral == roundNone {
			return nil
		}
		return func(d, a, _, _ *lanes) {
			for i := range d {
				d[i] = put(integral.round(get(a[i])))
			}
		}
	default:
		return intToFloat(to, from, last)
	}
}

func floatReader(ty string) func(uint64) float64 {
	switch ty {
	case "f16":
		return fromHalf
	case "f32":
		return func(v uint64) float64 { return float64(toFloat[float32](v)) }
	case "f64":
		return toFloat[float64]
	}
	return nil
}

func floatWriter(ty string) func(float64, rounding) uint64 {
	switch ty {
	case "f16":
		return toHalf
	case "f32":
		return func(x float64, m rounding) uint64 {
			r := float32(x)
			if m == roundZero && math.Abs(float64(r)) > math.Abs(x) {
				r = math.Nextafter32(r, 0)
			} else if m == roundDown && float64(r) > x {
				r = math.Nextafter32(r, float32(math.Inf(-1)))
			} else if m == roundUp && float64(r) < x {
				r = math.Nextafter32(r, float32(math.Inf(1)))
			}
			return fromFloat(r)
		}
	case "f64":
		return func(x float64, _ rounding) uint64 { return fromFloat(x) }
	}
	return nil
}

// intWriter clamps an integral float to an integer type. A NaN is 0, but the highest bit alone where a
// float64 or a 64-bit integer takes part.
func intWriter(to, from string) func(float64) uint64 {
	w := width(to)
	nan := uint64(0)
	if w == 64 || from == "f64" {
		nan = 1 << (w - 1)
	}
	if to[0] == 's' {
		limit := math.Ldexp(1, w-1)
		top, bottom := uint64(1)<<(w-1)-1, uint64(int64(-1)<<(w-1))
		return func(x float64) uint64 {
			switch {
			case x != x:
				return nan
			case x >= limit:
				return top
			case x < -limit:
				return bottom
			}
			return uint64(int64(x))
		}
	}
	limit := math.Ldexp(1, w)
	top := ^uint64(0) >> (64 - w)
	return func(x float64) uint64 {
		switch {
		case x != x:
			return nan
		case x >= limit:
			return top
		case x <= 0:
			return 0
		}
		return uint64(x)
	}
}

// intToFloat rounds an integer once.
func intToFloat(to, from string, mode rounding) alu {
	put := floatWriter(to)
	if put == nil {
		return nil
	}
	signed, w := from[0] == 's', width(from)
	return func(d, a, _, _ *lanes) {
		for i := range d {
			v := a[i] << (64 - w)
			if signed {
				v = uint64(int64(v) >> (64 - w))
			} else {
				v >>= 64 - w
			}
			switch {
			case to == "f32" && mode == roundNearest && signed:
				d[i] = fromFloat(float32(int64(v)))
			case to == "f32" && mode == roundNearest:
				d[i] = fromFloat(float32(v))
			default:
				d[i] = put(oddFloat(v, signed, to == "f64", mode), mode)
			}
		}
	}
}

// oddFloat is an integer as a float64 that a narrower float can be rounded from: exact or, where 53 bits are
// too few, rounded to odd. A float64 result is rounded here as mode says.
func oddFloat(v uint64, signed, final bool, mode rounding) float64 {
	var n big.Float
	if n.SetPrec(64); signed {
		n.SetInt64(int64(v))
	} else {
		n.SetUint64(v)
	}
	n.SetMode(big.ToZero)
	if final {
		n.SetMode(map[rounding]big.RoundingMode{
			roundNearest: big.ToNearestEven, roundZero: big.ToZero,
			roundDown: big.ToNegativeInf, roundUp: big.ToPositiveInf,
		}[mode])
	}
	n.SetPrec(53)
	x, _ := n.Float64()
	if !final && n.Acc() != big.Exact {
		x = math.Float64frombits(math.Float64bits(x) | 1)
	}
	return x
}

// clampInt is cvt.sat between integers.
func clampInt(to, from string) alu {
	w, signed := width(from), from[0] == 's'
	t := width(to)
	lo, hi := int64(0), int64(math.MaxInt64)
	if to[0] == 's' {
		lo, hi = -1<<(t-1), 1<<(t-1)-1
	} else if t < 64 {
		hi = 1<<t - 1
	}
	return func(d, a, _, _ *lanes) {
		for i := range d {
			v := a[i] << (64 - w)
			if signed {
				d[i] = uint64(min(max(int64(v)>>(64-w), lo), hi))
			} else if v >>= 64 - w; v > uint64(hi) && (t < 64 || to[0] == 's') {
				d[i] = uint64(hi)
			} else {
				d[i] = v
			}
		}
	}
}

func extendTo[T integer](d, a, _, _ *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i]))
	}
}

func extend(ty string) alu {
	switch ty {
	case "u8", "b8":
		return extendTo[uint8]
	case "s8":
		return extendTo[int8]
	case "u16", "b16":
		return extendTo[uint16]
	case "s16":
		return extendTo[int16]
	case "u32", "b32":
		return extendTo[uint32]
	case "s32":
		return extendTo[int32]
	case "u64", "s64", "b64":
		return copyLanes
	}
	return nil
}
