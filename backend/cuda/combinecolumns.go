package cuda

import (
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
)

// A thread that folds keeps the blocks of the elements that it met, of 2ᵏ elements on level k, like the digits of a
// binary counter. It is bound by the bytes where neighbours take neighbouring lines; the levels stay in the
// first-level cache.

// level reads or writes a group at a place in local memory.
func (w *combineWriter) level(v []ptx.Value, at string) {
	for i := range v {
		w.k.LoadFrom("local", v[i], fmt.Sprintf("%s+%d", at, w.offsets[i]))
	}
}

func (w *combineWriter) keep(at string, v []ptx.Value) {
	for i := range v {
		w.k.StoreTo("local", fmt.Sprintf("%s+%d", at, w.offsets[i]), v[i])
	}
}

// elements runs body for each element of the unit, which are read one ahead.
func (w *combineWriter) elements(body func(i string, v []ptx.Value)) {
	k, v, next, i := w.k, w.fresh(), w.fresh(), w.k.Register("u64")
	again, last, none := k.Label(), k.Label(), k.Label()
	ahead, end := k.Register("u64"), k.Register("pred")
	k.Emit("setp.eq.u64 %s, %s, 0", end, w.length)
	k.Emit("@%s bra %s", end, none)
	w.load(next, 0)
	k.Emit("mov.u64 %s, 0", i)
	k.Emit("%s:", again)
	w.move(v, next)
	w.advance(0)
	k.Emit("add.u64 %s, %s, 1", ahead, i)
	k.Emit("setp.ge.u64 %s, %s, %s", end, ahead, w.length)
	k.Emit("@%s bra %s", end, last)
	w.load(next, 0)
	k.Emit("%s:", last)
	body(i, v)
	k.Emit("mov.u64 %s, %s", i, ahead)
	k.Emit("setp.lt.u64 %s, %s, %s", end, i, w.length)
	k.Emit("@%s bra %s", end, again)
	k.Emit("%s:", none)
}

// merged is v with the blocks before it that are as large, level by level; digits is what is left of i, its lowest
// digit 0, and at where the level is.
func (w *combineWriter) merged(i string, v []ptx.Value) (digits, at string) {
	k, a := w.k, w.fresh()
	digits, at = k.Register("u64"), k.Register("u64")
	again, done := k.Label(), k.Label()
	bit, zero := k.Register("u64"), k.Register("pred")
	k.Emit("mov.u64 %s, %s", digits, i)
	k.Emit("mov.u64 %s, levels", at)
	k.Emit("%s:", again)
	k.Emit("and.b64 %s, %s, 1", bit, digits)
	k.Emit("setp.eq.u64 %s, %s, 0", zero, bit)
	k.Emit("@%s bra %s", zero, done)
	w.level(a, at)
	w.join(v, a, v)
	k.Emit("shr.u64 %s, %s, 1", digits, digits)
	k.Emit("add.u64 %s, %s, %d", at, at, w.group)
	k.Emit("bra %s", again)
	k.Emit("%s:", done)
	w.keep(at, v)
	return digits, at
}

// foldColumn joins the blocks of the line from the last, which is the smallest, to the first.
func (w *combineWriter) foldColumn() {
	k, all, a := w.k, w.fresh(), w.fresh()
	w.elements(func(i string, v []ptx.Value) { w.merged(i, v) })
	digits, at, zeros := k.Register("u64"), k.Register("u64"), k.Register("u32")
	up, none := k.Register("u64"), k.Register("pred")
	again, done := k.Label(), k.Label()
	k.Emit("mov.u64 %s, levels", at)
	k.Emit("mov.u64 %s, %s", digits, w.length)
	skip := func() { // to the next digit that is 1
		k.Emit("brev.b64 %s, %s", up, digits)
		k.Emit("clz.b64 %s, %s", zeros, up)
		k.Emit("shr.u64 %s, %s, %s", digits, digits, zeros)
		k.Emit("mul.wide.u32 %s, %s, %d", up, zeros, w.group)
		k.Emit("add.u64 %s, %s, %s", at, at, up)
	}
	skip()
	w.level(all, at)
	k.Emit("%s:", again)
	k.Emit("sub.u64 %s, %s, 1", digits, digits)
	k.Emit("setp.eq.u64 %s, %s, 0", none, digits)
	k.Emit("@%s bra %s", none, done)
	skip()
	w.level(a, at)
	w.join(all, a, all)
	k.Emit("bra %s", again)
	k.Emit("%s:", done)
	w.begun(all)
	w.store(w.results(), all)
}

// scanColumn keeps beside each block what everything up to its end gives: to that of the next larger one the block
// that an element completes is joined.
func (w *combineWriter) scanColumn() {
	k, carry := w.k, w.fresh()
	w.opened(carry)
	w.elements(func(i string, v []ptx.Value) {
		digits, at := w.merged(i, v)
		a, all := w.fresh(), w.fresh()
		higher, join, alone := k.Label(), k.Label(), k.Label()
		k.Emit("@%s bra %s", w.pred("ne.u64", digits, 0), higher)
		w.move(all, v)
		if w.carried {
			k.Emit("@%s bra %s", w.pred("eq.u64", w.piece, 0), alone)
			w.move(a, carry)
			k.Emit("bra %s", join)
		} else {
			k.Emit("bra %s", alone)
		}
		k.Emit("%s:", higher)
		zeros, up := k.Register("u32"), k.Register("u64")
		k.Emit("brev.b64 %s, %s", up, digits)
		k.Emit("clz.b64 %s, %s", zeros, up)
		k.Emit("mul.wide.u32 %s, %s, %d", up, zeros, w.group)
		k.Emit("add.u64 %s, %s, %s", up, up, at)
		k.Emit("add.u64 %s, %s, %d", up, up, mostLevels*w.group)
		w.level(a, up)
		k.Emit("%s:", join)
		w.join(all, a, v)
		k.Emit("%s:", alone)
		if w.carried { // the end of a whole piece is that of a larger block
			next, inside := k.Register("u64"), k.Label()
			k.Emit("add.u64 %s, %s, 1", next, i)
			k.Emit("@%s bra %s", w.pred("ne.u64", next, w.size), inside)
			w.load(all, w.carries())
			k.Emit("%s:", inside)
		}
		beside := k.Register("u64")
		k.Emit("add.u64 %s, %s, %d", beside, at, mostLevels*w.group)
		w.keep(beside, all)
		w.begun(all)
		w.store(w.results(), all)
		w.advance(w.results())
	})
}

// opened reads what comes before a piece, which is what everything up to the end of the one before gives, and writes
// the initial values where they are the first result.
func (w *combineWriter) opened(carry []ptx.Value) {
	k := w.k
	if w.carried {
		none := k.Label()
		k.Emit("@%s bra %s", w.pred("eq.u64", w.piece, 0), none)
		for i := range carry {
			at, o := k.Register("u64"), w.carries()+i
			k.Emit("sub.u64 %s, %s, %s", at, w.address[o], w.along[o])
			k.Load(carry[i], at)
		}
		k.Emit("%s:", none)
	}
	if !w.exclusive {
		return
	}
	init, rest := w.fresh(), k.Label()
	k.Emit("@%s bra %s", w.pred("ne.u64", w.piece, 0), rest)
	if !w.columns {
		k.Emit("@%s bra %s", w.pred("ne.u32", w.lane, 0), rest)
	}
	w.load(init, w.inits())
	for i := range init {
		at := k.Register("u64")
		k.Emit("sub.u64 %s, %s, %s", at, w.address[w.results()+i], w.along[w.results()+i])
		k.Store(at, init[i])
	}
	k.Emit("%s:", rest)
}
