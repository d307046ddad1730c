package cpu

import (
	"math"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/tensor"
)

// The element types of the random tests, each with its arithmetic by the text of SEMANTICS.md.

func unchanged[T any](v T) T { return v }

// floatOrder is Max of floats, and Min with the sign turned: NaN wins, −0 is below +0.
func floatMax[T float32 | float64](a, b T) T {
	switch {
	case a != a:
		return a
	case b != b:
		return b
	case a == 0 && b == 0:
		if math.Signbit(float64(a)) {
			return b
		}
		return a
	case a < b:
		return b
	}
	return a
}

func floatMin[T float32 | float64](a, b T) T { return -floatMax(-a, -b) }

func randomFloat(r *rand.Rand) float64 {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1, -1, 2048}
	if k := r.IntN(40); k < len(special) {
		return special[k]
	}
	return float64(r.IntN(4001)-2000) / float64(int(1)<<r.IntN(8))
}

func floats[T float32 | float64]() *windowElement[T, T] {
	return &windowElement[T, T]{
		load: unchanged[T], store: unchanged[T],
		add: func(h, u T) T { return h + u },
		mul: func(h, u T) T { return T(h * u) },
		max: floatMax[T], min: floatMin[T],
		random: func(r *rand.Rand) T { return T(randomFloat(r)) },
	}
}

func halfFloats[T interface {
	tensor.Element
	Float32() float32
}](round func(float32) T) *windowElement[T, float32] {
	f := floats[float32]()
	return &windowElement[T, float32]{
		load: func(v T) float32 { return v.Float32() }, store: round,
		add: f.add, mul: f.mul, max: f.max, min: f.min,
		random: func(r *rand.Rand) T { return round(f.random(r)) },
	}
}

func integers[T int8 | uint64]() *windowElement[T, T] {
	return &windowElement[T, T]{
		load: unchanged[T], store: unchanged[T],
		add: func(h, u T) T { return h + u },
		mul: func(h, u T) T { return h * u },
		max: func(h, u T) T {
			if u > h {
				return u
			}
			return h
		},
		min: func(h, u T) T {
			if u < h {
				return u
			}
			return h
		},
		random: func(r *rand.Rand) T { return T(r.Uint64()) },
	}
}

func bools() *windowElement[bool, bool] {
	or := func(h, u bool) bool { return h || u }
	and := func(h, u bool) bool { return h && u }
	return &windowElement[bool, bool]{
		load: unchanged[bool], store: unchanged[bool], add: or, max: or, mul: and, min: and,
		random: func(r *rand.Rand) bool { return r.IntN(2) == 0 },
	}
}

func complexes() *windowElement[complex128, complex128] {
	return &windowElement[complex128, complex128]{
		load: unchanged[complex128], store: unchanged[complex128],
		add: func(h, u complex128) complex128 { return h + u },
		mul: func(h, u complex128) complex128 {
			a, b, c, d := real(h), imag(h), real(u), imag(u)
			return complex(float64(a*c)-float64(b*d), float64(a*d)+float64(b*c))
		},
		random: func(r *rand.Rand) complex128 {
			return complex(float64(r.IntN(200)-100)/8, float64(r.IntN(200)-100)/8)
		},
	}
}
