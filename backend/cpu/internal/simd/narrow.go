package simd

import "unsafe"

// NarrowExtent is the greatest extent of an axis whose indices Narrow takes.
const NarrowExtent = 1 << 16

// narrowKernel is assembly that narrows four quarters of indices to a cache line's begin, and is not 0 where one is
// out of bounds; nil where there is none.
var narrowKernel func(dst *uint16, v *int64, quarter int, wrap, last int64) uint32

// Narrows reports whether indices of 16 bits are worth making for a take of elements of type E: they are where there
// is assembly for both.
func Narrows[E any](t *Take) bool {
	size := unsafe.Sizeof(*new(E))
	return narrowKernel != nil && (size == 4 || size == 8) && takeKernels[size/8][0] != nil && t.fits(2)
}

// Narrow is dst = v, of one length, wrap added to those that are negative, past the caches if it can; FencePast is
// to follow. It reports whether all of v are from 0 to last, which is less than NarrowExtent; else dst may hold
// anything.
func Narrow(dst []uint16, v []int64, wrap, last int64) bool {
	dst = dst[:len(v)]
	if last < 0 {
		return len(v) == 0
	}
	head := min(int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst)))&(cacheLine-1))/2, len(v))
	if !narrow(dst[:head], v[:head], wrap, last) {
		return false
	}
	dst, v = dst[head:], v[head:]
	const call = 1 << 14 // elements
	for narrowKernel != nil {
		quarter := min(len(v), call) / 4 &^ 31
		if quarter == 0 {
			break
		}
		if narrowKernel(&dst[0], &v[0], quarter, wrap, last) != 0 {
			return false
		}
		dst, v = dst[4*quarter:], v[4*quarter:]
	}
	return narrow(dst, v, wrap, last)
}

func narrow(dst []uint16, v []int64, wrap, last int64) bool {
	var outside int64
	for i, x := range v {
		x += wrap & (x >> 63)
		outside |= x | (last - x)
		dst[i] = uint16(x)
	}
	return outside >= 0
}
