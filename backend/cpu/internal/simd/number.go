package simd

import "math"

// The element types by what can be done with them. The half floats are computed with as float32 and bool as
// uint8, so these are the types that functions are written for.
type (
	Integer interface {
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
	}
	Float    interface{ float32 | float64 }
	Number   interface{ Integer | Float }
	Summable interface {
		Number | complex64 | complex128
	}
)

// most is the elements of a call of assembly that goes over memory: 20 µs and less.
const most = 1 << 15

// NaN is math.NaN in a type of floats, and 0 in a type without NaN.
func NaN[T Number]() T {
	var nan T
	switch p := any(&nan).(type) {
	case *float32:
		*p = float32(math.NaN())
	case *float64:
		*p = math.NaN()
	}
	return nan
}
