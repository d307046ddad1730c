package ptxsim

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// launch is one kernel launch.
type launch struct {
	ctx       *context
	f         *kernelOf
	k         *kernel
	grid      [3]uint32
	block     [3]uint32
	blocks    int
	shared    int
	params    []byte
	paramsDef []byte
	epoch     uint64
	fences    []atomic.Uint32 // of each block, where the kernel has fences
	next      atomic.Int64
	failed    atomic.Pointer[fault]
	workers   sync.WaitGroup
	offers    []*offer // to helpers
	mu        sync.Mutex
	sum       Count
}

// block is the state of the block that a worker runs, used again for the next.
type block struct {
	l         *launch
	id        [3]uint32
	index     int
	threads   int       // of the launch that it was made for, whose memory may be another's by now
	size      [3]uint32 // of the blocks whose special registers it has
	warps     []*warp
	shared    []byte
	sharedDef []byte
	marks     []sharedMarks
	epoch     uint64
	traffic   Count
}

// blockFor is a block for a launch, perhaps one of an earlier launch of the kernel.
func blockFor(l *launch) *block {
	b, _ := l.f.blocks.Get().(*block)
	if b == nil || b.threads != l.threads() || len(b.shared) != l.shared {
		b = newBlock(l)
	}
	sized := b.size == l.block
	b.l, b.traffic, b.size = l, Count{}, l.block
	for i := range l.k.specials {
		s := &l.k.specials[i]
		if sized && !s.ofGrid {
			continue
		}
		for _, w := range b.warps {
			for j := range 32 {
				w.regs[s.row][j] = s.perThread(l, w.base+j)
			}
		}
	}
	return b
}

func newBlock(l *launch) *block {
	k := l.k
	b := &block{
		l: l, threads: l.threads(), shared: make([]byte, l.shared+16), sharedDef: make([]byte, l.shared+16),
		marks: make([]sharedMarks, l.shared/4+1),
	}
	b.shared, b.sharedDef = b.shared[:l.shared], b.sharedDef[:l.shared]
	for base := 0; base < b.threads; base += 32 {
		w := &warp{
			b: b, k: k, base: base, regs: make([]lanes, k.rows), def: make([]uint32, k.rows),
			preds: make([]uint32, k.predicates), predDef: make([]uint32, k.predicates),
			cache: make([]*alloc, k.memops), frame: make([]byte, 32*k.frame), frameDef: make([]byte, 32*k.frame),
		}
		b.warps = append(b.warps, w)
		for i, row := range k.constants {
			for j := range 32 {
				w.regs[row.row][j] = l.f.values[i]
			}
		}
	}
	return b
}

// begin prepares the block of an index.
func (b *block) begin(index int) {
	l, k := b.l, b.l.k
	x, y := int(l.grid[0]), int(l.grid[1])
	b.index = index
	b.id = [3]uint32{uint32(index % x), uint32(index / x % y), uint32(index / (x * y))}
	clear(b.sharedDef)
	if b.epoch++; b.epoch&(1<<24-1) == 0 {
		clear(b.marks)
		b.epoch++
	}
	threads := b.threads
	for _, w := range b.warps {
		clear(w.def)
		clear(w.predDef)
		clear(w.frameDef)
		clear(w.pc[:])
		w.put(^uint32(0), k.entry)
		w.live = ^uint32(0)
		if left := threads - w.base; left < 32 {
			w.live = 1<<left - 1
		}
		w.wait, w.epoch, w.far = 0, 1, false
		w.def[0] = ^uint32(0)
		w.preds[predTrue], w.predDef[predTrue], w.predDef[predFalse] = ^uint32(0), ^uint32(0), ^uint32(0)
		for _, row := range k.constants {
			w.def[row.row] = ^uint32(0)
		}
		for i := range k.specials {
			s := &k.specials[i]
			w.def[s.row] = ^uint32(0)
			if s.axis >= 0 {
				for j := range &w.regs[s.row] {
					w.regs[s.row][j] = uint64(b.id[s.axis])
				}
			}
		}
	}
}

func (b *block) fences() uint32 {
	if b.l.fences == nil {
		return 0
	}
	return b.l.fences[b.index].Load()
}

// quantum is how many instructions a warp executes before another gets its turn: warps may wait for one
// another in a loop.
const quantum = 1 << 14

// patience is how many instructions a warp gets to end its block.
var patience atomic.Int64

func init() { SetPatience(1 << 24) }

// SetPatience sets how many instructions a warp may execute before its kernel counts as one that does not
// end, 2^24 at first. Mutants need less.
func SetPatience(instructions int64) { patience.Store(instructions) }

// run executes the block to its end.
func (b *block) run() {
	for spent := int64(0); ; { // by the busiest warp of each turn
		ran, live, most := false, false, 0
		for _, w := range b.warps {
			if w.live&^w.wait != 0 {
				most = max(most, w.run(quantum))
				ran = true
			}
			live = live || w.live != 0
		}
		if !live {
			return
		}
		if b.l.failed.Load() != nil {
			return
		}
		if !ran && !b.release() {
			b.deadlock()
		}
		if spent += int64(most); spent > patience.Load() {
			w := b.warps[0]
			w.fault(codeDeadlock, 0, "the block does not end")
		}
	}
}

// release opens the barrier when every thread of the block waits at one.
func (b *block) release() bool {
	var all, any uint32
	all = ^uint32(0)
	for _, w := range b.warps {
		if w.live == 0 {
			continue
		}
		pc := int32(-1)
		for rest := w.live; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			in := &w.k.code[w.pc[l]]
			if w.wait>>l&1 == 0 || in.kind != kindBarrier {
				return false
			}
			if w.at = in; pc >= 0 && w.pc[l] != pc {
				w.fault(codeDeadlock, l, "the lanes of a warp wait at different barriers")
			}
			pc = w.pc[l]
		}
		all &= w.vote | ^w.live
		any |= w.vote & w.live
	}
	for _, w := range b.warps {
		full := ^uint32(0)
		if left := b.threads - w.base; left < 32 {
			full = 1<<left - 1
		}
		if w.live != full {
			b.anyWaiting().fault(codeDeadlock, 0, "a barrier after threads of the block have ended")
		}
	}
	b.open(all == ^uint32(0), any != 0)
	return true
}

func (l *launch) threads() int { return int(l.block[0] * l.block[1] * l.block[2]) }

func (b *block) anyWaiting() *warp {
	for _, w := range b.warps {
		if w.wait != 0 {
			w.at = &w.k.code[w.pc[bits.TrailingZeros32(w.wait)]]
			return w
		}
	}
	return b.warps[0]
}

// open lets every thread go on behind its barrier, with the result of a reduction where the barrier is one.
func (b *block) open(all, any bool) {
	count := 0
	for _, w := range b.warps {
		count += bits.OnesCount32(w.vote & w.live)
	}
	for _, w := range b.warps {
		in := &w.k.code[w.pc[bits.TrailingZeros32(w.live)]]
		if in.reduce != nil {
			in.reduce(w, in, all, any, count)
		}
		w.put(w.live, w.pc[bits.TrailingZeros32(w.live)]+1)
		w.wait, w.vote = 0, 0
	}
	if b.epoch++; b.epoch&(1<<24-1) == 0 {
		clear(b.marks)
		b.epoch++
	}
}

func (b *block) deadlock() {
	w := b.anyWaiting()
	l := bits.TrailingZeros32(w.wait)
	w.fault(codeDeadlock, l, "deadlock: the thread waits and nobody comes")
}
