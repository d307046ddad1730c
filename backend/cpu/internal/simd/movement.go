package simd

import "unsafe"

// Movement turns rows into columns.
type Movement[T Float] struct {
	// Transpose is dst[j·dstRow + i] = src[i·srcRow + j] for i < rows, j < columns. Strides are not negative.
	Transpose func(dst []T, dstRow int, src []T, srcRow, rows, columns int)
}

var (
	movement32 = Movement[float32]{transpose[float32]}
	movement64 = Movement[float64]{transpose[float64]}
)

// MovementOf is the table of a type.
func MovementOf[T Float]() Movement[T] {
	if m, ok := any(&movement32).(*Movement[T]); ok {
		return *m
	}
	return *any(&movement64).(*Movement[T])
}

// Transpose is Movement.Transpose on elements of any type without pointers: those of 4 and 8 bytes move as
// floats, whose loads and stores keep all bits.
func Transpose[W any](dst []W, dstRow int, src []W, srcRow, rows, columns int) {
	switch unsafe.Sizeof(*new(W)) {
	case 4:
		movement32.Transpose(sameBits[float32](dst), dstRow, sameBits[float32](src), srcRow, rows, columns)
	case 8:
		movement64.Transpose(sameBits[float64](dst), dstRow, sameBits[float64](src), srcRow, rows, columns)
	default:
		transpose(dst, dstRow, src, srcRow, rows, columns)
	}
}

func sameBits[T, W any](s []W) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

const transposeLines = 8

// transpose takes lines of the source eight at a time, so that a store is to where the last one was, not a line
// further.
func transpose[W any](dst []W, dstRow int, src []W, srcRow, rows, columns int) {
	for ; rows >= transposeLines && columns > 0; rows -= transposeLines {
		var in [transposeLines][]W
		for k := range in {
			in[k] = src[k*srcRow:][:columns]
		}
		a, b, c, e := in[0][:columns], in[1][:columns], in[2][:columns], in[3][:columns]
		f, g, h, i := in[4][:columns], in[5][:columns], in[6][:columns], in[7][:columns]
		for k := range columns {
			out := dst[k*dstRow:][:transposeLines:transposeLines]
			out[0], out[1], out[2], out[3] = a[k], b[k], c[k], e[k]
			out[4], out[5], out[6], out[7] = f[k], g[k], h[k], i[k]
		}
		if rows > transposeLines {
			dst, src = dst[transposeLines:], src[transposeLines*srcRow:]
		} else {
			return
		}
	}
	for i := range rows {
		for j, v := range src[i*srcRow:][:columns] {
			dst[j*dstRow+i] = v
		}
	}
}
