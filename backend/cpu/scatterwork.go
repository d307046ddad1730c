package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scatterWork is what is done to y, with the operands of one run. Its passes follow one another in each part
// of y.
type scatterWork interface {
	open(x *Exec, out []tensor.Write, in []tensor.Read)
	passes() []windowRower
	close(x *Exec, out []tensor.Write)
}

// slotRows is rows over operands of one element type: y, u or b, a, before.
type slotRows[T tensor.Element] interface {
	windowRower
	bind(s *[slots][]T)
}

// scatterSlots says what the operands of the rows are: 0 is y, 1 the updates u or b, 2 the factors a of a
// scan, 3 what a scan finds before each writer.
type scatterSlots struct {
	in     [slots]int // the input of slots 1 and 2; 0 for none
	before bool       // slot 3 is result 1
	scan   bool       // slots 2 and 3 are in use

	fill  *sweep        // before = 0, where some writers are skipped
	dense bool          // updates are widened to float32 first
	widen [slots]*sweep // from input to float32
	back  *sweep        // from float32 to before
	reach int           // the end of y's offsets
}

// layouts are those of the operands of shape U in slot order, and makes the sweeps over them.
func (w *scatterSlots) layouts(s *windowSpec, out, in []graph.Operand) []tensor.Layout {
	none := tensor.Layout{Shape: s.resolved.Shape, Strides: make([]int, len(s.resolved.Shape))}
	dense := tensor.RowMajor(s.resolved.Shape)
	l := []tensor.Layout{none}
	if w.scan {
		l = []tensor.Layout{none, none, none}
	}
	for k := 1; k < slots; k++ {
		if w.in[k] == 0 {
			continue
		}
		l[k-1] = in[w.in[k]].Layout
		if w.dense {
			w.widen[k] = &sweep{nest: newNest(l[k-1], dense)}
			l[k-1] = dense
		}
	}
	if !w.before {
		return l
	}
	l[2] = out[1].Layout
	if w.dense {
		w.back = &sweep{nest: newNestBySecond(dense, l[2])}
		l[2] = dense
	}
	if s.mode.OOB == ops.OOBSkip {
		w.fill = &sweep{nest: newNestBySecond(l[2], l[2])}
	}
	return l
}

// directWork scatters in the element type itself.
type directWork[T tensor.Element] struct {
	*scatterSlots
	rows slotRows[T]
	pass []windowRower
	data [slots][]T
	zero zeroRows
	wipe sweepRun
}

func newDirect[T tensor.Element](s *scatterSlots, rows func() slotRows[T]) func() scatterWork {
	size := tensor.DTypeFor[T]().Size()
	return func() scatterWork {
		w := &directWork[T]{scatterSlots: s, rows: rows(), zero: zeroRows{newMovement(size)}}
		w.pass = []windowRower{w.rows}
		w.wipe = sweepRun{s.fill, &w.zero}
		return w
	}
}

func (w *directWork[T]) open(x *Exec, out []tensor.Write, in []tensor.Read) {
	w.data[0] = tensor.Elements[T](out[0].Storage())
	for k, i := range w.in {
		if i > 0 {
			w.data[k] = tensor.Elements[T](in[i].Storage())
		}
	}
	if w.before {
		w.data[3] = tensor.Elements[T](out[1].Storage())
	}
	w.rows.bind(&w.data)
	if w.fill != nil {
		w.zero.bind(nil, out[1].Storage())
		x.run(w.fill.nest.size(), tuning.grain, &w.wipe)
		w.zero.bind(nil, nil)
	}
}

func (w *directWork[T]) passes() []windowRower { return w.pass }

func (w *directWork[T]) close(*Exec, []tensor.Write) {
	w.data = [slots][]T{}
	w.rows.bind(&w.data)
}

// halfWork scatters half floats in float32 and rounds once: the updates are widened, the elements of y that
// they reach are loaded into an accumulator, combined there, and stored. The accumulator is indexed as y is;
// of its memory only what is touched is ever used, and it is not cleared between runs.
type halfWork struct {
	*scatterSlots
	half  halfCodec
	rows  slotRows[float32]
	y     halfRows // between y and the accumulator
	data  [slots][]float32
	pass  []windowRower
	conv  halfSweep
	sweep sweepRun
}

// halfCodec converts n elements between half floats by their bits and float32.
type halfCodec struct {
	widen func(dst []float32, i, si int, src []uint16, j, sj, n int)
	round func(dst []uint16, i, si int, src []float32, j, sj, n int)
}

func newHalfWork(dt tensor.DType, s *scatterSlots, rows func() slotRows[float32]) func() scatterWork {
	s.dense = true
	codec := halfCodec{widenF16Bits, roundF16Bits}
	if dt == tensor.BFloat16 {
		codec = halfCodec{widenBF16Bits, roundBF16Bits}
	}
	return func() scatterWork {
		w := &halfWork{scatterSlots: s, half: codec, rows: rows()}
		w.y.codec, w.conv.codec = &w.half, &w.half
		w.pass = []windowRower{(*loadRows)(&w.y), w.rows, (*storeRows)(&w.y)}
		return w
	}
}

func (w *halfWork) open(x *Exec, out []tensor.Write, in []tensor.Read) {
	w.data[0] = grownFloats(w.data[0], w.reach)
	for k, i := range w.in {
		if i > 0 {
			w.data[k] = grownFloats(w.data[k], in[i].Size())
			w.conv.halves, w.conv.floats = tensor.Elements[uint16](in[i].Storage()), w.data[k]
			w.run(x, w.widen[k], (*widenRows)(&w.conv))
		}
	}
	if w.before {
		w.data[3] = grownFloats(w.data[3], out[1].Size())
		if w.fill != nil {
			clear(w.data[3])
		}
	}
	w.rows.bind(&w.data)
	w.y.halves, w.y.floats = tensor.Elements[uint16](out[0].Storage()), w.data[0]
}

func (w *halfWork) run(x *Exec, s *sweep, rows rower) {
	w.sweep = sweepRun{s, rows}
	x.run(s.nest.size(), tuning.grain, &w.sweep)
}

func (w *halfWork) passes() []windowRower { return w.pass }

func (w *halfWork) close(x *Exec, out []tensor.Write) {
	if w.before {
		w.conv.halves, w.conv.floats = tensor.Elements[uint16](out[1].Storage()), w.data[3]
		w.run(x, w.back, (*roundRows)(&w.conv))
	}
	w.conv.halves, w.y.halves = nil, nil
}

func grownFloats(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// halfSweep is two sides of a conversion: operand 0 of widenRows is the halves, of roundRows the floats.
type halfSweep struct {
	codec  *halfCodec
	halves []uint16
	floats []float32
}

type (
	widenRows halfSweep
	roundRows halfSweep
)

func (r *widenRows) row(at, step *slotOffsets, n int) {
	r.codec.widen(r.floats, at[1], step[1], r.halves, at[0], step[0], n)
}

func (r *roundRows) row(at, step *slotOffsets, n int) {
	r.codec.round(r.halves, at[1], step[1], r.floats, at[0], step[0], n)
}

// halfRows is y and its accumulator, which are indexed alike.
type halfRows halfSweep

type (
	loadRows  halfRows
	storeRows halfRows
)

func (r *loadRows) row(at, step *slotOffsets, n int) {
	r.codec.widen(r.floats, at[0], step[0], r.halves, at[0], step[0], n)
}

func (r *loadRows) each(at []int, lo int, width uint, off, _ *slotOffsets) {
	for _, o := range at {
		if uint(o-lo) < width {
			r.codec.widen(r.floats, o+off[0], 1, r.halves, o+off[0], 1, 1)
		}
	}
}

func (*loadRows) miss(at, step *slotOffsets, n int) {}

func (r *storeRows) row(at, step *slotOffsets, n int) {
	r.codec.round(r.halves, at[0], step[0], r.floats, at[0], step[0], n)
}

func (r *storeRows) each(at []int, lo int, width uint, off, _ *slotOffsets) {
	for _, o := range at {
		if uint(o-lo) < width {
			r.codec.round(r.halves, o+off[0], 1, r.floats, o+off[0], 1, 1)
		}
	}
}

func (*storeRows) miss(at, step *slotOffsets, n int) {}

func widenF16Bits(dst []float32, i, si int, src []uint16, j, sj, n int) {
	for range n {
		dst[i] = tensor.F16(src[j]).Float32()
		i += si
		j += sj
	}
}

func widenBF16Bits(dst []float32, i, si int, src []uint16, j, sj, n int) {
	for range n {
		dst[i] = tensor.BF16(src[j]).Float32()
		i += si
		j += sj
	}
}

func roundF16Bits(dst []uint16, i, si int, src []float32, j, sj, n int) {
	for range n {
		dst[i] = uint16(tensor.ToF16(src[j]))
		i += si
		j += sj
	}
}

func roundBF16Bits(dst []uint16, i, si int, src []float32, j, sj, n int) {
	for range n {
		dst[i] = uint16(tensor.ToBF16(src[j]))
		i += si
		j += sj
	}
}
