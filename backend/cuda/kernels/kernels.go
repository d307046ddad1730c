// Package kernels is the PTX of the CUDA backend, one text per family of kernels, compiled from the sources
// beside it by clang 19; no CUDA SDK takes part. It is PTX 6.3 for sm_70, which every later GPU loads.
package kernels

//go:generate ./generate.sh

import "math/bits"

// Text is the PTX of a family, scalar for example; a family that there is not is a bug of the caller.
func Text(family string) string {
	text, ok := texts[family]
	if !ok {
		panic("kernels: there is no family " + family)
	}
	return text
}

// Divisor is the mirror of kernel.h's: the numbers by which a kernel divides n < 2³¹ by D without dividing.
type Divisor struct{ D, M, S uint32 }

// NewDivisor is for 0 < d ≤ 2³¹: S = ⌈log₂ d⌉ and M = ⌊2³²(2^S − d) / d⌋ + 1.
func NewDivisor(d uint32) Divisor {
	s := bits.Len32(d - 1)
	return Divisor{D: d, M: uint32(((1<<s-uint64(d))<<32)/uint64(d) + 1), S: uint32(s)}
}
