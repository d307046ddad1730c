package tensor

import (
	"syscall"
	"unsafe"
)

// hugeSize is from how many bytes on a storage asks for huge pages.
const hugeSize = 4 << 20

// hugePage is the size of a huge page where that is the common one; elsewhere the kernel takes no notice.
const hugePage = 2 << 20

// collapse is MADV_COLLAPSE of Linux 6.1, which package syscall does not name.
const collapse = 25

// adviseHuge asks for huge pages under a large buffer, the ones at its ends included, which it shares with what
// lies beside it. With them a first touch costs one fault for 512, and a stride of a page or more no walk of the
// page table at each step. Memory that the garbage collector gives once more has been touched before, and often is
// on small pages, which an advice does not change: it is moved at once. All of it is advice: where the system knows
// it not, nothing changes. The buffer is not moved to a boundary for it, since then all buffers would begin at the
// same place of every cache set.
func adviseHuge(b []byte) {
	if len(b) < hugeSize {
		return
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	from, to := at&^(hugePage-1), (at+uintptr(len(b))+hugePage-1)&^(hugePage-1)
	for _, advice := range []uintptr{syscall.MADV_HUGEPAGE, collapse} {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, advice)
	}
}
