package ptxsim

import (
	"math/bits"
	"unsafe"
)

type space uint8

const (
	inGeneric space = iota
	inGlobal
	inConst // lies in global memory
	inShared
	inLocal // this and the next are a thread's own
	inParam
)

// memop is what a load, a store or an atomic does with memory.
type memop struct {
	space  space
	slot   int // of the warp's cache of allocations
	size   int // bytes of one element
	rows   []int32
	off    uint64
	signed bool
	strong bool                              // volatile, relaxed, acquire or release: it may race
	lanes  func(w *warp, in *inst, m uint32) // the access lane by lane; nil for what load and store do themselves
}

// ones are the written-marks of n defined bytes.
const ones = 0x0101010101010101

// resolve finds the space of a generic address and its offset in that space.
func resolve(s space, p uint64) (space, uint64) {
	if s != inGeneric {
		return s, p
	}
	switch {
	case p-sharedBase < windowSize:
		return inShared, p - sharedBase
	case p-localBase < windowSize:
		return inLocal, p - localBase
	}
	return inGlobal, p
}

// place finds n bytes of memory for one lane: their address and that of their written-marks.
func (w *warp) place(s space, op *memop, p, n uint64, lane int, write bool) (mem, def unsafe.Pointer) {
	if p&(n-1) != 0 {
		w.fault(codeMisaligned, lane, "misaligned access of %d bytes at %#x", n, p)
	}
	b := w.b
	switch s {
	case inGlobal, inConst:
		return w.placeGlobal(op, p, n, lane, write)
	case inShared:
		if p >= uint64(len(b.shared)) || n > uint64(len(b.shared))-p {
			w.fault(codeAddress, lane, "shared access outside the block's %d bytes: %d bytes at %#x",
				len(b.shared), n, p)
		}
		return unsafe.Pointer(&b.shared[p]), unsafe.Pointer(&b.sharedDef[p])
	case inParam:
		if p < paramBase {
			break
		}
		if size := uint64(len(b.l.params)); write || p-paramBase >= size || n > size-(p-paramBase) {
			w.fault(codeAddress, lane, "access outside the kernel's parameters: %d bytes at %#x", n, p-paramBase)
		}
		return unsafe.Pointer(&b.l.params[p-paramBase]), unsafe.Pointer(&b.l.paramsDef[p-paramBase])
	}
	return w.placeFrame(p, n, lane)
}

func (w *warp) placeFrame(p, n uint64, lane int) (mem, def unsafe.Pointer) {
	size := uint64(w.k.frame)
	if p >= size || n > size-p {
		w.fault(codeAddress, lane, "local access outside the thread's %d bytes: %d bytes at %#x", size, n, p)
	}
	at := uint64(lane)*size + p
	return unsafe.Pointer(&w.frame[at]), unsafe.Pointer(&w.frameDef[at])
}

func (w *warp) placeGlobal(op *memop, p, n uint64, lane int, write bool) (mem, def unsafe.Pointer) {
	a := w.cache[op.slot]
	if a == nil || p-a.base >= a.size {
		if a = w.b.l.ctx.heap.find(p); a == nil {
			w.fault(codeAddress, lane, "global access outside any allocation: %d bytes at %#x", n, p)
		}
		w.cache[op.slot] = a
	}
	o := p - a.base
	if o >= a.size || n > a.size-o {
		w.fault(codeAddress, lane, "global access at %#x, %d bytes, is %d bytes into an allocation of %d",
			p, n, o, a.size)
	}
	if a.dead {
		w.fault(codeAddress, lane, "use of freed memory at %#x", p)
	}
	if write && a.constant {
		w.fault(codeAddress, lane, "store to constant memory at %#x", p)
	}
	return unsafe.Add(a.mem, o), unsafe.Add(a.def, o)
}

// defined reports whether n bytes have been written.
func defined(def unsafe.Pointer, n uint64) bool {
	switch n {
	case 1:
		return *(*uint8)(def) == 1
	case 2:
		return *(*uint16)(def) == ones&0xffff
	case 4:
		return *(*uint32)(def) == ones&0xffffffff
	case 8:
		return *(*uint64)(def) == ones
	}
	return *(*uint64)(def) == ones && *(*uint64)(unsafe.Add(def, 8)) == ones
}

func mark(def unsafe.Pointer, n uint64) {
	switch n {
	case 1:
		*(*uint8)(def) = 1
	case 2:
		*(*uint16)(def) = ones & 0xffff
	case 4:
		*(*uint32)(def) = ones & 0xffffffff
	case 8:
		*(*uint64)(def) = ones
	default:
		*(*uint64)(def), *(*uint64)(unsafe.Add(def, 8)) = ones, ones
	}
}

func unmark(def unsafe.Pointer, n uint64) { clear(unsafe.Slice((*byte)(def), n)) }

func fetch(mem unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(mem))
	case 2:
		return uint64(*(*uint16)(mem))
	case 4:
		return uint64(*(*uint32)(mem))
	}
	return *(*uint64)(mem)
}

func put(mem unsafe.Pointer, size int, v uint64) {
	switch size {
	case 1:
		*(*uint8)(mem) = uint8(v)
	case 2:
		*(*uint16)(mem) = uint16(v)
	case 4:
		*(*uint32)(mem) = uint32(v)
	default:
		*(*uint64)(mem) = v
	}
}

// load reads one element or a vector for each active lane. Reading bytes of global or shared memory that
// nobody wrote is a fault; bytes of a thread's own frame make the register undefined, which is a fault where
// it is used.
func load(w *warp, in *inst, m uint32) {
	op := in.mem
	w.need(in.a, m, "address")
	if op.space == inShared && w.loadSharedStreak(in, m) || w.loadStreak(in, m) || w.loadUniform(in, m) {
		return
	}
	if op.lanes != nil {
		op.lanes(w, in, m)
		return
	}
	n := uint64(op.size * len(op.rows))
	addr := &w.regs[in.a]
	var undefined uint32
	var t tally
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		s, p := resolve(op.space, addr[l]+op.off)
		mem, def := w.place(s, op, p, n, l, false)
		if !defined(def, n) {
			if s < inLocal {
				w.unwritten(p, n, l)
			}
			undefined |= 1 << l
		}
		switch s {
		case inGlobal:
			t.add(p)
			w.globalRead(op, p, n, l)
		case inShared:
			w.sharedRead(op, p, n, l)
		}
		for i, row := range op.rows {
			w.regs[row][l] = extended(fetch(unsafe.Add(mem, i*op.size), op.size), op)
		}
	}
	for _, row := range op.rows {
		w.def[row] = w.def[row]&^m | m&^undefined
	}
	w.b.traffic.loads(&t, n)
}

// extended is an element by the type's sign.
func extended(v uint64, op *memop) uint64 {
	if op.signed {
		shift := 64 - 8*op.size
		return uint64(int64(v<<shift) >> shift)
	}
	return v
}

// store is the reverse of load.
func store(w *warp, in *inst, m uint32) {
	op := in.mem
	w.need(in.a, m, "address")
	if w.storeStreak(in, m) || w.storeSharedStreak(in, m) {
		return
	}
	if op.lanes != nil {
		op.lanes(w, in, m)
		return
	}
	n := uint64(op.size * len(op.rows))
	addr := &w.regs[in.a]
	known := m
	for _, row := range op.rows {
		known &= w.def[row]
	}
	var t tally
	var vals [4]uint64
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		s, p := resolve(op.space, addr[l]+op.off)
		if known>>l&1 == 0 && s < inLocal {
			w.unknown(l)
		}
		mem, def := w.place(s, op, p, n, l, true)
		same := true // as what is there already: then writing it twice is no race
		for i, row := range op.rows {
			vals[i] = w.regs[row][l]
			same = same && (vals[i]^fetch(unsafe.Add(mem, i*op.size), op.size))<<(64-8*op.size) == 0
		}
		switch s {
		case inGlobal:
			t.add(p)
			w.globalWrite(op, p, n, l, same)
		case inShared:
			w.sharedWrite(op, p, n, l, same)
		}
		for i := range op.rows {
			put(unsafe.Add(mem, i*op.size), op.size, vals[i])
		}
		if known>>l&1 != 0 {
			mark(def, n)
		} else {
			w.markParts(op, def, l)
		}
	}
	w.b.traffic.stores(&t, n)
}

// markParts marks the elements of a vector store that are defined and unmarks the others.
func (w *warp) markParts(op *memop, def unsafe.Pointer, lane int) {
	for i, row := range op.rows {
		part := unsafe.Add(def, i*op.size)
		if w.def[row]>>lane&1 != 0 {
			mark(part, uint64(op.size))
		} else {
			unmark(part, uint64(op.size))
		}
	}
}

func (w *warp) unwritten(p, n uint64, lane int) {
	w.fault(codeUndefined, lane, "read of memory that was never written: %d bytes at %#x", n, p)
}

func (w *warp) unknown(lane int) {
	w.fault(codeUndefined, lane, "store of a register that was never written")
}

// need faults where an active lane's register was never written.
func (w *warp) need(row int32, m uint32, what string) {
	if bad := m &^ w.def[row]; bad != 0 {
		w.fault(codeUndefined, bits.TrailingZeros32(bad), "the %s is a register that was never written", what)
	}
}
