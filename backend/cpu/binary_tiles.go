package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/internal/fmath"
)

// The loops of the arithmetic of two operands. One operand may be the other, or the output.

func powFloats[T float](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = T(fmath.Pow(float64(a[i]), float64(b[i])))
	}
}

func atan2Tile[T float](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = T(fmath.Atan2(float64(a[i]), float64(b[i])))
	}
}

// remFloats is a − b·trunc(a/b), exact: of float32 operands it is a float32.
func remFloats[T float](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = T(math.Mod(float64(a[i]), float64(b[i])))
	}
}

// modFloats is the remainder moved to the side of the divisor by one addition, so −1 mod ∞ is ∞, as in
// Python's array languages; a zero has the sign of the divisor.
func modFloats[T float](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		d := float64(b[i])
		r := math.Mod(float64(a[i]), d)
		switch {
		case r == 0:
			r = math.Copysign(0, d)
		case (r < 0) != (d < 0):
			r += d
		}
		out[i] = T(r)
	}
}

// secondTile is the guard of a type in which everything is finite.
func secondTile[T any](out, _, b []T) { copy(out, b) }

// divIntegers truncates toward zero; by zero it gives 0. The least integer divided by −1 wraps to itself.
func divIntegers[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		var q T
		if b[i] != 0 {
			q = a[i] / b[i]
		}
		out[i] = q
	}
}

func remIntegers[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		var r T
		if b[i] != 0 {
			r = a[i] % b[i]
		}
		out[i] = r
	}
}

func modIntegers[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		d, r := b[i], T(0)
		if d != 0 {
			r = a[i] % d
		}
		if r != 0 && (r < 0) != (d < 0) {
			r += d
		}
		out[i] = r
	}
}

// powIntegers multiplies and wraps. A negative exponent is the reciprocal, truncated: 0 but for the bases 1
// and −1; of 0 it is 0, as division by zero is.
func powIntegers[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = power(a[i], b[i])
	}
}

func power[T integer](base, exp T) T {
	if exp < 0 {
		switch {
		case base == 1 || base < 0 && base+1 == 0 && exp&1 == 0:
			return 1
		case base < 0 && base+1 == 0:
			return base
		}
		return 0
	}
	var r T = 1
	for ; exp != 0; exp >>= 1 {
		if exp&1 == 1 {
			r *= base
		}
		base *= base
	}
	return r
}

func andTile[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] & b[i]
	}
}

func orTile[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] | b[i]
	}
}

func xorTile[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] ^ b[i]
	}
}

// shiftLeftTile and shiftRightTile: a negative count is a very large one as uint64, and Go shifts everything
// out, or the sign in, from the width on.
func shiftLeftTile[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] << uint64(b[i])
	}
}

func shiftRightTile[T integer](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] >> uint64(b[i])
	}
}
