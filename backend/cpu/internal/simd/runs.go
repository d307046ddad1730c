package simd

import "unsafe"

// Runs is places from which runs of elements begin, and the ends of what they are.
type Runs struct {
	places []int
	lo, hi int
}

// Reset leaves no places.
func (r *Runs) Reset() { r.places = r.places[:0] }

// Add adds a place.
func (r *Runs) Add(place int) {
	if len(r.places) == 0 {
		r.lo, r.hi = place, place
	}
	r.lo, r.hi = min(r.lo, place), max(r.hi, place)
	r.places = append(r.places, place)
}

// copyRunsBytes is the kernel for runs of up to longestRun bytes, on 1024 rows at most; nil without assembly.
var copyRunsBytes func(dst, src *byte, from int, places *int, dstRow, size, rows, words int)

const longestRun = 128

// CopyRuns is dst[k·dstRow + i] = src[from + place k + i] for i < n, of elements without pointers. What lies
// between the rows of dst is left.
func CopyRuns[E any](dst []E, dstRow int, src []E, from int, r *Runs, n int) {
	rows, size := len(r.places), int(unsafe.Sizeof(*new(E)))
	if rows == 0 || n == 0 {
		return
	}
	if copyRunsBytes == nil || size%4 != 0 || rows > 1<<10 || dstRow < 0 {
		for k, place := range r.places {
			copy(dst[k*dstRow:][:n], src[from+place:])
		}
		return
	}
	// What assembly reaches, checked here.
	_, _, _ = dst[(rows-1)*dstRow+n-1], src[from+r.lo], src[from+r.hi+n-1]
	for i, piece := 0, longestRun/size; i < n; i += piece {
		copyRunsBytes((*byte)(unsafe.Pointer(&dst[i])), (*byte)(unsafe.Pointer(unsafe.SliceData(src))), from+i,
			&r.places[0], dstRow*size, size, rows, min(n-i, piece)*size/4)
	}
}
