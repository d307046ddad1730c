package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The AVX-512 forms of the elementary functions on float32: sixteen elements at a time, in two registers of
// float64. They round a product and a sum at once where that was seen to change no result, for any argument:
// what the float64 differs by is lost in the float32. TestEveryFloat32 looks at all of them.

func elementaryWide() {
	mapWide("exp", expInside, expWide, func(_ int, x, y VecVirtual) { expEdgesWide(x, y, infinity) })
	mapWide("sigmoid", expInside, sigmoidWide, func(_ int, x, y VecVirtual) { expEdgesWide(x, y, 1) })
	mapWide("tanh", tanhInside, tanhWide, tanhEdgesWide)
	mapWide("log", logInside, logWide, logEdgesWide)
	expSums()
	expRows()
}

var infinity = float32(math.Inf(1))

const greater = U8(0x1e) // as a predicate, what does not hold where an operand is NaN

// mapWide makes a kernel of a function: core is what it is where inside has a bit for each argument, edges
// corrects it for eight arguments of which some are elsewhere.
func mapWide(name string, inside func(x VecVirtual) OpmaskVirtual, core func(v VecVirtual) VecVirtual,
	edges func(half int, x, y VecVirtual)) {
	function(name+"WideF32", "func(out, x *float32, n int)", name+"WideF32 is out = "+name+" x, element by element.\n"+
		"It is bound by arithmetic in float64.")
	out, x, n := param("out"), param("x"), param("n")
	body := func(v VecVirtual) [2]VecVirtual { return mapped(v, inside, core, edges) }
	by16(n, func() {
		v := ZMM()
		VMOVUPS(Mem{Base: x}, v)
		y := body(v)
		VMOVUPS(y[0], Mem{Base: out})
		VMOVUPS(y[1], Mem{Base: out, Disp: 32})
		advance(out, x)
	}, func(mask OpmaskVirtual) {
		v := ZMM()
		VMOVUPS_Z(Mem{Base: x}, mask, v)
		VMOVUPS(joined(body(v)), mask, Mem{Base: out})
	})
}

func advance(pointers ...GPVirtual) {
	for _, p := range pointers {
		ADDQ(Imm(64), p)
	}
}

// by16 emits a loop over n elements, sixteen at a time, and what is done to the rest under a mask.
func by16(n GPVirtual, full func(), rest func(mask OpmaskVirtual)) {
	Label("loop")
	SUBQ(Imm(16), n)
	JL(LabelRef("rest"))
	full()
	JMP(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(16), n)
	JZ(LabelRef("done"))
	rest(firstOf16(n))
	Label("done")
	end()
}

// firstOf16 is a mask of the first n of sixteen lanes.
func firstOf16(n GPVirtual) OpmaskVirtual {
	bits, mask := GP32(), K()
	MOVL(U32(1<<16-1), bits)
	BZHIL(n.As32(), bits, bits)
	KMOVW(bits, mask)
	return mask
}

// joined is one register of two halves.
func joined(y [2]VecVirtual) VecVirtual {
	r := ZMM()
	VINSERTF64X4(Imm(1), y[1], y[0].AsZ(), r)
	return r
}

// mapped is a function of sixteen float32 in two halves.
func mapped(x VecVirtual, inside func(x VecVirtual) OpmaskVirtual, core func(v VecVirtual) VecVirtual,
	edges func(half int, x, y VecVirtual)) (y [2]VecVirtual) {
	ordinary, high := inside(x), YMM()
	VEXTRACTF64X4(Imm(1), x, high)
	halves := [2]VecVirtual{x.AsY().(VecVirtual), high}
	for k, half := range halves {
		v := ZMM()
		VCVTPS2PD(half, v)
		y[k] = YMM()
		VCVTPD2PS(core(v), y[k])
	}
	labels++
	common := fmt.Sprintf("common%d", labels)
	KORTESTW(ordinary, ordinary)
	JC(LabelRef(common))
	for k, half := range halves {
		edges(k, half, y[k])
	}
	Label(common)
	return y
}

// between is the lanes in which low < x < high.
func between(x VecVirtual, low, high float32) OpmaskVirtual {
	above, both := K(), K()
	VCMPPS_BCST(greater, number32(low), x, above)
	VCMPPS_BCST(less, number32(high), x, above, both)
	return both
}

// chooseWide is y where the predicate does not hold between x and bound, else value.
func chooseWide(predicate Constant, x VecVirtual, bound, value float32, y VecVirtual) {
	hit := K()
	VCMPPS_BCST(predicate, number32(bound), x, hit)
	VBROADCASTSS(number32(value), hit, y)
}

// Of the operands of these, a constant c is in memory.

func timesWide(a VecVirtual, c float64) VecVirtual {
	r := ZMM()
	VMULPD_BCST(number(c), a, r)
	return r
}

func plusWide(a VecVirtual, c float64) VecVirtual {
	r := ZMM()
	VADDPD_BCST(number(c), a, r)
	return r
}

// linear is a·c + d with one rounding.
func linear(a VecVirtual, c, d float64) VecVirtual {
	r := ZMM()
	VBROADCASTSD(number(c), r)
	VFMADD213PD_BCST(number(d), a, r)
	return r
}

// horner is p·a + d with one rounding, in the place of p.
func horner(p, a VecVirtual, d float64) VecVirtual {
	VFMADD213PD_BCST(number(d), a, p)
	return p
}

// joinedTo is p + z·q with one rounding, in the place of p.
func joinedTo(p, z, q VecVirtual) VecVirtual {
	VFMADD231PD(z, q, p)
	return p
}

func square(a VecVirtual) VecVirtual {
	r := ZMM()
	VMULPD(a, a, r)
	return r
}

// multiple is n, a whole number next to a·perLn2, as it is and in the low bits of its sum with shift.
func multiple(a VecVirtual, perLn2 float64) (n, t VecVirtual) {
	t, n = linear(a, perLn2, shift), ZMM()
	VSUBPD_BCST(number(shift), t, n)
	return n, t
}

// reduced is v − n·ln 2 with one rounding, in the place of v.
func reduced(v, n VecVirtual) VecVirtual {
	VFNMADD231PD_BCST(number(math.Ln2), n, v)
	return v
}

func expInside(x VecVirtual) OpmaskVirtual { return between(x, -104, 89) }

// expPowers is the polynomial of expCore, the highest power first.
var expPowers = []float64{
	0.0013941176798309988, 0.008375181135257006, 0.041666352075160784, 0.16666414856827044, 0.500000004730289,
	1.0000000378644356, 1,
}

// expWide is e^v, as expCore, with the polynomial power after power: that spares a product, and others hide the
// latency.
func expWide(v VecVirtual) VecVirtual {
	n, t := multiple(v, log2E)
	r := reduced(v, n)
	p := linear(r, expPowers[0], expPowers[1])
	for _, c := range expPowers[2:] {
		p = horner(p, r, c)
	}
	VPSLLQ(Imm(52), t, t)
	VPADDQ(t, p, p)
	return p
}

// expOf is e^r on |r| ≤ ln 2 / 2, times two to the power of which t is the sum with shift.
func expOf(r, t VecVirtual) VecVirtual {
	z := square(r)
	lo := linear(r, 1.0000000378644356, 1)
	mid := linear(r, 0.16666414856827044, 0.500000004730289)
	hi := horner(linear(r, 0.0013941176798309988, 0.008375181135257006), r, 0.041666352075160784)
	p := joinedTo(lo, z, joinedTo(mid, z, hi))
	VPSLLQ(Imm(52), t, t)
	VPADDQ(t, p, p)
	return p
}

func expEdgesWide(x, y VecVirtual, above float32) {
	chooseWide(lessEqual, x, -104, 0, y)
	chooseWide(greaterEqual, x, 89, above, y)
	chooseWide(unordered, x, 0, float32(math.NaN()), y)
}

// sigmoidWide is 1 / (1 + e^−v). It rounds n·ln 2 by itself: one argument, −0x1.053e62p+06, has another result
// otherwise.
func sigmoidWide(v VecVirtual) VecVirtual {
	VPXORQ_BCST(number(math.Copysign(0, -1)), v, v)
	n, t := multiple(v, log2E)
	VSUBPD(timesWide(n, math.Ln2), v, v)
	den, one := plusWide(expOf(v, t), 1), ZMM()
	VBROADCASTSD(number(1), one)
	VDIVPD(den, one, one)
	return one
}

func tanhInside(x VecVirtual) OpmaskVirtual {
	size := ZMM()
	VPANDD_BCST(float32s.constant("f32x7fffffff", 0x7fffffff), x, size)
	above, both := K(), K()
	VCMPPS_BCST(greaterEqual, number32(0x1p-13), size, above)
	VCMPPS_BCST(less, number32(10), size, above, both)
	return both
}

// tanhWide is tanh v, as tanhCore.
func tanhWide(v VecVirtual) VecVirtual {
	double := ZMM()
	VADDPD(v, v, double)
	n, s := multiple(v, 2*log2E)
	r := reduced(double, n)
	z := square(r)
	lo := linear(r, 0.500000004730289, 1)
	mid := linear(r, 0.041666352075160784, 0.16666666719203097)
	hi := horner(linear(r, 0.0001989934987295068, 0.0013941176798309988), r, 0.00833329839251839)
	q := joinedTo(lo, z, joinedTo(mid, z, hi))
	VMULPD(r, q, q)
	VPSLLQ(Imm(52), s, s)
	VPADDQ_BCST(number(1), s, s) // the bits of 1 are those of the exponent's bias
	t := joinedTo(plusWide(s, -1), s, q)
	VDIVPD(plusWide(t, 2), t, t)
	return t
}

func tanhEdgesWide(_ int, x, y VecVirtual) {
	v, size, low := ZMM(), YMM(), K()
	VCVTPS2PD(x, v)
	cube := square(v)
	VMULPD(v, cube, cube)
	VDIVPD_BCST(number(3), cube, cube)
	VSUBPD(cube, v, v)
	VANDPS(float32s.constant("f32x7fffffff", 0x7fffffff), x, size)
	VCMPPS_BCST(less, number32(0x1p-13), size, low)
	small := YMM()
	VCVTPD2PS(v, small)
	VMOVAPS(small, low, y)
	chooseWide(greaterEqual, x, 10, 1, y)
	chooseWide(lessEqual, x, -10, -1, y)
	chooseWide(unordered, x, 0, float32(math.NaN()), y)
}

func logInside(x VecVirtual) OpmaskVirtual { return between(x, 0, float32(math.Inf(1))) }

// logWide is log v, as log32.
func logWide(b VecVirtual) VecVirtual {
	half := float64s.constant("sqrtHalf", sqrtHalfBits)
	VPSUBQ_BCST(half, b, b)
	exponent := ZMM()
	VPSRAQ(Imm(52), b, exponent)
	VCVTQQ2PD(exponent, exponent)
	VPANDQ_BCST(float64s.constant("fraction", 1<<52-1), b, b)
	VPADDQ_BCST(half, b, b)
	f := plusWide(b, -1)
	s := plusWide(f, 2)
	VDIVPD(s, f, s)
	z := square(s)
	p := linear(z, 0.6666681624644926, 1.9999999986202002)
	upper := linear(z, 0.29927188570985336, 0.39974747580492864)
	p = joinedTo(p, square(z), upper)
	return joinedTo(timesWide(exponent, math.Ln2), s, p)
}

func logEdgesWide(_ int, x, y VecVirtual) {
	chooseWide(notGreater, x, 0, float32(math.NaN()), y)
	chooseWide(equal, x, 0, float32(math.Inf(-1)), y)
	chooseWide(equal, x, infinity, infinity, y)
}
