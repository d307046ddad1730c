package ptxsim

import (
	"math/bits"
	"sync"
)

// Count is what the launches of one kernel moved between global memory and registers. A warp's access moves
// whole sectors of 32 bytes, each once however many lanes touch it; the bytes are those that the lanes asked
// for.
type Count struct {
	Launches     int64
	LoadSectors  int64
	LoadBytes    int64
	StoreSectors int64
	StoreBytes   int64
	Atomics      int64 // sectors of atomic operations, once a warp and instruction
	Threads      int64 // instructions times the lanes that executed them
}

// Moved is the bytes moved in whole sectors.
func (c Count) Moved() int64 { return 32 * (c.LoadSectors + c.StoreSectors + c.Atomics) }

var traffic = struct {
	sync.Mutex
	counts map[string]Count
}{counts: map[string]Count{}}

// Traffic is the count of each kernel by name since the last ResetTraffic. Work still queued is not in it.
func Traffic() map[string]Count {
	traffic.Lock()
	defer traffic.Unlock()
	all := make(map[string]Count, len(traffic.counts))
	for name, c := range traffic.counts {
		all[name] = c
	}
	return all
}

// ResetTraffic begins a new count.
func ResetTraffic() {
	traffic.Lock()
	defer traffic.Unlock()
	clear(traffic.counts)
}

func (c *Count) plus(o Count) {
	c.Launches += o.Launches
	c.LoadSectors += o.LoadSectors
	c.LoadBytes += o.LoadBytes
	c.StoreSectors += o.StoreSectors
	c.StoreBytes += o.StoreBytes
	c.Atomics += o.Atomics
	c.Threads += o.Threads
}

func record(name string, c Count) {
	traffic.Lock()
	defer traffic.Unlock()
	sum := traffic.counts[name]
	sum.plus(c)
	traffic.counts[name] = sum
}

// tally collects the distinct sectors of one warp's access. An access is aligned and at most 16 bytes, so it
// lies in one sector; addresses that rise from lane to lane need no search.
type tally struct {
	lanes   int
	n       int
	top     uint64
	sectors [32]uint64
}

func (t *tally) add(p uint64) {
	t.lanes++
	s := p>>5 + 1
	if s > t.top {
		t.top = s
	} else {
		for _, old := range t.sectors[:t.n] {
			if old == s {
				return
			}
		}
	}
	t.sectors[t.n] = s
	t.n++
}

func (c *Count) loads(t *tally, n uint64) {
	c.LoadSectors += int64(t.n)
	c.LoadBytes += int64(t.lanes) * int64(n)
}

func (c *Count) stores(t *tally, n uint64) {
	c.StoreSectors += int64(t.n)
	c.StoreBytes += int64(t.lanes) * int64(n)
}

func (c *Count) executed(m uint32) { c.Threads += int64(bits.OnesCount32(m)) }
