package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pieces gathers the registers of a strip. A register of most strips comes from one place, at the end of a line from
// two, and then a second load is blended into the first.
func pieces(e *elem) {
	name := "pieces" + e.suffix
	function(name, fmt.Sprintf("func(dst, src *%s, from, dstRow, srcRow, rows int, pieces *byte, n int)", e.typ),
		name+" does n pieces, each for a number of rows. It is bound by loads of 64 bytes that straddle two lines, and\n"+
			"by a store for each.")
	dst, src, from := param("dst"), param("src"), param("from")
	dstRow, srcRow, rows := param("dstRow"), param("srcRow"), param("rows")
	piece, n := param("pieces"), param("n")
	LEAQ(Mem{Base: src, Index: from, Scale: uint8(e.size)}, src)
	SHLQ(Imm(uint64(e.shift)), dstRow)
	SHLQ(Imm(uint64(e.shift)), srcRow)
	at, rest, to, left := GP64(), GP64(), GP64(), GP64()
	of, more, into, v := K(), K(), K(), ZMM()
	moveZ := map[int]func(from, mask, to Op){4: VMOVUPS_Z, 8: VMOVUPD_Z}[e.size]
	Label("piece")
	for k, p := range []GPVirtual{at, rest} {
		MOVQ(Mem{Base: piece, Disp: 8 * k}, p)
		LEAQ(Mem{Base: src, Index: p, Scale: uint8(e.size)}, p)
	}
	MOVLQSX(Mem{Base: piece, Disp: 16}, to)
	LEAQ(Mem{Base: dst, Index: to, Scale: uint8(e.size)}, to)
	for k, m := range []OpmaskVirtual{of, more, into} {
		KMOVW(Mem{Base: piece, Disp: 20 + 2*k}, m)
	}
	MOVQ(rows, left)
	CMPW(Mem{Base: piece, Disp: 22}, Imm(0))
	JE(LabelRef("one"))
	for _, loop := range []string{"two", "one"} {
		Label(loop)
		moveZ(Mem{Base: at}, of, v)
		ADDQ(srcRow, at)
		if loop == "two" {
			e.move(Mem{Base: rest}, more, v)
			ADDQ(srcRow, rest)
		}
		e.move(v, into, Mem{Base: to})
		ADDQ(dstRow, to)
		DECQ(left)
		JNZ(LabelRef(loop))
		if loop == "two" {
			JMP(LabelRef("next"))
		}
	}
	Label("next")
	ADDQ(Imm(32), piece)
	DECQ(n)
	JNZ(LabelRef("piece"))
	end()
}
