package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	settled     = 32  // as in package simd
	linesAhead  = 512 // bytes that are prefetched before they are read
	sliceHeader = 24
)

// sumLines is the cumulative sums of as many lines as a register has elements.
func sumLines(e *elem) {
	function("sumLines"+e.suffix, fmt.Sprintf("func(y, x *[]%s, hi, r *%s, blocks int)", e.typ, e.typ),
		fmt.Sprintf("sumLines%s continues the cumulative sums of %d lines by blocks of %d elements. A square of elements is\n"+
			"turned, so that a register holds one of each line, and its sums are turned back: it is bound by the\n"+
			"shuffles of both, then by memory.", e.suffix, e.lanes, settled))
	y, x, hiAt, rAt, blocks := param("y"), param("x"), param("hi"), param("r"), param("blocks")
	hi, r := e.loaded(Mem{Base: hiAt}), e.loaded(Mem{Base: rAt})
	at, squares := GP64(), GP64()
	XORQ(at, at)
	Label("block")
	MOVQ(U32(settled/e.lanes), squares)
	Label("square")
	turn := turn8
	if e.lanes == 4 {
		turn = turn4
	}
	rows := make([]VecVirtual, e.lanes)
	for i := range rows {
		p := GP64()
		MOVQ(Mem{Base: x, Disp: sliceHeader * i}, p)
		rows[i] = e.loaded(Mem{Base: p, Index: at, Scale: 1})
		PREFETCHT0(Mem{Base: p, Index: at, Scale: 1, Disp: linesAhead})
	}
	columns := turn(rows)
	for _, c := range columns {
		e.add(c, r, r)
		e.add(r, hi, c)
	}
	for i, row := range turn(columns) {
		p := GP64()
		MOVQ(Mem{Base: y, Disp: sliceHeader * i}, p)
		e.move(row, Mem{Base: p, Index: at, Scale: 1})
	}
	ADDQ(Imm(32), at)
	DECQ(squares)
	JNZ(LabelRef("square"))
	sum, t, lost := YMM(), YMM(), YMM()
	e.add(r, hi, sum)
	e.sub(hi, sum, t)
	e.sub(t, sum, lost)
	e.sub(lost, hi, lost)
	e.sub(t, r, t)
	e.add(t, lost, lost)
	e.compare(ordered, lost, lost, t)
	e.and(t, lost, r)
	e.move(sum, hi)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	e.move(hi, Mem{Base: hiAt})
	e.move(r, Mem{Base: rAt})
	end()
}
