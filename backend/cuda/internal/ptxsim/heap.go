package ptxsim

import (
	"sort"
	"sync/atomic"
	"unsafe"
)

// The address space of a device. Generic addresses of shared and local memory lie in windows below the heap.
const (
	paramBase  = 1 << 20 // of a kernel's parameters, in the .param space
	localBase  = 0x7d00_0000_0000
	sharedBase = 0x7e00_0000_0000
	heapBase   = 0x7f00_0000_0000
	windowSize = 1 << 32
)

// alloc is one piece of device memory. Its addresses are never used again, so a use after free is noticed.
type alloc struct {
	base     uint64
	size     uint64
	mem      unsafe.Pointer
	def      unsafe.Pointer // a byte for each byte: 1 where it has been written
	bytes    []byte
	written  []byte
	dead     bool
	constant bool
	hazards  atomic.Pointer[hazards]
}

// heap is a device's memory. The list is replaced as a whole, so that blocks search it without a lock.
type heap struct {
	list atomic.Pointer[[]*alloc]
	next uint64
	used uint64
}

func (h *heap) add(n uint64) *alloc {
	if h.next == 0 {
		h.next = heapBase
	}
	a := &alloc{base: h.next, size: n, bytes: make([]byte, n+8), written: make([]byte, n+8)}
	a.mem, a.def = unsafe.Pointer(&a.bytes[0]), unsafe.Pointer(&a.written[0])
	h.next += (n+511)&^255 + 256 // a gap, so that a small overrun leaves the piece
	h.used += n
	var list []*alloc
	if old := h.list.Load(); old != nil {
		list = *old
	}
	list = append(list, a)
	h.list.Store(&list)
	return a
}

// find is the last piece that begins at or below p.
func (h *heap) find(p uint64) *alloc {
	l := h.list.Load()
	if l == nil {
		return nil
	}
	list := *l
	i := sort.Search(len(list), func(i int) bool { return list[i].base > p })
	if i == 0 {
		return nil
	}
	return list[i-1]
}

// drop frees the piece that begins at p.
func (h *heap) drop(p uint64) bool {
	a := h.find(p)
	if a == nil || a.base != p || a.dead || a.constant {
		return false
	}
	a.dead = true
	a.bytes, a.written, a.mem, a.def = nil, nil, nil, nil
	a.hazards.Store(nil)
	h.used -= a.size
	return true
}

// span is n bytes of a live piece for a copy of the host's, nil where there are none.
func (h *heap) span(p, n uint64) (bytes, written []byte) {
	a := h.find(p)
	if a == nil || a.dead || p-a.base > a.size || n > a.size-(p-a.base) {
		return nil, nil
	}
	o := p - a.base
	return a.bytes[o : o+n], a.written[o : o+n]
}
