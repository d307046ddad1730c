package simd

import "unsafe"

// These are nil without assembly. Rows are whole cache lines of dst.
var (
	rowsPastKernel  func(dst, src *byte, dstRow, srcRow, lines, rows int)
	fencePastKernel func()
	fetchKernel     func(x *byte, lines int)
)

const cacheLine = 64

// FencePast waits for what this thread wrote past the caches. It goes before whatever tells other threads of it: a
// fence for each tile would wait for memory where the next tile could be computed.
func FencePast() {
	if fencePastKernel != nil {
		fencePastKernel()
	}
}

// CopyRowsPast copies rows of so many columns, which begin dstRow and srcRow elements apart, for a dst that is not
// read soon: past the caches, if it can. FencePast is to follow.
func CopyRowsPast[W any](dst []W, dstRow int, src []W, srcRow, rows, columns int) {
	if rows == 0 || columns == 0 {
		return
	}
	size := int(unsafe.Sizeof(*new(W)))
	_, _ = dst[(rows-1)*dstRow+columns-1], src[(rows-1)*srcRow+columns-1]
	head := int(-uintptr(unsafe.Pointer(&dst[0])) & (cacheLine - 1))
	lines := (columns*size - head) / cacheLine
	if rowsPastKernel == nil || head%size != 0 || dstRow*size%cacheLine != 0 && rows > 1 || lines <= 0 {
		for j := range rows {
			copy(dst[j*dstRow:][:columns], src[j*srcRow:])
		}
		return
	}
	head /= size
	end := head + lines*cacheLine/size
	if columns > end || head > 0 {
		for j := range rows {
			copy(dst[j*dstRow:][:head], src[j*srcRow:])
			copy(dst[j*dstRow+end:][:columns-end], src[j*srcRow+end:])
		}
	}
	const call = 1 << 11 // cache lines
	for lines > 0 {
		n := min(lines, call)
		for j := 0; j < rows; j += call / n {
			to, from := dst[j*dstRow+head:], src[j*srcRow+head:]
			rowsPastKernel((*byte)(unsafe.Pointer(&to[0])), (*byte)(unsafe.Pointer(&from[0])), dstRow*size, srcRow*size,
				n, min(call/n, rows-j))
		}
		lines -= n
		head += n * cacheLine / size
	}
}

// Fetch asks for what is read soon: as much as the memory brings while a few microseconds are spent on other things.
func Fetch(x []byte) {
	if lines := min(len(x)/cacheLine, 1<<11); fetchKernel != nil && lines > 0 {
		fetchKernel(&x[0], lines)
	}
}
