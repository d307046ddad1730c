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

// sumLinesWide takes 16 lines, as many float32 as a register of AVX-512 has. A load of a quarter of a register into its
// place spares half of the shuffles that turn a square.
func sumLinesWide() {
	function("sumLinesWideF32", "func(y, x *[]float32, hi, r *float32, blocks int, past bool)",
		fmt.Sprintf("sumLinesWideF32 continues the cumulative sums of 16 lines by blocks of %d elements, and writes them past the\n"+
			"caches if y begins with cache lines. It is bound by memory; from a cache, by the shuffles of two turns of a square.",
			settled))
	y, x, hiAt, rAt, blocks := param("y"), param("x"), param("hi"), param("r"), param("blocks")
	past := GP32()
	Load(Param("past"), past.As8())
	hi, r := ZMM(), ZMM()
	VMOVUPS(Mem{Base: hiAt}, hi)
	VMOVUPS(Mem{Base: rAt}, r)
	var quarters [4]OpmaskVirtual
	for k := 1; k < 4; k++ {
		bits := GP32()
		quarters[k] = K()
		MOVL(U32(0xf<<(4*k)), bits)
		KMOVW(bits, quarters[k])
	}
	at, squares := GP64(), GP64()
	XORQ(at, at)
	Label("block")
	MOVQ(U32(settled/16), squares)
	Label("square")
	columns := turnedRows(x, at, quarters)
	for _, c := range columns {
		VADDPS(c, r, r)
		VADDPS(r, hi, c)
	}
	writeTurned(columns, y, at, past)
	ADDQ(Imm(64), at)
	DECQ(squares)
	JNZ(LabelRef("square"))
	sum, t, lost, whole := ZMM(), ZMM(), ZMM(), K()
	VADDPS(r, hi, sum)
	VSUBPS(hi, sum, t)
	VSUBPS(t, sum, lost)
	VSUBPS(lost, hi, lost)
	VSUBPS(t, r, t)
	VADDPS(t, lost, lost)
	VCMPPS(ordered, lost, lost, whole)
	VMOVAPS_Z(lost, whole, r)
	VMOVAPS(sum, hi)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VMOVUPS(hi, Mem{Base: hiAt})
	VMOVUPS(r, Mem{Base: rAt})
	end()
}

// turnedRows is the columns of a square of 16 rows. Register 4q+i has quarter q of rows i, i+4, i+8 and i+12 at first.
func turnedRows(x, at GPVirtual, quarters [4]OpmaskVirtual) []VecVirtual {
	v := make([]VecVirtual, 16)
	for row := range 16 {
		p := GP64()
		MOVQ(Mem{Base: x, Disp: sliceHeader * row}, p)
		for q := range 4 {
			from := Mem{Base: p, Index: at, Scale: 1, Disp: 16 * q}
			if part := row / 4; part == 0 {
				v[4*q+row] = ZMM()
				VBROADCASTF32X4(from, v[4*q+row])
			} else {
				VBROADCASTF32X4(from, quarters[part], v[4*q+row%4])
			}
		}
	}
	for q := range 4 {
		turnFours(v[4*q:][:4])
	}
	return v
}

// turnFours turns a square of four in each quarter of four registers.
func turnFours(v []VecVirtual) {
	var t [4]VecVirtual
	for k := range t {
		t[k] = ZMM()
	}
	VUNPCKLPS(v[1], v[0], t[0])
	VUNPCKHPS(v[1], v[0], t[1])
	VUNPCKLPS(v[3], v[2], t[2])
	VUNPCKHPS(v[3], v[2], t[3])
	VUNPCKLPD(t[2], t[0], v[0])
	VUNPCKHPD(t[2], t[0], v[1])
	VUNPCKLPD(t[3], t[1], v[2])
	VUNPCKHPD(t[3], t[1], v[3])
}

// writeTurned writes columns as rows.
func writeTurned(v []VecVirtual, y, at, past GPVirtual) {
	for q := range 4 {
		turnFours(v[4*q:][:4])
	}
	rows := make([]VecVirtual, 16)
	for i := range 4 { // quarters of rows i, i+4, i+8 and i+12
		low, high, lower, higher := ZMM(), ZMM(), ZMM(), ZMM()
		VSHUFF32X4(Imm(0x44), v[4+i], v[i], low)
		VSHUFF32X4(Imm(0xee), v[4+i], v[i], high)
		VSHUFF32X4(Imm(0x44), v[12+i], v[8+i], lower)
		VSHUFF32X4(Imm(0xee), v[12+i], v[8+i], higher)
		for k, pair := range [][2]VecVirtual{{low, lower}, {high, higher}} {
			for j, pick := range []Constant{Imm(0x88), Imm(0xdd)} {
				row := ZMM()
				VSHUFF32X4(pick, pair[1], pair[0], row)
				rows[8*k+4*j+i] = row
			}
		}
	}
	to := func(row int) Mem {
		p := GP64()
		MOVQ(Mem{Base: y, Disp: sliceHeader * row}, p)
		return Mem{Base: p, Index: at, Scale: 1}
	}
	TESTB(past.As8(), past.As8())
	JNZ(LabelRef("past"))
	for k, row := range rows {
		VMOVUPS(row, to(k))
	}
	JMP(LabelRef("written"))
	Label("past")
	for k, row := range rows {
		VMOVNTPS(row, to(k))
	}
	Label("written")
}

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
