package simd

import "unsafe"

// Rows says which rows indices name: v, with Wrap added where it is negative, names row v where that is at least Lo
// and less than Hi. 0 ≤ Lo ≤ Hi ≤ 2³¹, and Wrap is an index too.
type Rows struct{ Wrap, Lo, Hi int }

// rowsKernels are assembly for a multiple of 64 bytes of indices; nil where there is none.
var rowsKernels struct {
	by32 func(rows, from *uint32, v *int32, n int, wrap, lo, width int32, first uint32) int
	by64 func(rows, from *uint32, v *int64, n int, wrap, lo, width int64, first uint32) int
}

// RowsIn lists the indices that name one of p's rows: at[k] is the row that the k-th of them names, from[k] is first
// and how many of v are before it. It returns how many there are, and may write anything behind them; at and from are
// longer than v.
func RowsIn[I Index](at, from []uint32, v []I, p Rows, first uint32) (kept int) {
	const call = 1 << 14 // elements
	at, from = at[:len(v)+1], from[:len(v)+1]
	lanes := 64 / int(unsafe.Sizeof(*new(I)))
	for p.Lo < p.Hi && rowsKernels.by64 != nil && len(v) >= lanes {
		n := min(len(v), call) &^ (lanes - 1)
		switch x := any(unsafe.SliceData(v)).(type) {
		case *int32:
			kept += rowsKernels.by32(&at[kept], &from[kept], x, n, int32(p.Wrap), int32(p.Lo), int32(p.Hi-p.Lo), first)
		case *int64:
			kept += rowsKernels.by64(&at[kept], &from[kept], x, n, int64(p.Wrap), int64(p.Lo), int64(p.Hi-p.Lo), first)
		}
		v, first = v[n:], first+uint32(n)
	}
	return kept + rowsIn(at[kept:], from[kept:], v, p, first)
}

// rowsIn has no branch to mispredict: many of the indices name rows that others are to do.
func rowsIn[I Index](at, from []uint32, v []I, p Rows, first uint32) (kept int) {
	width := uint64(p.Hi - p.Lo)
	for j, x := range v {
		i := int64(x)
		i += int64(p.Wrap) & (i >> 63)
		at[kept], from[kept] = uint32(i), first+uint32(j)
		d := uint64(i - int64(p.Lo))
		kept += int((d - width) &^ d >> 63) // 1 where d < width
	}
	return kept
}

// greatestKernel is assembly for a multiple of 16 words; nil where there is none.
var greatestKernel func(v *uint32, n int) uint32

// greatest is the greatest of v, 0 where there are none.
func greatest(v []uint32) (most uint32) {
	const call = 1 << 16
	for greatestKernel != nil && len(v) >= 16 {
		n := min(len(v), call) &^ 15
		most = max(most, greatestKernel(&v[0], n))
		v = v[n:]
	}
	for _, x := range v {
		most = max(most, x)
	}
	return most
}
