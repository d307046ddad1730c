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

// search is a walk along a line for the place of its extreme: the extreme of each lane of each stream, and the group
// that it is from.
type search struct {
	*line
	m, of          [streams]VecVirtual
	ones, row, one VecVirtual // row is the number of the group that is read
	wins           OpmaskVirtual
	pick           func(...Op)
	beats          Constant
}

// group is four registers of elements.
func (w *wideElem) group() int { return 4 * 64 / w.size }

// firstWide finds the first of a line's extremes.
func firstWide(w *wideElem, name string, pick func(...Op), beats Constant) {
	function(name+w.suffix, fmt.Sprintf("func(x *%s, n int) (at int, nan uint32)", w.typ),
		name+w.suffix+fmt.Sprintf(" is where the extreme of n elements, %d or more, is first. It says nothing about at\n"+
			"where nan is not 0. Registers keep the extreme of each lane and the group of four registers that it is\n"+
			"from, in which it is looked up at the end: eight operations for 256 bytes. It is bound by memory.", w.group()))
	s := &search{line: w.quarters(8), pick: pick, beats: beats}
	begin, last := GP64(), GP64()
	MOVQ(s.x, begin)
	MOVQ(NewParamAddr("n", 8), last)
	SUBQ(U32(w.group()), last)
	for k := range s.m {
		s.m[k], s.of[k] = ZMM(), ZMM()
		w.broadcast(Mem{Base: begin}, s.m[k])
		VPXORD(s.of[k], s.of[k], s.of[k])
	}
	s.ones, s.row, s.one = ZMM(), ZMM(), ZMM()
	VPTERNLOGD(Imm(0xff), s.ones, s.ones, s.ones)
	VPXORD(s.row, s.row, s.row)
	w.intSub(s.ones, s.row, s.one)
	s.wins = K()
	s.walk()
	s.storeNaN()
	s.place(begin, last)
	end()
}

// compete lets a register of a stream compete with the best of its lanes.
func (s *search) compete(v VecVirtual, k int) {
	s.compare(s.beats, s.m[k], v, s.wins)
	s.moveMerged(v, s.wins, s.m[k])
	s.intMerged(s.row, s.wins, s.of[k])
}

// four does a group.
func (s *search) four(from Mem, k int) {
	var v [4]VecVirtual
	for i := range v {
		v[i] = ZMM()
		s.move(from.Offset(64*i), v[i])
	}
	for i := 0; i < 4; i += 2 {
		s.known(i/2, v[i], v[i+1])
		s.pick(v[i+1], v[i], v[i])
	}
	s.pick(v[2], v[0], v[0])
	s.compete(v[0], k)
}

// walk reads the line: quarters, groups, registers.
func (s *search) walk() {
	TESTQ(s.steps, s.steps)
	JZ(LabelRef("groups"))
	Label("loop")
	for k, from := range s.parts {
		s.four(from, k)
	}
	s.intAdd(s.one, s.row, s.row)
	ADDQ(U32(256), s.x)
	DECQ(s.steps)
	JNZ(LabelRef("loop"))
	ADDQ(s.three, s.x)
	// Groups are counted from the line's begin.
	quarter := ZMM()
	VMOVDQA64(s.row, quarter)
	for k := 1; k < streams; k++ {
		s.intAdd(s.row, s.of[k], s.of[k])
		s.intAdd(quarter, s.row, s.row)
	}

	Label("groups")
	SUBQ(U32(s.group()), s.n)
	JL(LabelRef("rest"))
	s.four(Mem{Base: s.x}, 0)
	s.intAdd(s.one, s.row, s.row)
	ADDQ(U32(256), s.x)
	JMP(LabelRef("groups"))
	Label("rest")
	ADDQ(U32(s.group()), s.n)
	JZ(LabelRef("done"))
	Label("register")
	part := ZMM()
	VMOVAPS(s.m[0], part)
	s.moveMerged(Mem{Base: s.x}, s.firstLanes(s.n), part)
	s.known(0, part, part)
	s.compete(part, 0)
	ADDQ(Imm(64), s.x)
	SUBQ(U32(64/s.size), s.n)
	JG(LabelRef("register"))
	Label("done")
}

// place looks up the extreme in the first group that has it, which begins no later than at last.
func (s *search) place(begin, last GPVirtual) {
	best, all := ZMM(), ZMM()
	s.pick(s.m[1], s.m[0], best)
	s.pick(s.m[2], best, best)
	s.pick(s.m[3], best, best)
	s.broadcast(s.joinLanes(best, s.pick), all)
	for k := range s.of { // the least group of those that have it
		group := ZMM()
		VMOVDQA64(s.ones, group)
		s.compare(equal, s.m[k], all, s.wins)
		s.intMerged(s.of[k], s.wins, group)
		s.of[k] = group
		if k > 0 {
			s.intMin(group, s.of[0], s.of[0])
		}
	}
	at, bits, some := GP64(), GP64(), GP64()
	s.intOne(s.joinLanes(s.of[0], s.intMin), at)
	SHLQ(U8(8-s.shift), at)
	CMPQ(at, last)
	CMOVQHI(last, at)
	for i := 3; i >= 0; i-- {
		s.compare(equal, Mem{Base: begin, Index: at, Scale: uint8(s.size), Disp: 64 * i}, all, s.wins)
		if i == 3 {
			KMOVW(s.wins, bits.As32())
			continue
		}
		SHLQ(U8(64/s.size), bits)
		KMOVW(s.wins, some.As32())
		ORQ(some, bits)
	}
	TZCNTQ(bits, bits)
	ADDQ(bits, at)
	Store(at, Return("at"))
}
