package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const tileRows = 6

func products(e *elem) {
	for rows := 1; rows <= tileRows; rows++ {
		gemm(e, rows)
	}
	transpose(e, e.lanes)
	transpose(e, map[int]int{8: 6, 4: 2}[e.lanes]) // what the rows of a tile leave
}

// gemm is a tile of a matrix product: 12 sums of six rows, so that the fused operations of two ports, each 4
// cycles long, have enough that is independent. Fewer rows are for the lower edge.
func gemm(e *elem, rows int) {
	name := fmt.Sprintf("gemm%d%s", rows, e.suffix)
	function(name, fmt.Sprintf("func(c *%s, cRow int, a *%s, aRow, aCol int, b *%s, bRow, depth, add int)", e.typ,
		e.typ, e.typ),
		fmt.Sprintf("%s multiplies %d rows of a by %d columns of b, in order and with one rounding for each product and\n"+
			"sum, and stores the sums in c or, where add is not 0, adds them to c. Strides are in elements; those of\n"+
			"columns of b and c are 1. It is bound by two fused multiply-adds a cycle.", name, rows, 2*e.lanes))
	c, cRow, a, aRow, aCol := param("c"), param("cRow"), param("a"), param("aRow"), param("aCol")
	b, bRow, depth := param("b"), param("bRow"), param("depth")
	for _, stride := range []GPVirtual{cRow, aRow, aCol, bRow} {
		SHLQ(Imm(uint64(e.shift)), stride)
	}
	lower := GP64() // row 3 of a
	LEAQ(Mem{Base: a, Index: aRow, Scale: 2}, lower)
	ADDQ(aRow, lower)
	var sums [tileRows][2]VecVirtual
	for i := range rows {
		sums[i] = [2]VecVirtual{e.zero(), e.zero()}
	}
	element := func(i int) Mem {
		base := []GPVirtual{a, lower}[i/3]
		if i%3 == 0 {
			return Mem{Base: base}
		}
		return Mem{Base: base, Index: aRow, Scale: uint8(i % 3)}
	}
	row := [2]VecVirtual{YMM(), YMM()}
	Label("loop")
	for j, r := range row {
		e.move(Mem{Base: b, Disp: 32 * j}, r)
	}
	for i := range rows {
		x := YMM()
		e.broadcast(element(i), x)
		for j, r := range row {
			e.fma(r, x, sums[i][j])
		}
	}
	ADDQ(aCol, a)
	ADDQ(aCol, lower)
	ADDQ(bRow, b)
	DECQ(depth)
	JNZ(LabelRef("loop"))
	add := param("add")
	TESTQ(add, add)
	JZ(LabelRef("store"))
	at := GP64()
	MOVQ(c, at)
	for i := range rows {
		for j := range row {
			e.add(Mem{Base: at, Disp: 32 * j}, sums[i][j], sums[i][j])
		}
		ADDQ(cRow, at)
	}
	Label("store")
	for i := range rows {
		for j := range row {
			e.move(sums[i][j], Mem{Base: c, Disp: 32 * j})
		}
		ADDQ(cRow, c)
	}
	end()
}

// transpose turns rows into columns, a square of a register's elements at a time.
func transpose(e *elem, rows int) {
	name := fmt.Sprintf("transpose%d%s", rows, e.suffix)
	function(name, fmt.Sprintf("func(dst *%s, dstRow int, src *%s, srcRow, squares int)", e.typ, e.typ),
		fmt.Sprintf("%s turns squares of %d rows of src, side by side, into columns of dst, one below the other.\n"+
			"Columns that src has no row for are set to 0. Strides are in elements.", name, rows))
	dst, dstRow, src, srcRow := param("dst"), param("dstRow"), param("src"), param("srcRow")
	squares := param("squares")
	SHLQ(Imm(uint64(e.shift)), dstRow)
	SHLQ(Imm(uint64(e.shift)), srcRow)
	Label("loop")
	at := GP64()
	MOVQ(src, at)
	var r []VecVirtual
	for i := range e.lanes {
		if i < rows {
			r = append(r, e.loaded(Mem{Base: at}))
			ADDQ(srcRow, at)
		} else {
			r = append(r, e.zero())
		}
	}
	turn := turn8
	if e.lanes == 4 {
		turn = turn4
	}
	for _, column := range turn(r) {
		e.move(column, Mem{Base: dst})
		ADDQ(dstRow, dst)
	}
	ADDQ(Imm(32), src)
	DECQ(squares)
	JNZ(LabelRef("loop"))
	end()
}

func into(f func(...Op), ops ...Op) VecVirtual {
	r := YMM()
	f(append(ops, r)...)
	return r
}

func halves(i uint64, b, a VecVirtual) VecVirtual {
	r := YMM()
	VPERM2F128(Imm(i), b, a, r)
	return r
}

func turn4(r []VecVirtual) []VecVirtual {
	a, b := into(VUNPCKLPD, r[1], r[0]), into(VUNPCKHPD, r[1], r[0])
	c, d := into(VUNPCKLPD, r[3], r[2]), into(VUNPCKHPD, r[3], r[2])
	return []VecVirtual{halves(0x20, c, a), halves(0x20, d, b), halves(0x31, c, a), halves(0x31, d, b)}
}

func turn8(r []VecVirtual) []VecVirtual {
	var t, q [8]VecVirtual
	for i := 0; i < 8; i += 2 {
		t[i], t[i+1] = into(VUNPCKLPS, r[i+1], r[i]), into(VUNPCKHPS, r[i+1], r[i])
	}
	for i := 0; i < 8; i += 4 {
		for k := range 2 {
			q[i+2*k] = into(VSHUFPS, Imm(0x44), t[i+2+k], t[i+k])
			q[i+2*k+1] = into(VSHUFPS, Imm(0xee), t[i+2+k], t[i+k])
		}
	}
	var out []VecVirtual
	for _, half := range []uint64{0x20, 0x31} {
		for k := range 4 {
			out = append(out, halves(half, q[k+4], q[k]))
		}
	}
	return out
}
