package simd

import "unsafe"

// Take says which elements of x become the rows of u:
//
//	u[r·URow + j] = x[X + v·Stride + j·Step],  v = idx[r·IndexRow + j], or that + Wrap where it is negative
//
// for r < Rows and j < N. InBounds has let the indices pass: from 0 on, v is less than Extent.
type Take struct {
	Rows, N, URow, IndexRow       int
	X, Wrap, Extent, Stride, Step int
	Ahead                         int  // from X to what the next take reads, for it to be fetched meanwhile; or 0
	Past                          bool // u is so large that it is better written past the caches; FencePast is to follow
}

// Index is an index type that kernels read as it is.
type Index interface{ int32 | int64 }

// takeIndex is an index type that TakeRows takes: Index, or what Narrow made of one.
type takeIndex interface{ Index | uint16 }

// takeKernel is assembly for a take of few enough elements.
type takeKernel func(u, x, idx *byte, n, rows, uSkip, idxSkip, wrap, extent, stride, step, fetchIndex, fetchX, past int)

// takeKernels are by the size of an element, 4 or 8 bytes, and that of an index, 2, 4 or 8; nil where there is no
// assembly. It gathers by instructions of AVX-512: those of AVX2 are slower than loads on many a CPU.
var takeKernels [2][3]takeKernel

// TakeRows is Take. An index that InBounds would not let pass never makes it read outside of x, whatever it
// writes or panics.
func TakeRows[E any, I takeIndex](u, x []E, idx []I, t *Take) {
	size, wide := int(unsafe.Sizeof(*new(E))), int(unsafe.Sizeof(*new(I)))
	if t.Rows <= 0 || t.N <= 0 {
		return
	}
	var kernel takeKernel
	if (size == 4 || size == 8) && t.fits(wide) {
		kernel = takeKernels[size/8][wide/4]
	}
	if kernel == nil {
		takeRows(u, x, idx, t)
		return
	}
	_, _ = u[(t.Rows-1)*t.URow+t.N-1], idx[(t.Rows-1)*t.IndexRow+t.N-1]
	_ = x[t.X:][(t.Extent-1)*t.Stride+(t.N-1)*t.Step]
	p := 0
	if t.Past && (uintptr(unsafe.Pointer(&u[0]))|uintptr(t.URow*size))%64 == 0 {
		p = 1
	}
	fetch := 512 * wide
	if t.Rows > 1 {
		fetch = 8 * t.IndexRow * wide
	}
	const call = 1 << 14 // elements, each perhaps from the second cache
	for j := 0; j < t.N; j += call {
		n := min(call, t.N-j)
		rows := max(1, call/n)
		for r := 0; r < t.Rows; r += rows {
			kernel((*byte)(unsafe.Pointer(&u[r*t.URow+j])), (*byte)(unsafe.Pointer(&x[t.X+j*t.Step])),
				(*byte)(unsafe.Pointer(&idx[r*t.IndexRow+j])), n, min(rows, t.Rows-r), (t.URow-n)*size,
				(t.IndexRow-n)*wide, t.Wrap, t.Extent, t.Stride, t.Step, fetch, t.Ahead*size, p)
		}
	}
}

// fits reports whether assembly for indices of some bytes can compute the offsets: in 64 bits, of factors of 32,
// or in 31 where indices have 2 bytes.
func (t *Take) fits(wide int) bool {
	const limit = 1 << 32
	if t.Extent < 1 || t.Stride < 0 || t.Step < 0 || t.URow < 0 || t.IndexRow < 0 ||
		t.Extent >= limit || t.Stride >= limit || t.Step >= limit {
		return false
	}
	return wide > 2 || t.Extent <= NarrowExtent && (t.Extent-1)*t.Stride+16*t.Step < limit/2
}

func takeRows[E any, I takeIndex](u, x []E, idx []I, t *Take) {
	for r := range t.Rows {
		to, at := u[r*t.URow:][:t.N], t.X
		for j, v := range idx[r*t.IndexRow:][:t.N] {
			v := int64(v)
			to[j] = x[at+int(v+int64(t.Wrap)&(v>>63))*t.Stride]
			at += t.Step
		}
	}
}

// Assembly that is not 0 where one of indices is out of bounds; nil where there is none.
var (
	outside32 func(v *int32, quarter int, wrap, last int32) uint32
	outside64 func(v *int64, quarter int, wrap, last int64) uint32
)

// InBounds reports whether all of v are from 0 to last, wrap added to those that are negative.
func InBounds[I Index](v []I, wrap, last I) bool {
	const call = 1 << 14 // elements
	step := 64 / int(unsafe.Sizeof(wrap))
	for {
		quarter := min(len(v), call) / 4 &^ (step - 1)
		if quarter == 0 {
			return inBounds(v, wrap, last)
		}
		var bad uint32
		switch p := any(unsafe.SliceData(v)).(type) {
		case *int32:
			if outside32 == nil {
				return inBounds(v, wrap, last)
			}
			bad = outside32(p, quarter, int32(wrap), int32(last))
		case *int64:
			if outside64 == nil {
				return inBounds(v, wrap, last)
			}
			bad = outside64(p, quarter, int64(wrap), int64(last))
		}
		if bad != 0 {
			return false
		}
		v = v[4*quarter:]
	}
}

// inBounds tells by a sign, without a branch for each: what is below −wrap stays negative.
func inBounds[I Index](v []I, wrap, last I) bool {
	var outside I
	sign := 8*unsafe.Sizeof(wrap) - 1
	for _, x := range v {
		x += wrap & (x >> sign)
		outside |= x | (last - x)
	}
	return outside >= 0
}
