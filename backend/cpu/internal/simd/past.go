package simd

import "unsafe"

// These are nil without assembly. copyPastKernel takes whole cache lines of dst.
var (
	copyPastKernel  func(dst, src *byte, n int)
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

// CopyPast is copy(dst, src) for a dst that is not read soon, of src's length: past the caches, if it can. FencePast
// is to follow.
func CopyPast[W any](dst, src []W) {
	size := int(unsafe.Sizeof(*new(W)))
	src = src[:len(dst)]
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst))) & (cacheLine - 1))
	whole := (len(dst)*size - head) &^ (cacheLine - 1)
	if copyPastKernel == nil || head%size != 0 || whole <= 0 {
		copy(dst, src)
		return
	}
	copy(dst[:head/size], src)
	dst, src = dst[head/size:], src[head/size:]
	const call = 1 << 17 // bytes
	for whole > 0 {
		n := min(whole, call)
		copyPastKernel((*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&src[0])), n)
		whole -= n
		dst, src = dst[n/size:], src[n/size:]
	}
	copy(dst, src)
}

// Fetch asks for what is read soon: as much as the memory brings while a few microseconds are spent on other things.
func Fetch[W any](x []W) {
	lines := min(len(x)*int(unsafe.Sizeof(*new(W)))/cacheLine, 1<<11)
	if fetchKernel != nil && lines > 0 {
		fetchKernel((*byte)(unsafe.Pointer(&x[0])), lines)
	}
}
