package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// indexType is how indices are stored. In registers they are 64 bits wide.
type indexType struct {
	suffix, typ string
	size        int
}

var indexTypes = []indexType{{"I32", "int32", 4}, {"I64", "int64", 8}}

func takes() {
	for _, t := range indexTypes {
		inBounds(t)
		for _, size := range []int{4, 8} {
			take(size, t)
		}
	}
	narrowIndices()
	takeNarrow(4)
	takeNarrow(8)
}

// inBounds reads four streams a quarter of the indices apart, and asks for what is 4 KB ahead: with one stream
// a thread reads 20 GB/s, with four 29.
func inBounds(t indexType) {
	function("inBounds"+t.suffix, fmt.Sprintf("func(v *%s, quarter int, wrap, last %s) uint32", t.typ, t.typ),
		"inBounds"+t.suffix+" is not 0 if one of 4·quarter indices is out of bounds: below 0, wrap added to those that\n"+
			"are negative, or above last. A quarter fills registers. It is bound by memory.")
	v, left := param("v"), param("quarter")
	wrap, last := t.broadcast("wrap"), t.broadcast("last")
	zero, bad := YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPXOR(bad, bad, bad)
	quarter, third := GP64(), GP64()
	MOVQ(left, quarter)
	SHLQ(Imm(uint64(map[int]int{4: 2, 8: 3}[t.size])), quarter)
	LEAQ(Mem{Base: quarter, Index: quarter, Scale: 2}, third)
	Label("loop")
	for disp := 0; disp < 64; disp += 32 {
		for _, m := range []Mem{{Base: v}, {Base: v, Index: quarter, Scale: 1}, {Base: v, Index: quarter, Scale: 2},
			{Base: v, Index: third, Scale: 1}} {
			if disp == 0 {
				ahead := m
				ahead.Disp = 4096
				PREFETCHT1(ahead)
			}
			m.Disp = disp
			x, below := YMM(), YMM()
			VMOVDQU(m, x)
			if t.size == 4 {
				VPCMPGTD(x, zero, below)
				VPAND(wrap, below, below)
				VPADDD(below, x, x)
				VPSUBD(x, last, below)
			} else {
				VPCMPGTQ(x, zero, below)
				VPAND(wrap, below, below)
				VPADDQ(below, x, x)
				VPSUBQ(x, last, below)
			}
			VPOR(x, bad, bad)
			VPOR(below, bad, bad)
		}
	}
	ADDQ(Imm(64), v)
	SUBQ(Imm(uint64(64/t.size)), left)
	JNZ(LabelRef("loop"))
	bits := GP32()
	if t.size == 4 {
		VMOVMSKPS(bad, bits)
	} else {
		VMOVMSKPD(bad, bits)
	}
	Store(bits, ReturnIndex(0))
	end()
}

// broadcast is a scalar parameter in every lane.
func (t indexType) broadcast(name string) VecVirtual {
	x, y := XMM(), YMM()
	if t.size == 4 {
		VMOVD(Load(Param(name), GP32()), x)
		VPBROADCASTD(x, y)
	} else {
		VMOVQ(param(name), x)
		VPBROADCASTQ(x, y)
	}
	return y
}

// taking is the loop over the rows of a take of elements of some bytes.
type taking struct {
	size                   int
	u, x, idx, left        GPVirtual
	advance, fetchX, nextX GPVirtual // bytes: that x goes on by in a step; from x to what is read next
	fetchIndex             GPVirtual // bytes, from an index to the one that is fetched meanwhile
	extent, stride         VecVirtual
	lane                   VecVirtual // elements that x goes on by before each lane's turn
}

// open declares a take by indices of a type.
func (k *taking) open(size int, index, doc string) {
	function(fmt.Sprintf("take%d%s", size, index),
		"func(u, x, idx *byte, n, rows, uSkip, idxSkip, wrap, extent, stride, step, fetchIndex, fetchX, past int)", doc)
	*k = taking{size: size, u: param("u"), x: param("x"), idx: param("idx"), left: GP64(),
		advance: GP64(), nextX: GP64(), fetchX: param("fetchX"), fetchIndex: param("fetchIndex")}
}

// emit has chunks move the cache lines of each row, stored one way or the other, and rest what is left of it. x goes on
// by 1<<shift steps at a time.
func (k *taking) emit(shift int, chunks func(name string, store func(VecVirtual)), rest func()) {
	n, rows, uSkip, idxSkip, first, past := param("n"), param("rows"), param("uSkip"), param("idxSkip"), GP64(), GP64()
	Load(Param("step"), k.advance)
	SHLQ(Imm(uint64(shift)), k.advance)
	MOVQ(k.x, first)
	Label("row")
	MOVQ(n, k.left)
	LEAQ(Mem{Base: k.x, Index: k.fetchX, Scale: 1}, k.nextX)
	Load(Param("past"), past)
	TESTQ(past, past)
	JZ(LabelRef("cached"))
	chunks("past", func(v VecVirtual) { VMOVNTDQ(v, Mem{Base: k.u}) })
	JMP(LabelRef("rest"))
	Label("cached")
	chunks("near", func(v VecVirtual) { VMOVDQU64(v, Mem{Base: k.u}) })
	Label("rest")
	rest()
	MOVQ(first, k.x)
	ADDQ(uSkip, k.u)
	ADDQ(idxSkip, k.idx)
	DECQ(rows)
	JNZ(LabelRef("row"))
	end()
}

// taker is a take by indices as they are stored, with offsets of 64 bits.
type taker struct {
	taking
	index indexType
	wrap  VecVirtual
}

func take(size int, t indexType) {
	k := &taker{index: t}
	k.open(size, t.suffix,
		fmt.Sprintf("take%d%s is u[r, j] = x[v·stride + j·step] for v = idx[r, j], with wrap added where it is negative, for\n"+
			"elements of %d bytes; what a v that is no less than extent names is not read. Skips are bytes from the end of\n"+
			"a row to the next, fetches how far ahead bytes are asked for. Where past is not 0 u is aligned to 64 bytes\n"+
			"and written past the caches, and a fence is to follow. It is bound by memory, or by a load an element in a\n"+
			"cache.", size, t.suffix, size))
	k.wrap, k.extent, k.stride, k.lane = wide("wrap"), wide("extent"), wide("stride"), wide("step")
	VPMULUDQ(counting("numbered", 8, 8, 1), k.lane, k.lane)
	k.emit(map[int]int{4: 5, 8: 6}[size], k.chunks, k.rest) // 8 elements
}

// wide is a parameter in all lanes of 64 bits.
func wide(name string) VecVirtual {
	v := ZMM()
	VPBROADCASTQ(param(name), v)
	return v
}

// chunks moves cache lines of u as long as they are whole.
func (k *taker) chunks(name string, store func(VecVirtual)) {
	each := 64 / k.size
	Label(name)
	SUBQ(Imm(uint64(each)), k.left)
	JL(LabelRef(name + "End"))
	PREFETCHT0(Mem{Base: k.idx, Index: k.fetchIndex, Scale: 1})
	if each*k.index.size > 64 {
		PREFETCHT0(Mem{Base: k.idx, Index: k.fetchIndex, Scale: 1, Disp: 64})
	}
	PREFETCHT1(Mem{Base: k.nextX})
	ADDQ(Imm(64), k.nextX)
	all := ZMM()
	var first VecVirtual
	for done := 0; done < each; done += 8 {
		v, inside := ZMM(), K()
		at := Mem{Base: k.idx, Disp: done * k.index.size}
		if k.index.size == 4 {
			VPMOVSXDQ(at, v)
		} else {
			VMOVDQU64(at, v)
		}
		k.offsets(v)
		VPCMPUQ(Imm(1), k.extent, v, inside)
		g := k.gather(v, inside)
		switch {
		case each == 8:
			all = g
		case done == 0:
			first = g
		default:
			VINSERTI64X4(Imm(1), g, first.AsZ(), all)
		}
		ADDQ(k.advance, k.x)
	}
	store(all)
	ADDQ(Imm(64), k.u)
	ADDQ(U32(each*k.index.size), k.idx)
	JMP(LabelRef(name))
	Label(name + "End")
	ADDQ(Imm(uint64(each)), k.left)
}

// offsets adds wrap to negative lanes of v.
func (k *taker) offsets(v VecVirtual) {
	negative := K()
	VPMOVQ2M(v, negative)
	VPADDQ(k.wrap, v, negative, v)
}

// gather is the elements that the lanes of v inside name.
func (k *taker) gather(v VecVirtual, inside OpmaskVirtual) VecVirtual {
	VPMULUDQ(k.stride, v, v)
	VPADDQ(k.lane, v, v)
	at := Mem{Base: k.x, Index: v, Scale: uint8(k.size)}
	if k.size == 4 {
		g := YMM()
		VPXOR(g, g, g)
		VPGATHERQD(at, inside, g)
		return g
	}
	g := ZMM()
	VPXORQ(g, g, g)
	VPGATHERQQ(at, inside, g)
	return g
}

// rest moves eight elements and less at a time, under a mask.
func (k *taker) rest() {
	Label("more")
	TESTQ(k.left, k.left)
	JLE(LabelRef("ended"))
	some, ones := GP64(), GP64()
	MOVQ(U32(8), some)
	CMPQ(k.left, some)
	CMOVQLT(k.left, some)
	MOVQ(U32(1<<32-1), ones)
	BZHIQ(some, ones, ones)
	here, inside, v := K(), K(), ZMM()
	KMOVW(ones.As32(), here)
	if k.index.size == 4 {
		VPMOVSXDQ_Z(Mem{Base: k.idx}, here, v)
	} else {
		VMOVDQU64_Z(Mem{Base: k.idx}, here, v)
	}
	k.offsets(v)
	VPCMPUQ(Imm(1), k.extent, v, here, inside)
	g := k.gather(v, inside)
	if k.size == 4 {
		VMOVDQU32(g, here, Mem{Base: k.u})
	} else {
		VMOVDQU64(g, here, Mem{Base: k.u})
	}
	ADDQ(k.advance, k.x)
	LEAQ(Mem{Base: k.u, Index: some, Scale: uint8(k.size)}, k.u)
	LEAQ(Mem{Base: k.idx, Index: some, Scale: uint8(k.index.size)}, k.idx)
	SUBQ(some, k.left)
	JMP(LabelRef("more"))
	Label("ended")
}
