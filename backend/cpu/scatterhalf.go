package cpu

import "github.com/adjoint-go/adjoint/tensor"

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

func (r *loadRows) each(at, _ []int, off, _ *slotOffsets) {
	for _, o := range at {
		r.codec.widen(r.floats, o+off[0], 1, r.halves, o+off[0], 1, 1)
	}
}

func (*loadRows) miss(at, step *slotOffsets, n int) {}

func (r *storeRows) row(at, step *slotOffsets, n int) {
	r.codec.round(r.halves, at[0], step[0], r.floats, at[0], step[0], n)
}

func (r *storeRows) each(at, _ []int, off, _ *slotOffsets) {
	for _, o := range at {
		r.codec.round(r.halves, o+off[0], 1, r.floats, o+off[0], 1, 1)
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
