package tensor

import (
	"fmt"
	"strings"
	"sync/atomic"
	"unsafe"
)

// MemoryKind says what sort of memory a storage is.
type MemoryKind uint8

// The kinds of memory. Host code can read all of them but Device and Other.
const (
	UnpinnedHost MemoryKind = iota // ordinary process memory
	PinnedHost                     // page-locked host memory, reachable by a device
	Device                         // a device's own memory
	Managed                        // migrates between host and device
	Other                          // known to its backend alone
)

var memoryKinds = [...]string{"unpinned host", "pinned host", "device", "managed", "other"}

// String is for messages.
func (k MemoryKind) String() string {
	if int(k) < len(memoryKinds) {
		return memoryKinds[k]
	}
	return fmt.Sprintf("memory kind %d", uint8(k))
}

// Placement says where a storage lives. Device is the ordinal of the device; 0 for host memory.
type Placement struct {
	Kind   MemoryKind
	Device int
}

// String is for messages.
func (p Placement) String() string {
	if p.Kind == UnpinnedHost {
		return p.Kind.String()
	}
	return fmt.Sprintf("%s %d", p.Kind, p.Device)
}

// AllocationDomain identifies the allocator that owns a storage, unique in the process. 0 means none: plain
// host memory that the garbage collector owns.
type AllocationDomain uint64

var domains atomic.Uint64

// NewAllocationDomain returns a number that no other allocator has.
func NewAllocationDomain() AllocationDomain { return AllocationDomain(domains.Add(1)) }

// Alignment is that of the first byte of every host storage made here, in bytes: a cache line.
const Alignment = 64

// Storage is a run of bytes with a place. Host storages can be read as Go slices; device storages are only
// names for memory that their backend reaches, and are never downloaded implicitly.
type Storage struct {
	host      []byte
	size      int
	placement Placement
	family    string
	domain    AllocationDomain
	handle    any
	whole     *Storage // of a window: what it is a part of
	offset    int      // of a window: its first byte there
}

// NewStorage allocates size zeroed, 64-byte aligned bytes of host memory, on huge pages where they are many and
// the system gives them.
func NewStorage(size int) *Storage { return aligned(make([]byte, size+Alignment-1), size) }

// clearSize is from how many bytes on it is worth a thought whether memory is zeroed.
const clearSize = 64 << 10

// NewUnclearedStorage is NewStorage for memory that is written before it is read: what it holds may be anything, if
// there is much of it. To zero 32 MB takes a thread 4 ms, as long as many a kernel takes to fill it.
func NewUnclearedStorage(size int) *Storage {
	if size < clearSize {
		return NewStorage(size)
	}
	// A Builder shows what was written, so the room that it grows is not zeroed; a string that is not empty says
	// where that is.
	var room strings.Builder
	room.Grow(size + Alignment - 1)
	room.WriteByte(0)
	return aligned(unsafe.Slice(unsafe.StringData(room.String()), size+Alignment-1), size)
}

// aligned is the storage of size bytes within b.
func aligned(b []byte, size int) *Storage {
	skip := 0
	if len(b) > 0 {
		skip = int(-uintptr(unsafe.Pointer(&b[0])) & (Alignment - 1))
	}
	adviseHuge(b)
	return &Storage{host: b[skip : skip+size : skip+size], size: size}
}

// ForeignStorage describes memory owned by a backend: its family ("cuda"), the allocator's domain, a handle
// that only the backend understands and that stays alive with the storage, and the bytes where host code can
// read them (nil for device memory).
func ForeignStorage(size int, p Placement, family string, domain AllocationDomain, handle any,
	host []byte) *Storage {
	if host != nil {
		host = host[:size:size] // a backend that names fewer bytes has a bug: panic here, not in a kernel
	}
	return &Storage{host: host, size: size, placement: p, family: family, domain: domain, handle: handle}
}

// borrow wraps a caller's slice without copying it.
func borrow[T Element](data []T) *Storage {
	var z T
	n := len(data) * int(unsafe.Sizeof(z))
	return &Storage{host: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), n), size: n}
}

// none is what a nil Storage, that of the zero value of a view or a read, says of itself: memory that nobody reads.
var none = &Storage{placement: Placement{Kind: Other}}

func (s *Storage) orNone() *Storage {
	if s == nil {
		return none
	}
	return s
}

// Size is the number of bytes.
func (s *Storage) Size() int { return s.orNone().size }

// Placement says where the bytes are.
func (s *Storage) Placement() Placement { return s.orNone().placement }

// BackendFamily names the backend that owns the memory, "" for plain host memory.
func (s *Storage) BackendFamily() string { return s.orNone().family }

// AllocationDomain is the allocator's number, 0 for plain host memory.
func (s *Storage) AllocationDomain() AllocationDomain { return s.orNone().domain }

// Handle is what the owning backend stored with the memory; nil for plain host memory. That of a window is the
// handle of the memory it is a part of, from whose byte HandleOffset on it lies.
func (s *Storage) Handle() any { return s.orNone().handle }

// HandleOffset is where a window begins in the memory of its handle, in bytes; 0 for every other storage.
func (s *Storage) HandleOffset() int { return s.orNone().offset }

// Bytes is the memory as host bytes. Error: ErrPlacement where host code cannot read it.
func (s *Storage) Bytes() ([]byte, error) {
	if s == nil {
		return nil, Errorf("", ErrPlacement, "the zero value of a view or a read has no storage")
	}
	if s.host == nil && s.size > 0 {
		return nil, Errorf("", ErrPlacement,
			"storage is in %s memory of backend %q; copy it to the host first",
			s.placement, s.family)
	}
	return s.host, nil
}

// Elements is the whole of a host storage as elements of T, for layouts to be applied to: the element at
// offset o of a layout is Elements[T](s)[o]. It checks nothing but lengths: s must be host storage that
// holds T.
func Elements[T Element](s *Storage) []T {
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.host))), len(s.host)/int(unsafe.Sizeof(z)))
}
