package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func copyPast() {
	function("copyPast", "func(dst, src *byte, n int)",
		"copyPast copies n bytes, a multiple of 64, to a cache line's begin, past the caches: it is bound by memory, and\n"+
			"does not read what it overwrites. Other threads see it after a fence.")
	dst, src, n := param("dst"), param("src"), param("n")
	Label("line")
	var r [2]VecVirtual
	for k := range r {
		r[k] = YMM()
		VMOVDQU(Mem{Base: src, Disp: 32 * k}, r[k])
	}
	for k := range r {
		VMOVNTDQ(r[k], Mem{Base: dst, Disp: 32 * k})
	}
	ADDQ(Imm(64), src)
	ADDQ(Imm(64), dst)
	SUBQ(Imm(64), n)
	JNZ(LabelRef("line"))
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
