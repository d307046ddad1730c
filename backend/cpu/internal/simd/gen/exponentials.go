package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// expSums has a line's greatest element in every lane, and keeps the eight lanes of a block beside.
func expSums() {
	function("expSumsF32", "func(sums, out, x *float32, m, otherwise float32, blocks int)",
		"expSumsF32 is out = exp(x - m), element by element, and otherwise where x - m is NaN; sums has the sum of\n"+
			"each block of 128. It is bound by arithmetic in float64.")
	sums, out, x := param("sums"), param("out"), param("x")
	top, otherwise := float32s.parameterIn(ZMM(), "m"), float32s.parameter("otherwise")
	blocks := param("blocks")
	count := GP64()
	Label("block")
	lane := float32s.zero()
	MOVQ(U32(blockSize/16), count)
	Label("loop")
	d := ZMM()
	VMOVUPS(Mem{Base: x}, d)
	VSUBPS(top, d, d)
	y := mapped(d, expInside, expWide, func(_ int, x, y VecVirtual) {
		bad := K()
		VCMPPS(unordered, x, x, bad)
		expEdgesWide(x, y, infinity)
		VMOVAPS(otherwise, bad, y)
	})
	for k := range y {
		VMOVUPS(y[k], Mem{Base: out, Disp: 32 * k})
		VADDPS(y[k], lane, lane)
	}
	advance(out, x)
	DECQ(count)
	JNZ(LabelRef("loop"))
	VMOVSS(lanes8{float32s, []VecVirtual{lane}}.total(), Mem{Base: sums})
	ADDQ(Imm(4), sums)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	end()
}

// expRows has the greatest element of another line in each lane.
func expRows() {
	function("expRowsF32", "func(acc, out, x, m *float32, n int)",
		"expRowsF32 is out = exp(x - m) and acc = acc + out, element by element; where x - m is NaN it is 0 if m is\n"+
			"negative, else exp(0), or NaN with m. It is bound by arithmetic in float64.")
	acc, out, x, m, n := param("acc"), param("out"), param("x"), param("m"), param("n")
	body := func(d, top VecVirtual) [2]VecVirtual {
		VSUBPS(top, d, d)
		return mapped(d, expInside, expWide, func(half int, x, y VecVirtual) {
			m, bad, above, below := YMM(), K(), K(), K()
			VEXTRACTF64X4(Imm(uint64(half)), top, m)
			expEdgesWide(x, y, infinity)
			VCMPPS(unordered, x, x, bad)
			VCMPPS_BCST(greaterEqual, number32(0), m, bad, above)
			VBROADCASTSS(number32(1), above, y)
			VCMPPS_BCST(less, number32(0), m, bad, below)
			VBROADCASTSS(number32(0), below, y)
		})
	}
	by16(n, func() {
		d, top := ZMM(), ZMM()
		VMOVUPS(Mem{Base: x}, d)
		VMOVUPS(Mem{Base: m}, top)
		y := body(d, top)
		for k := range y {
			VMOVUPS(y[k], Mem{Base: out, Disp: 32 * k})
			VADDPS(Mem{Base: acc, Disp: 32 * k}, y[k], y[k])
			VMOVUPS(y[k], Mem{Base: acc, Disp: 32 * k})
		}
		advance(acc, out, x, m)
	}, func(mask OpmaskVirtual) {
		d, top, sum := ZMM(), ZMM(), ZMM()
		VMOVUPS_Z(Mem{Base: x}, mask, d)
		VMOVUPS_Z(Mem{Base: m}, mask, top)
		VMOVUPS_Z(Mem{Base: acc}, mask, sum)
		y := joined(body(d, top))
		VMOVUPS(y, mask, Mem{Base: out})
		VADDPS(y, sum, sum)
		VMOVUPS(sum, mask, Mem{Base: acc})
	})
}
