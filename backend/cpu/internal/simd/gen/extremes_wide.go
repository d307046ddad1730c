package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// extremesWide is what extremes gain by AVX-512.
func extremesWide(w *wideElem) {
	endWide(w, "greatestWide", 5)
	endWide(w, "smallestWide", 4)
	firstWide(w, "firstMaxWide", w.max, greater)
	firstWide(w, "firstMinWide", w.min, less)
	stack(w, "maxStack", "the greatest of acc and", func(v, m VecVirtual) { w.choose(U8(5), v, m, m) })
	stack(w, "minStack", "the least of acc and", func(v, m VecVirtual) { w.choose(U8(4), v, m, m) })
	updateWide(w, "updateMaxWide", notLessEqual)
	updateWide(w, "updateMinWide", notGreaterEqual)
}

// columns is some registers of columns whose best, and the number of the row where it is, stay in registers from
// row to row.
type columns struct {
	*wideElem
	best, at []VecVirtual
	open     []OpmaskVirtual // the columns without a NaN so far
}

// updateWide is steps of an arg-reduction of columns.
func updateWide(w *wideElem, name string, beats Constant) {
	function(name+w.suffix, fmt.Sprintf("func(best *%s, at *int, keys *%s, step, rows, i, n int)", w.typ, w.typ),
		name+w.suffix+" lets rows of n keys, one or more and step bytes apart, compete with the best of their columns,\n"+
			"one after another; where one wins at becomes i, and i + 1 in the next row. It is bound by memory: a register\n"+
			"is two comparisons, into masks, and two moves under them, two cycles for 64 bytes. Rows at a time spare the\n"+
			"best and at of their columns, and are as many streams, which the memory is faster by.")
	best, at, keys, n := param("best"), param("at"), param("keys"), param("n")
	inRegisters(w, n, 4, []GPVirtual{best, keys}, func(name string, registers int, mask Op) {
		w.columns(name, registers, mask, best, at, keys, beats)
		ADDQ(U32(registers*8*64/w.size), at)
	})
}

// columns emits the rows of some registers of columns, of which a mask says which there are.
func (w *wideElem) columns(name string, registers int, mask Op, best, at, keys GPVirtual, beats Constant) {
	c := columns{wideElem: w}
	none, row, one, of := ZMM(), ZMM(), ZMM(), Mem{Base: keys}
	VPTERNLOGD(Imm(0xff), none, none, none)
	for k := range registers {
		m, ok := c.read(Mem{Base: best, Disp: 64 * k}, mask), K()
		if mask == nil {
			c.compare(ordered, m, m, ok)
		} else {
			c.compare(ordered, m, m, mask, ok)
		}
		number := ZMM()
		VMOVDQA64(none, number)
		c.best, c.at, c.open = append(c.best, m), append(c.at, number), append(c.open, ok)
	}
	VPXORD(row, row, row)
	c.intSub(none, row, one)
	left, step := GP64(), param("step")
	of.Base = GP64()
	MOVQ(keys, of.Base)
	Load(Param("rows"), left)
	Label(name + "_row")
	for k, m := range c.best {
		v, wins := c.read(of.Offset(64*k), mask), K()
		c.compare(beats, m, v, c.open[k], wins)
		c.compare(ordered, v, v, c.open[k], c.open[k])
		c.moveMerged(v, wins, m)
		c.intMerged(row, wins, c.at[k])
	}
	c.intAdd(one, row, row)
	ADDQ(step, of.Base)
	DECQ(left)
	JNZ(LabelRef(name + "_row"))

	first := ZMM()
	VPBROADCASTQ(NewParamAddr("i", 40), first)
	for k, m := range c.best {
		won, next := K(), fmt.Sprintf("%s_next%d", name, k)
		c.intGreater(none, c.at[k], won)
		KORTESTW(won, won)
		JZ(LabelRef(next))
		c.moveMerged(m, won, Mem{Base: best, Disp: 64 * k})
		to := Mem{Base: at, Disp: 8 * 64 / c.size * k}
		if c.size == 8 {
			c.placed(c.at[k], first, won, to)
		} else {
			high, number := YMM(), ZMM()
			VPMOVSXDQ(c.at[k].AsY(), number)
			c.placed(number, first, won, to)
			VEXTRACTI64X4(Imm(1), c.at[k], high)
			VPMOVSXDQ(high, number)
			KSHIFTRW(Imm(8), won, won)
			c.placed(number, first, won, to.Offset(64))
		}
		Label(next)
	}
}

// placed stores numbers of rows, counted from the first.
func (c *columns) placed(number, first VecVirtual, won OpmaskVirtual, to Mem) {
	VPADDQ(first, number, number)
	VMOVDQU64(number, won, to)
}

// stack is the extremes of rows; a NaN is kept in mind, and stored as one form.
func stack(w *wideElem, name, what string, join func(v, m VecVirtual)) {
	function(name+w.suffix, fmt.Sprintf("func(acc, x *%s, step, rows, n int)", w.typ),
		name+w.suffix+" is acc = "+what+" rows of n elements, one or more and step bytes apart. It is bound by\n"+
			"memory: rows at a time spare the accumulators, and are as many streams.")
	acc, x, n := param("acc"), param("x"), param("n")
	nan := w.constant("quietNaN"+w.suffix, w.nanBits())
	inRegisters(w, n, 4, []GPVirtual{acc, x}, func(name string, registers int, mask Op) {
		var m []VecVirtual
		var ok []OpmaskVirtual
		for k := range registers {
			m, ok = append(m, w.read(Mem{Base: acc, Disp: 64 * k}, mask)), append(ok, K())
			w.compare(ordered, m[k], m[k], ok[k])
		}
		left, step, from := GP64(), param("step"), GP64()
		MOVQ(x, from)
		Load(Param("rows"), left)
		Label(name + "_row")
		for k := range m {
			v := w.read(Mem{Base: from, Disp: 64 * k}, mask)
			join(v, m[k])
			w.compare(ordered, v, v, ok[k], ok[k])
		}
		ADDQ(step, from)
		DECQ(left)
		JNZ(LabelRef(name + "_row"))
		for k, v := range m {
			KNOTW(ok[k], ok[k])
			w.broadcast(nan, ok[k], v)
			w.write(v, mask, Mem{Base: acc, Disp: 64 * k})
		}
	})
}

// inRegisters emits a body for some registers of columns at a time, and one for a register of which a mask says which
// there are, and walks n elements with it.
func inRegisters(w *wideElem, n GPVirtual, registers int, pointers []GPVirtual,
	body func(name string, registers int, mask Op)) {
	per := 64 / w.size
	Label("wide")
	SUBQ(U32(registers*per), n)
	JL(LabelRef("rest"))
	body("wide", registers, nil)
	for _, p := range pointers {
		ADDQ(U32(registers*64), p)
	}
	JMP(LabelRef("wide"))
	Label("rest")
	ADDQ(U32(registers*per), n)
	JZ(LabelRef("done"))
	Label("register")
	body("register", 1, w.firstLanes(n))
	advance(pointers...)
	SUBQ(U32(per), n)
	JG(LabelRef("register"))
	Label("done")
	end()
}
