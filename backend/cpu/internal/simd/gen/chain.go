package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// wideElem is an elem in registers of 64 bytes.
type wideElem struct {
	*elem
	moveMerged func(...Op)             // of the lanes of a mask: the others stay
	loadZeroed func(from, mask, to Op) // or are zero
	movePast   func(from, to Op)
	classify   func(...Op)
	infinite   U8 // the classes of what is not finite

	// Of integers as wide as an element; intMin takes them without signs.
	intAdd, intSub, intMin, intGreater, intMerged func(...Op)
	intOne                                        func(from, to Op) // the first lane

	choose func(...Op) // the least (4) or greatest (5) of each lane: −0 is below +0, and numbers win over NaN
}

var (
	wide32 = &wideElem{float32s, VMOVUPS, VMOVUPS_Z, VMOVNTPS, VFPCLASSPSZ, 0x99,
		VPADDD, VPSUBD, VPMINUD, VPCMPGTD, VMOVDQA32, moveFirst32, VRANGEPS}
	wide64 = &wideElem{float64s, VMOVUPD, VMOVUPD_Z, VMOVNTPD, VFPCLASSPDZ, 0x99,
		VPADDQ, VPSUBQ, VPMINUQ, VPCMPGTQ, VMOVDQA64, VMOVQ, VRANGEPD}
)

// chainBlock is how many registers hold a block of values while the links are applied to them.
const chainBlock = 8

// linkBytes is a word of what it does, a slice, and a mask of places.
const linkBytes = 40

// chain emits the loop of Chain. A link is a word that says what it does, a slice, and a mask of places; the constants
// of package simd stand in the order of the bodies here.
type chain struct {
	*wideElem
	out, x, links, count, n GPVirtual
	nan, sign               Mem
	branches                int // so far, for their labels
}

func chains(w *wideElem) {
	function("chain"+w.suffix, fmt.Sprintf("func(out, x *%s, links *byte, count, from, n int, past, watch bool) uint32", w.typ),
		"chain"+w.suffix+" is out = the links applied to x one after another, element by element. Values stay in\n"+
			"registers from link to link, so it is bound by the bytes of x, out and the links' operands. The choice of a\n"+
			"link's loop is a branch that a predictor knows after a block. from is where in bytes, n how many elements.\n"+
			"The result is not 0 where an operand or a result was below the normal numbers; whether one was is not\n"+
			"looked at without watch, which waits for all that was begun.")
	state := AllocLocal(8) // of MXCSR, in whole words of the stack
	clearTiny(state)
	c := &chain{wideElem: w, out: param("out"), x: param("x"), links: param("links"), count: param("count")}
	c.n = param("n")
	c.nan = c.constant("quietNaN"+c.suffix, c.nanBits())
	c.sign = c.constant("sign"+c.suffix, 1<<(8*c.size-1))
	past := GP32()
	Load(Param("past"), past.As8())
	at := param("from")
	per := 64 / c.size

	Label("block")
	SUBQ(U32(chainBlock*per), c.n)
	JL(LabelRef("rest"))
	var acc []VecVirtual
	for k := range chainBlock {
		v := ZMM()
		c.move(Mem{Base: c.x, Index: at, Scale: 1, Disp: 64 * k}, v)
		acc = append(acc, v)
	}
	c.apply("block", at, acc, nil)
	TESTB(past.As8(), past.As8())
	JNZ(LabelRef("past"))
	for k, v := range acc {
		c.move(v, Mem{Base: c.out, Index: at, Scale: 1, Disp: 64 * k})
	}
	ADDQ(U32(64*chainBlock), at)
	JMP(LabelRef("block"))
	Label("past")
	for k, v := range acc {
		c.movePast(v, Mem{Base: c.out, Index: at, Scale: 1, Disp: 64 * k})
	}
	ADDQ(U32(64*chainBlock), at)
	JMP(LabelRef("block"))

	Label("rest")
	ADDQ(U32(chainBlock*per), c.n)
	JZ(LabelRef("done"))
	Label("register")
	mask := c.firstLanes(c.n)
	v := c.read(Mem{Base: c.x, Index: at, Scale: 1}, mask)
	c.apply("register", at, []VecVirtual{v}, mask)
	c.write(v, mask, Mem{Base: c.out, Index: at, Scale: 1})
	ADDQ(Imm(64), at)
	SUBQ(U32(per), c.n)
	JG(LabelRef("register"))
	Label("done")
	Store(tinySeen(state), ReturnIndex(0))
	end()
}

// tinyFlags of MXCSR tell that an operand or a result of an operation was below the normal numbers. They stay until
// somebody clears them; Go does not use them.
const tinyFlags = 1<<1 | 1<<4

// clearTiny clears the flags if they are set: to write MXCSR takes longer than to read it.
func clearTiny(state Mem) {
	flags, watch := GP32(), GP32()
	Load(Param("watch"), watch.As8())
	TESTB(watch.As8(), watch.As8())
	JZ(LabelRef("clear"))
	VSTMXCSR(state)
	MOVL(state, flags)
	TESTL(U32(tinyFlags), flags)
	JZ(LabelRef("clear"))
	ANDL(I32(^tinyFlags), flags)
	MOVL(flags, state)
	VLDMXCSR(state)
	Label("clear")
}

func tinySeen(state Mem) Register {
	flags, watch := GP32(), GP32()
	XORL(flags, flags)
	Load(Param("watch"), watch.As8())
	TESTB(watch.As8(), watch.As8())
	JZ(LabelRef("seen"))
	VSTMXCSR(state)
	MOVL(state, flags)
	ANDL(U32(tinyFlags), flags)
	Label("seen")
	return flags
}

// apply emits the walk over the links for some registers of values. The commonest kinds come first, since which one it
// is is found by one comparison after another.
func (c *chain) apply(name string, at GPVirtual, acc []VecVirtual, mask Op) {
	label := func(s string, k int) string { return fmt.Sprintf("%s_%s%d", name, s, k) }
	link, left, by, kind, place := GP64(), GP64(), GP64(), GP64(), GP64()
	bodies := c.bodies(mask)
	MOVQ(c.links, link)
	MOVQ(c.count, left)
	JMP(LabelRef(label("first", 0)))
	for k, body := range bodies {
		Label(label("op", k))
		for i, a := range acc {
			body(a, Mem{Base: by, Index: place, Scale: 1, Disp: 64 * i})
		}
		JMP(LabelRef(label("next", 0)))
	}
	Label(label("next", 0))
	ADDQ(Imm(linkBytes), link)
	DECQ(left)
	JZ(LabelRef(label("end", 0)))
	Label(label("first", 0))
	MOVQ(Mem{Base: link}, kind)
	MOVQ(Mem{Base: link, Disp: 8}, by)
	MOVQ(Mem{Base: link, Disp: linkBytes - 8}, place) // all ones, or zero where each block takes the same elements
	ANDQ(at, place)
	for k := range bodies[1:] {
		CMPQ(kind, Imm(uint64(k)))
		JEQ(LabelRef(label("op", k)))
	}
	JMP(LabelRef(label("op", len(bodies)-1)))
	Label(label("end", 0))
}

// bodies are what the kinds of links do to a register of values, by the elements at a place, under a mask or without
// one, in the order of package simd.
func (c *chain) bodies(mask Op) []func(a VecVirtual, by Mem) {
	loaded := func(body func(a, m VecVirtual)) func(a VecVirtual, by Mem) {
		return func(a VecVirtual, by Mem) { body(a, c.read(by, mask)) }
	}
	store := func(a VecVirtual, by Mem) { c.write(a, mask, by) }
	storePast := store // there is no such instruction for the lanes of a mask
	if mask == nil {
		storePast = func(a VecVirtual, by Mem) { c.movePast(a, by) }
	}
	bodies := []func(a VecVirtual, by Mem){
		func(a VecVirtual, by Mem) { c.load(by, mask, a) },
		store,
		loaded(func(a, m VecVirtual) { c.mul(m, a, a) }),
		loaded(func(a, m VecVirtual) { c.add(m, a, a) }),
		loaded(func(a, m VecVirtual) { c.sub(m, a, a) }),
		loaded(func(a, m VecVirtual) { c.sub(a, m, a) }),
		loaded(func(a, m VecVirtual) { c.mul(a, m, a) }),
		loaded(func(a, m VecVirtual) { c.add(a, m, a) }),
		loaded(func(a, m VecVirtual) { c.div(m, a, a) }),
		loaded(func(a, m VecVirtual) { c.div(a, m, a) }),
		func(a VecVirtual, _ Mem) { c.sqrt(a, a) },
		storePast,
		loaded(func(a, m VecVirtual) { c.extreme(c.max, c.and, a, m) }),
		loaded(func(a, m VecVirtual) { c.extreme(c.min, c.or, a, m) }),
		loaded(func(a, m VecVirtual) { c.guard(a, m); c.move(m, a) }),
		loaded(func(a, m VecVirtual) { c.guard(m, a) }),
		func(a VecVirtual, _ Mem) {
			sign := ZMM()
			c.broadcast(c.sign, sign)
			c.xor(sign, a, a)
		},
	}
	if c.size == 8 {
		return bodies
	}
	return append(bodies,
		loaded(func(a, m VecVirtual) { inFloat64(a, m, func(a, m VecVirtual) { VMULPD(m, a, a) }) }),
		loaded(func(a, m VecVirtual) { inFloat64(a, m, func(a, m VecVirtual) { VMULPD(a, m, a) }) }),
		loaded(func(a, m VecVirtual) {
			c.whereTiny(a, m, func() { c.div(m, a, a) }, func(a, m VecVirtual) { VDIVPD(m, a, a) })
		}),
		loaded(func(a, m VecVirtual) {
			c.whereTiny(a, m, func() { c.div(a, m, a) }, func(a, m VecVirtual) { VDIVPD(a, m, a) })
		}),
		func(a VecVirtual, _ Mem) {
			c.whereTiny(a, a, func() { c.sqrt(a, a) }, func(a, _ VecVirtual) { VSQRTPD(a, a) })
		},
	)
}

// whereTiny is inFloat64 where an operand has a number below the normal ones, else the op itself: divisions and roots
// take three times as long in float64. A quotient of normal numbers may still be such a number.
func (c *chain) whereTiny(a, m VecVirtual, op func(), inWide func(a, m VecVirtual)) {
	const below = U8(0x20)
	c.branches++
	label := func(s string) string { return fmt.Sprintf("%s%d", s, c.branches) }
	of, by := K(), K()
	c.classify(below, a, of)
	if m != a {
		c.classify(below, m, by)
		KORTESTW(by, of)
	} else {
		KORTESTW(of, of)
	}
	JZ(LabelRef(label("normal")))
	inFloat64(a, m, inWide)
	JMP(LabelRef(label("after")))
	Label(label("normal"))
	op()
	Label(label("after"))
}

// inFloat64 is a = op(a, m) by halves in float64, rounded twice. For products, quotients and roots that is as if
// rounded once, below the normal numbers too: float64 has 53 bits, more than twice the 24 of float32 and two. (Their
// conversions take no microcode there, as the operations do: 35 ns a register.)
func inFloat64(a, m VecVirtual, op func(a, m VecVirtual)) {
	var halves []VecVirtual
	for h := range 2 {
		wide, by := ZMM(), ZMM()
		for _, v := range []struct{ from, to VecVirtual }{{a, wide}, {m, by}} {
			part := YMM()
			if h == 0 {
				VCVTPS2PD(v.from.AsY(), v.to)
				continue
			}
			VEXTRACTF64X4(Imm(1), v.from, part)
			VCVTPS2PD(part, v.to)
		}
		op(wide, by)
		half := YMM()
		VCVTPD2PS(wide, half)
		halves = append(halves, half)
	}
	low := ZMM()
	VMOVAPS(halves[0], low.AsY())
	VINSERTF64X4(Imm(1), halves[1], low, a)
}

// extreme is order.pair in wide registers.
func (c *chain) extreme(pick, join func(...Op), a, m VecVirtual) {
	other, nan, bad := ZMM(), ZMM(), K()
	c.compare(unordered, m, a, bad)
	pick(a, m, other)
	pick(m, a, a)
	join(other, a, a)
	c.broadcast(c.nan, nan)
	c.moveMerged(nan, bad, a)
}

// guard makes b zero where a is zero and b is not finite.
func (c *chain) guard(a, b VecVirtual) {
	zero, bad := ZMM(), K()
	c.xor(zero, zero, zero)
	c.classify(c.infinite, b, bad)
	c.compare(equal, zero, a, bad, bad)
	c.moveMerged(zero, bad, b)
}

func moveFirst32(from, to Op) { VMOVD(from, to.(GPVirtual).As32()) }
