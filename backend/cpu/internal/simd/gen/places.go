package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ahead is how many rows before its turn the row of a table is prefetched: some 100 ns at 10 GB/s and rows of
// 128 bytes.
const ahead = 8

// prefetched is how much of a row is; the hardware follows a longer one.
const prefetched = 1024

func places() {
	copying("gatherRows", "copies rows of a table to u", func(table, u GPVirtual) (from, to GPVirtual) { return table, u })
	copying("setRows", "copies rows of u to a table", func(table, u GPVirtual) (from, to GPVirtual) { return u, table })
	for _, e := range []*elem{float32s, float64s} {
		greater, smaller := newOrder(e, true), newOrder(e, false)
		combining(e, "addRows", "adds rows of u to", func(y, u VecVirtual) VecVirtual { e.add(u, y, y); return y })
		combining(e, "mulRows", "multiplies by rows of u", func(y, u VecVirtual) VecVirtual { e.mul(u, y, y); return y })
		combining(e, "maxRows", "takes the greater of rows of u and", greater.pair)
		combining(e, "minRows", "takes the smaller of rows of u and", smaller.pair)
	}
}

// walk is the loop over rows: row r of a table is at[r] elements of size bytes from its begin, and row from[r]
// of u step bytes from the one before.
type walk struct {
	table, u, at, from, size, step, rows, bytes GPVirtual
}

func newWalk() *walk {
	return &walk{param("table"), param("u"), param("at"), param("from"), param("size"), param("step"), param("rows"),
		param("bytes")}
}

// emit has body do a row, of as many bytes as left says.
func (w *walk) emit(body func(table, u, left GPVirtual)) {
	Label("row")
	table, u, left := GP64(), GP64(), GP64()
	CMPQ(w.rows, Imm(ahead))
	JLE(LabelRef("near"))
	MOVQ(Mem{Base: w.at, Disp: 8 * ahead}, table)
	IMULQ(w.size, table)
	ADDQ(w.table, table)
	MOVQ(U32(prefetched), left)
	CMPQ(w.bytes, left)
	CMOVQLT(w.bytes, left)
	Label("fetch")
	PREFETCHT0(Mem{Base: table})
	ADDQ(Imm(64), table)
	SUBQ(Imm(64), left)
	JG(LabelRef("fetch"))
	Label("near")
	MOVQ(Mem{Base: w.at}, table)
	IMULQ(w.size, table)
	ADDQ(w.table, table)
	MOVQ(Mem{Base: w.from}, u)
	IMULQ(w.step, u)
	ADDQ(w.u, u)
	MOVQ(w.bytes, left)
	body(table, u, left)
	Label("next")
	ADDQ(Imm(8), w.at)
	ADDQ(Imm(8), w.from)
	DECQ(w.rows)
	JNZ(LabelRef("row"))
	end()
}

// pieces has body do 128 bytes at a time, then 32; less is left.
func pieces(table, u, left GPVirtual, body func(disp int)) {
	for _, n := range []int{128, 32} {
		loop, done := fmt.Sprintf("by%d", n), fmt.Sprintf("after%d", n)
		Label(loop)
		SUBQ(U32(n), left)
		JL(LabelRef(done))
		for disp := 0; disp < n; disp += 32 {
			body(disp)
		}
		ADDQ(U32(n), table)
		ADDQ(U32(n), u)
		JMP(LabelRef(loop))
		Label(done)
		ADDQ(U32(n), left)
	}
	JZ(LabelRef("next"))
}

const walkParams = "table, u *%s, at, from *int, size, step, rows, bytes int"

func copying(name, what string, sides func(table, u GPVirtual) (from, to GPVirtual)) {
	function(name, "func("+fmt.Sprintf(walkParams, "byte")+")",
		name+" "+what+", of any type, 32 bytes or more a row. It is bound by memory; the rows of the table are\n"+
			"prefetched, since where they are is known rows ahead.")
	w := newWalk()
	w.emit(func(table, u, left GPVirtual) {
		from, to := sides(table, u)
		move := func(disp int) {
			v := YMM()
			VMOVUPS(Mem{Base: from, Disp: disp}, v)
			VMOVUPS(v, Mem{Base: to, Disp: disp})
		}
		pieces(table, u, left, move)
		ADDQ(left, from) // the last 32 bytes, some of them once more
		ADDQ(left, to)
		move(-32)
	})
}

func combining(e *elem, name, what string, body func(y, u VecVirtual) VecVirtual) {
	function(name+e.suffix, "func("+fmt.Sprintf(walkParams, e.typ)+")",
		name+e.suffix+" "+what+" rows of a table, one after another. It is bound by memory, as gatherRows is.")
	w := newWalk()
	rest := GP64()
	MOVQ(w.bytes, rest)
	ANDQ(Imm(31), rest)
	SHRQ(Imm(uint64(e.shift)), rest)
	mask := e.tail(rest, 1)[0]
	w.emit(func(table, u, left GPVirtual) {
		pieces(table, u, left, func(disp int) {
			y, v := e.loaded(Mem{Base: table, Disp: disp}), e.loaded(Mem{Base: u, Disp: disp})
			e.move(body(y, v), Mem{Base: table, Disp: disp})
		})
		y, v := YMM(), YMM()
		e.moveMasked(Mem{Base: table}, mask, y)
		e.moveMasked(Mem{Base: u}, mask, v)
		e.moveMasked(body(y, v), mask, Mem{Base: table})
	})
}
