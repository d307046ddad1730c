package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The elementary functions are those of internal/fmath, operation by operation, without fused
// multiply-adds: the bits are the same. On float32 they compute in float64, four lanes at a time.

func elementary() {
	function32("exp", exp32)
	function32("sigmoid", sigmoid32)
	function32("tanh", tanh32)
	function32("log", log32)
	exp64()
}

// number is a float64 in four lanes, as a memory operand.
func number(v float64) Mem {
	bits := math.Float64bits(v)
	return float64s.constant(fmt.Sprintf("f64x%016x", bits), bits)
}

func number32(v float32) Mem {
	bits := uint64(math.Float32bits(v))
	return float32s.constant(fmt.Sprintf("f32x%08x", bits), bits)
}

// times is a·b, plus a + b, minus a − b on float64; one operand may be in memory, of minus the second.
func times(a, b Op) VecVirtual { return commuting(VMULPD, a, b) }
func plus(a, b Op) VecVirtual  { return commuting(VADDPD, a, b) }

func minus(a, b Op) VecVirtual {
	r := YMM()
	VSUBPD(b, a, r)
	return r
}

func commuting(f func(...Op), a, b Op) VecVirtual {
	if _, ok := b.(Mem); ok {
		a, b = b, a
	}
	r := YMM()
	f(a, b, r)
	return r
}

const (
	shift = 0x1.8p52
	log2E = 0x1.71547652b82fep+0
)

// function32 makes a kernel of a function: body computes 8 results from 8 arguments x, which are also there as
// two registers of float64.
func function32(name string, body func(x VecVirtual, v [2]VecVirtual) VecVirtual) {
	e := float32s
	function(name+e.suffix, "func(out, x *float32, n int)", name+e.suffix+" is out = "+name+" x, element by element.\n"+
		"It is bound by arithmetic in float64.")
	s := &stream{e: e, out: param("out"), in: []GPVirtual{param("x")}, n: param("n")}
	s.body = func(in []VecVirtual) VecVirtual {
		var v [2]VecVirtual
		high := XMM()
		VEXTRACTF128(Imm(1), in[0], high)
		for k, x := range []Op{in[0].AsX(), high} {
			v[k] = YMM()
			VCVTPS2PD(x, v[k])
		}
		return body(in[0], v)
	}
	s.emit(1)
}

// narrow rounds two registers of float64 to one of float32.
func narrow(v [2]VecVirtual) VecVirtual {
	low, high, r := XMM(), XMM(), YMM()
	VCVTPD2PSY(v[0], low)
	VCVTPD2PSY(v[1], high)
	VINSERTF128(Imm(1), high, low.AsY(), r)
	return r
}

var labels int

// rarely emits what is done only where a bit of mask is set.
func rarely(mask VecVirtual, emit func()) {
	labels++
	skip := fmt.Sprintf("common%d", labels)
	bits := GP32()
	float32s.signs(mask, bits)
	TESTL(bits, bits)
	JZ(LabelRef(skip))
	emit()
	Label(skip)
}

// choose is y where the predicate does not hold between x and bound, else value.
func choose(predicate Constant, x VecVirtual, bound, value Mem, y VecVirtual) {
	hit, v := YMM(), float32s.loaded(value)
	VCMPPS(predicate, bound, x, hit)
	VBLENDVPS(hit, v, y, y)
}

// outside is where x is not between low and high, or NaN.
func outside(x VecVirtual, low, high float32) VecVirtual {
	below, above := YMM(), YMM()
	VCMPPS(notGreater, number32(low), x, below)
	VCMPPS(notLess, number32(high), x, above)
	VORPS(above, below, below)
	return below
}

// expCore is e^v for |v| ≤ 200, as fmath has it.
func expCore(v VecVirtual) VecVirtual {
	t := plus(times(v, number(log2E)), number(shift))
	r := minus(v, times(minus(t, number(shift)), number(math.Ln2)))
	z := times(r, r)
	lo := plus(times(r, number(1.0000000378644356)), number(1))
	mid := plus(times(r, number(0.16666414856827044)), number(0.500000004730289))
	hi := plus(times(r, number(0.0013941176798309988)), number(0.008375181135257006))
	hi = plus(times(r, hi), number(0.041666352075160784))
	p := plus(times(z, plus(times(z, hi), mid)), lo)
	VPSLLQ(Imm(52), t, t)
	VPADDQ(t, p, p)
	return p
}

func exp32(x VecVirtual, v [2]VecVirtual) VecVirtual {
	y := narrow([2]VecVirtual{expCore(v[0]), expCore(v[1])})
	expEdges(x, y, float32(math.Inf(1)))
	return y
}

// expEdges sets what is beyond the arguments of expCore: 0 below, above, and NaN.
func expEdges(x, y VecVirtual, above float32) {
	rarely(outside(x, -104, 89), func() {
		choose(lessEqual, x, number32(-104), number32(0), y)
		choose(greaterEqual, x, number32(89), number32(above), y)
		choose(unordered, x, number32(0), number32(float32(math.NaN())), y)
	})
}

func sigmoid32(x VecVirtual, v [2]VecVirtual) VecVirtual {
	for k := range v {
		VXORPD(number(math.Copysign(0, -1)), v[k], v[k])
		den := plus(expCore(v[k]), number(1))
		one := float64s.loaded(number(1))
		VDIVPD(den, one, one)
		v[k] = one
	}
	y := narrow(v)
	expEdges(x, y, 1)
	return y
}

func tanh32(x VecVirtual, v [2]VecVirtual) VecVirtual {
	var t [2]VecVirtual
	for k := range v {
		t[k] = tanhCore(v[k])
	}
	y := narrow(t)
	size := YMM()
	VANDPS(float32s.constant("f32x7fffffff", 0x7fffffff), x, size)
	bad, low := YMM(), YMM()
	VCMPPS(notLess, number32(10), size, bad)
	VCMPPS(less, number32(0x1p-13), size, low)
	VORPS(low, bad, bad)
	rarely(bad, func() {
		var small [2]VecVirtual
		for k := range v {
			cube := times(times(v[k], v[k]), v[k])
			VDIVPD(number(3), cube, cube)
			small[k] = minus(v[k], cube)
		}
		VBLENDVPS(low, narrow(small), y, y)
		choose(greaterEqual, x, number32(10), number32(1), y)
		choose(lessEqual, x, number32(-10), number32(-1), y)
		choose(unordered, x, number32(0), number32(float32(math.NaN())), y)
	})
	return y
}

func tanhCore(v VecVirtual) VecVirtual {
	n := plus(times(v, number(2*log2E)), number(shift))
	r := minus(plus(v, v), times(minus(n, number(shift)), number(math.Ln2)))
	z := times(r, r)
	lo := plus(times(r, number(0.500000004730289)), number(1))
	mid := plus(times(r, number(0.041666352075160784)), number(0.16666666719203097))
	hi := plus(times(r, number(0.0001989934987295068)), number(0.0013941176798309988))
	hi = plus(times(r, hi), number(0.00833329839251839))
	q := plus(times(z, plus(times(z, hi), mid)), lo)
	s := n
	VPSLLQ(Imm(52), n, s)
	VPADDQ(number(1), s, s) // the bits of 1 are those of the exponent's bias
	t := plus(times(s, times(r, q)), minus(s, number(1)))
	den := plus(t, number(2))
	VDIVPD(den, t, t)
	return t
}

const sqrtHalfBits = 0x3fe6a09e667f3bcd

func log32(x VecVirtual, v [2]VecVirtual) VecVirtual {
	half := float64s.constant("sqrtHalf", sqrtHalfBits)
	for k := range v {
		b := v[k]
		VPSUBQ(half, b, b)
		// The upper halves of the lanes, shifted with their sign: the exponents.
		high, exponent, scaled := XMM(), XMM(), YMM()
		VEXTRACTF128(Imm(1), b, high)
		VSHUFPS(Imm(0xdd), high, b.AsX(), exponent)
		VPSRAD(Imm(20), exponent, exponent)
		VCVTDQ2PD(exponent, scaled)
		VPAND(float64s.constant("fraction", 1<<52-1), b, b)
		VPADDQ(half, b, b)
		f := minus(b, number(1))
		s := plus(f, number(2))
		VDIVPD(s, f, s)
		z := times(s, s)
		p := plus(times(z, number(0.6666681624644926)), number(1.9999999986202002))
		upper := plus(times(z, number(0.29927188570985336)), number(0.39974747580492864))
		p = plus(times(times(z, z), upper), p)
		v[k] = plus(times(scaled, number(math.Ln2)), times(s, p))
	}
	y := narrow(v)
	rarely(outside(x, 0, float32(math.Inf(1))), func() {
		choose(notGreater, x, number32(0), number32(float32(math.NaN())), y)
		choose(equal, x, number32(0), number32(float32(math.Inf(-1))), y)
		choose(equal, x, number32(float32(math.Inf(1))), number32(float32(math.Inf(1))), y)
	})
	return y
}

// sumOf is the unevaluated sum of two registers, as fmath's pair.
type sumOf struct{ hi, lo VecVirtual }

func twoSum(a, b VecVirtual) sumOf {
	s := plus(a, b)
	t := minus(s, a)
	return sumOf{s, plus(minus(a, minus(s, t)), minus(b, t))}
}

func fastSum(a, b VecVirtual) sumOf {
	s := plus(a, b)
	return sumOf{s, minus(b, minus(s, a))}
}

// exp64 stops at a register with an argument whose result is no normal number.
func exp64() {
	function("expF64", "func(out, x *float64, n int) int",
		"expF64 is out = exp x, element by element, up to the first register that has |x| ≥ 708 or NaN or is not\n"+
			"full. It returns how many elements are done. It is bound by arithmetic.")
	out, x, n := param("out"), param("x"), param("n")
	done, bits := GP64(), GP32()
	XORQ(done, done)
	Label("loop")
	SUBQ(Imm(4), n)
	JL(LabelRef("end"))
	v, bad := float64s.loaded(Mem{Base: x, Index: done, Scale: 8}), YMM()
	VANDPD(float64s.constant("f64x7fffffffffffffff", 1<<63-1), v, bad)
	VCMPPD(notLess, number(708), bad, bad)
	float64s.signs(bad, bits)
	TESTL(bits, bits)
	JNZ(LabelRef("end"))
	VMOVUPD(expBody(v), Mem{Base: out, Index: done, Scale: 8})
	ADDQ(Imm(4), done)
	JMP(LabelRef("loop"))
	Label("end")
	Store(done, ReturnIndex(0))
	end()
}

// expBody is e^x: x = k ln 2 + r, and e^r − 1 by a polynomial in two halves.
func expBody(x VecVirtual) VecVirtual {
	t := plus(times(x, number(log2E)), number(shift))
	n := minus(t, number(shift))
	low := times(n, number(0x1.a39ef35793c76p-33))
	VXORPD(number(math.Copysign(0, -1)), low, low)
	r := twoSum(minus(x, times(n, number(0x1.62e42feep-1))), low)
	r = twoSum(r.hi, plus(r.lo, float64s.zero()))
	c := []float64{
		2.0911274821900127e-09, 2.510043897623718e-08, 2.7557282889212767e-07, 2.7557268347499137e-06,
		2.480158731719623e-05, 0.0001984126986312606, 0.0013888888888886543, 0.008333333333330048,
		0.041666666666666664, 0.16666666666666669,
	}
	h := r.hi
	z := times(h, h)
	even := plus(times(z, number(c[1])), number(c[3]))
	odd := plus(times(z, number(c[0])), number(c[2]))
	for k := 5; k <= 9; k += 2 {
		even = plus(times(even, z), number(c[k]))
		odd = plus(times(odd, z), number(c[k-1]))
	}
	q := plus(even, times(odd, h))
	p := plus(times(z, number(0.5)), times(times(z, h), q))
	m := fastSum(h, plus(p, plus(r.lo, times(r.lo, h))))
	e := fastSum(float64s.loaded(number(1)), m.hi)
	e = fastSum(e.hi, plus(e.lo, m.lo))
	VPADDQ(float64s.constant("bias", 1023), t, t)
	VPSLLQ(Imm(52), t, t)
	return times(e.hi, t)
}
