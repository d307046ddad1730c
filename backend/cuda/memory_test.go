package cuda

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// ledger is a driver's memory: it never gives an address twice.
type ledger struct {
	next  driver.Ptr
	held  map[driver.Ptr]int
	total int
	room  int
}

func (l *ledger) take(size int) (driver.Ptr, error) {
	if l.total+size > l.room {
		return 0, driver.ErrOutOfMemory
	}
	l.next += 1 << 32
	l.held[l.next] = size
	l.total += size
	return l.next, nil
}

func (l *ledger) give(at driver.Ptr) error {
	if _, ok := l.held[at]; !ok {
		return errors.New("not held")
	}
	l.total -= l.held[at]
	delete(l.held, at)
	return nil
}

func zero() uint64 { return 0 }

func newLedger(room, limit int) (*ledger, *allocator) {
	l := &ledger{held: map[driver.Ptr]int{}, room: room}
	return l, newAllocator(l.take, l.give, func() error { return nil }, zero, zero, limit)
}

func TestAllocator(t *testing.T) {
	t.Run("a block that was given back is used again", func(t *testing.T) {
		l, a := newLedger(1<<30, 0)
		b, _ := a.alloc(1000)
		at := b.at
		a.release(b)
		if c, _ := a.alloc(900); c.at != at || len(l.held) != 1 {
			t.Errorf("got %#x of %d segments, want %#x of one", c.at, len(l.held), at)
		}
	})
	t.Run("neighbours are joined", func(t *testing.T) {
		_, a := newLedger(1<<30, 0)
		var blocks []*block
		for range 4 {
			blocks = append(blocks, must(a.alloc(512<<10)))
		}
		for _, k := range []int{1, 3, 0, 2} {
			a.release(blocks[k])
		}
		if len(a.free[0]) != 1 || a.free[0][0].size != smallSegment {
			t.Errorf("%d free blocks, the first of %d bytes", len(a.free[0]), a.free[0][0].size)
		}
	})
	t.Run("the cache is given back where memory runs out", func(t *testing.T) {
		l, a := newLedger(32<<20, 0)
		b := must(a.alloc(16 << 20))
		a.release(b)
		if _, err := a.alloc(30 << 20); err != nil || a.snapshot().Flushes != 1 || len(l.held) != 1 {
			t.Errorf("error %v, %+v", err, a.snapshot())
		}
	})
	t.Run("out of memory", func(t *testing.T) {
		_, a := newLedger(4<<20, 0)
		if _, err := a.alloc(5 << 20); !errors.Is(err, driver.ErrOutOfMemory) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("the user's limit", func(t *testing.T) {
		_, a := newLedger(1<<40, 8<<20)
		must(a.alloc(100))
		if _, err := a.alloc(7 << 20); !errors.Is(err, driver.ErrOutOfMemory) {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestAllocatorRandom: blocks in use never overlap, and the counts are right all the time.
func TestAllocatorRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	_, a := newLedger(1<<40, 0)
	var live []*block
	inUse := 0
	for range 20000 {
		if len(live) > 0 && rng.IntN(2) == 0 {
			k := rng.IntN(len(live))
			inUse -= live[k].size
			a.release(live[k])
			live[k] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		size := rng.IntN(1 << rng.IntN(26))
		b := must(a.alloc(size))
		if b.size < size {
			t.Fatalf("%d bytes for %d", b.size, size)
		}
		for _, c := range live {
			if b.at < c.at+driver.Ptr(c.size) && c.at < b.at+driver.Ptr(b.size) {
				t.Fatalf("%#x+%d overlaps %#x+%d", b.at, b.size, c.at, c.size)
			}
		}
		live, inUse = append(live, b), inUse+b.size
		if s := a.snapshot(); s.InUse != inUse || s.Blocks != len(live) || s.Reserved < inUse {
			t.Fatalf("%+v with %d bytes in %d blocks", s, inUse, len(live))
		}
	}
	for _, b := range live {
		a.release(b)
	}
	if err := a.flush(); err != nil || a.snapshot().Reserved != 0 {
		t.Errorf("error %v, %d bytes are left", err, a.snapshot().Reserved)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
