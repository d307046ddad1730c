package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tile is the form of a tile: its rows, and two registers of columns.
type tile struct {
	name     string
	rows     int
	register func() VecVirtual
	bytes    int // of a register
	fetch    bool
}

// apart is how far apart the columns of a packed a are: what Tile.Apart says.
func (t tile) apart() int { return max(t.rows, 8) }

// The tiles: 12 or 24 sums, so that the fused operations of two ports, each 4 cycles long, have enough that is
// independent, and few loads for each. A register of 64 bytes goes with 32 registers.
var tiles = []tile{
	{name: "gemm", rows: 6, register: YMM, bytes: 32},
	{name: "gemmWide", rows: 12, register: ZMM, bytes: 64, fetch: true},
}

func products(e *elem) {
	for _, t := range tiles {
		for rows := 1; rows <= t.rows; rows++ {
			gemm(e, t, rows)
		}
		gemmPacked(e, t)
	}
	transpose(e, e.lanes)
	transpose(e, map[int]int{8: 6, 4: 2}[e.lanes]) // what the rows of a tile leave
	if e.lanes == 8 {
		transposeFour(e)
	}
}

// gemm is a tile of a matrix product. Fewer rows than the tile has are for the lower edge.
func gemm(e *elem, t tile, rows int) {
	name := fmt.Sprintf("%s%d%s", t.name, rows, e.suffix)
	function(name, fmt.Sprintf("func(c *%s, cRow int, a *%s, aRow, aCol int, b *%s, bRow, depth, add int)", e.typ,
		e.typ, e.typ),
		fmt.Sprintf("%s multiplies %d rows of a by %d columns of b, in order and with one rounding for each product and\n"+
			"sum, and stores the sums in c or, where add is not 0, adds them to c. Strides are in elements; those of\n"+
			"columns of b and c are 1. It is bound by two fused multiply-adds a cycle.", name, rows, 2*t.bytes/e.size))
	c, cRow, a, aRow, aCol := param("c"), param("cRow"), param("a"), param("aRow"), param("aCol")
	b, bRow, depth := param("b"), param("bRow"), param("depth")
	for _, stride := range []GPVirtual{cRow, aRow, aCol, bRow} {
		SHLQ(Imm(uint64(e.shift)), stride)
	}
	three := GP64()
	LEAQ(Mem{Base: aRow, Index: aRow, Scale: 2}, three)
	thirds := []GPVirtual{a} // rows 0, 3, 6, … of a
	for k := 1; k < (rows+2)/3; k++ {
		at := GP64()
		LEAQ(Mem{Base: thirds[k-1], Index: three, Scale: 1}, at)
		thirds = append(thirds, at)
	}
	sums := t.begin(e, c, cRow, rows)
	element := func(i int) Mem {
		if i%3 == 0 {
			return Mem{Base: thirds[i/3]}
		}
		return Mem{Base: thirds[i/3], Index: aRow, Scale: uint8(i % 3)}
	}
	row := [2]VecVirtual{t.register(), t.register()}
	Label("loop")
	for j, r := range row {
		e.move(Mem{Base: b, Disp: t.bytes * j}, r)
	}
	for i := range rows {
		x := t.register()
		e.broadcast(element(i), x)
		for j, r := range row {
			e.fma(r, x, sums[i][j])
		}
	}
	for _, at := range thirds {
		ADDQ(aCol, at)
	}
	ADDQ(bRow, b)
	DECQ(depth)
	JNZ(LabelRef("loop"))
	t.store(e, c, cRow, sums)
	end()
}

// begin fetches the rows of c and makes the sums zero.
func (t tile) begin(e *elem, c, cRow GPVirtual, rows int) [][2]VecVirtual {
	if t.fetch {
		at := GP64()
		MOVQ(c, at)
		for range rows {
			PREFETCHT0(Mem{Base: at})
			PREFETCHT0(Mem{Base: at, Disp: 2*t.bytes - 1})
			ADDQ(cRow, at)
		}
	}
	sums := make([][2]VecVirtual, rows)
	for i := range sums {
		for j := range sums[i] {
			r := t.register()
			e.xor(r, r, r)
			sums[i][j] = r
		}
	}
	return sums
}

// store stores the sums in c, or adds them to it, and leaves c at the row below.
func (t tile) store(e *elem, c, cRow GPVirtual, sums [][2]VecVirtual) {
	add := param("add")
	TESTQ(add, add)
	JZ(LabelRef("store"))
	at := GP64()
	MOVQ(c, at)
	for i := range sums {
		for j := range sums[i] {
			e.add(Mem{Base: at, Disp: t.bytes * j}, sums[i][j], sums[i][j])
		}
		ADDQ(cRow, at)
	}
	Label("store")
	for i := range sums {
		for j := range sums[i] {
			e.move(sums[i][j], Mem{Base: c, Disp: t.bytes * j})
		}
		ADDQ(cRow, c)
	}
}

// gemmPacked is whole tiles of packed operands, one below the other: without strides there is little to count beside
// the fused operations, which share their ports with it.
func gemmPacked(e *elem, t tile) {
	name := t.name + "Packed" + e.suffix
	function(name, fmt.Sprintf("func(c *%s, cRow int, a, b *%s, depth, add, panels int)", e.typ, e.typ),
		fmt.Sprintf("%s is %s%d%s of packed operands, for panels of a one after another and the rows of c below each other:\n"+
			"columns of a panel are %d elements apart, rows of b %d. It is bound by two fused multiply-adds a cycle.",
			name, t.name, t.rows, e.suffix, t.apart(), 2*t.bytes/e.size))
	c, cRow, a, panels := param("c"), param("cRow"), param("a"), param("panels")
	SHLQ(Imm(uint64(e.shift)), cRow)
	Label("panel")
	b, depth := param("b"), param("depth")
	sums := t.begin(e, c, cRow, t.rows)
	const unroll = 4
	for _, u := range []int{unroll, 1} {
		loop, done := fmt.Sprintf("by%d", u), fmt.Sprintf("after%d", u)
		SUBQ(Imm(uint64(u)), depth)
		JL(LabelRef(done))
		Label(loop)
		for k := range u {
			var row [2]VecVirtual
			for j := range row {
				row[j] = t.register()
				e.move(Mem{Base: b, Disp: t.bytes * (2*k + j)}, row[j])
			}
			for i := range sums {
				x := t.register()
				e.broadcast(Mem{Base: a, Disp: e.size * (k*t.apart() + i)}, x)
				for j, r := range row {
					e.fma(r, x, sums[i][j])
				}
			}
		}
		ADDQ(U32(u*t.apart()*e.size), a)
		ADDQ(U32(u*2*t.bytes), b)
		SUBQ(Imm(uint64(u)), depth)
		JGE(LabelRef(loop))
		Label(done)
		ADDQ(Imm(uint64(u)), depth)
	}
	t.store(e, c, cRow, sums)
	DECQ(panels)
	JNZ(LabelRef("panel"))
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

// transposeFour is a third of the rows of a wide tile, which leave no room for more than they are.
func transposeFour(e *elem) {
	function("transposeFour"+e.suffix, fmt.Sprintf("func(dst *%s, dstRow int, src *%s, srcRow, squares int)", e.typ, e.typ),
		"transposeFour"+e.suffix+" turns four rows of src into columns of dst, eight elements of each a square.\n"+
			"Strides are in elements.")
	dst, dstRow, src, srcRow := param("dst"), param("dstRow"), param("src"), param("srcRow")
	squares := param("squares")
	SHLQ(Imm(uint64(e.shift)), dstRow)
	SHLQ(Imm(uint64(e.shift)), srcRow)
	third := GP64()
	LEAQ(Mem{Base: srcRow, Index: srcRow, Scale: 2}, third)
	Label("loop")
	r := []VecVirtual{
		e.loaded(Mem{Base: src}), e.loaded(Mem{Base: src, Index: srcRow, Scale: 1}),
		e.loaded(Mem{Base: src, Index: srcRow, Scale: 2}), e.loaded(Mem{Base: src, Index: third, Scale: 1}),
	}
	a, b := into(VUNPCKLPS, r[1], r[0]), into(VUNPCKHPS, r[1], r[0])
	c, d := into(VUNPCKLPS, r[3], r[2]), into(VUNPCKHPS, r[3], r[2])
	columns := []VecVirtual{
		into(VUNPCKLPD, c, a), into(VUNPCKHPD, c, a), into(VUNPCKLPD, d, b), into(VUNPCKHPD, d, b),
	}
	for _, v := range columns {
		VMOVUPS(v.AsX(), Mem{Base: dst})
		ADDQ(dstRow, dst)
	}
	for _, v := range columns {
		VEXTRACTF128(Imm(1), v, Mem{Base: dst})
		ADDQ(dstRow, dst)
	}
	ADDQ(Imm(32), src)
	DECQ(squares)
	JNZ(LabelRef("loop"))
	end()
}
