package simd

import "unsafe"

// streamKernels are nil without assembly.
var streamKernels struct {
	everySecond32 func(out, x *float32, n int)
	everySecond64 func(out, x *float64, n int)
	reverse32     func(out, x *float32, n int)
	reverse64     func(out, x *float64, n int)
	lines32       func(dst *float32, dstRow int, src *float32, srcRow, squares int)
	lines64       func(dst *float64, dstRow int, src *float64, srcRow, squares int)
}

// EverySecond is out[i] = x[2i].
func EverySecond[W any](out, x []W) {
	switch unsafe.Sizeof(*new(W)) {
	case 4:
		secondBy(streamKernels.everySecond32, out, x)
	case 8:
		secondBy(streamKernels.everySecond64, out, x)
	default:
		everySecond(out, x)
	}
}

// secondBy leaves the last elements, behind which x may end, to the Go code. What lies between may be written by others
// meanwhile: it is loaded, and dropped.
func secondBy[T, W any](kernel func(out, x *T, n int), out, x []W) {
	lanes := 32 / int(unsafe.Sizeof(*new(T)))
	for kernel != nil && len(out) > lanes {
		n := min(len(out)-1, most) &^ (lanes - 1)
		_ = x[:2*n]
		kernel((*T)(unsafe.Pointer(&out[0])), (*T)(unsafe.Pointer(&x[0])), n)
		out, x = out[n:], x[2*n:]
	}
	everySecond(out, x)
}

func everySecond[W any](out, x []W) {
	for i := range out {
		out[i] = x[2*i]
	}
}

// Reverse is out[i] = x[n − 1 − i] for n elements of each.
func Reverse[W any](out, x []W) {
	x = x[:len(out)]
	switch unsafe.Sizeof(*new(W)) {
	case 4:
		out, x = reverseBy(streamKernels.reverse32, out, x)
	case 8:
		out, x = reverseBy(streamKernels.reverse64, out, x)
	}
	for i := range out {
		out[i] = x[len(x)-1-i]
	}
}

// reverseBy leaves less than a register.
func reverseBy[T, W any](kernel func(out, x *T, n int), out, x []W) (restOut, restX []W) {
	lanes := 32 / int(unsafe.Sizeof(*new(T)))
	for kernel != nil && len(out) >= lanes {
		n := min(len(out), most) &^ (lanes - 1)
		kernel((*T)(unsafe.Pointer(&out[0])), (*T)(unsafe.Pointer(&x[len(x)-n])), n)
		out, x = out[n:], x[:len(x)-n]
	}
	return out, x
}

// LineRows is how many rows of a source one line of TransposePast takes; 0 where there is no assembly for W.
func LineRows[W any]() int {
	switch size := unsafe.Sizeof(*new(W)); {
	case size == 4 && streamKernels.lines32 != nil, size == 8 && streamKernels.lines64 != nil:
		return 64 / int(size)
	}
	return 0
}

// TransposePast is Transpose for a dst that is not read soon: whole cache lines of it past the caches, if it can.
// FencePast is to follow.
func TransposePast[W any](dst []W, dstRow int, src []W, srcRow, rows, columns int) {
	switch size := unsafe.Sizeof(*new(W)); {
	case LineRows[W]() == 0 || (uintptr(unsafe.Pointer(&dst[0]))|uintptr(dstRow)*size)%64 != 0:
		Transpose(dst, dstRow, src, srcRow, rows, columns)
	case size == 4:
		transposePast(streamKernels.lines32, dst, dstRow, src, srcRow, rows, columns)
	default:
		transposePast(streamKernels.lines64, dst, dstRow, src, srcRow, rows, columns)
	}
}

func transposePast[T, W any](kernel func(dst *T, dstRow int, src *T, srcRow, squares int), dst []W, dstRow int,
	src []W, srcRow, rows, columns int) {
	line := 64 / int(unsafe.Sizeof(*new(T)))
	side := line / 2
	whole := columns &^ (side - 1)
	for ; rows >= line; rows -= line {
		_, _ = dst[(columns-1)*dstRow+line-1], src[(line-1)*srcRow+columns-1]
		const call = 1 << 15 // elements
		for j := 0; j < whole; j += call / line {
			n := min(whole-j, call/line)
			kernel((*T)(unsafe.Pointer(&dst[j*dstRow])), dstRow, (*T)(unsafe.Pointer(&src[j])), srcRow, n/side)
		}
		if whole < columns {
			Transpose(dst[whole*dstRow:], dstRow, src[whole:], srcRow, line, columns-whole)
		}
		if rows == line {
			return
		}
		dst, src = dst[line:], src[line*srcRow:]
	}
	Transpose(dst, dstRow, src, srcRow, rows, columns)
}
