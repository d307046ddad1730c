// Gen writes the assembly of package simd and the Go declarations that go with it:
//
//	go run . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd
//
// A kernel takes pointers and counts and checks nothing; the Go code around it does. The float32 and the
// float64 form of a kernel come from one body, in which an elem says how an instruction is spelled.
//
// Operands stand in the order of Go's assembler, the destination last: sub(a, b, c) is c = b − a, and where a
// lane of max(a, b, c) holds a NaN or two zeros c is a.
package main

import (
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!noasm")
	constants()
	for _, e := range []*elem{float32s, float64s} {
		sums(e)
		sumLines(e)
		elementwise(e)
		compares(e)
		extremes(e)
		products(e)
		pieces(e)
	}
	roundings()
	elementary()
	sumLinesWide()
	elementaryWide()
	softmaxes()
	chains(wide32)
	chains(wide64)
	extremesWide(wide32)
	extremesWide(wide64)
	copyPast()
	fencePast()
	fetch()
	places()
	rowLists()
	takes()
	moves()
	runs()
	Generate()
}

// elem is an element type and the packed instructions on it.
type elem struct {
	suffix, typ string
	size, lanes int // bytes of an element, elements in a YMM register
	shift       int // log₂ size

	add, sub, mul, div, max, min, and, or, xor, move, fma, sqrt func(...Op)

	addOne, moveOne func(...Op) // of the first lane

	broadcast  func(...Op)
	compare    func(...Op)               // predicate, a, b, c: c = b predicate a
	blend      func(mask, yes, no, c Op) // c = mask ? yes : no
	moveMasked func(from, mask, to Op)
	signs      func(x, bits Op) // bits = the sign of each lane
}

var float32s = &elem{
	suffix: "F32", typ: "float32", size: 4, lanes: 8, shift: 2,
	add: VADDPS, sub: VSUBPS, mul: VMULPS, div: VDIVPS, max: VMAXPS, min: VMINPS,
	and: VANDPS, or: VORPS, xor: VXORPS, move: VMOVUPS, fma: VFMADD231PS, sqrt: VSQRTPS,
	addOne: VADDSS, moveOne: VMOVSS,
	broadcast: VBROADCASTSS, compare: VCMPPS, blend: VBLENDVPS, moveMasked: VMASKMOVPS, signs: VMOVMSKPS,
}

var float64s = &elem{
	suffix: "F64", typ: "float64", size: 8, lanes: 4, shift: 3,
	add: VADDPD, sub: VSUBPD, mul: VMULPD, div: VDIVPD, max: VMAXPD, min: VMINPD,
	and: VANDPD, or: VORPD, xor: VXORPD, move: VMOVUPD, fma: VFMADD231PD, sqrt: VSQRTPD,
	addOne: VADDSD, moveOne: VMOVSD,
	broadcast: VBROADCASTSD, compare: VCMPPD, blend: VBLENDVPD, moveMasked: VMASKMOVPD, signs: VMOVMSKPD,
}

// The predicates of compare.
const (
	equal           = U8(0x00) // what does not hold where an operand is NaN
	ordered         = U8(0x07)
	less            = U8(0x11)
	lessEqual       = U8(0x12)
	greaterEqual    = U8(0x1d)
	unordered       = U8(0x03) // what holds there
	notEqual        = U8(0x04)
	notLess         = U8(0x15)
	notLessEqual    = U8(0x16)
	notGreaterEqual = U8(0x19)
	notGreater      = U8(0x1a)
)

// masks is 64 bytes of ones and 64 of zeros: from byte 64 − n on it masks the first n bytes of 64.
var masks Mem

func constants() {
	masks = GLOBL("masks", RODATA|NOPTR)
	for i := range 16 {
		var v U64
		if i < 8 {
			v = ^U64(0)
		}
		DATA(8*i, v)
	}
}

// constant is the bits of an element in every lane, as a memory operand.
func (e *elem) constant(name string, bits uint64) Mem {
	if m, ok := made[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range e.lanes {
		if e.size == 4 {
			DATA(4*i, U32(bits))
		} else {
			DATA(8*i, U64(bits))
		}
	}
	made[name] = m
	return m
}

// counting is n numbers, 0, step, 2·step and so on, each in some bytes, as a memory operand.
func counting(name string, n, bytes, step int) Mem {
	if m, ok := made[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range n {
		v := map[int]Constant{1: U8(i * step), 2: U16(i * step), 4: U32(i * step), 8: U64(i * step)}[bytes]
		DATA(bytes*i, v)
	}
	made[name] = m
	return m
}

var made = map[string]Mem{}

// nanBits is those of math.NaN.
func (e *elem) nanBits() uint64 {
	if e.size == 4 {
		return uint64(math.Float32bits(float32(math.NaN())))
	}
	return math.Float64bits(math.NaN())
}

// function begins a kernel.
func function(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(strings.Split(doc, "\n")...)
}

// end closes a kernel; the upper halves of the registers are cleared since SSE code follows.
func end() {
	VZEROUPPER()
	RET()
}

func param(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// tail makes masks for the first n < 64/size elements, whose count is in a register: one for each YMM
// register that they fill.
func (e *elem) tail(n GPVirtual, registers int) []VecVirtual {
	at, base := GP64(), GP64()
	LEAQ(masks, base)
	MOVQ(n, at)
	SHLQ(Imm(uint64(e.shift)), at)
	SUBQ(at, base)
	var all []VecVirtual
	for k := range registers {
		m := YMM()
		VMOVUPS(Mem{Base: base, Disp: 64 + 32*k}, m)
		all = append(all, m)
	}
	return all
}

func (e *elem) zero() VecVirtual {
	r := YMM()
	e.xor(r, r, r)
	return r
}

func (e *elem) loaded(m Mem) VecVirtual {
	r := YMM()
	e.move(m, r)
	return r
}

// one is a parameter in the first lane of a register.
func (e *elem) one(name string) VecVirtual { return Load(Param(name), XMM()).(VecVirtual) }
