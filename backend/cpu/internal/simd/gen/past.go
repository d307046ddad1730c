package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func rowsPast() {
	function("rowsPast", "func(dst, src *byte, dstRow, srcRow, lines, rows int)",
		"rowsPast copies rows of cache lines, so many bytes apart, past the caches: it is bound by memory, and does not\n"+
			"read what it overwrites. Other threads see it after a fence.")
	dst, src, dstRow, srcRow := param("dst"), param("src"), param("dstRow"), param("srcRow")
	lines, rows := param("lines"), param("rows")
	Label("row")
	at, left := GP64(), GP64()
	XORQ(at, at)
	MOVQ(lines, left)
	Label("line")
	var r [2]VecVirtual
	for k := range r {
		r[k] = YMM()
		VMOVDQU(Mem{Base: src, Index: at, Scale: 1, Disp: 32 * k}, r[k])
	}
	for k := range r {
		VMOVNTDQ(r[k], Mem{Base: dst, Index: at, Scale: 1, Disp: 32 * k})
	}
	ADDQ(Imm(64), at)
	DECQ(left)
	JNZ(LabelRef("line"))
	ADDQ(dstRow, dst)
	ADDQ(srcRow, src)
	DECQ(rows)
	JNZ(LabelRef("row"))
	end()
}

func fencePast() {
	function("fencePast", "func()", "fencePast waits for what was written past the caches.")
	SFENCE()
	RET()
}

func fetch() {
	function("fetch", "func(x *byte, lines int)",
		"fetch asks for cache lines from x on, as many as are wanted, and waits for none.")
	x, lines := param("x"), param("lines")
	Label("line")
	PREFETCHT1(Mem{Base: x})
	ADDQ(Imm(64), x)
	DECQ(lines)
	JNZ(LabelRef("line"))
	RET()
}
