package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

// The element types by what can be done with them. The half floats are computed with as float32 and bool as
// uint8, so these are the types that functions are written for.
type (
	integer  = simd.Integer
	float    = simd.Float
	number   = simd.Number
	summable = simd.Summable
)
