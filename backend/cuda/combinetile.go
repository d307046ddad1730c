package cuda

import (
	"fmt"
	"strings"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
)

// A warp that folds or scans reads a tile of a line, runs of 32 elements at a time, and joins in shared memory. It is
// bound by the bytes, and by some 36 joins of a warp for 1024 elements.

const together = 4 // loads of a thread on their way at once

// at is where element e, of 32 bits, of the tile of value i is.
func (w *combineWriter) at(e string, i int) string {
	gap, r := w.k.Register("u32"), w.k.Register("u64")
	w.k.Emit("shr.u32 %s, %s, 5", gap, e)
	w.k.Emit("add.u32 %s, %s, %s", gap, gap, e)
	w.k.Emit("mul.wide.u32 %s, %s, %d", r, gap, w.f.out[i].Size())
	w.k.Emit("add.u64 %s, %s, %s", r, r, w.tiles[i])
	return r
}

func (w *combineWriter) fetch(v []ptx.Value, e string) {
	for i := range v {
		w.k.LoadFrom("shared", v[i], w.at(e, i))
	}
}

func (w *combineWriter) put(e string, v []ptx.Value) {
	for i := range v {
		w.k.StoreTo("shared", w.at(e, i), v[i])
	}
}

func (w *combineWriter) sync() { w.k.Emit("bar.warp.sync -1") }

// u32 is a new register with the result of an instruction.
func (w *combineWriter) u32(format string, args ...any) string {
	r := w.k.Register("u32")
	op, rest, _ := strings.Cut(fmt.Sprintf(format, args...), " ")
	w.k.Emit("%s %s, %s", op, r, rest)
	return r
}

// fill reads m elements of the unit into the tile.
func (w *combineWriter) fill(m string) {
	k := w.k
	e := w.u32("mov.u32 %s", w.lane)
	at := make([]string, w.values)
	for i := range at {
		wide := k.Register("u64")
		at[i] = k.Register("u64")
		k.Emit("cvt.u64.u32 %s, %s", wide, w.lane)
		k.Emit("mad.lo.s64 %s, %s, %s, %s", at[i], wide, w.along[i], w.address[i])
	}
	again, done := k.Label(), k.Label()
	k.Emit("%s:", again)
	k.Emit("@%s bra %s", w.pred("ge.u32", e, m), done)
	var read [together][]ptx.Value
	var there [together]string
	var places [together]string
	for t := range together {
		places[t] = w.u32("add.u32 %s, %d", e, 32*t)
		there[t] = w.pred("lt.u32", places[t], m)
		read[t] = w.fresh()
		skip := k.Label()
		k.Emit("@!%s bra %s", there[t], skip)
		for i := range at {
			k.Load(read[t][i], at[i])
		}
		k.Emit("%s:", skip)
		for i := range at {
			step := k.Register("u64")
			k.Emit("shl.b64 %s, %s, 5", step, w.along[i])
			k.Emit("add.u64 %s, %s, %s", at[i], at[i], step)
		}
	}
	for t := range together {
		skip := k.Label()
		k.Emit("@!%s bra %s", there[t], skip)
		w.put(places[t], read[t])
		k.Emit("%s:", skip)
	}
	k.Emit("add.u32 %s, %s, %d", e, e, 32*together)
	k.Emit("bra %s", again)
	k.Emit("%s:", done)
	w.sync()
}

// rounds runs body for the numbers below n > 0, 32 at a time, by all lanes: those that have none take the last one,
// and mine says which have one.
func (w *combineWriter) rounds(n string, body func(e, mine string)) {
	k := w.k
	again := k.Label()
	base, last := w.u32("mov.u32 0"), w.u32("sub.u32 %s, 1", n)
	e, mine := k.Register("u32"), k.Register("pred")
	k.Emit("%s:", again)
	k.Emit("add.u32 %s, %s, %s", e, base, w.lane)
	k.Emit("setp.lt.u32 %s, %s, %s", mine, e, n)
	k.Emit("min.u32 %s, %s, %s", e, e, last)
	body(e, mine)
	k.Emit("add.u32 %s, %s, 32", base, base)
	k.Emit("@%s bra %s", w.pred("lt.u32", base, n), again)
}

// when runs body in the lanes where a predicate holds.
func (w *combineWriter) when(p string, body func()) {
	skip := w.k.Label()
	w.k.Emit("@!%s bra %s", p, skip)
	body()
	w.k.Emit("%s:", skip)
}

// foldTile joins neighbours, then the results, which move together; what has no neighbour moves with them.
func (w *combineWriter) foldTile() {
	k := w.k
	m := w.u32("cvt.u32.u64 %s", w.length)
	w.fill(m)
	top, done, half := k.Label(), k.Label(), k.Register("u32")
	k.Emit("%s:", top)
	k.Emit("@%s bra %s", w.pred("eq.u32", m, 1), done)
	k.Emit("add.u32 %s, %s, 1", half, m)
	k.Emit("shr.u32 %s, %s, 1", half, half)
	w.rounds(half, func(e, mine string) {
		a, b := w.fresh(), w.fresh()
		left := w.u32("shl.b32 %s, 1", e)
		right := w.u32("add.u32 %s, 1", left)
		w.fetch(a, left)
		w.when(w.pred("lt.u32", right, m), func() {
			w.fetch(b, right)
			w.join(a, a, b)
		})
		w.sync()
		w.when(mine, func() { w.put(e, a) })
	})
	w.sync()
	k.Emit("mov.u32 %s, %s", m, half)
	k.Emit("bra %s", top)
	k.Emit("%s:", done)
	value := w.fresh()
	w.fetch(value, w.u32("mov.u32 0"))
	w.begun(value)
	w.when(w.pred("eq.u32", w.lane, 0), func() { w.store(w.results(), value) })
	w.sync()
}

// scanTile makes the blocks of 2, 4, 8… elements in place of their last element, then, from the largest on, what
// everything up to the end of a block gives.
func (w *combineWriter) scanTile() {
	k, carry := w.k, w.fresh()
	w.opened(carry)
	m := w.u32("cvt.u32.u64 %s", w.length)
	w.fill(m)
	half, pairs := w.u32("mov.u32 0"), k.Register("u32") // 2ᵏ elements are a block of level k = half
	up, top, down, done := k.Label(), k.Label(), k.Label(), k.Label()
	// place is the last element of block b of a level.
	place := func(b string) string {
		r := w.u32("add.u32 %s, 1", b)
		k.Emit("shl.b32 %s, %s, %s", r, r, half)
		k.Emit("sub.u32 %s, %s, 1", r, r)
		return r
	}
	k.Emit("%s:", up)
	k.Emit("shr.u32 %s, %s, %s", pairs, m, half)
	k.Emit("shr.u32 %s, %s, 1", pairs, pairs)
	k.Emit("@%s bra %s", w.pred("eq.u32", pairs, 0), top)
	w.rounds(pairs, func(e, mine string) {
		a, b := w.fresh(), w.fresh()
		left := w.u32("shl.b32 %s, 1", e)
		right := place(w.u32("add.u32 %s, 1", left))
		w.fetch(a, place(left))
		w.fetch(b, right)
		w.join(a, a, b)
		w.sync() // a lane without a pair of its own has read the last one
		w.when(mine, func() { w.put(right, a) })
	})
	w.sync()
	k.Emit("add.u32 %s, %s, 1", half, half)
	k.Emit("bra %s", up)
	k.Emit("%s:", top)
	k.Emit("%s:", down)
	blocks := w.u32("shr.u32 %s, %s", m, half)
	k.Emit("add.u32 %s, %s, 1", blocks, blocks)
	k.Emit("shr.u32 %s, %s, 1", blocks, blocks)
	w.rounds(blocks, func(e, mine string) {
		a, b := w.fresh(), w.fresh()
		block := w.u32("shl.b32 %s, 1", e)
		to := place(block)
		begins, read := w.pred("eq.u32", e, 0), k.Label()
		w.move(a, carry)
		k.Emit("@%s bra %s", begins, read)
		w.fetch(a, place(w.u32("sub.u32 %s, 1", block)))
		k.Emit("%s:", read)
		w.fetch(b, to)
		w.joinUnlessFirst(b, a, begins)
		w.sync()
		w.when(mine, func() { w.put(to, b) })
	})
	w.sync()
	k.Emit("@%s bra %s", w.pred("eq.u32", half, 0), done)
	k.Emit("sub.u32 %s, %s, 1", half, half)
	k.Emit("bra %s", down)
	k.Emit("%s:", done)
	if w.carried { // the end of a whole piece is that of a larger block
		inside := k.Label()
		k.Emit("@%s bra %s", w.pred("ne.u64", w.length, w.size), inside)
		all := w.fresh()
		w.load(all, w.carries())
		w.put(w.u32("sub.u32 %s, 1", m), all)
		k.Emit("%s:", inside)
		w.sync()
	}
	w.empty(m)
}

// joinUnlessFirst is b = a∘b, but for the first block of a line, before which there is nothing.
func (w *combineWriter) joinUnlessFirst(b, a []ptx.Value, begins string) {
	k, skip := w.k, w.k.Label()
	alone := k.Register("pred")
	k.Emit("and.pred %s, %s, %s", alone, begins, w.pred("eq.u64", w.piece, 0))
	k.Emit("@%s bra %s", alone, skip)
	w.join(b, a, b)
	k.Emit("%s:", skip)
}

// empty writes the m elements of the tile to the results.
func (w *combineWriter) empty(m string) {
	k := w.k
	w.rounds(m, func(e, mine string) {
		v := w.fresh()
		w.fetch(v, e)
		w.begun(v)
		w.when(mine, func() {
			for i := range v {
				at, wide := k.Register("u64"), k.Register("u64")
				o := w.results() + i
				k.Emit("cvt.u64.u32 %s, %s", wide, e)
				k.Emit("mad.lo.s64 %s, %s, %s, %s", at, wide, w.along[o], w.address[o])
				k.Store(at, v[i])
			}
		})
	})
	w.sync()
}
