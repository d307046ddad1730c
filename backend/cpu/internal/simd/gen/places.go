package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func places() {
	copying("gatherRows", "copies rows of a table to u", walk{fetchTable: true},
		func(table, u GPVirtual) (from, to GPVirtual) { return table, u })
	copying("setRows", "copies rows of u to a table", walk{fetchTable: true, fetchU: true},
		func(table, u GPVirtual) (from, to GPVirtual) { return u, table })
	copyingPast("gatherRowsPast", "copies rows of a table, multiples of 64 bytes, to those of u", walk{fetchTable: true},
		func(table, u GPVirtual) (from, to GPVirtual) { return table, u })
	copyingPast("setRowsPast", "copies rows of u, multiples of 64 bytes, to those of a table", walk{fetchU: true},
		func(table, u GPVirtual) (from, to GPVirtual) { return u, table })
	for _, e := range []*elem{float32s, float64s} {
		greater, smaller := newOrder(e, true), newOrder(e, false)
		combining(e, "addRows", "adds rows of u to", func(y, u VecVirtual) VecVirtual { e.add(u, y, y); return y })
		combining(e, "mulRows", "multiplies by rows of u", func(y, u VecVirtual) VecVirtual { e.mul(u, y, y); return y })
		combining(e, "maxRows", "takes the greater of rows of u and", greater.pair)
		combining(e, "minRows", "takes the smaller of rows of u and", smaller.pair)
	}
}

// walk is the loop over rows: row r of a table is at[r]·stride bytes from its begin, and row from[r] of u step
// bytes from the one before. Rows are prefetched some rows ahead: where they are is known, but not to the CPU, whose
// own fetching ends where a row does.
type walk struct {
	fetchTable, fetchU bool

	table, u, at, from, stride, step, left, bytes, ahead GPVirtual // left is minus the rows that are left
	off                                                  GPVirtual // from the begin of a row
	nextTable, nextU                                     GPVirtual
}

func (w *walk) open() {
	w.table, w.u, w.at, w.from = param("table"), param("u"), param("at"), param("from")
	w.stride, w.step, w.left, w.bytes, w.ahead = param("stride"), param("step"), param("rows"), param("bytes"), param("ahead")
	LEAQ(Mem{Base: w.at, Index: w.left, Scale: 4}, w.at)
	LEAQ(Mem{Base: w.from, Index: w.left, Scale: 4}, w.from)
	NEGQ(w.left)
}

// row is the begin of a row that the lists name at index r.
func row(first, list, r, stride GPVirtual, to GPVirtual) {
	MOVL(Mem{Base: list, Index: r, Scale: 4}, to.As32())
	IMULQ(stride, to)
	ADDQ(first, to)
}

// emit has body do 64 bytes of a row, 32 and 32, until there are less, and rest what is left.
func (w *walk) emit(body func(table, u GPVirtual, disp int), rest func(table, u GPVirtual)) {
	w.off = GP64()
	Label("row")
	table, u := GP64(), GP64()
	w.nextTable, w.nextU = GP64(), GP64()
	later := GP64()
	LEAQ(Mem{Base: w.left, Index: w.ahead, Scale: 1}, later)
	TESTQ(later, later)
	CMOVQGE(w.left, later)
	if w.fetchU {
		row(w.u, w.from, later, w.step, w.nextU)
	}
	if w.fetchTable {
		row(w.table, w.at, later, w.stride, w.nextTable)
	}
	row(w.table, w.at, w.left, w.stride, table)
	row(w.u, w.from, w.left, w.step, u)
	MOVQ(U32(64), w.off)
	CMPQ(w.off, w.bytes)
	JG(LabelRef("rest"))
	Label("line")
	w.fetch(-64)
	body(table, u, -64)
	body(table, u, -32)
	ADDQ(Imm(64), w.off)
	CMPQ(w.off, w.bytes)
	JLE(LabelRef("line"))
	Label("rest")
	SUBQ(Imm(64), w.off)
	CMPQ(w.off, w.bytes)
	JE(LabelRef("next"))
	if rest != nil {
		w.fetch(0)
		rest(table, u)
	}
	Label("next")
	INCQ(w.left)
	JNZ(LabelRef("row"))
	end()
}

// fetch prefetches a line of the row that is due later.
func (w *walk) fetch(disp int) {
	if w.fetchTable {
		PREFETCHT0(Mem{Base: w.nextTable, Index: w.off, Scale: 1, Disp: disp})
	}
	if w.fetchU {
		PREFETCHT0(Mem{Base: w.nextU, Index: w.off, Scale: 1, Disp: disp})
	}
}

const walkParams = "table, u *%s, at, from *uint32, stride, step, rows, bytes, ahead int"

func copying(name, what string, w walk, sides func(table, u GPVirtual) (from, to GPVirtual)) {
	function(name, "func("+fmt.Sprintf(walkParams, "byte")+")",
		name+" "+what+", of any type, 32 bytes or more a row. It is bound by memory; rows are prefetched, since\n"+
			"where they are is known rows ahead.")
	w.open()
	move := func(table, u, off GPVirtual, disp int) {
		from, to := sides(table, u)
		v := YMM()
		VMOVUPS(Mem{Base: from, Index: off, Scale: 1, Disp: disp}, v)
		VMOVUPS(v, Mem{Base: to, Index: off, Scale: 1, Disp: disp})
	}
	w.emit(func(table, u GPVirtual, disp int) { move(table, u, w.off, disp) }, func(table, u GPVirtual) {
		ADDQ(Imm(32), w.off)
		CMPQ(w.off, w.bytes)
		JG(LabelRef("last"))
		move(table, u, w.off, -32)
		Label("last")
		move(table, u, w.bytes, -32) // some of them once more
	})
}

// copyingPast fetches no rows of what it overwrites, since it does not read them.
func copyingPast(name, what string, w walk, sides func(table, u GPVirtual) (from, to GPVirtual)) {
	function(name, "func("+fmt.Sprintf(walkParams, "byte")+")",
		name+" "+what+", whole cache lines, past the caches: it\n"+
			"is bound by memory, and does not read what it overwrites. Other threads see it after a fence.")
	w.open()
	w.emit(func(table, u GPVirtual, disp int) {
		from, to := sides(table, u)
		v := YMM()
		VMOVUPS(Mem{Base: from, Index: w.off, Scale: 1, Disp: disp}, v)
		VMOVNTPS(v, Mem{Base: to, Index: w.off, Scale: 1, Disp: disp})
	}, nil)
}

func combining(e *elem, name, what string, body func(y, u VecVirtual) VecVirtual) {
	function(name+e.suffix, "func("+fmt.Sprintf(walkParams, e.typ)+")",
		name+e.suffix+" "+what+" rows of a table, one after another. It is bound by memory, as gatherRows is.")
	w := walk{fetchTable: true, fetchU: true}
	w.open()
	some := GP64()
	MOVQ(w.bytes, some)
	ANDQ(Imm(31), some)
	SHRQ(Imm(uint64(e.shift)), some)
	mask := e.tail(some, 1)[0]
	combine := func(table, u GPVirtual, disp int) {
		at := Mem{Base: table, Index: w.off, Scale: 1, Disp: disp}
		y, v := e.loaded(at), e.loaded(Mem{Base: u, Index: w.off, Scale: 1, Disp: disp})
		e.move(body(y, v), at)
	}
	w.emit(combine, func(table, u GPVirtual) {
		ADDQ(Imm(32), w.off)
		CMPQ(w.off, w.bytes)
		JG(LabelRef("less"))
		combine(table, u, -32)
		Label("less")
		// What is left of 32 bytes begins there; the mask is empty where nothing is.
		MOVQ(w.bytes, w.off)
		ANDQ(I32(-32), w.off)
		at := Mem{Base: table, Index: w.off, Scale: 1}
		y, v := YMM(), YMM()
		e.moveMasked(at, mask, y)
		e.moveMasked(Mem{Base: u, Index: w.off, Scale: 1}, mask, v)
		e.moveMasked(body(y, v), mask, at)
	})
}
