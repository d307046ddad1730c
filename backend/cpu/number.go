package cpu

// The element types by what can be done with them. The half floats are computed with as float32 and bool as
// uint8, so these are the types that functions are written for.
type (
	integer interface {
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
	}
	float    interface{ float32 | float64 }
	number   interface{ integer | float }
	summable interface {
		number | complex64 | complex128
	}
)
