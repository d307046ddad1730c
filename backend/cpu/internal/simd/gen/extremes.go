package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func extremes(e *elem) {
	extreme(e, "greatest", e.max, e.and)
	extreme(e, "smallest", e.min, e.or)
	find(e, "findEqual", "that equals v", func(x Mem, v, hit VecVirtual) { e.compare(equal, x, v, hit) })
	find(e, "findNaN", "that is NaN; v is unused", func(x Mem, v, hit VecVirtual) {
		t := e.loaded(x)
		e.compare(unordered, t, t, hit)
	})
	update(e, "updateMax", notLessEqual)
	update(e, "updateMin", notGreaterEqual)
}

// extreme finds the extreme of n elements, at least one register of them. The last register may overlap the
// one before it, which changes no extreme.
func extreme(e *elem, name string, pick, joinSigns func(...Op)) {
	function(name+e.suffix, fmt.Sprintf("func(x *%s, n int) (m %s, nan, signs uint32)", e.typ, e.typ),
		name+e.suffix+" is the extreme m of n elements, as many as a register holds or more. It says nothing about m\n"+
			"where nan is not 0, and nothing of its sign where it is 0: then signs, a bit a lane, joins those of all\n"+
			"elements. It is bound by memory; from the nearest cache, by four operations a register.")
	x, n := param("x"), param("n")
	last := GP64()
	LEAQ(Mem{Base: x, Index: n, Scale: uint8(e.size), Disp: -32}, last)
	var m, signs [4]VecVirtual
	for k := range m {
		m[k], signs[k] = e.loaded(Mem{Base: x}), e.loaded(Mem{Base: x})
	}
	nan := [2]VecVirtual{e.zero(), e.zero()}
	one := func(at Mem, k int) VecVirtual {
		v := e.loaded(at)
		pick(v, m[k], m[k])
		joinSigns(v, signs[k], signs[k])
		return v
	}
	Label("by4")
	SUBQ(U32(4*e.lanes), n)
	JL(LabelRef("after4"))
	for k := range 2 {
		a, b := one(Mem{Base: x, Disp: 64 * k}, 2*k), one(Mem{Base: x, Disp: 64*k + 32}, 2*k+1)
		e.compare(unordered, a, b, a)
		e.or(a, nan[k], nan[k])
	}
	ADDQ(U32(128), x)
	JMP(LabelRef("by4"))
	Label("after4")
	ADDQ(U32(4*e.lanes), n)
	JZ(LabelRef("done"))
	single := func(at Mem) {
		v := one(at, 0)
		e.compare(unordered, v, v, v)
		e.or(v, nan[0], nan[0])
	}
	Label("by1")
	SUBQ(U32(e.lanes), n)
	JL(LabelRef("after1"))
	single(Mem{Base: x})
	ADDQ(U32(32), x)
	JMP(LabelRef("by1"))
	Label("after1")
	single(Mem{Base: last})
	Label("done")
	e.or(nan[1], nan[0], nan[0])
	for half := 2; half > 0; half /= 2 {
		for k := range half {
			pick(m[k+half], m[k], m[k])
			joinSigns(signs[k+half], signs[k], signs[k])
		}
	}
	bits := GP32()
	e.signs(nan[0], bits)
	Store(bits, Return("nan"))
	bits = GP32()
	e.signs(signs[0], bits)
	Store(bits, Return("signs"))
	low, high := m[0].AsX(), XMM()
	VEXTRACTF128(Imm(1), m[0], high)
	pick(high, low, low)
	if e.lanes == 8 {
		VPERMILPS(Imm(0x4e), low, high)
		pick(high, low, low)
		VPERMILPS(Imm(0xb1), low, high)
	} else {
		VPERMILPD(Imm(1), low, high)
	}
	pick(high, low, low)
	Store(low, Return("m"))
	end()
}

// find searches n elements, as many as a register holds or more.
func find(e *elem, name, what string, test func(x Mem, v, hit VecVirtual)) {
	function(name+e.suffix, fmt.Sprintf("func(x *%s, n int, v %s) int", e.typ, e.typ),
		name+e.suffix+" is the first of n elements, as many as a register holds or more, "+what+"; -1 for none.")
	x, n := param("x"), param("n")
	v := e.parameter("v")
	first, last, bits, hit := GP64(), GP64(), GP32(), YMM()
	MOVQ(x, first)
	LEAQ(Mem{Base: x, Index: n, Scale: uint8(e.size), Disp: -32}, last)
	Label("loop")
	CMPQ(x, last)
	JGE(LabelRef("last"))
	test(Mem{Base: x}, v, hit)
	e.signs(hit, bits)
	TESTL(bits, bits)
	JNZ(LabelRef("found"))
	ADDQ(Imm(32), x)
	JMP(LabelRef("loop"))
	Label("last")
	MOVQ(last, x)
	test(Mem{Base: x}, v, hit)
	e.signs(hit, bits)
	TESTL(bits, bits)
	JNZ(LabelRef("found"))
	none := GP64()
	MOVQ(I32(-1), none)
	Store(none, ReturnIndex(0))
	end()
	Label("found")
	TZCNTL(bits, bits)
	SUBQ(first, x)
	SHRQ(Imm(uint64(e.shift)), x)
	ADDQ(bits.As64(), x)
	Store(x, ReturnIndex(0))
	end()
}

// update is a step of an arg-reduction of columns.
func update(e *elem, name string, beats Constant) {
	function(name+e.suffix, fmt.Sprintf("func(best *%s, at *int, keys *%s, i, n int)", e.typ, e.typ),
		name+e.suffix+" lets n keys, a multiple of a register, compete with the best of their columns; where one wins\n"+
			"at becomes i. It is bound by memory: winners are rare, and a register without one is only read.")
	best, at, keys, n := param("best"), param("at"), param("keys"), param("n")
	index := YMM()
	VPBROADCASTQ(NewParamAddr("i", 24), index)
	Label("loop")
	b, v, wins, t := e.loaded(Mem{Base: best}), e.loaded(Mem{Base: keys}), YMM(), YMM()
	e.compare(beats, b, v, wins)
	e.compare(ordered, b, b, t)
	e.and(t, wins, wins)
	bits := GP32()
	e.signs(wins, bits)
	TESTL(bits, bits)
	JZ(LabelRef("next"))
	e.blend(wins, v, b, b)
	e.move(b, Mem{Base: best})
	if e.lanes == 4 {
		VPMASKMOVQ(index, wins, Mem{Base: at})
	} else {
		VPMOVSXDQ(wins.AsX(), t)
		VPMASKMOVQ(index, t, Mem{Base: at})
		high := XMM()
		VEXTRACTF128(Imm(1), wins, high)
		VPMOVSXDQ(high, t)
		VPMASKMOVQ(index, t, Mem{Base: at, Disp: 32})
	}
	Label("next")
	ADDQ(Imm(32), best)
	ADDQ(Imm(32), keys)
	ADDQ(U32(8*e.lanes), at)
	SUBQ(U32(e.lanes), n)
	JNZ(LabelRef("loop"))
	end()
}
