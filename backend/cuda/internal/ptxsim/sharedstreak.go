package ptxsim

import "unsafe"

// A streak in shared memory is 32 words side by side, one for each lane. It is done as one where nothing of it is
// unwritten or races; else it goes the long way.

// sharedStreak finds where one begins.
func (w *warp) sharedStreak(in *inst, m uint32) (p uint64, ok bool) {
	op := in.mem
	if m != 1<<32-1 || op.space != inShared || len(op.rows) != 1 || op.size != 4 || op.strong {
		return 0, false
	}
	addr := &w.regs[in.a]
	p = addr[0] + op.off
	for l := uint64(1); l < 32; l++ {
		if addr[l] != addr[0]+4*l {
			return 0, false
		}
	}
	size := uint64(len(w.b.shared))
	return p, p&3 == 0 && p < size && size-p >= 128
}

func (w *warp) loadSharedStreak(in *inst, m uint32) bool {
	p, ok := w.sharedStreak(in, m)
	if !ok {
		return false
	}
	for _, written := range (*[16]uint64)(unsafe.Pointer(&w.b.sharedDef[p])) {
		if written != ones {
			return false
		}
	}
	marks := (*[32]sharedMarks)(w.b.marks[p/4:])
	epoch := w.b.epoch & (1<<24 - 1)
	for l := range marks {
		if old := &marks[l]; old.write>>40 == epoch && w.races(old.write, l, markBytes) ||
			old.atomic>>40 == epoch && w.races(old.atomic, l, markBytes) {
			return false
		}
	}
	first := w.sharedMark(0, markBytes)
	for l := range marks {
		mine := first + uint64(l)
		if old := marks[l].read; old>>40 == epoch && old != mine {
			mine = w.joined(old, l, markBytes)
		}
		marks[l].read = mine
	}
	d := &w.regs[in.mem.rows[0]]
	for l, v := range (*[32]uint32)(unsafe.Pointer(&w.b.shared[p])) {
		d[l] = extended(uint64(v), in.mem)
	}
	w.def[in.mem.rows[0]] = m
	return true
}

func (w *warp) storeSharedStreak(in *inst, m uint32) bool {
	p, ok := w.sharedStreak(in, m)
	row := in.mem.rows[0]
	if !ok || w.def[row] != m {
		return false
	}
	marks := (*[32]sharedMarks)(w.b.marks[p/4:])
	epoch := w.b.epoch & (1<<24 - 1)
	for l := range marks {
		if old := &marks[l]; old.write>>40 == epoch && w.races(old.write, l, markBytes) ||
			old.read>>40 == epoch && w.races(old.read, l, markBytes) ||
			old.atomic>>40 == epoch && w.races(old.atomic, l, markBytes) {
			return false
		}
	}
	first := w.sharedMark(0, markBytes)
	to := (*[32]uint32)(unsafe.Pointer(&w.b.shared[p]))
	for l, v := range &w.regs[row] {
		to[l] = uint32(v)
		marks[l].write = first + uint64(l)
	}
	written := (*[16]uint64)(unsafe.Pointer(&w.b.sharedDef[p]))
	for i := range written {
		written[i] = ones
	}
	return true
}
