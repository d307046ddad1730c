package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// streams is how many parts of a line are read side by side: one stream reaches 0.9 of what the memory gives.
const streams = 4

// line is the quarters of a line of n elements: the same number of steps of some bytes, and a rest.
type line struct {
	*wideElem
	x, n, steps, three GPVirtual
	parts              [streams]Mem
	ok                 [2]OpmaskVirtual // the lanes without a NaN so far
}

// quarters begins a walk along a line whose steps have 1<<shift bytes; n becomes the elements of the rest.
func (w *wideElem) quarters(shift int) *line {
	l := &line{wideElem: w, x: param("x"), n: param("n"), steps: GP64(), three: GP64()}
	one := GP64()
	inStep := shift - w.shift + 2 // log₂ of a step's elements in four streams
	MOVQ(l.n, l.steps)
	SHRQ(U8(inStep), l.steps)
	MOVQ(l.steps, one)
	SHLQ(U8(shift), one)
	LEAQ(Mem{Base: one, Index: one, Scale: 2}, l.three)
	l.parts = [streams]Mem{{Base: l.x}, {Base: l.x, Index: one, Scale: 1}, {Base: l.x, Index: one, Scale: 2},
		{Base: l.x, Index: l.three, Scale: 1}}
	ANDQ(U32(1<<inStep-1), l.n)
	for k := range l.ok {
		l.ok[k] = K()
		KXNORW(l.ok[k], l.ok[k], l.ok[k])
	}
	return l
}

// known lets a pair of registers have no NaN.
func (l *line) known(k int, a, b VecVirtual) { l.compare(ordered, a, b, l.ok[k], l.ok[k]) }

// storeNaN is whether there was one.
func (l *line) storeNaN() {
	KANDW(l.ok[0], l.ok[1], l.ok[0])
	bits := GP32()
	KMOVW(l.ok[0], bits)
	XORL(U32(1<<(64/l.size)-1), bits)
	Store(bits, Return("nan"))
}

// joinLanes joins the lanes of a register, half with half; the result is the first lane.
func (w *wideElem) joinLanes(v VecVirtual, join func(...Op)) VecVirtual {
	half, quarter := YMM(), XMM()
	VEXTRACTF64X4(Imm(1), v, half)
	y := v.AsY().(VecVirtual)
	join(half, y, y)
	VEXTRACTF128(Imm(1), y, quarter)
	r := y.AsX().(VecVirtual)
	join(quarter, r, r)
	VPSHUFD(Imm(0x4e), r, quarter)
	join(quarter, r, r)
	if w.size == 4 {
		VPSHUFD(Imm(0xb1), r, quarter)
		join(quarter, r, r)
	}
	return r
}

// endWide finds the extreme of a line.
func endWide(w *wideElem, name string, which U8) {
	function(name+w.suffix, fmt.Sprintf("func(x *%s, n int) (m %s, nan uint32)", w.typ, w.typ),
		name+w.suffix+" is the extreme m of n elements, one or more, for which −0 is below +0. It says nothing about m\n"+
			"where nan is not 0. It is bound by memory; from the nearest cache, by an operation and a half for 64 bytes.")
	pick := func(ops ...Op) { w.choose(append([]Op{which}, ops...)...) }
	l := w.quarters(6)
	var m, v [streams]VecVirtual
	for k := range m {
		m[k] = ZMM()
		w.broadcast(Mem{Base: l.x}, m[k])
	}
	TESTQ(l.steps, l.steps)
	JZ(LabelRef("rest"))
	Label("loop")
	for k, from := range l.parts {
		v[k] = ZMM()
		w.move(from, v[k])
		pick(v[k], m[k], m[k])
	}
	l.known(0, v[0], v[1])
	l.known(1, v[2], v[3])
	ADDQ(Imm(64), l.x)
	DECQ(l.steps)
	JNZ(LabelRef("loop"))
	ADDQ(l.three, l.x)

	Label("rest")
	TESTQ(l.n, l.n)
	JZ(LabelRef("done"))
	Label("register")
	part := ZMM()
	VMOVAPS(m[0], part)
	w.moveMerged(Mem{Base: l.x}, w.firstLanes(l.n), part)
	pick(part, m[0], m[0])
	l.known(0, part, part)
	ADDQ(Imm(64), l.x)
	SUBQ(U32(64/w.size), l.n)
	JG(LabelRef("register"))
	Label("done")
	l.storeNaN()
	pick(m[1], m[0], m[0])
	pick(m[3], m[2], m[2])
	pick(m[2], m[0], m[0])
	Store(w.joinLanes(m[0], pick), Return("m"))
	end()
}

// firstWide finds the first of a line's extremes.
func firstWide(w *wideElem, name string, pick func(...Op), beats Constant) {
	group := 4 * 64 / w.size // elements
	function(name+w.suffix, fmt.Sprintf("func(x *%s, n int) (at int, nan uint32)", w.typ),
		name+w.suffix+fmt.Sprintf(" is where the extreme of n elements, %d or more, is first. It says nothing about at\n"+
			"where nan is not 0. Registers keep the extreme of each lane and the group of four registers that it is\n"+
			"from, in which it is looked up at the end: eight operations for 256 bytes. It is bound by memory.", group))
	l := w.quarters(8)
	begin, last := GP64(), GP64()
	MOVQ(l.x, begin)
	MOVQ(NewParamAddr("n", 8), last)
	SUBQ(U32(group), last)
	var m, of [streams]VecVirtual
	for k := range m {
		m[k], of[k] = ZMM(), ZMM()
		w.broadcast(Mem{Base: begin}, m[k])
		VPXORD(of[k], of[k], of[k])
	}
	ones, row, one := ZMM(), ZMM(), ZMM()
	VPTERNLOGD(Imm(0xff), ones, ones, ones)
	VPXORD(row, row, row)
	w.intSub(ones, row, one)
	wins := K()
	compete := func(v VecVirtual, k int) {
		w.compare(beats, m[k], v, wins)
		w.moveMerged(v, wins, m[k])
		w.intMerged(row, wins, of[k])
	}
	four := func(from Mem, k int) {
		var v [4]VecVirtual
		for i := range v {
			v[i] = ZMM()
			w.move(from.Offset(64*i), v[i])
		}
		for i := 0; i < 4; i += 2 {
			l.known(i/2, v[i], v[i+1])
			pick(v[i+1], v[i], v[i])
		}
		pick(v[2], v[0], v[0])
		compete(v[0], k)
	}
	TESTQ(l.steps, l.steps)
	JZ(LabelRef("groups"))
	Label("loop")
	for k, from := range l.parts {
		four(from, k)
	}
	w.intAdd(one, row, row)
	ADDQ(U32(256), l.x)
	DECQ(l.steps)
	JNZ(LabelRef("loop"))
	ADDQ(l.three, l.x)
	// Groups are counted from the line's begin.
	quarter := ZMM()
	VMOVDQA64(row, quarter)
	for k := 1; k < streams; k++ {
		w.intAdd(row, of[k], of[k])
		w.intAdd(quarter, row, row)
	}

	Label("groups")
	SUBQ(U32(group), l.n)
	JL(LabelRef("rest"))
	four(Mem{Base: l.x}, 0)
	w.intAdd(one, row, row)
	ADDQ(U32(256), l.x)
	JMP(LabelRef("groups"))
	Label("rest")
	ADDQ(U32(group), l.n)
	JZ(LabelRef("done"))
	Label("register")
	part := ZMM()
	VMOVAPS(m[0], part)
	w.moveMerged(Mem{Base: l.x}, w.firstLanes(l.n), part)
	l.known(0, part, part)
	compete(part, 0)
	ADDQ(Imm(64), l.x)
	SUBQ(U32(64/w.size), l.n)
	JG(LabelRef("register"))

	Label("done")
	l.storeNaN()
	best, all := ZMM(), ZMM()
	pick(m[1], m[0], best)
	pick(m[2], best, best)
	pick(m[3], best, best)
	w.broadcast(w.joinLanes(best, pick), all)
	for k := range of { // the least group of those that have it
		group := ZMM()
		VMOVDQA64(ones, group)
		w.compare(equal, m[k], all, wins)
		w.intMerged(of[k], wins, group)
		of[k] = group
		if k > 0 {
			w.intMin(group, of[0], of[0])
		}
	}
	at, bits, some := GP64(), GP64(), GP64()
	w.intOne(w.joinLanes(of[0], w.intMin), at)
	SHLQ(U8(8-w.shift), at)
	CMPQ(at, last)
	CMOVQHI(last, at)
	for i := 3; i >= 0; i-- {
		w.compare(equal, Mem{Base: begin, Index: at, Scale: uint8(w.size), Disp: 64 * i}, all, wins)
		if i == 3 {
			KMOVW(wins, bits.As32())
			continue
		}
		SHLQ(U8(64/w.size), bits)
		KMOVW(wins, some.As32())
		ORQ(some, bits)
	}
	TZCNTQ(bits, bits)
	ADDQ(bits, at)
	Store(at, Return("at"))
	end()
}
