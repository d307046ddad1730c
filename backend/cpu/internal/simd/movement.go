package simd

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

func transpose[T Float](dst []T, dstRow int, src []T, srcRow, rows, columns int) {
	for i := range rows {
		for j, v := range src[i*srcRow:][:columns] {
			dst[j*dstRow+i] = v
		}
	}
}
