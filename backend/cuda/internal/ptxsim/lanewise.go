package ptxsim

import (
	"math/bits"
	"unsafe"
)

// Loads and stores of single elements in global or shared memory, lane by lane: what load and store do, with what is
// the same for all lanes found once. A lane about which anything is unusual goes by way of place and the marks' own
// functions, where a fault finds its words.

type element interface {
	uint8 | uint16 | uint32 | uint64
}

// written is the marks of an element that has been.
func written[T element]() T {
	marks := uint64(ones)
	return T(marks)
}

// byElement picks by an element's bytes.
func byElement[F any](size int, f8, f16, f32, f64 F) F {
	switch size {
	case 1:
		return f8
	case 2:
		return f16
	case 4:
		return f32
	}
	return f64
}

// lanewise is the function for a load or a store, nil where there is none.
func lanewise(op *memop, write bool) func(w *warp, in *inst, m uint32) {
	switch {
	case len(op.rows) != 1:
		return nil
	case op.space == inGlobal && write:
		return byElement(op.size, storeGlobal[uint8], storeGlobal[uint16], storeGlobal[uint32], storeGlobal[uint64])
	case op.space == inGlobal:
		return byElement(op.size, loadGlobal[uint8], loadGlobal[uint16], loadGlobal[uint32], loadGlobal[uint64])
	case op.space == inShared && write:
		return byElement(op.size, storeShared[uint8], storeShared[uint16], storeShared[uint32], storeShared[uint64])
	case op.space == inShared:
		return byElement(op.size, loadShared[uint8], loadShared[uint16], loadShared[uint32], loadShared[uint64])
	}
	return nil
}

// within is the piece of memory that an access lies in: the one of an access before, if it does.
func (w *warp) within(a *alloc, op *memop, p, n uint64, lane int, write bool) *alloc {
	if a != nil && p&(n-1) == 0 && p-a.base < a.size && n <= a.size-(p-a.base) {
		return a
	}
	w.place(inGlobal, op, p, n, lane, write)
	return w.cache[op.slot]
}

func loadGlobal[T element](w *warp, in *inst, m uint32) {
	op, addr, d := in.mem, &w.regs[in.a], &w.regs[in.mem.rows[0]]
	n := uint64(unsafe.Sizeof(T(0)))
	var a *alloc
	var words []globalMarks
	var t tally
	launch := w.b.l.epoch & (1<<20 - 1)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		p := addr[l] + op.off
		if at := w.within(a, op, p, n, l, false); at != a {
			a = at
			words, _ = w.marked(op, p)
		}
		o := p - a.base
		if *(*T)(unsafe.Add(a.def, o)) != written[T]() {
			w.unwritten(p, n, l)
		}
		t.add(p)
		if words != nil {
			mine := w.globalMark(bytesOf(p, n))
			for i := o / 4; i <= (o+n-1)/4; i++ {
				if k := &words[i]; k.write>>44 != launch && k.read>>44 != launch {
					k.read = mine
				} else if k.read != mine || k.write>>44 == launch {
					w.readGlobal(k, mine, p, l)
				}
			}
		}
		d[l] = extended(uint64(*(*T)(unsafe.Add(a.mem, o))), op)
	}
	w.def[op.rows[0]] |= m
	w.b.traffic.loads(&t, n)
}

func loadShared[T element](w *warp, in *inst, m uint32) {
	op, addr, d, b := in.mem, &w.regs[in.a], &w.regs[in.mem.rows[0]], w.b
	n, size, epoch := uint64(unsafe.Sizeof(T(0))), uint64(len(b.shared)), b.epoch&(1<<24-1)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		p := addr[l] + op.off
		if p&(n-1) != 0 || p >= size || n > size-p {
			w.place(inShared, op, p, n, l, false)
		}
		if *(*T)(unsafe.Pointer(&b.sharedDef[p])) != written[T]() {
			w.unwritten(p, n, l)
		}
		if !op.strong {
			bytes := bytesOf(p, n)
			for i := p / 4; i <= (p+n-1)/4; i++ {
				if k := &b.marks[i]; k.write>>40 != epoch && k.read>>40 != epoch && k.atomic>>40 != epoch {
					k.read = w.sharedMark(l, bytes)
				} else {
					w.readShared(k, p, l, bytes)
				}
			}
		}
		d[l] = extended(uint64(*(*T)(unsafe.Pointer(&b.shared[p]))), op)
	}
	w.def[op.rows[0]] |= m
}

func storeGlobal[T element](w *warp, in *inst, m uint32) {
	op, addr, s := in.mem, &w.regs[in.a], &w.regs[in.mem.rows[0]]
	if bad := m &^ w.def[op.rows[0]]; bad != 0 {
		w.unknown(bits.TrailingZeros32(bad))
	}
	n := uint64(unsafe.Sizeof(T(0)))
	var a *alloc
	var words []globalMarks
	var t tally
	launch := w.b.l.epoch & (1<<20 - 1)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		p := addr[l] + op.off
		if at := w.within(a, op, p, n, l, true); at != a {
			a = at
			words, _ = w.marked(op, p)
		}
		o := p - a.base
		t.add(p)
		to, v := (*T)(unsafe.Add(a.mem, o)), T(s[l])
		if words != nil {
			mine := w.globalMark(bytesOf(p, n))
			for i := o / 4; i <= (o+n-1)/4; i++ {
				if k := &words[i]; k.write>>44 == launch || k.read>>44 == launch {
					w.writeGlobal(k, mine, p, l, *to == v)
				} else {
					k.write = mine
				}
			}
		}
		*to = v
		*(*T)(unsafe.Add(a.def, o)) = written[T]()
	}
	w.b.traffic.stores(&t, n)
}

func storeShared[T element](w *warp, in *inst, m uint32) {
	op, addr, s, b := in.mem, &w.regs[in.a], &w.regs[in.mem.rows[0]], w.b
	if bad := m &^ w.def[op.rows[0]]; bad != 0 {
		w.unknown(bits.TrailingZeros32(bad))
	}
	n, size, epoch := uint64(unsafe.Sizeof(T(0))), uint64(len(b.shared)), b.epoch&(1<<24-1)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		p := addr[l] + op.off
		if p&(n-1) != 0 || p >= size || n > size-p {
			w.place(inShared, op, p, n, l, true)
		}
		to, v := (*T)(unsafe.Pointer(&b.shared[p])), T(s[l])
		if !op.strong {
			bytes := bytesOf(p, n)
			for i := p / 4; i <= (p+n-1)/4; i++ {
				if k := &b.marks[i]; k.write>>40 != epoch && k.read>>40 != epoch && k.atomic>>40 != epoch {
					k.write = w.sharedMark(l, bytes)
				} else {
					w.writeShared(k, p, l, bytes, *to == v)
				}
			}
		}
		*to = v
		*(*T)(unsafe.Pointer(&b.sharedDef[p])) = written[T]()
	}
}
