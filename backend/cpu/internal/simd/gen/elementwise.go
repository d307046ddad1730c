package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func elementwise(e *elem) {
	binary(e, "add", "a + b", func(a, b VecVirtual) VecVirtual { e.add(b, a, a); return a })
	binary(e, "sub", "a - b", func(a, b VecVirtual) VecVirtual { e.sub(b, a, a); return a })
	binary(e, "mul", "a * b", func(a, b VecVirtual) VecVirtual { e.mul(b, a, a); return a })
	binary(e, "div", "a / b", func(a, b VecVirtual) VecVirtual { e.div(b, a, a); return a })
	greater := newOrder(e, true)
	addKept(e, greater.nan())
	binary(e, "guard", "0 where a is 0 and b is not finite, else b", func(a, b VecVirtual) VecVirtual {
		bad, zero := YMM(), e.zero()
		e.sub(b, b, bad)
		e.compare(unordered, bad, bad, bad)
		e.compare(equal, zero, a, a)
		e.and(a, bad, bad)
		e.blend(bad, zero, b, b)
		return b
	})
	binary(e, "max", "max(a, b)", greater.pair)
	smaller := newOrder(e, false)
	binary(e, "min", "min(a, b)", smaller.pair)
	addFour(e)
	extremeFour(e, "max", greater)
	extremeFour(e, "min", smaller)
	divBy(e)
	negative(e)
	roots(e)
	subBy(e)
	shifts(e)
}

// stream is the loop of an elementwise kernel: unrolled, then a register at a time, then a tail under a mask.
// The body computes a register of the result from the inputs' at a place.
type stream struct {
	e    *elem
	out  GPVirtual
	in   []GPVirtual
	kept int // an input, other than the first, that the body changes and that is stored too
	n    GPVirtual
	at   GPVirtual // bytes done
	body func(in []VecVirtual) VecVirtual
}

func (s *stream) emit(unroll int) {
	s.at = GP64()
	XORQ(s.at, s.at)
	unrolls := []int{unroll, 1}
	if unroll == 1 {
		unrolls = unrolls[:1]
	}
	for _, u := range unrolls {
		loop, done := fmt.Sprintf("by%d", u), fmt.Sprintf("after%d", u)
		elements := u * s.e.lanes
		Label(loop)
		SUBQ(U32(elements), s.n)
		JL(LabelRef(done))
		for k := range u {
			var in []VecVirtual
			for _, p := range s.in {
				in = append(in, s.e.loaded(s.place(p, k)))
			}
			s.e.move(s.body(in), s.place(s.out, k))
			if s.kept > 0 {
				s.e.move(in[s.kept], s.place(s.in[s.kept], k))
			}
		}
		ADDQ(U32(32*u), s.at)
		JMP(LabelRef(loop))
		Label(done)
		ADDQ(U32(elements), s.n)
	}
	JZ(LabelRef("done"))
	mask := s.e.tail(s.n, 1)[0]
	var in []VecVirtual
	for _, p := range s.in {
		v := YMM()
		s.e.moveMasked(s.place(p, 0), mask, v)
		in = append(in, v)
	}
	s.e.moveMasked(s.body(in), mask, s.place(s.out, 0))
	if s.kept > 0 {
		s.e.moveMasked(in[s.kept], mask, s.place(s.in[s.kept], 0))
	}
	Label("done")
	end()
}

func (s *stream) place(p GPVirtual, k int) Mem {
	return Mem{Base: p, Index: s.at, Scale: 1, Disp: 32 * k}
}

func binary(e *elem, name, formula string, body func(a, b VecVirtual) VecVirtual) {
	function(name+e.suffix, fmt.Sprintf("func(out, a, b *%s, n int)", e.typ),
		name+e.suffix+" is out = "+formula+", element by element.")
	s := &stream{e: e, out: param("out"), in: []GPVirtual{param("a"), param("b")}, n: param("n")}
	s.body = func(in []VecVirtual) VecVirtual { return body(in[0], in[1]) }
	s.emit(4)
}

// addKept is a row of a cumulative sum, in one pass.
func addKept(e *elem, quietNaN Op) {
	function("addKept"+e.suffix, fmt.Sprintf("func(out, a, b, x *%s, n int)", e.typ),
		"addKept"+e.suffix+" is b = b + x, then out = a + b, NaN as math.NaN, element by element.")
	s := &stream{e: e, out: param("out"), n: param("n"), kept: 1}
	s.in = []GPVirtual{param("a"), param("b"), param("x")}
	s.body = func(in []VecVirtual) VecVirtual {
		bad, nan := YMM(), YMM()
		sum, b := in[0], in[1]
		e.add(in[2], b, b)
		e.add(b, sum, sum)
		e.compare(unordered, sum, sum, bad)
		e.move(quietNaN, nan)
		e.blend(bad, nan, sum, sum)
		return sum
	}
	s.emit(2)
}

// order is the greater or the smaller of two: NaN wins, as math.NaN, and −0 is below +0.
type order struct {
	e    *elem
	most bool
}

func newOrder(e *elem, most bool) *order { return &order{e, most} }

// join is the extreme of a and b where neither is NaN: both orders of the operands, which agree but for
// zeros of two signs, where the sign is cleared or set.
func (o *order) join(a, b VecVirtual) VecVirtual {
	other := YMM()
	if o.most {
		o.e.max(a, b, other)
		o.e.max(b, a, a)
		o.e.and(other, a, a)
	} else {
		o.e.min(a, b, other)
		o.e.min(b, a, a)
		o.e.or(other, a, a)
	}
	return a
}

func (o *order) nan() Op { return o.e.constant("quietNaN"+o.e.suffix, o.e.nanBits()) }

func (o *order) pair(a, b VecVirtual) VecVirtual {
	bad, nan := YMM(), YMM()
	o.e.compare(unordered, a, b, bad)
	a = o.join(a, b)
	o.e.move(o.nan(), nan)
	o.e.blend(bad, nan, a, a)
	return a
}

// five is a stream of an accumulator, which is the output too, and four rows.
func five(e *elem, body func(in []VecVirtual) VecVirtual) {
	s := &stream{e: e, out: param("acc"), n: param("n"), body: body}
	s.in = []GPVirtual{s.out, param("a"), param("b"), param("c"), param("d")}
	s.emit(2)
}

func addFour(e *elem) {
	function("addFour"+e.suffix, fmt.Sprintf("func(acc, a, b, c, d *%s, n int)", e.typ),
		"addFour"+e.suffix+" is acc = (((acc + a) + b) + c) + d, element by element.")
	five(e, func(in []VecVirtual) VecVirtual {
		for _, v := range in[1:] {
			e.add(v, in[0], in[0])
		}
		return in[0]
	})
}

func extremeFour(e *elem, name string, o *order) {
	function(name+"Four"+e.suffix, fmt.Sprintf("func(acc, a, b, c, d *%s, n int)", e.typ),
		name+"Four"+e.suffix+" is acc = "+name+"(acc, a, b, c, d), element by element.")
	five(e, func(in []VecVirtual) VecVirtual {
		bad, t, nan := YMM(), YMM(), YMM()
		e.compare(unordered, in[0], in[1], bad)
		e.compare(unordered, in[2], in[3], t)
		e.or(t, bad, bad)
		e.compare(unordered, in[4], in[4], t)
		e.or(t, bad, bad)
		acc := in[0]
		for _, v := range in[1:] {
			acc = o.join(acc, v)
		}
		e.move(o.nan(), nan)
		e.blend(bad, nan, acc, acc)
		return acc
	})
}

func divBy(e *elem) {
	function("divBy"+e.suffix, fmt.Sprintf("func(out, a *%s, s %s, n int)", e.typ, e.typ),
		"divBy"+e.suffix+" is out = a / s, element by element.")
	s := &stream{e: e, out: param("out"), in: []GPVirtual{param("a")}, n: param("n")}
	by := e.parameter("s")
	s.body = func(in []VecVirtual) VecVirtual { e.div(by, in[0], in[0]); return in[0] }
	s.emit(4)
}

func negative(e *elem) {
	function("neg"+e.suffix, fmt.Sprintf("func(out, a *%s, n int)", e.typ), "neg"+e.suffix+" is out = -a, element by element.")
	s := &stream{e: e, out: param("out"), in: []GPVirtual{param("a")}, n: param("n")}
	sign := e.loaded(e.constant("sign"+e.suffix, 1<<(8*e.size-1)))
	s.body = func(in []VecVirtual) VecVirtual { e.xor(sign, in[0], in[0]); return in[0] }
	s.emit(4)
}

func roots(e *elem) {
	function("sqrt"+e.suffix, fmt.Sprintf("func(out, a *%s, n int)", e.typ), "sqrt"+e.suffix+" is out = √a, element by element.")
	s := &stream{e: e, out: param("out"), in: []GPVirtual{param("a")}, n: param("n")}
	s.body = func(in []VecVirtual) VecVirtual { e.sqrt(in[0], in[0]); return in[0] }
	s.emit(4)
}

// parameter is a scalar parameter in every lane. (Load would move it by an SSE instruction: where the upper half of
// a register is in use by then, that takes 100 ns.)
func (e *elem) parameter(name string) VecVirtual {
	return e.parameterIn(YMM(), name)
}

func (e *elem) parameterIn(r VecVirtual, name string) VecVirtual {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	e.broadcast(b.Addr, r)
	return r
}

func subBy(e *elem) {
	function("subBy"+e.suffix, fmt.Sprintf("func(out, a *%s, s, otherwise %s, n int)", e.typ, e.typ),
		"subBy"+e.suffix+" is out = a - s, element by element, and otherwise where that is NaN.")
	s := &stream{e: e, out: param("out"), in: []GPVirtual{param("a")}, n: param("n")}
	by, otherwise := e.parameter("s"), e.parameter("otherwise")
	s.body = func(in []VecVirtual) VecVirtual {
		bad := YMM()
		e.sub(by, in[0], in[0])
		e.compare(unordered, in[0], in[0], bad)
		e.blend(bad, otherwise, in[0], in[0])
		return in[0]
	}
	s.emit(4)
}

func shifts(e *elem) {
	function("shifts"+e.suffix, fmt.Sprintf("func(out, a, m *%s, n int) int", e.typ),
		"shifts"+e.suffix+" is out = a - m, element by element, up to the first register that has a NaN or is not\n"+
			"full. It returns how many elements are done.")
	out, a, m, n := param("out"), param("a"), param("m"), param("n")
	done, bits := GP64(), GP32()
	XORQ(done, done)
	Label("loop")
	SUBQ(U32(e.lanes), n)
	JL(LabelRef("end"))
	at := func(p GPVirtual) Mem { return Mem{Base: p, Index: done, Scale: uint8(e.size)} }
	v, bad := e.loaded(at(a)), YMM()
	e.sub(at(m), v, v)
	e.compare(unordered, v, v, bad)
	e.signs(bad, bits)
	TESTL(bits, bits)
	JNZ(LabelRef("end"))
	e.move(v, at(out))
	ADDQ(U32(e.lanes), done)
	JMP(LabelRef("loop"))
	Label("end")
	Store(done, ReturnIndex(0))
	end()
}
