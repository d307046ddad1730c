package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func rowLists() {
	for _, t := range indexTypes {
		rowsIn(t)
	}
	greatestWord()
}

// rowsIn needs AVX-512: its compression is an instruction for what takes the Go code some 2 ns an index.
func rowsIn(t indexType) {
	lanes := 64 / t.size
	function("rowsIn"+t.suffix,
		fmt.Sprintf("func(rows, from *uint32, v *%s, n int, wrap, lo, width %s, first uint32) int", t.typ, t.typ),
		fmt.Sprintf("rowsIn%s is rows[k] = v[j], wrap added where that is negative, and from[k] = first + j, for the k-th j < n of\n"+
			"which that is lo to lo + width - 1, and returns how many they are. n is a multiple of %d, and as many are written.\n"+
			"It is bound by some 10 operations for %d indices.", t.suffix, lanes, lanes))
	rows, from, v, n, kept := param("rows"), param("from"), param("v"), param("n"), GP64()
	wrap, lo, width, number, ahead := ZMM(), ZMM(), ZMM(), t.words(), t.words()
	t.everywhere("wrap", wrap)
	t.everywhere("lo", lo)
	t.everywhere("width", width)
	first, step := GP64(), GP64()
	Load(Param("first"), first.As32())
	VPBROADCASTD(first.As32(), number)
	VPADDD(counting("countedWords", 16, 4, 1), number, number)
	MOVL(U32(lanes), step.As32())
	VPBROADCASTD(step.As32(), ahead)
	XORQ(kept, kept)
	Label("loop")
	x, d, count := ZMM(), ZMM(), GP64()
	negative, inside := K(), K()
	VMOVDQU64(Mem{Base: v}, x)
	word := x
	if t.size == 8 {
		VPMOVQ2M(x, negative)
		VPADDQ(wrap, x, negative, x)
		VPSUBQ(lo, x, d)
		VPCMPUQ(Imm(1), width, d, inside)
		word = YMM()
		VPMOVQD(x, word)
		KMOVB(inside, count.As32())
	} else {
		VPMOVD2M(x, negative)
		VPADDD(wrap, x, negative, x)
		VPSUBD(lo, x, d)
		VPCMPUD(Imm(1), width, d, inside)
		KMOVW(inside, count.As32())
	}
	for _, list := range []struct {
		of VecVirtual
		to GPVirtual
	}{{word, rows}, {number, from}} {
		packed := t.words()
		VPCOMPRESSD_Z(list.of, inside, packed)
		VMOVDQU32(packed, Mem{Base: list.to, Index: kept, Scale: 4})
	}
	POPCNTL(count.As32(), count.As32())
	ADDQ(count, kept)
	VPADDD(ahead, number, number)
	ADDQ(Imm(64), v)
	SUBQ(Imm(uint64(lanes)), n)
	JNZ(LabelRef("loop"))
	Store(kept, ReturnIndex(0))
	end()
}

// words is a register of as many words as indices fill one.
func (t indexType) words() VecVirtual {
	if t.size == 8 {
		return YMM()
	}
	return ZMM()
}

// everywhere is a scalar parameter in every lane of 64 bytes.
func (t indexType) everywhere(name string, z VecVirtual) {
	r := GP64()
	if t.size == 8 {
		Load(Param(name), r)
		VPBROADCASTQ(r, z)
	} else {
		Load(Param(name), r.As32())
		VPBROADCASTD(r.As32(), z)
	}
}

func greatestWord() {
	function("greatestWord", "func(v *uint32, n int) uint32",
		"greatestWord is the greatest of n words, a multiple of 16 that is not 0. It is bound by the cache they are in.")
	v, n, a, b := param("v"), param("n"), YMM(), YMM()
	VPXOR(a, a, a)
	VPXOR(b, b, b)
	Label("loop")
	VPMAXUD(Mem{Base: v}, a, a)
	VPMAXUD(Mem{Base: v, Disp: 32}, b, b)
	ADDQ(Imm(64), v)
	SUBQ(Imm(16), n)
	JNZ(LabelRef("loop"))
	VPMAXUD(b, a, a)
	half := XMM()
	VEXTRACTI128(Imm(1), a, half)
	VPMAXUD(half, a.AsX(), half)
	other, r := XMM(), GP32()
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(Imm(order), half, other)
		VPMAXUD(other, half, half)
	}
	VMOVD(half, r)
	Store(r, ReturnIndex(0))
	end()
}
