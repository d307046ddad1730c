package tensor

import (
	"syscall"
	"unsafe"
)

// hugeSize is from how many bytes on a storage asks for huge pages.
const hugeSize = 4 << 20

// hugePage is the size of a huge page where that is the common one; elsewhere the kernel takes no notice.
const hugePage = 2 << 20

// adviseHuge asks for huge pages under the part of a large buffer that whole ones fit into. With them a first
// touch costs one fault for 512, and a stride of a page or more no walk of the page table at each step. It is
// an advice: where the kernel has none, nothing changes. The buffer is not moved to a boundary for it, since
// then all buffers would begin at the same place of every cache set.
func adviseHuge(b []byte) {
	if len(b) < hugeSize {
		return
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-at & (hugePage - 1))
	_ = syscall.Madvise(b[skip:skip+(len(b)-skip)&^(hugePage-1)], syscall.MADV_HUGEPAGE)
}
