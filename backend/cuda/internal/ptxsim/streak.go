package ptxsim

import (
	"math/bits"
	"unsafe"
)

// The common access of a warp is a streak: all 32 lanes, one element each, side by side in global memory. It
// is checked as a whole and copied in a loop without branches; whatever is unusual about it goes the long
// way, lane by lane, where a fault finds its thread.

// streak finds the memory of one, of elements of four or eight bytes.
func (w *warp) streak(in *inst, m uint32, write bool) (p uint64, a *alloc, ok bool) {
	op := in.mem
	if m != 1<<32-1 || op.space != inGlobal || len(op.rows) != 1 || op.size < 4 {
		return 0, nil, false
	}
	addr, n := &w.regs[in.a], uint64(op.size)
	p = addr[0] + op.off
	for l := uint64(1); l < 32; l++ {
		if addr[l] != addr[0]+l*n {
			return 0, nil, false
		}
	}
	a = w.cache[op.slot]
	if a == nil || a.dead || write && a.constant || p&(n-1) != 0 {
		return 0, nil, false
	}
	o := p - a.base
	return p, a, o < a.size && 32*n <= a.size-o
}

// sectors is how many sectors of 32 bytes a streak of n bytes touches.
func sectors(p, n uint64) int64 { return int64((p+n-1)>>5 - p>>5 + 1) }

// loadStreak reports whether it did the load.
func (w *warp) loadStreak(in *inst, m uint32) bool {
	p, a, ok := w.streak(in, m, false)
	if !ok {
		return false
	}
	op := in.mem
	o, n := p-a.base, 32*uint64(op.size)
	for _, marks := range unsafe.Slice((*uint64)(unsafe.Add(a.def, o)), n/8) {
		if marks != ones {
			return false
		}
	}
	if words, at := w.marked(op, p); words != nil && !w.readAll(words[at:at+n/4]) {
		return false
	}
	d := &w.regs[op.rows[0]]
	switch {
	case op.size == 8:
		*d = *(*lanes)(unsafe.Add(a.mem, o))
	case op.signed:
		for l, v := range (*[32]int32)(unsafe.Add(a.mem, o)) {
			d[l] = uint64(v)
		}
	default:
		for l, v := range (*[32]uint32)(unsafe.Add(a.mem, o)) {
			d[l] = uint64(v)
		}
	}
	w.def[op.rows[0]] = m
	c := &w.b.traffic
	c.LoadSectors += sectors(p, n)
	c.LoadBytes += int64(n)
	return true
}

// storeStreak is the reverse.
func (w *warp) storeStreak(in *inst, m uint32) bool {
	p, a, ok := w.streak(in, m, true)
	op := in.mem
	if !ok || w.def[op.rows[0]] != m {
		return false
	}
	o, n := p-a.base, 32*uint64(op.size)
	if words, at := w.marked(op, p); words != nil && !w.writeAll(words[at:at+n/4]) {
		return false
	}
	s := &w.regs[op.rows[0]]
	if op.size == 8 {
		*(*lanes)(unsafe.Add(a.mem, o)) = *s
	} else {
		to := (*[32]uint32)(unsafe.Add(a.mem, o))
		for l, v := range s {
			to[l] = uint32(v)
		}
	}
	marks := unsafe.Slice((*uint64)(unsafe.Add(a.def, o)), n/8)
	for i := range marks {
		marks[i] = ones
	}
	c := &w.b.traffic
	c.StoreSectors += sectors(p, n)
	c.StoreBytes += int64(n)
	return true
}

// readAll marks whole words as read, unless another block of the launch wrote one.
func (w *warp) readAll(words []globalMarks) bool {
	launch := w.b.l.epoch & (1<<20 - 1)
	mine := w.globalMark(markBytes)
	for i := range words {
		m := &words[i]
		if m.write>>44 == launch && w.foreign(m.write, markBytes) {
			return false
		}
		if old := m.read; old>>44 == launch && old != mine {
			m.read = joinedBlocks(old, mine)
		} else {
			m.read = mine
		}
	}
	return true
}

// writeAll marks whole words as written, unless another block of the launch touched one.
func (w *warp) writeAll(words []globalMarks) bool {
	launch := w.b.l.epoch & (1<<20 - 1)
	for i := range words {
		m := &words[i]
		if m.write>>44 == launch && w.foreign(m.write, markBytes) ||
			m.read>>44 == launch && w.foreign(m.read, markBytes) {
			return false
		}
	}
	mine := w.globalMark(markBytes)
	for i := range words {
		words[i].write = mine
	}
	return true
}

// loadUniform does a load of all lanes from one address, of the kernel's parameters, global or shared memory, and
// reports whether it was one.
func (w *warp) loadUniform(in *inst, m uint32) bool {
	op := in.mem
	addr := &w.regs[in.a]
	first := bits.TrailingZeros32(m)
	p := addr[first] + op.off
	if op.space == inGeneric || op.space == inLocal || op.space == inParam && p < paramBase {
		return false
	}
	for rest := m; rest != 0; rest &= rest - 1 {
		if addr[bits.TrailingZeros32(rest)] != addr[first] {
			return false
		}
	}
	n := uint64(op.size * len(op.rows))
	mem, def := w.place(op.space, op, p, n, first, false)
	if !defined(def, n) {
		return false
	}
	switch op.space {
	case inGlobal:
		w.globalRead(op, p, n, first)
		w.b.traffic.LoadSectors++
		w.b.traffic.LoadBytes += int64(n) * int64(bits.OnesCount32(m))
	case inShared:
		w.sharedRead(op, p, n, first)
		if last := bits.Len32(m) - 1; last != first { // two lanes or more leave the same mark
			w.sharedRead(op, p, n, last)
		}
	}
	for i, row := range op.rows {
		v := extended(fetch(unsafe.Add(mem, i*op.size), op.size), op)
		w.spread(row, v, m)
	}
	return true
}
