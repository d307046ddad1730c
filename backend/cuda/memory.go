package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

const (
	granule      = 512       // what blocks are multiples of, and aligned to
	smallBlock   = 1 << 20   // the largest block that is cut from a small segment
	smallSegment = 2 << 20   // what is asked of the driver for small blocks
	largeSegment = 20 << 20  // and for blocks up to half of it
	largeRest    = 1 << 20   // a large block keeps a rest that is smaller
	segmentUnit  = 2 << 20   // what larger segments are multiples of
	noLimit      = 1<<63 - 1 // bytes
	mostBytes    = 1 << 62   // more would overflow when it is rounded
	firstRoom    = 256 << 20 // what is reserved before the first look for garbage
)

// MemoryStats counts the bytes of a device that a backend holds.
type MemoryStats struct {
	InUse    int // of tensors and scratch
	Reserved int // taken from the driver, the caches included
	Peak     int // the most that was in use
	Limit    int // of Reserved; 0 is none
	Blocks   int // in use
	Flushes  int // times that the cache was given back to the driver because memory had run out
}

// block is a part of a segment, or all of it.
type block struct {
	at         driver.Ptr
	size       int
	used       bool
	prev, next *block // neighbours in the segment
	waits      uint64 // how often a wait for the stream had begun when it, or a part of it, was last given back
	before     bool   // it was in use before
	kind       int    // the list of its segment
}

// allocator hands out device memory for one stream: a block that is given back can be used again at once, since
// what is started later runs later. Free blocks are kept and joined with free neighbours; of those that are
// large enough the smallest is taken, and cut where the rest is worth keeping.
type allocator struct {
	mu    sync.Mutex
	take  func(size int) (driver.Ptr, error)
	give  func(at driver.Ptr) error
	idle  func() error  // waits until the device has ended all work, so that segments may be given back
	begun func() uint64 // times that somebody began to wait for the stream
	ended func() uint64 // the last of those that returned
	free  [2][]*block   // of small and of large segments, by size, then address
	spare []*block      // structs that are not in use
	stats MemoryStats
	limit int
	room  int  // what may be reserved before tensors that nobody reaches are looked for
	over  bool // closed
	exact bool // every block is a segment of its own and has the bytes that were asked for: tests see every access beyond
}

func newAllocator(take func(int) (driver.Ptr, error), give func(driver.Ptr) error, idle func() error,
	begun, ended func() uint64, limit int) *allocator {
	if limit <= 0 {
		limit = noLimit
	}
	return &allocator{take: take, give: give, idle: idle, begun: begun, ended: ended, limit: limit, room: firstRoom}
}

// rounded is the size of a block for size bytes, up to mostBytes; a block of nothing still has an address.
func rounded(size int) int { return max(granule, (size+granule-1)&^(granule-1)) }

func pool(size int) int {
	if size <= smallBlock {
		return 0
	}
	return 1
}

func segmentFor(size int) int {
	switch {
	case size <= smallBlock:
		return smallSegment
	case size <= largeSegment/2:
		return largeSegment
	}
	return (size + segmentUnit - 1) &^ (segmentUnit - 1)
}

// alloc finds a block of size bytes or more. Error: ErrOutOfMemory where there is none, even after unreachable
// tensors were collected and the cache was given back.
func (a *allocator) alloc(size int) (*block, error) {
	if size > mostBytes {
		return nil, fmt.Errorf("%d bytes: %w", size, driver.ErrOutOfMemory)
	}
	if !a.exact {
		size = rounded(size)
	}
	if a.crowded(size) {
		a.makeRoom(size)
	}
	b, err := a.tryAlloc(size)
	for wait := time.Duration(0); errors.Is(err, driver.ErrOutOfMemory) && wait < 20*time.Millisecond; wait = 4*wait + time.Millisecond {
		runtime.GC()     // tensors that nobody reaches give their memory back in cleanups,
		time.Sleep(wait) // which run soon after
		if err := a.flush(); err != nil {
			return nil, err
		}
		b, err = a.tryAlloc(size)
	}
	return b, err
}

// crowded reports whether a block needs a segment, and more is reserved than was in use, twice, when garbage was
// last looked for.
func (a *allocator) crowded(size int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.fits(size) && a.stats.Reserved+segmentFor(size) > a.room
}

// fits reports whether a free block is large enough.
func (a *allocator) fits(size int) bool {
	list := a.free[pool(size)]
	return len(list) > 0 && list[len(list)-1].size >= size
}

// makeRoom looks for garbage: tensors take next to nothing of Go's heap, which would not be collected for them.
func (a *allocator) makeRoom(size int) {
	before := a.snapshot().InUse
	runtime.GC()
	for range 20 { // cleanups run soon after
		time.Sleep(100 * time.Microsecond)
		if a.snapshot().InUse < before {
			break
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.room = max(firstRoom, 2*(a.stats.InUse+size))
	if !a.fits(size) {
		a.room = max(a.room, a.stats.Reserved/4*5+size) // the pieces are too small: not to look again at once
	}
}

func (a *allocator) tryAlloc(size int) (*block, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return nil, ErrClosed
	}
	b, err := a.find(size)
	if err != nil {
		return nil, err
	}
	b.used = true
	a.stats.Blocks++
	a.stats.InUse += b.size
	a.stats.Peak = max(a.stats.Peak, a.stats.InUse)
	return b, nil
}

// find takes a free block, or one of a new segment, off the lists.
func (a *allocator) find(size int) (*block, error) {
	kind, least := pool(size), segmentFor(size)
	if a.exact {
		kind, least = 1, max(1, size)
	}
	list := a.free[kind]
	if k, _ := slices.BinarySearchFunc(list, size, bySize); k < len(list) && (!a.exact || list[k].size == least) {
		b := list[k]
		a.free[kind] = slices.Delete(list, k, k+1)
		return a.cut(b, size), nil
	}
	b, err := a.segment(least)
	if errors.Is(err, driver.ErrOutOfMemory) {
		b, err = a.segment(size) // where there is no room for what others could use too
	}
	if err != nil {
		return nil, err
	}
	return a.cut(b, size), nil
}

// segment asks the driver for memory.
func (a *allocator) segment(size int) (*block, error) {
	if size > a.limit-a.stats.Reserved {
		return nil, fmt.Errorf("%d bytes more than the %d in use pass the limit of %d: %w",
			size, a.stats.InUse, a.limit, driver.ErrOutOfMemory)
	}
	at, err := a.take(size)
	if err != nil {
		return nil, err
	}
	a.stats.Reserved += size
	b := &block{at: at, size: size}
	if size != smallSegment { // those that small blocks are cut from are of one size
		b.kind = 1
	}
	return b, nil
}

func bySize(b *block, size int) int {
	if b.size < size {
		return -1
	}
	return 1
}

// cut keeps the rest of a block that is too large.
func (a *allocator) cut(b *block, size int) *block {
	rest := b.size - size
	if rest < granule || b.kind == 1 && rest < largeRest {
		return b
	}
	r := a.block()
	*r = block{at: b.at + driver.Ptr(size), size: rest, prev: b, next: b.next, waits: b.waits, before: b.before, kind: b.kind}
	if r.next != nil {
		r.next.prev = r
	}
	b.next, b.size = r, size
	a.keep(r, r.kind)
	return b
}

// block is room for what is known of a block: that of one that was joined with another, so that memory that comes and
// goes makes no garbage.
func (a *allocator) block() *block {
	k := len(a.spare) - 1
	if k < 0 {
		return new(block)
	}
	b := a.spare[k]
	a.spare = a.spare[:k]
	return b
}

func (a *allocator) keep(b *block, kind int) {
	k, _ := slices.BinarySearchFunc(a.free[kind], b, order)
	a.free[kind] = slices.Insert(a.free[kind], k, b)
}

func (a *allocator) drop(b *block, kind int) {
	k, _ := slices.BinarySearchFunc(a.free[kind], b, order)
	a.free[kind] = slices.Delete(a.free[kind], k, k+1)
}

func order(x, y *block) int {
	if x.size != y.size {
		return x.size - y.size
	}
	if x.at < y.at {
		return -1
	}
	return int(min(x.at-y.at, 1))
}

// release takes a block back and joins it with its free neighbours.
func (a *allocator) release(b *block) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !b.used {
		return
	}
	b.used, b.before, b.waits = false, true, a.begun()
	a.stats.Blocks--
	a.stats.InUse -= b.size
	if p := b.prev; p != nil && !p.used {
		a.drop(p, b.kind)
		p.size, p.next, p.waits, p.before = p.size+b.size, b.next, b.waits, true
		if b.next != nil {
			b.next.prev = p
		}
		a.spare = append(a.spare, b)
		b = p
	}
	if n := b.next; n != nil && !n.used {
		a.drop(n, b.kind)
		b.size, b.next = b.size+n.size, n.next
		if n.next != nil {
			n.next.prev = b
		}
		a.spare = append(a.spare, n)
	}
	a.keep(b, b.kind)
}

// busy reports whether kernels may still use a block for what it was before: no wait for the stream that began
// after it was given back has ended.
func (a *allocator) busy(b *block) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return b.before && a.ended() <= b.waits
}

// collect waits a little for the cleanups of tensors that nobody reaches.
func (a *allocator) collect() {
	for wait := time.Duration(0); a.snapshot().Blocks > 0 && wait < 20*time.Millisecond; wait = 4*wait + time.Millisecond {
		runtime.GC()
		time.Sleep(wait)
	}
}

// close gives everything back; from then on there is nothing to have. Error: blocks that are in use.
func (a *allocator) close() error {
	err := a.flush()
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	if s := a.snapshot(); s.Blocks > 0 {
		err = errors.Join(err, fmt.Errorf("%d blocks of device memory, %d bytes, were still in use", s.Blocks, s.InUse))
	}
	return err
}

// flush gives whole free segments back to the driver.
func (a *allocator) flush() error {
	if err := a.idle(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Flushes++
	var errs []error
	for kind, list := range a.free {
		a.free[kind] = slices.DeleteFunc(list, func(b *block) bool {
			if b.prev != nil || b.next != nil {
				return false
			}
			a.stats.Reserved -= b.size
			errs = append(errs, a.give(b.at))
			return true
		})
	}
	return errors.Join(errs...)
}

// snapshot is the present counts.
func (a *allocator) snapshot() MemoryStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.stats
	if a.limit != noLimit {
		s.Limit = a.limit
	}
	return s
}
