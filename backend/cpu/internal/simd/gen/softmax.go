package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func softmaxes() {
	span()
	softLine()
	quotients()
	spanRows()
	softColumns()
}

// span has eight accumulators, which hide the latency of a comparison.
func span() {
	function("spanF32", "func(x *float32, n int) (low, high float32)",
		"spanF32 is the least and the greatest of n elements, a multiple of 64. A NaN is one of them or is passed over.\n"+
			"It is bound by two comparisons a register.")
	x, n := param("x"), param("n")
	low, high := make([]VecVirtual, 4), make([]VecVirtual, 4)
	for k := range low {
		low[k], high[k] = ZMM(), ZMM()
		VMOVUPS(Mem{Base: x, Disp: 64 * k}, low[k])
		VMOVAPS(low[k], high[k])
	}
	Label("loop")
	SUBQ(Imm(64), n)
	JZ(LabelRef("done"))
	ADDQ(U32(256), x)
	for k := range low {
		v := ZMM()
		VMOVUPS(Mem{Base: x, Disp: 64 * k}, v)
		VMINPS(low[k], v, low[k])
		VMAXPS(high[k], v, high[k])
	}
	JMP(LabelRef("loop"))
	Label("done")
	for k, v := range []VecVirtual{across(VMINPS, low), across(VMAXPS, high)} {
		b, err := ReturnIndex(k).Resolve()
		if err != nil {
			panic(err)
		}
		VMOVSS(v, b.Addr)
	}
	end()
}

// across joins all lanes of four registers into the first lane.
func across(join func(...Op), v []VecVirtual) VecVirtual {
	join(v[1], v[0], v[0])
	join(v[3], v[2], v[2])
	join(v[2], v[0], v[0])
	half, quarter := YMM(), XMM()
	VEXTRACTF64X4(Imm(1), v[0], half)
	y := v[0].AsY().(VecVirtual)
	join(half, y, y)
	VEXTRACTF128(Imm(1), y, quarter)
	r := y.AsX().(VecVirtual)
	join(quarter, r, r)
	VMOVHLPS(r, r, quarter)
	join(quarter, r, r)
	VMOVSHDUP(r, quarter)
	join(quarter, r, r)
	return r
}

// expRegisters is what an exponential is made with, in registers: the ports that load have other things to do.
type expRegisters struct {
	log2E, shift, ln2 VecVirtual
	p                 []VecVirtual // of the polynomial, the highest power first
}

func wideNumber(v float64) VecVirtual {
	r := ZMM()
	VBROADCASTSD(number(v), r)
	return r
}

func newExpRegisters() *expRegisters {
	e := &expRegisters{log2E: wideNumber(log2E), shift: wideNumber(shift), ln2: wideNumber(math.Ln2)}
	for _, c := range expPowers {
		e.p = append(e.p, wideNumber(c))
	}
	return e
}

// of is e^v, as expWide.
func (e *expRegisters) of(v VecVirtual) VecVirtual {
	t, n, p := ZMM(), ZMM(), ZMM()
	VMOVAPD(e.log2E, t)
	VFMADD213PD(e.shift, v, t)
	VSUBPD(e.shift, t, n)
	VFNMADD231PD(e.ln2, n, v)
	VMOVAPD(e.p[0], p)
	for _, c := range e.p[1:] {
		VFMADD213PD(c, v, p)
	}
	VPSLLQ(Imm(52), t, t)
	VPADDQ(t, p, p)
	return p
}

// divisor is a divisor s in registers: high + low is 1/s, high being rounded and low what that lost.
type divisor struct{ s, high, low Op }

// quotient is e / s, correctly rounded, with q = e·high + e·low, which is off by half a unit in the last place and
// little more, and one step that corrects it: package simd has the proof.
func (d divisor) quotient(e VecVirtual) VecVirtual {
	q, rest := ZMM(), ZMM()
	VMULPS(d.low, e, q)
	VFMADD231PS(d.high, e, q)
	VMOVAPS(e, rest)
	VFNMADD231PS(d.s, q, rest)
	VFMADD231PS(d.high, rest, q)
	return q
}

// softLine has loops with results into memory or past the caches, and one without.
func softLine() {
	function("softLineF32", "func(sums, out, x, next *float32, m float32, blocks int, before, result *float32, "+
		"s, high, low float32, log, past bool)",
		"softLineF32 is out = exp(x - m), or x - m with log, for differences from -87 to 0, and the sum of the exponentials\n"+
			"of each block of 128. Beside, it is result = before / s, or before - s with log, if before is not nil, and fetches\n"+
			"next. It is bound by arithmetic in float64; what comes from memory and goes there hides behind.")
	l := &lineLoops{sums: param("sums"), out: param("out"), x: param("x"), next: param("next"),
		top: float32s.parameterIn(ZMM(), "m"), blocks: param("blocks"), before: param("before"), result: param("result"),
		by: divisor{float32s.parameterIn(ZMM(), "s"), float32s.parameterIn(ZMM(), "high"), float32s.parameterIn(ZMM(), "low")}}
	past, log := GP32(), GP32()
	Load(Param("past"), past.As8())
	Load(Param("log"), log.As8())
	l.exp = newExpRegisters()
	TESTB(log.As8(), log.As8())
	JNZ(LabelRef("log"))
	for _, form := range []struct {
		name string
		log  bool
	}{{"div", false}, {"log", true}} {
		Label(form.name)
		TESTQ(l.before, l.before)
		JZ(LabelRef(form.name + "Alone"))
		TESTB(past.As8(), past.As8())
		JNZ(LabelRef(form.name + "Past"))
		l.loop(form.name+"Near", form.log, func(from, to Op) { VMOVUPS(from, to) })
		l.loop(form.name+"Past", form.log, wide32.movePast)
		l.loop(form.name+"Alone", form.log, nil)
	}
}

type lineLoops struct {
	sums, out, x, next, blocks, before, result GPVirtual
	top                                        VecVirtual
	by                                         divisor
	exp                                        *expRegisters
}

// loop does block after block, and results if there is a way to write them.
func (l *lineLoops) loop(name string, log bool, write func(from, to Op)) {
	Label(name)
	lane, count := float32s.zero(), GP64()
	MOVQ(U32(blockSize/16), count)
	Label(name + "_16")
	l.terms(lane, log)
	if write != nil {
		l.results(log, write)
	}
	DECQ(count)
	JNZ(LabelRef(name + "_16"))
	VMOVSS(lanes8{float32s, []VecVirtual{lane}}.total(), Mem{Base: l.sums})
	ADDQ(Imm(4), l.sums)
	DECQ(l.blocks)
	JNZ(LabelRef(name))
	end()
}

func (l *lineLoops) terms(lane VecVirtual, log bool) {
	v := ZMM()
	VMOVUPS(Mem{Base: l.x}, v)
	PREFETCHT0(Mem{Base: l.next})
	VSUBPS(l.top, v, v)
	VMOVUPS(v, Mem{Base: l.out}) // a half that is converted from memory spares a permutation
	for k := range 2 {
		w, y := ZMM(), YMM()
		VCVTPS2PD(Mem{Base: l.out, Disp: 32 * k}, w)
		VCVTPD2PS(l.exp.of(w), y)
		if !log {
			VMOVUPS(y, Mem{Base: l.out, Disp: 32 * k})
		}
		VADDPS(y, lane, lane)
	}
	advance(l.out, l.x, l.next)
}

func (l *lineLoops) results(log bool, write func(from, to Op)) {
	v := ZMM()
	VMOVUPS(Mem{Base: l.before}, v)
	if log {
		VSUBPS(l.by.s, v, v)
	} else {
		v = l.by.quotient(v)
	}
	write(v, Mem{Base: l.result})
	advance(l.before, l.result)
}

// quotients takes registers of exponentials that are too small for quotient to the division of the CPU.
func quotients() {
	function("quotientsF32", "func(out, e, s, high, low *float32, step, n int, past bool)",
		"quotientsF32 is out = e / s, element by element, with high + low = 1/s, for e from 0 to 1 and s from 1 to 1<<32.\n"+
			"step is the bytes from s to the s of the next register: 64, or 0. It is bound by loads and stores.")
	out, e := param("out"), param("e")
	s, high, low, step := param("s"), param("high"), param("low"), param("step")
	n := param("n")
	past := GP32()
	Load(Param("past"), past.As8())
	least, one := ZMM(), ZMM()
	VPBROADCASTD(float32s.constant("leastDividend", 0x1f7fffff), least) // 2^-64, less 1
	VPBROADCASTD(float32s.constant("allOnes", 1<<32-1), one)
	divide := func(v VecVirtual, d divisor, name string) VecVirtual {
		bits, ordinary := ZMM(), K()
		VPADDD(one, v, bits)
		VPCMPUD(Imm(5), least, bits, ordinary) // not less: 0 is the greatest of all
		q := d.quotient(v)
		KORTESTW(ordinary, ordinary)
		JC(LabelRef(name))
		VDIVPS(d.s, v, q)
		Label(name)
		return q
	}
	Label("loop")
	SUBQ(Imm(16), n)
	JL(LabelRef("rest"))
	v := ZMM()
	VMOVUPS(Mem{Base: e}, v)
	q := divide(v, divisor{Mem{Base: s}, Mem{Base: high}, Mem{Base: low}}, "full")
	TESTB(past.As8(), past.As8())
	JNZ(LabelRef("past"))
	VMOVUPS(q, Mem{Base: out})
	JMP(LabelRef("next"))
	Label("past")
	VMOVNTPS(q, Mem{Base: out})
	Label("next")
	advance(out, e)
	for _, p := range []GPVirtual{s, high, low} {
		ADDQ(step, p)
	}
	JMP(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(16), n)
	JZ(LabelRef("done"))
	mask := firstOf16(n)
	var by [3]VecVirtual
	for k, p := range []GPVirtual{s, high, low} {
		by[k] = ZMM()
		VMOVUPS_Z(Mem{Base: p}, mask, by[k])
	}
	v = ZMM()
	VMOVUPS_Z(Mem{Base: e}, mask, v)
	q = divide(v, divisor{by[0], by[1], by[2]}, "part")
	VMOVUPS(q, mask, Mem{Base: out})
	Label("done")
	end()
}
