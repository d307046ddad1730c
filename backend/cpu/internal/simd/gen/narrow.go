package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// narrowIndices reads four streams as inBounds does, and writes as many.
func narrowIndices() {
	function("narrowI64", "func(dst *uint16, v *int64, quarter int, wrap, last int64) uint32",
		"narrowI64 is dst = v for 4·quarter indices, wrap added to those that are negative, past the caches: dst is\n"+
			"aligned to 64 bytes, and a quarter a multiple of 32. It is not 0 if one of them is not from 0 to last. It is\n"+
			"bound by memory.")
	dst, v, left := param("dst"), param("v"), param("quarter")
	wrap, last := wide("wrap"), wide("last")
	dwords, words := ZMM(), ZMM()
	VMOVDQU64(counting("evenDwords", 16, 4, 2), dwords)
	VMOVDQU64(counting("evenWords", 32, 2, 2), words)
	greatest := ZMM()
	VPXORQ(greatest, greatest, greatest)
	quarter, third, quarterTo, thirdTo := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: left, Index: left, Scale: 1}, quarterTo)
	LEAQ(Mem{Base: quarterTo, Index: quarterTo, Scale: 2}, thirdTo)
	LEAQ(Mem{Base: quarterTo, Index: quarterTo, Scale: 1}, quarter)
	SHLQ(Imm(1), quarter)
	LEAQ(Mem{Base: quarter, Index: quarter, Scale: 2}, third)
	streams := func(base, quarter, third GPVirtual) []Mem {
		return []Mem{{Base: base}, {Base: base, Index: quarter, Scale: 1}, {Base: base, Index: quarter, Scale: 2},
			{Base: base, Index: third, Scale: 1}}
	}
	Label("loop")
	to := streams(dst, quarterTo, thirdTo)
	for k, from := range streams(v, quarter, third) {
		var x [4]VecVirtual
		for i := range x {
			m := from
			m.Disp = 4096 + 64*i
			PREFETCHT1(m)
			m.Disp = 64 * i
			x[i] = ZMM()
			negative := K()
			VMOVDQU64(m, x[i])
			VPMOVQ2M(x[i], negative)
			VPADDQ(wrap, x[i], negative, x[i])
			VPMAXUQ(x[i], greatest, greatest) // below -wrap they are negative, which is greater than any
		}
		VPERMT2D(x[1], dwords, x[0])
		VPERMT2D(x[3], dwords, x[2])
		VPERMT2W(x[2], words, x[0])
		VMOVNTDQ(x[0], to[k])
	}
	ADDQ(U32(256), v)
	ADDQ(Imm(64), dst)
	SUBQ(Imm(32), left)
	JNZ(LabelRef("loop"))
	outside, bits := K(), GP32()
	VPCMPUQ(Imm(6), last, greatest, outside)
	KMOVW(outside, bits)
	Store(bits, ReturnIndex(0))
	end()
}

// narrowTaker is a take by indices of 16 bits, with offsets of 32.
type narrowTaker struct{ taking }

func takeNarrow(size int) {
	k := &narrowTaker{}
	k.open(size, "U16", fmt.Sprintf("take%dU16 is take%dI64 for indices that narrowI64 made: offsets are less than 1<<31, and wrap is 0.",
		size, size))
	k.extent, k.stride, k.lane = dwords("extent"), dwords("stride"), dwords("step")
	numbers := ZMM()
	VPMOVZXBD(counting("firstBytes", 16, 1, 1), numbers)
	VPMULLD(numbers, k.lane, k.lane)
	k.emit(6, k.chunks, k.rest) // a cache line of u
}

// dwords is a parameter in all lanes of 32 bits.
func dwords(name string) VecVirtual {
	v := ZMM()
	VPBROADCASTD(param(name).As32(), v)
	return v
}

// lanes is v, or the half of it that indices of elements of 8 bytes fill.
func (k *narrowTaker) lanes(v VecVirtual) Op {
	if k.size == 4 {
		return v
	}
	return v.AsY()
}

// chunks moves cache lines of u as long as they are whole.
func (k *narrowTaker) chunks(name string, store func(VecVirtual)) {
	each := 64 / k.size
	Label(name)
	SUBQ(Imm(uint64(each)), k.left)
	JL(LabelRef(name + "End"))
	PREFETCHT0(Mem{Base: k.idx, Index: k.fetchIndex, Scale: 1})
	PREFETCHT1(Mem{Base: k.nextX})
	ADDQ(Imm(64), k.nextX)
	v, inside := ZMM(), K()
	VPMOVZXWD(Mem{Base: k.idx}, k.lanes(v))
	VPCMPUD(Imm(1), k.lanes(k.extent), k.lanes(v), inside)
	store(k.gather(v, inside))
	ADDQ(k.advance, k.x)
	ADDQ(Imm(64), k.u)
	ADDQ(Imm(uint64(2*each)), k.idx)
	JMP(LabelRef(name))
	Label(name + "End")
	ADDQ(Imm(uint64(each)), k.left)
}

// gather is the elements that the lanes of v inside name.
func (k *narrowTaker) gather(v VecVirtual, inside OpmaskVirtual) VecVirtual {
	VPMULLD(k.lanes(k.stride), k.lanes(v), k.lanes(v))
	VPADDD(k.lanes(k.lane), k.lanes(v), k.lanes(v))
	g := ZMM()
	VPXORQ(g, g, g)
	if k.size == 4 {
		VPGATHERDD(Mem{Base: k.x, Index: v, Scale: 4}, inside, g)
	} else {
		VPGATHERDQ(Mem{Base: k.x, Index: v.AsY(), Scale: 8}, inside, g)
	}
	return g
}

// rest moves what is less than a cache line, under a mask.
func (k *narrowTaker) rest() {
	TESTQ(k.left, k.left)
	JZ(LabelRef("ended"))
	ones := GP64()
	MOVQ(U32(1<<32-1), ones)
	BZHIQ(k.left, ones, ones)
	here, inside, v := K(), K(), ZMM()
	KMOVW(ones.As32(), here)
	VPMOVZXWD_Z(Mem{Base: k.idx}, here, k.lanes(v))
	VPCMPUD(Imm(1), k.lanes(k.extent), k.lanes(v), here, inside)
	g := k.gather(v, inside)
	if k.size == 4 {
		VMOVDQU32(g, here, Mem{Base: k.u})
	} else {
		VMOVDQU64(g, here, Mem{Base: k.u})
	}
	LEAQ(Mem{Base: k.u, Index: k.left, Scale: uint8(k.size)}, k.u)
	LEAQ(Mem{Base: k.idx, Index: k.left, Scale: 2}, k.idx)
	Label("ended")
}
