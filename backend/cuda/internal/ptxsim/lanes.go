package ptxsim

import (
	"math"
	"math/bits"
	"unsafe"
)

// lanes is one register of a warp. A value narrower than 64 bits lies in the low bits; what is above them is
// garbage, and whoever reads the register knows its type.
type lanes [32]uint64

// An alu is an instruction without side effects, done for all 32 lanes whether they are active or not: the
// interpreter writes back the active ones.
type alu func(d, a, b, c *lanes)

type integer interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64
}

type float interface{ float32 | float64 }

// toFloat reads the bits of a float.
func toFloat[F float](v uint64) F {
	if unsafe.Sizeof(F(0)) == 4 {
		return F(math.Float32frombits(uint32(v)))
	}
	return F(math.Float64frombits(v))
}

// The NaN that a float instruction gives, whatever came in. For float32 PTX fixes it; for float64 it leaves
// it open, and a kernel that depends on it is wrong.
const (
	nan16 = 0x7fff
	nan32 = 0x7fffffff
	nan64 = 0xfff8000000000000
)

func fromFloat[F float](v F) uint64 {
	if unsafe.Sizeof(F(0)) == 4 {
		if v != v {
			return nan32
		}
		return uint64(math.Float32bits(float32(v)))
	}
	if v != v {
		return nan64
	}
	return math.Float64bits(float64(v))
}

func copyLanes(d, a, _, _ *lanes) { *d = *a }

func addInt[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i]) + T(b[i]))
	}
}

func subInt[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i]) - T(b[i]))
	}
}

func mulLo[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i]) * T(b[i]))
	}
}

func madLo[T integer](d, a, b, c *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i])*T(b[i]) + T(c[i]))
	}
}

// mulWide multiplies 16- and 32-bit integers in 64 bits.
func mulWide[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i])) * uint64(T(b[i]))
	}
}

func madWide[T integer](d, a, b, c *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i]))*uint64(T(b[i])) + c[i]
	}
}

// high is the upper half of the product.
func high[T integer](x, y T) T {
	switch w := unsafe.Sizeof(x); {
	case w < 8:
		return T(uint64(x) * uint64(y) >> (w * 8)) // both extended by their sign: the low 64 bits are right
	case T(0)-1 < 0:
		hi, _ := bits.Mul64(uint64(x), uint64(y))
		if x < 0 {
			hi -= uint64(y)
		}
		if y < 0 {
			hi -= uint64(x)
		}
		return T(hi)
	default:
		hi, _ := bits.Mul64(uint64(x), uint64(y))
		return T(hi)
	}
}

func mulHi[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(high(T(a[i]), T(b[i])))
	}
}

func madHi[T integer](d, a, b, c *lanes) {
	for i := range d {
		d[i] = uint64(high(T(a[i]), T(b[i])) + T(c[i]))
	}
}

// divInt gives all ones for a zero divisor, as PTX leaves the value open.
func divInt[T integer](d, a, b, _ *lanes) {
	for i := range d {
		if y := T(b[i]); y != 0 {
			d[i] = uint64(T(a[i]) / y)
		} else {
			d[i] = math.MaxUint64
		}
	}
}

func remInt[T integer](d, a, b, _ *lanes) {
	for i := range d {
		if y := T(b[i]); y != 0 {
			d[i] = uint64(T(a[i]) % y)
		} else {
			d[i] = a[i]
		}
	}
}

func minInt[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(min(T(a[i]), T(b[i])))
	}
}

func maxInt[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(max(T(a[i]), T(b[i])))
	}
}

func andBits(d, a, b, _ *lanes) {
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func orBits(d, a, b, _ *lanes) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xorBits(d, a, b, _ *lanes) {
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func notBits(d, a, _, _ *lanes) {
	for i := range d {
		d[i] = ^a[i]
	}
}

// cnot is 1 for zero and 0 for anything else.
func cnot[T integer](d, a, _, _ *lanes) {
	for i := range d {
		d[i] = oneIf(T(a[i]) == 0)
	}
}

func oneIf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// shl and shr take the amount as 32 bits; amounts beyond the width clamp.
func shl[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i]) << uint32(b[i]))
	}
}

func shr[T integer](d, a, b, _ *lanes) {
	for i := range d {
		d[i] = uint64(T(a[i]) >> uint32(b[i]))
	}
}

func negInt[T integer](d, a, _, _ *lanes) {
	for i := range d {
		d[i] = uint64(-T(a[i]))
	}
}

func absInt[T integer](d, a, _, _ *lanes) {
	for i := range d {
		x := T(a[i])
		d[i] = uint64(max(x, -x))
		if x == -x {
			d[i] = uint64(x) // zero and the lowest value
		}
	}
}

// sad is c + |a − b|.
func sad[T integer](d, a, b, c *lanes) {
	for i := range d {
		x, y := T(a[i]), T(b[i])
		d[i] = uint64(T(c[i]) + max(x, y) - min(x, y))
	}
}

func popc[T integer](d, a, _, _ *lanes) {
	for i := range d {
		d[i] = uint64(bits.OnesCount64(uint64(T(a[i]))))
	}
}

func clz[T integer](d, a, _, _ *lanes) {
	for i := range d {
		d[i] = uint64(bits.LeadingZeros64(uint64(T(a[i])))) - (64 - 8*uint64(unsafe.Sizeof(T(0))))
	}
}

func brev[T integer](d, a, _, _ *lanes) {
	for i := range d {
		d[i] = bits.Reverse64(a[i]) >> (64 - 8*unsafe.Sizeof(T(0)))
	}
}

// bfind is the place of the highest bit that tells the value from its sign, all ones where there is none.
func bfind[T integer](d, a, _, _ *lanes) {
	for i := range d {
		x := T(a[i])
		if x < 0 {
			x = ^x
		}
		d[i] = uint64(int64(bits.Len64(uint64(x)) - 1))
	}
}

// bfindShift is the shift that brings that bit to the top.
func bfindShift[T integer](d, a, b, c *lanes) {
	bfind[T](d, a, b, c)
	for i := range d {
		if int64(d[i]) >= 0 {
			d[i] = 8*uint64(unsafe.Sizeof(T(0))) - 1 - d[i]
		}
	}
}

// bfe takes c bits of a from bit b up; a signed type repeats the field's top bit, or a's where the field has
// no bits of a's own there.
func bfe[T integer](d, a, b, c *lanes) {
	width := 8 * uint64(unsafe.Sizeof(T(0)))
	for i := range d {
		pos, n := b[i]&0xff, c[i]&0xff
		x := T(a[i])
		if n == 0 {
			d[i] = 0
			continue
		}
		r := uint64(x >> pos) // the sign comes in from above
		if n < width && pos+n <= width {
			r &= 1<<n - 1
			if T(0)-1 < 0 && r>>(n-1)&1 != 0 {
				r |= ^uint64(0) << n
			}
		} else if n < width {
			if top := min(pos+n-1, width-1) - min(pos, width-1); T(0)-1 > 0 {
				r &= 2<<top - 1
			}
		}
		d[i] = r
	}
}

// shf shifts the pair (b, a), b above, and keeps the upper word (left) or the lower (right).
func shfLeft(wrap bool) alu {
	return func(d, a, b, c *lanes) {
		for i := range d {
			d[i] = (b[i]<<32 | a[i]&math.MaxUint32) << shfAmount(c[i], wrap) >> 32
		}
	}
}

func shfRight(wrap bool) alu {
	return func(d, a, b, c *lanes) {
		for i := range d {
			d[i] = (b[i]<<32 | a[i]&math.MaxUint32) >> shfAmount(c[i], wrap)
		}
	}
}

func shfAmount(v uint64, wrap bool) uint32 {
	if wrap {
		return uint32(v) & 31
	}
	return min(uint32(v), 32)
}

// prmt picks four of the eight bytes of (b, a) by the nibbles of c; a nibble's top bit spreads the byte's
// sign.
func prmt(d, a, b, c *lanes) {
	for i := range d {
		pair := b[i]<<32 | a[i]&math.MaxUint32
		var r uint64
		for k := range 4 {
			sel := c[i] >> (4 * k) & 15
			v := pair >> (8 * (sel & 7)) & 0xff
			if sel&8 != 0 {
				v = v >> 7 * 0xff
			}
			r |= v << (8 * k)
		}
		d[i] = r
	}
}
