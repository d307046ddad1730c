package cpu

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/tensor"
)

// Kernels that compute in another type than the elements' (float32 for halves, an order's key) or want
// neighbours in memory bring rows in by a load, func(dst []A, src []E, at, step int), which fills dst from
// the elements at, at + step, …, and out by a store, its mirror image.

// rowsOf is the load and store of elements E that are computed with as A.
type rowsOf[E tensor.Element, A any] struct {
	load  func(dst []A, src []E, at, step int)
	store func(dst []E, at, step int, src []A)
	same  bool // E is A: elements may be used where they lie
}

func sameRows[A tensor.Element]() rowsOf[A, A] { return rowsOf[A, A]{loadSame[A], storeSame[A], true} }

var (
	float16Rows   = rowsOf[tensor.F16, float32]{loadFloat16, storeFloat16, false}
	bfloat16Rows  = rowsOf[tensor.BF16, float32]{loadBFloat16, storeBFloat16, false}
	boolCounts    = rowsOf[uint8, uint64]{loadBool, storeBool, false}
	complex64Rows = rowsOf[complex64, complex128]{loadComplex64, storeComplex64, false}
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

// loadBool loads bytes 0 and 1 as summable, so that a sum of products counts.
func loadBool(dst []uint64, src []uint8, at, step int) {
	for i := range dst {
		dst[i] = uint64(src[at])
		at += step
	}
}

func storeBool(dst []uint8, at, step int, src []uint64) {
	for _, v := range src {
		dst[at] = uint8(min(v, 1))
		at += step
	}
}

func loadComplex64(dst []complex128, src []complex64, at, step int) {
	for i := range dst {
		dst[i] = complex128(src[at])
		at += step
	}
}

func storeComplex64(dst []complex64, at, step int, src []complex128) {
	for _, v := range src {
		dst[at] = complex64(v)
		at += step
	}
}

func sizeOf[A any]() int { return int(unsafe.Sizeof(*new(A))) }

// elementsOf is the elements of a storage as values of the type that a kernel computes in.
func elementsOf[A any](s *tensor.Storage) []A {
	b, _ := s.Bytes()
	return unsafe.Slice((*A)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/sizeOf[A]())
}

// bitsAs is the same elements as values of another type of their size.
func bitsAs[B, A any](x []A) []B {
	return unsafe.Slice((*B)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
