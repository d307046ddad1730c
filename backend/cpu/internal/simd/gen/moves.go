package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func moves() {
	for _, e := range []*elem{float32s, float64s} {
		compress(e)
		compressWide(e)
		expand(e)
		mix(e)
		everySecond(e)
		reverse(e)
		transposeLine(e)
	}
	sumBytes()
}

// pick puts lanes of 4 bytes where indices of 4 bytes say.
func pick(lanes, from, to Op) { VPERMD(from, lanes, to) }

// lanesOf is a table of 8 bytes for every set of lanes that a bit each names: the lanes of 4 bytes to pick.
func (e *elem) lanesOf(name string, lane func(set, i int) int) Mem {
	m, words := GLOBL(name+e.suffix, RODATA|NOPTR), e.size/4
	for set := range 1 << e.lanes {
		var row uint64
		for i := range 8 {
			row |= uint64(lane(set, i/words)*words+i%words) << (8 * i)
		}
		DATA(8*set, U64(row))
	}
	return m
}

// chosen is the lane that is the i-th of a set.
func chosen(set, i int) int {
	for lane := range 8 {
		if set>>lane&1 == 1 {
			if i == 0 {
				return lane
			}
			i--
		}
	}
	return 0
}

// before is how many lanes of a set are before one.
func before(set, lane int) (n int) {
	for i := range lane {
		n += set >> i & 1
	}
	return n
}

// masked is the loop of compress and expand: a register's lanes at a time, as long as there is room for one.
type masked struct {
	e                            *elem
	y, x, mask, done, kept, rows GPVirtual
	set                          GPVirtual // of the lanes whose bytes of the mask are 1
}

func (e *elem) masked(name, doc string, table func() Mem, body func(m *masked, lanes VecVirtual)) {
	function(name+e.suffix, fmt.Sprintf("func(y, x *%s, mask *uint8, n, room int) (done, kept int)", e.typ), doc)
	m := &masked{e: e, y: param("y"), x: param("x"), mask: param("mask")}
	m.done, m.kept, m.rows, m.set = GP64(), GP64(), GP64(), GP64()
	n, room, spread, count := param("n"), param("room"), GP64(), GP64()
	LEAQ(table(), m.rows)
	MOVQ(U64(0x0102040810204080), spread) // times bytes of 0 and 1 it has one bit of each in the last
	XORQ(m.done, m.done)
	XORQ(m.kept, m.kept)
	SUBQ(Imm(uint64(e.lanes)), n)
	SUBQ(Imm(uint64(e.lanes)), room)
	Label("loop")
	CMPQ(m.done, n)
	JG(LabelRef("end"))
	CMPQ(m.kept, room)
	JG(LabelRef("end"))
	bytes := Mem{Base: m.mask, Index: m.done, Scale: 1}
	if e.lanes == 8 {
		MOVQ(bytes, m.set)
	} else {
		MOVL(bytes, m.set.As32())
	}
	IMULQ(spread, m.set)
	SHRQ(Imm(56), m.set)
	POPCNTQ(m.set, count)
	lanes := YMM()
	VPMOVZXBD(Mem{Base: m.rows, Index: m.set, Scale: 8}, lanes)
	body(m, lanes)
	ADDQ(count, m.kept)
	ADDQ(Imm(uint64(e.lanes)), m.done)
	JMP(LabelRef("loop"))
	Label("end")
	Store(m.done, ReturnIndex(0))
	Store(m.kept, ReturnIndex(1))
	end()
}

func (m *masked) at(base, index GPVirtual) Mem {
	return Mem{Base: base, Index: index, Scale: uint8(m.e.size)}
}

func compress(e *elem) {
	e.masked("compress",
		"compress"+e.suffix+" is y[kept] = x[i] for every i < n whose byte of the mask is 1, one after another, as long\n"+
			"as a register of y is within room. It is bound by memory, or by two cycles a register.",
		func() Mem { return e.lanesOf("chosenLanes", chosen) },
		func(m *masked, lanes VecVirtual) {
			v, ahead := YMM(), m.at(m.x, m.done)
			ahead.Disp = 4096
			PREFETCHT1(ahead)
			pick(lanes, m.at(m.x, m.done), v)
			e.move(v, m.at(m.y, m.kept))
		})
}

// compressWide is compress by AVX-512, which picks lanes by an instruction: a table of sets of lanes takes twice as long.
func compressWide(e *elem) {
	lanes := 2 * e.lanes
	function("compressWide"+e.suffix, fmt.Sprintf("func(y, x *%s, mask *uint8, n, room int) (done, kept int)", e.typ),
		"compressWide"+e.suffix+" is compress"+e.suffix+" by registers of 64 bytes. It is bound by memory.")
	y, x, mask, n, room := param("y"), param("x"), param("mask"), param("n"), param("room")
	done, kept, count := GP64(), GP64(), GP64()
	XORQ(done, done)
	XORQ(kept, kept)
	SUBQ(Imm(uint64(lanes)), n)
	SUBQ(Imm(uint64(lanes)), room)
	Label("loop")
	CMPQ(done, n)
	JG(LabelRef("end"))
	CMPQ(kept, room)
	JG(LabelRef("end"))
	PREFETCHT1(Mem{Base: x, Index: done, Scale: uint8(e.size), Disp: 4096})
	v, bytes, set := ZMM(), XMM(), K()
	if e.size == 4 {
		VMOVDQU(Mem{Base: mask, Index: done, Scale: 1}, bytes)
	} else {
		VMOVQ(Mem{Base: mask, Index: done, Scale: 1}, bytes)
	}
	VPTESTMB(bytes, bytes, set)
	KMOVW(set, count.As32())
	if e.size == 4 {
		VMOVUPS(Mem{Base: x, Index: done, Scale: 4}, v)
		VPCOMPRESSD_Z(v, set, v)
		VMOVUPS(v, Mem{Base: y, Index: kept, Scale: 4})
	} else {
		VMOVUPD(Mem{Base: x, Index: done, Scale: 8}, v)
		VPCOMPRESSQ_Z(v, set, v)
		VMOVUPD(v, Mem{Base: y, Index: kept, Scale: 8})
	}
	POPCNTL(count.As32(), count.As32())
	ADDQ(count, kept)
	ADDQ(Imm(uint64(lanes)), done)
	JMP(LabelRef("loop"))
	Label("end")
	Store(done, ReturnIndex(0))
	Store(kept, ReturnIndex(1))
	end()
}

func expand(e *elem) {
	e.masked("expand",
		"expand"+e.suffix+" is y[i] = x[kept] for every i < n whose byte of the mask is 1, one after another, and 0 for\n"+
			"the others, as long as a register of x is within room. It is bound by memory, or by two cycles a register.",
		func() Mem { return e.lanesOf("lanesBefore", before) },
		func(m *masked, lanes VecVirtual) {
			v, keep := YMM(), YMM()
			pick(lanes, m.at(m.x, m.kept), v)
			e.spread(Mem{Base: m.mask, Index: m.done, Scale: 1}, keep)
			e.and(keep, v, v)
			e.move(v, m.at(m.y, m.done))
		})
}

// spread makes lanes of ones of bytes that are 1, and zeros of those that are 0.
func (e *elem) spread(bytes Mem, to VecVirtual) {
	zero := YMM()
	VPXOR(zero, zero, zero)
	if e.size == 4 {
		VPMOVZXBD(bytes, to)
		VPSUBD(to, zero, to)
	} else {
		VPMOVZXBQ(bytes, to)
		VPSUBQ(to, zero, to)
	}
}

func mix(e *elem) {
	function("mix"+e.suffix, fmt.Sprintf("func(out *%s, cond *uint8, a, b *%s, n int)", e.typ, e.typ),
		fmt.Sprintf("mix%s is out = a where cond is 1, b where it is 0, element by element, for n a multiple of %d. It is\n"+
			"bound by memory.", e.suffix, 2*e.lanes))
	out, cond, a, b, n, i := param("out"), param("cond"), param("a"), param("b"), param("n"), GP64()
	XORQ(i, i)
	Label("loop")
	for k := range 2 {
		at := func(p GPVirtual) Mem { return Mem{Base: p, Index: i, Scale: uint8(e.size), Disp: 32 * k} }
		m, v := YMM(), e.loaded(at(b))
		e.spread(Mem{Base: cond, Index: i, Scale: 1, Disp: k * e.lanes}, m)
		e.blend(m, at(a), v, v)
		e.move(v, at(out))
	}
	ADDQ(Imm(uint64(2*e.lanes)), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	end()
}

func everySecond(e *elem) {
	function("everySecond"+e.suffix, fmt.Sprintf("func(out, x *%s, n int)", e.typ),
		fmt.Sprintf("everySecond%s is out[i] = x[2i] for i < n, a multiple of %d; it reads 2n elements. It is bound by memory.",
			e.suffix, e.lanes))
	out, x, n := param("out"), param("x"), param("n")
	Label("loop")
	v := e.loaded(Mem{Base: x})
	if e.size == 4 {
		VSHUFPS(Imm(0x88), Mem{Base: x, Disp: 32}, v, v)
	} else {
		VUNPCKLPD(Mem{Base: x, Disp: 32}, v, v)
	}
	VPERMPD(Imm(0xd8), v, v)
	e.move(v, Mem{Base: out})
	ADDQ(Imm(64), x)
	ADDQ(Imm(32), out)
	SUBQ(Imm(uint64(e.lanes)), n)
	JNZ(LabelRef("loop"))
	end()
}

func reverse(e *elem) {
	function("reverse"+e.suffix, fmt.Sprintf("func(out, x *%s, n int)", e.typ),
		fmt.Sprintf("reverse%s is out[i] = x[n - 1 - i] for i < n, a multiple of %d. It is bound by memory.", e.suffix, e.lanes))
	out, x, n, order := param("out"), param("x"), param("n"), YMM()
	if e.size == 4 {
		lanes := GLOBL("fromLast", RODATA|NOPTR)
		for i := range 8 {
			DATA(4*i, U32(7-i))
		}
		VMOVDQU(lanes, order)
	}
	Label("loop")
	v, at := YMM(), Mem{Base: x, Index: n, Scale: uint8(e.size), Disp: -32}
	if e.size == 4 {
		VPERMD(at, order, v)
	} else {
		VPERMQ(Imm(0x1b), at, v)
	}
	e.move(v, Mem{Base: out})
	ADDQ(Imm(32), out)
	SUBQ(Imm(uint64(e.lanes)), n)
	JNZ(LabelRef("loop"))
	end()
}

func sumBytes() {
	function("sumBytes", "func(x *byte, n int) int",
		"sumBytes is the sum of n bytes, a multiple of 128. It is bound by memory.")
	x, n, zero := param("x"), param("n"), YMM()
	VPXOR(zero, zero, zero)
	var sums [4]VecVirtual
	for k := range sums {
		sums[k] = YMM()
		VPXOR(sums[k], sums[k], sums[k])
	}
	Label("loop")
	for k, sum := range sums {
		v := YMM()
		VPSADBW(Mem{Base: x, Disp: 32 * k}, zero, v)
		VPADDQ(v, sum, sum)
	}
	PREFETCHT1(Mem{Base: x, Disp: 4096})
	PREFETCHT1(Mem{Base: x, Disp: 4096 + 64})
	ADDQ(U32(128), x)
	SUBQ(U32(128), n)
	JNZ(LabelRef("loop"))
	VPADDQ(sums[0], sums[1], sums[1])
	VPADDQ(sums[2], sums[3], sums[3])
	VPADDQ(sums[1], sums[3], sums[3])
	half, low, high := XMM(), GP64(), GP64()
	VEXTRACTI128(Imm(1), sums[3], half)
	VPADDQ(half, sums[3].AsX(), half)
	VMOVQ(half, low)
	VPEXTRQ(Imm(1), half, high)
	ADDQ(high, low)
	Store(low, ReturnIndex(0))
	end()
}

// transposeLine makes whole cache lines of dst, and writes them past the caches.
func transposeLine(e *elem) {
	function("transposeLine"+e.suffix, fmt.Sprintf("func(dst *%s, dstRow int, src *%s, srcRow, squares int)", e.typ, e.typ),
		fmt.Sprintf("transposeLine%s turns %d rows of src into columns of dst, %d columns of src a square. The rows of\n"+
			"dst are cache lines, written past the caches: it is bound by memory, and does not read what it overwrites.\n"+
			"Strides are in elements.", e.suffix, 2*e.lanes, e.lanes))
	dst, dstRow, src, srcRow := param("dst"), param("dstRow"), param("src"), param("srcRow")
	squares := param("squares")
	SHLQ(Imm(uint64(e.shift)), dstRow)
	SHLQ(Imm(uint64(e.shift)), srcRow)
	turn := turn8
	if e.lanes == 4 {
		turn = turn4
	}
	first := AllocLocal(32 * e.lanes) // first halves of lines: a line is written at once, or goes out in parts
	Label("loop")
	from := GP64()
	MOVQ(src, from)
	for half := range 2 {
		var r []VecVirtual
		for range e.lanes {
			r = append(r, e.loaded(Mem{Base: from}))
			ADDQ(srcRow, from)
		}
		for k, column := range turn(r) {
			if half == 0 {
				VMOVDQU(column, first.Offset(32*k))
				continue
			}
			before := YMM()
			VMOVDQU(first.Offset(32*k), before)
			VMOVNTDQ(before, Mem{Base: dst})
			VMOVNTDQ(column, Mem{Base: dst, Disp: 32})
			ADDQ(dstRow, dst)
		}
	}
	ADDQ(Imm(32), src)
	DECQ(squares)
	JNZ(LabelRef("loop"))
	end()
}
