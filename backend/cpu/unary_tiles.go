package cpu

import "math"

// The functions of one operand that need no polynomial, one loop each: a function value called per element
// would cost more than they do.

func negIntegers[T integer](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = -x[i]
	}
}

// signTile keeps NaN and −0: what is neither above nor below 0 stays.
func signTile[T number](out, x []T) {
	var one T = 1
	x = x[:len(out)]
	for i := range out {
		s := x[i]
		switch {
		case s > 0:
			s = one
		case s < 0:
			s = -one
		}
		out[i] = s
	}
}

// absIntegers wraps: the absolute value of the least integer is itself.
func absIntegers[T integer](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		v := x[i]
		if v < 0 {
			v = -v
		}
		out[i] = v
	}
}

func absFloats[T float](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = T(math.Abs(float64(x[i])))
	}
}

func notIntegers[T integer](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = ^x[i]
	}
}

func notBools(out, x []bool) {
	x = x[:len(out)]
	for i := range out {
		out[i] = !x[i]
	}
}

func zeroTile[T any](out, _ []T) { clear(out) }

func falseTile[T any](out []bool, _ []T) { clear(out) }

func trueTile[T any](out []bool, _ []T) { fill(out, true) }

// rsqrtTile is 1/√x, for float64 with two roundings.
func rsqrtTile[T float](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = T(1 / math.Sqrt(float64(x[i])))
	}
}

func floorTile[T float](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = T(math.Floor(float64(x[i])))
	}
}

func ceilTile[T float](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = T(math.Ceil(float64(x[i])))
	}
}

// roundTile rounds halves to even.
func roundTile[T float](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = T(math.RoundToEven(float64(x[i])))
	}
}

func truncTile[T float](out, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = T(math.Trunc(float64(x[i])))
	}
}

func isNaNTile[T float](out []bool, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = x[i] != x[i]
	}
}

// isInfTile: the difference of an infinity and itself is NaN, as is that of a NaN.
func isInfTile[T float](out []bool, x []T) {
	x = x[:len(out)]
	for i := range out {
		v := x[i]
		out[i] = v == v && v-v != 0
	}
}

func isFiniteTile[T float](out []bool, x []T) {
	x = x[:len(out)]
	for i := range out {
		out[i] = x[i]-x[i] == 0
	}
}
