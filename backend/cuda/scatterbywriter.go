package cuda

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
)

// scatterByWriter writes the kernel. It depends on the function and on how many axes the walks have.
type scatterByWriter struct {
	f                        *scalarFunc
	ys                       int
	slots, positions, window nest
	at                       []int
	size                     int // parameters
	k                        *ptx.Kernel
}

func (w *scatterByWriter) key() string {
	return fmt.Sprint("scatterby ", w.f.key, w.ys, len(w.slots.shape), len(w.positions.shape), len(w.window.shape))
}

func (w *scatterByWriter) param(slot int) string {
	r := w.k.Register("u64")
	w.k.Emit("ld.param.u64 %s, [args+%d]", r, 8*slot)
	return r
}

// walk adds to addresses where an index, of 32 bits, is: in a shape whose extents are parameters from number extents on,
// by steps that are parameters from the numbers steps on, one of each address.
func (w *scatterByWriter) walk(addresses []string, index string, extents, rank int, steps []int) {
	k, rest := w.k, index
	for a := rank - 1; a >= 0; a-- {
		c := rest
		if a > 0 {
			q, d := k.Register("u32"), k.Register("u32")
			c = k.Register("u32")
			k.Emit("ld.param.u32 %s, [args+%d]", d, 8*(extents+a))
			k.Emit("div.u32 %s, %s, %s", q, rest, d)
			k.Emit("mul.lo.u32 %s, %s, %s", c, q, d)
			k.Emit("sub.u32 %s, %s, %s", c, rest, c)
			rest = q
		}
		wide := k.Register("u64")
		k.Emit("cvt.u64.u32 %s, %s", wide, c)
		for o, sum := range addresses {
			k.Emit("mad.lo.s64 %s, %s, %s, %s", sum, wide, w.param(steps[o]+a), sum)
		}
	}
}

// shifted is some numbers, each so much more.
func shifted(numbers []int, by int) []int {
	r := slices.Clone(numbers)
	for i := range r {
		r[i] += by
	}
	return r
}

// text is the kernel. It is bound by the bytes of the updates where windows are rows, and by the latency of one read
// after another where a segment has many.
func (w *scatterByWriter) text() (string, error) {
	k := ptx.NewKernel(scalars(), "scatterby", fmt.Sprintf(".param .u64 fault, .param .align 8 .b8 args[%d]", 8*w.size))
	w.k = k
	e := &elementwiseWriter{}
	e.guard(k)
	t, step := e.firstElement(k)
	n, done := w.param(slotItems), k.Register("pred")
	k.Emit("setp.ge.u64 %s, %s, %s", done, t, n)
	k.Emit("@%s ret", done)
	k.Emit("again:")
	if err := w.segment(t); err != nil {
		return "", err
	}
	k.Emit("next:")
	k.Emit("add.u64 %s, %s, %s", t, t, step)
	k.Emit("setp.lt.u64 %s, %s, %s", done, t, n)
	k.Emit("@%s bra again", done)
	k.Emit("ret")
	return k.Text()
}

// word reads the 32-bit word of a list at an index.
func (w *scatterByWriter) word(list, index string) string {
	at, r := w.k.Register("u64"), w.k.Register("u32")
	w.k.Emit("mad.wide.u32 %s, %s, 4, %s", at, index, list)
	w.k.Emit("ld.global.u32 %s, [%s]", r, at)
	return r
}

// segment does the element of a window that thread number t has, if its position is the first of a segment.
func (w *scatterByWriter) segment(t string) error {
	k := w.k
	r := make([]string, 4)
	for i := range r {
		r[i] = k.Register("u32")
	}
	item, element, window, before := r[0], r[1], r[2], r[3]
	keys, values, p := w.param(slotKeys), w.param(slotValues), k.Register("pred")
	k.Emit("ld.param.u32 %s, [args+%d]", window, 8*slotWindow)
	k.Emit("cvt.u32.u64 %s, %s", element, t)
	k.Emit("div.u32 %s, %s, %s", item, element, window)
	k.Emit("mul.lo.u32 %s, %s, %s", before, item, window)
	k.Emit("sub.u32 %s, %s, %s", element, element, before)
	key, none := w.word(keys, item), k.Register("u32")
	k.Emit("ld.param.u32 %s, [args+%d]", none, 8*slotNone)
	k.Emit("setp.eq.u32 %s, %s, %s", p, key, none)
	k.Emit("@%s bra next", p)
	k.Emit("setp.eq.u32 %s, %s, 0", p, item)
	k.Emit("@%s bra first", p)
	k.Emit("sub.u32 %s, %s, 1", before, item)
	k.Emit("setp.eq.u32 %s, %s, %s", p, w.word(keys, before), key)
	k.Emit("@%s bra next", p)
	k.Emit("first:")
	var addresses []string
	for _, at := range w.at {
		addresses = append(addresses, w.param(at))
	}
	ys, us := addresses[:w.ys], addresses[w.ys:]
	slots, positions := slotWalks, slotWalks+len(w.slots.shape)
	windows := positions + len(w.positions.shape)
	first := shifted(w.at, 1)
	w.walk(ys, key, slots, len(w.slots.shape), first)
	w.walk(ys, element, windows, len(w.window.shape), shifted(first[:w.ys], len(w.slots.shape)))
	w.walk(us, element, windows, len(w.window.shape), shifted(first[w.ys:], len(w.positions.shape)))
	h := make([]ptx.Value, w.ys)
	for i := range h {
		h[i] = k.Value(wordsOf(w.f.out[i]))
		k.Load(h[i], ys[i])
	}
	if err := w.updates(h, us, item, keys, values, key, positions, first[w.ys:]); err != nil {
		return err
	}
	for i := range h {
		k.Store(ys[i], h[i])
	}
	return nil
}

// updates takes h through the updates of a segment, from an item on.
func (w *scatterByWriter) updates(h []ptx.Value, us []string, item, keys, values, key string, positions int,
	steps []int) error {
	k, position := w.k, w.k.Register("u32")
	p, own := k.Register("pred"), k.Register("pred")
	count := k.Register("u32")
	k.Emit("ld.param.u32 %s, [args+%d]", count, 8*slotCount)
	k.Emit("setp.eq.u64 %s, %s, 0", own, values)
	k.Emit("update:")
	k.Emit("mov.u32 %s, %s", position, item)
	k.Emit("@%s bra found", own)
	k.Emit("mov.u32 %s, %s", position, w.word(values, item))
	k.Emit("found:")
	args := slices.Clone(h)
	at := make([]string, len(us))
	for o := range us {
		at[o] = k.Register("u64")
		k.Emit("mov.u64 %s, %s", at[o], us[o])
	}
	w.walk(at, position, positions, len(w.positions.shape), steps)
	for o := range us {
		u := k.Value(wordsOf(w.f.in[w.ys+o]))
		k.Load(u, at[o])
		args = append(args, u)
	}
	made, err := w.f.emit(k, args)
	if err != nil {
		return err
	}
	for i := range h {
		k.Move(h[i], made[i])
	}
	k.Emit("add.u32 %s, %s, 1", item, item)
	k.Emit("setp.ge.u32 %s, %s, %s", p, item, count)
	k.Emit("@%s bra written", p)
	k.Emit("setp.eq.u32 %s, %s, %s", p, w.word(keys, item), key)
	k.Emit("@%s bra update", p)
	k.Emit("written:")
	return nil
}
