package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// compares emits the comparisons of floats: a bool is a byte, 1 where it is true.
func compares(e *elem) {
	for _, c := range []struct {
		name, formula string
		predicate     U8
	}{{"less", "a < b", less}, {"lessEqual", "a <= b", lessEqual}, {"equal", "a == b", equal}, {"notEqual", "a != b", notEqual}} {
		function(c.name+e.suffix, fmt.Sprintf("func(out *bool, a, b *%s, n int)", e.typ),
			fmt.Sprintf("%s%s is out = %s, element by element, for n a multiple of %d. The bits of a comparison are spread over\n"+
				"bytes. It is bound by that, or by bytes.", c.name, e.suffix, c.formula, e.lanes))
		out, a, b, n, ones := param("out"), param("a"), param("b"), param("n"), GP64()
		MOVQ(U64(0x0101010101010101), ones)
		body := func(k int) {
			v, bits := YMM(), GP64()
			e.move(Mem{Base: a, Disp: 32 * k}, v)
			e.compare(c.predicate, Mem{Base: b, Disp: 32 * k}, v, v)
			e.signs(v, bits.As32())
			PDEPQ(ones, bits, bits)
			if to := (Mem{Base: out, Disp: e.lanes * k}); e.lanes == 8 {
				MOVQ(bits, to)
			} else {
				MOVL(bits.As32(), to)
			}
		}
		byRegisters(n, e.lanes, body, func(k int) {
			ADDQ(Imm(uint64(32*k)), a)
			ADDQ(Imm(uint64(32*k)), b)
			ADDQ(Imm(uint64(e.lanes*k)), out)
		})
		end()
	}
}

// byRegisters is the loop of a kernel on n elements, a multiple of lanes: by four registers, then by one.
func byRegisters(n GPVirtual, lanes int, body, advance func(k int)) {
	for _, u := range []int{4, 1} {
		loop, done := fmt.Sprintf("by%d", u), fmt.Sprintf("after%d", u)
		Label(loop)
		SUBQ(Imm(uint64(u*lanes)), n)
		JL(LabelRef(done))
		for k := range u {
			body(k)
		}
		advance(u)
		JMP(LabelRef(loop))
		Label(done)
		ADDQ(Imm(uint64(u*lanes)), n)
	}
}

// roundings emits the conversions to float32 of the integers that int32 holds.
func roundings() {
	for _, c := range []struct {
		typ   string
		bytes int
		widen func(from, to Op)
	}{
		{"uint8", 1, func(from, to Op) { VPMOVZXBD(from, to) }}, {"int8", 1, func(from, to Op) { VPMOVSXBD(from, to) }},
		{"uint16", 2, func(from, to Op) { VPMOVZXWD(from, to) }}, {"int16", 2, func(from, to Op) { VPMOVSXWD(from, to) }},
		{"int32", 4, func(from, to Op) { VMOVDQU(from, to) }},
	} {
		function(c.typ+"ToF32", fmt.Sprintf("func(out *float32, x *%s, n int)", c.typ),
			c.typ+"ToF32 is out = x, rounded to nearest even, element by element, for n a multiple of 8. It is bound by bytes.")
		out, x, n := param("out"), param("x"), param("n")
		byRegisters(n, 8, func(k int) {
			v := YMM()
			c.widen(Mem{Base: x, Disp: 8 * c.bytes * k}, v)
			VCVTDQ2PS(v, v)
			VMOVUPS(v, Mem{Base: out, Disp: 32 * k})
		}, func(k int) {
			ADDQ(Imm(uint64(8*c.bytes*k)), x)
			ADDQ(U32(32*k), out)
		})
		end()
	}
}
