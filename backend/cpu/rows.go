package cpu

import "github.com/adjoint-go/adjoint/tensor"

// Kernels that compute in another type than the elements' (float32 for halves, an order's key) or want
// neighbours in memory bring rows in by a load, func(dst []A, src []E, at, step int), which fills dst from
// the elements at, at + step, …, and out by a store, its mirror image.

// The Go types that arithmetic is done in.
type (
	integers interface {
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
	}
	floats  interface{ float32 | float64 }
	ordered interface{ integers | floats }
	numbers interface {
		ordered | complex64 | complex128
	}
)

func loadSame[A tensor.Element](dst, src []A, at, step int) {
	if step == 1 {
		copy(dst, src[at:at+len(dst)])
		return
	}
	for i := range dst {
		dst[i] = src[at]
		at += step
	}
}

func storeSame[A tensor.Element](dst []A, at, step int, src []A) {
	if step == 1 {
		copy(dst[at:], src)
		return
	}
	for _, v := range src {
		dst[at] = v
		at += step
	}
}

func loadFloat16(dst []float32, src []tensor.F16, at, step int) {
	for i := range dst {
		dst[i] = src[at].Float32()
		at += step
	}
}

func storeFloat16(dst []tensor.F16, at, step int, src []float32) {
	for _, v := range src {
		dst[at] = tensor.ToF16(v)
		at += step
	}
}

func loadBFloat16(dst []float32, src []tensor.BF16, at, step int) {
	for i := range dst {
		dst[i] = src[at].Float32()
		at += step
	}
}

func storeBFloat16(dst []tensor.BF16, at, step int, src []float32) {
	for _, v := range src {
		dst[at] = tensor.ToBF16(v)
		at += step
	}
}
