package ptxsim

// Races are found by marks beside the memory: for each word of four bytes, who wrote it last and who read it
// last. Two accesses race where one writes, they are of different threads, and nothing orders them: in
// shared memory a barrier of the block, or bar.warp.sync within a warp; between the blocks of a launch
// nothing but a fence by the first. A write of the value that is there already is no race with another
// write, and a strong or volatile access none with anything.

// A mark in shared memory is epoch<<40 | several<<39 | warp epoch<<16 | bytes<<12 | thread + 1, where
// several says that more than one thread of a warp made it, and, with a thread of 0x7ff, more than one warp.
const (
	markSeveral = 1 << 39
	markThread  = 1<<11 - 1
	markBytes   = 15 << 12
)

type sharedMarks struct{ write, read, atomic uint64 }

// bytesOf is the bytes that an access of n bytes at p has in its first word.
func bytesOf(p, n uint64) uint64 { return (1<<min(n, 4) - 1) << (p & 3) & 15 << 12 }

func (w *warp) sharedMark(lane int, bytes uint64) uint64 {
	return w.b.epoch<<40 | uint64(w.epoch)&0x7fffff<<16 | bytes | uint64(w.base+lane+1)
}

// races reports whether a mark is of an access that nothing orders before one by a lane of w.
func (w *warp) races(mark uint64, lane int, bytes uint64) bool {
	if mark == 0 || mark>>40 != w.b.epoch&(1<<24-1) || mark&bytes == 0 {
		return false
	}
	who := int(mark&markThread) - 1
	if who == markThread-1 || who>>5 != w.base>>5 {
		return true
	}
	if mark>>16&0x7fffff != uint64(w.epoch)&0x7fffff {
		return false
	}
	return who != w.base+lane || mark&markSeveral != 0
}

func (w *warp) sharedRead(op *memop, p, n uint64, lane int) {
	if op.strong {
		return
	}
	for at := p / 4; at <= (p+n-1)/4; at++ {
		w.readShared(&w.b.marks[at], p, lane, bytesOf(p, n))
	}
}

// readShared marks one word as read.
func (w *warp) readShared(marks *sharedMarks, p uint64, lane int, bytes uint64) {
	if w.races(marks.write, lane, bytes) {
		w.race(lane, "read after write", marks.write, p)
	}
	if w.races(marks.atomic, lane, bytes) {
		w.race(lane, "read after atomic", marks.atomic, p)
	}
	marks.read = w.joined(marks.read, lane, bytes)
}

// joined is the mark of a lane's access that leaves what an older mark of the same kind says. Where two threads
// touched different bytes, only those that both touched are kept, or the newer's: a race may be missed, none invented.
func (w *warp) joined(old uint64, lane int, bytes uint64) uint64 {
	mark := w.sharedMark(lane, bytes)
	if old>>40 != mark>>40 {
		return mark
	}
	who := old & markThread
	if who == mark&markThread && old&markSeveral == 0 {
		return mark | old&markBytes
	}
	both := old & bytes & markBytes
	if both == 0 {
		return mark
	}
	mark = mark&^markBytes | both
	if w.races(old, lane, bytes) {
		mark |= markSeveral
	}
	if (int(who)-1)>>5 != w.base>>5 {
		mark |= markThread
	}
	return mark
}

func (w *warp) sharedWrite(op *memop, p, n uint64, lane int, same bool) {
	if op.strong {
		return
	}
	for at := p / 4; at <= (p+n-1)/4; at++ {
		w.writeShared(&w.b.marks[at], p, lane, bytesOf(p, n), same)
	}
}

// writeShared marks one word as written.
func (w *warp) writeShared(marks *sharedMarks, p uint64, lane int, bytes uint64, same bool) {
	if !same && w.races(marks.write, lane, bytes) {
		w.race(lane, "write after write", marks.write, p)
	}
	if w.races(marks.atomic, lane, bytes) {
		w.race(lane, "write after atomic", marks.atomic, p)
	}
	if w.races(marks.read, lane, bytes) {
		w.race(lane, "write after read", marks.read, p)
	}
	marks.write = w.sharedMark(lane, bytes)
}

// sharedAtomic races with plain accesses, not with other atomics.
func (w *warp) sharedAtomic(p, n uint64, lane int) {
	bytes := bytesOf(p, n)
	for at := p / 4; at <= (p+n-1)/4; at++ {
		marks := &w.b.marks[at]
		if w.races(marks.write, lane, bytes) {
			w.race(lane, "atomic after write", marks.write, p)
		}
		if w.races(marks.read, lane, bytes) {
			w.race(lane, "atomic after read", marks.read, p)
		}
		marks.atomic = w.joined(marks.atomic, lane, bytes)
	}
}

func (w *warp) race(lane int, what string, mark, p uint64) {
	if who := mark & markThread; who != markThread {
		w.fault(codeRace, lane, "shared-memory race, %s, with thread %d at %#x", what, who-1, p)
	}
	w.fault(codeRace, lane, "shared-memory race, %s, with several warps at %#x", what, p)
}

// A mark in global memory is launch<<44 | fences<<36 | bytes<<32 | block + 1; a block of all ones is
// several.
type globalMarks struct{ write, read uint64 }

type hazards struct{ words []globalMarks }

// largestTracked is the largest piece of memory whose words are marked. Marks are four times what they mark, but only
// the pages of those that are used are ever touched.
const largestTracked = 256 << 20

func (w *warp) globalMark(bytes uint64) uint64 {
	b := w.b
	return b.l.epoch<<44 | uint64(b.fences()&0xff)<<36 | bytes<<20 | uint64(b.index+1)
}

// marked finds the marks of memory at p, nil where nothing can race or nobody keeps them.
func (w *warp) marked(op *memop, p uint64) (words []globalMarks, at uint64) {
	a := w.cache[op.slot]
	if op.strong || w.b.l.blocks == 1 || a.size > largestTracked || a.constant {
		return nil, 0
	}
	h := a.hazards.Load()
	if h == nil {
		h = &hazards{make([]globalMarks, a.size/4+1)}
		if !a.hazards.CompareAndSwap(nil, h) {
			h = a.hazards.Load()
		}
	}
	return h.words, (p - a.base) / 4
}

// foreign reports whether a mark is of another block of this launch that has not fenced since.
func (w *warp) foreign(mark, bytes uint64) bool {
	b := w.b
	who := mark & 0xffffffff
	if mark>>44 != b.l.epoch&(1<<20-1) || mark>>20&bytes == 0 || who == uint64(b.index+1) {
		return false
	}
	if who == 0xffffffff || b.l.fences == nil {
		return true
	}
	return uint64(b.l.fences[who-1].Load()&0xff) == mark>>36&0xff
}

func (w *warp) globalRead(op *memop, p, n uint64, lane int) {
	words, first := w.marked(op, p)
	if words == nil {
		return
	}
	mine := w.globalMark(bytesOf(p, n))
	for at := first; at <= first+(n-1)/4; at++ {
		w.readGlobal(&words[at], mine, p, lane)
	}
}

// readGlobal puts a mark on one word that is read.
func (w *warp) readGlobal(m *globalMarks, mine, p uint64, lane int) {
	bytes := mine >> 20 & markBytes
	if w.foreign(m.write, bytes) {
		w.fault(codeRace, lane, "race between blocks, read after write by block %d at %#x",
			m.write&0xffffffff-1, p)
	}
	old := m.read
	together := (old^mine)&0xffffffff == 0 || old>>20&bytes != 0 // of bytes apart of two blocks the last is kept
	if old>>44 == mine>>44 && together {
		m.read = joinedBlocks(old, mine)
	} else {
		m.read = mine
	}
}

// joinedBlocks is the mark of a read of this launch that leaves what an older one says, as joined is in shared memory.
func joinedBlocks(old, mine uint64) uint64 {
	const bytes, block = 15 << 32, 0xffffffff
	switch both := old & mine & bytes; {
	case (old^mine)&block == 0:
		return mine | old&bytes
	case both == 0:
		return mine
	case old&block == block && old&bytes != both:
		return old
	default:
		return mine&^bytes | both | block
	}
}

func (w *warp) globalWrite(op *memop, p, n uint64, lane int, same bool) {
	words, first := w.marked(op, p)
	if words == nil {
		return
	}
	mine := w.globalMark(bytesOf(p, n))
	for at := first; at <= first+(n-1)/4; at++ {
		w.writeGlobal(&words[at], mine, p, lane, same)
	}
}

// writeGlobal puts a mark on one word that is written.
func (w *warp) writeGlobal(m *globalMarks, mine, p uint64, lane int, same bool) {
	bytes := mine >> 20 & markBytes
	if !same && w.foreign(m.write, bytes) {
		w.fault(codeRace, lane, "race between blocks, write after write by block %d at %#x",
			m.write&0xffffffff-1, p)
	}
	if !same && w.foreign(m.read, bytes) {
		w.fault(codeRace, lane, "race between blocks, write after read at %#x", p)
	}
	m.write = mine
}
