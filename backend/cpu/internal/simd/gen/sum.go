package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	blockSize  = 128 // as in package simd
	treeLevels = 8
	sumAhead   = 4096 // bytes that are prefetched before they are read: lines of a page gain 0.08 by it
)

func sums(e *elem) {
	sumBlock(e)
	sumTree(e)
}

// lanes8 is the eight lanes of a block: one register of float32, two of float64.
type lanes8 struct {
	e    *elem
	regs []VecVirtual
}

func newLanes8(e *elem) lanes8 {
	l := lanes8{e: e}
	for range 8 / e.lanes {
		l.regs = append(l.regs, e.zero())
	}
	return l
}

// add adds eight elements to the lanes.
func (l lanes8) add(m Mem) {
	for k, r := range l.regs {
		l.e.add(m.Offset(32*k), r, r)
	}
}

// quarter joins lane j and lane j + 4: what is left is four lanes, in an XMM register of float32, in a YMM
// register of float64.
func (l lanes8) quarter() VecVirtual {
	r := l.regs[0]
	if l.e.lanes == 4 {
		l.e.add(l.regs[1], r, r)
		return r
	}
	high := XMM()
	VEXTRACTF128(Imm(1), r, high)
	VADDPS(high, r.AsX(), r.AsX())
	return r.AsX().(VecVirtual)
}

// total joins all lanes; the sum is the first element of the register.
func (l lanes8) total() VecVirtual {
	r := l.quarter()
	other := XMM()
	if l.e.lanes == 4 {
		VEXTRACTF128(Imm(1), r, other)
		x := r.AsX().(VecVirtual)
		VADDPD(other, x, x)
		VUNPCKHPD(x, x, other)
		VADDSD(other, x, x)
		return x
	}
	VMOVHLPS(r, r, other)
	VADDPS(other, r, r)
	VMOVSHDUP(r, other)
	VADDSS(other, r, r)
	return r
}

func sumBlock(e *elem) {
	function("sumBlock"+e.suffix, fmt.Sprintf("func(x *%s, n int) %s", e.typ, e.typ),
		"sumBlock"+e.suffix+" is the sum of a block of n elements in eight lanes. It is bound by the latency\n"+
			"of addition: 4 cycles for eight elements.")
	x, n := param("x"), param("n")
	l := newLanes8(e)
	Label("loop")
	SUBQ(Imm(8), n)
	JL(LabelRef("rest"))
	l.add(Mem{Base: x})
	ADDQ(Imm(uint64(8*e.size)), x)
	JMP(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(8), n)
	JZ(LabelRef("done"))
	for k, mask := range e.tail(n, len(l.regs)) {
		v := YMM()
		e.moveMasked(Mem{Base: x, Disp: 32 * k}, mask, v)
		e.add(v, l.regs[k], l.regs[k])
	}
	Label("done")
	Store(l.total(), ReturnIndex(0))
	end()
}

func sumTree(e *elem) {
	function("sumTree"+e.suffix, fmt.Sprintf("func(x *%s, blocks int) %s", e.typ, e.typ),
		"sumTree"+e.suffix+" is the tree of 4·blocks blocks of 128 elements; blocks is a power of two, and less than 1<<"+
			fmt.Sprint(treeLevels)+".\n"+
			"The four quarters are taken side by side, each by a binary counter of its blocks: they hide the latency of\n"+
			"each other's additions, and are as many streams. One stream reaches 0.88 of what the memory gives, four all\n"+
			"of it. It is bound by two loads a cycle, then by memory.")
	x, blocks := param("x"), param("blocks")
	levels := AllocLocal(treeLevels * 4 * e.size)
	count, steps, carry, at, one, three := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(blocks, one)
	SHLQ(U8(bits.Len(blockSize-1)+e.shift), one)
	LEAQ(Mem{Base: one, Index: one, Scale: 2}, three)
	quarters := [4]Mem{{Base: x}, {Base: x, Index: one, Scale: 1}, {Base: x, Index: one, Scale: 2},
		{Base: x, Index: three, Scale: 1}}
	XORQ(count, count)
	Label("loop")
	var four [4]lanes8
	for b := range four {
		four[b] = newLanes8(e)
	}
	MOVQ(U32(blockSize/16), steps)
	Label("four")
	for _, q := range quarters {
		PREFETCHT0(q.Offset(sumAhead))
	}
	for k := range 2 {
		for b, l := range four {
			l.add(quarters[b].Offset(k * 8 * e.size))
		}
	}
	ADDQ(U32(16*e.size), x)
	DECQ(steps)
	JNZ(LabelRef("four"))
	v := totals(e, four)
	MOVQ(count, carry)
	LEAQ(levels, at)
	Label("join")
	SHRQ(Imm(1), carry)
	JCC(LabelRef("store"))
	e.add(Mem{Base: at}, v, v)
	ADDQ(U32(4*e.size), at)
	JMP(LabelRef("join"))
	Label("store")
	e.move(v, Mem{Base: at})
	INCQ(count)
	CMPQ(count, blocks)
	JLT(LabelRef("loop"))
	Store(treeOfFour(e, v), ReturnIndex(0))
	end()
}

// totals is the sums a, b, c and d of four blocks: a, b, c, d in an XMM register of float32, a, c, b, d in a YMM
// register of float64. Lane j of a block is joined with lane j + 2, then the two that are left, as in total, in the
// four blocks at once.
func totals(e *elem, four [4]lanes8) VecVirtual {
	var q [4]VecVirtual
	for b := range q {
		q[b] = four[b].quarter()
	}
	if e.lanes == 4 {
		// [a0 a1 b0 b1] + [a2 a3 b2 b3], and the same of c and d; then the even and the odd elements.
		var pairs [2]VecVirtual
		for k := range pairs {
			low, high := YMM(), YMM()
			VPERM2F128(Imm(0x20), q[2*k+1], q[2*k], low)
			VPERM2F128(Imm(0x31), q[2*k+1], q[2*k], high)
			VADDPD(high, low, low)
			pairs[k] = low
		}
		sum := YMM()
		VHADDPD(pairs[1], pairs[0], sum)
		return sum
	}
	var pairs [2]VecVirtual
	for k := range pairs {
		low, high := XMM(), XMM()
		VMOVLHPS(q[2*k+1], q[2*k], low)
		VMOVHLPS(q[2*k], q[2*k+1], high)
		VADDPS(high, low, low)
		pairs[k] = low
	}
	even, odd := XMM(), XMM()
	VSHUFPS(Imm(0x88), pairs[1], pairs[0], even)
	VSHUFPS(Imm(0xdd), pairs[1], pairs[0], odd)
	VADDPS(odd, even, even)
	return even
}

// treeOfFour is (a + b) + (c + d) of four totals, the first element of a register.
func treeOfFour(e *elem, v VecVirtual) VecVirtual {
	if e.lanes == 4 {
		high := XMM()
		VEXTRACTF128(Imm(1), v, high)
		v = v.AsX().(VecVirtual)
		VADDPD(high, v, v)
		VHADDPD(v, v, v)
		return v
	}
	VHADDPS(v, v, v)
	VHADDPS(v, v, v)
	return v
}
