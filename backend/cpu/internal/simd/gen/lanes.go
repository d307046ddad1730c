package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Registers of which a mask says which lanes there are; nil is all of them.

// firstLanes is a mask of the first n lanes of a register, of all where n is no less than they are.
func (w *wideElem) firstLanes(n GPVirtual) OpmaskVirtual {
	bits, full, mask := GP32(), GP32(), K()
	MOVL(U32(1<<(64/w.size)-1), full)
	BZHIL(n.As32(), full, bits)
	KMOVW(bits, mask)
	return mask
}

// read is a register of elements, zeros where the mask has none.
func (w *wideElem) read(from Mem, mask Op) VecVirtual {
	v := ZMM()
	w.load(from, mask, v)
	return v
}

// load is read into a register.
func (w *wideElem) load(from Mem, mask Op, v VecVirtual) {
	if mask == nil {
		w.move(from, v)
		return
	}
	w.loadZeroed(from, mask, v)
}

// write stores a register.
func (w *wideElem) write(v VecVirtual, mask Op, to Mem) {
	if mask == nil {
		w.move(v, to)
		return
	}
	w.moveMerged(v, mask, to)
}
