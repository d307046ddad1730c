package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileScatterScan is the plan of a scatter-scan: a scatter whose writers also tell what they found.
// Operands x, [a], b, idx…; results y and, where used[1], before.
//
// Errors: those of ops.Window.Resolve; tensor.ErrShape and tensor.ErrDType where a, b, y or before is not
// what op asks for.
func compileScatterScan(op ops.ScatterScanOp, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	w := &scatterSlots{in: [slots]int{1: 1}, scan: true, before: used[1]}
	if op.Affine {
		w.in = [slots]int{1: 2, 2: 1}
	}
	if len(in) <= w.in[1] || len(out) != 2 {
		return nil, tensor.Errorf("", tensor.ErrShape, "%d operands and %d results for a scatter-scan", len(in), len(out))
	}
	dt := in[0].DType
	s, err := newWindowSpec("ops.ScatterScan", op.Window, op.Mode, op.Origin, in[0], in[w.in[1]+1:])
	if err != nil {
		return nil, err
	}
	for _, o := range in[1 : w.in[1]+1] {
		if err := checkSpec("updates", o, dt, s.resolved.Shape); err != nil {
			return nil, err
		}
	}
	if w.before {
		if err := checkSpec("before", out[1], dt, s.resolved.Shape); err != nil {
			return nil, err
		}
	} else {
		out = out[:1]
	}
	s.reverse = op.Reverse
	k := new(scatter)
	if op.Affine {
		k.work = newAffine(dt, w)
	} else {
		k.work = newExchange(dt.Size(), w)
	}
	return k.complete(s, w, out, in)
}

// The rows of a scan: operand 0 is y, which holds h; 1 is b, 2 is a, 3 is before. They are bound as those of
// a scatter are.

// scanRows is the operands of a run; before is nil where it is not wanted.
type scanRows[T tensor.Element] struct{ y, b, a, before []T }

func (r *scanRows[T]) bind(s *[slots][]T) { r.y, r.b, r.a, r.before = s[0], s[1], s[2], s[3] }

// miss leaves before as it is: 0.
func (r *scanRows[T]) miss(at, step *slotOffsets, n int) {}

type (
	exchangeRows[T tensor.Element] struct{ scanRows[T] }
	affineRows[T summable]         struct{ scanRows[T] }
	affineBool                     struct{ scanRows[uint8] }      // h ← a and h, or b
	affine128                      struct{ scanRows[complex128] } // with the products rounded
)

func (r *exchangeRows[T]) row(at, step *slotOffsets, n int) {
	y, b, before, i, j, q := r.y, r.b, r.before, at[0], at[1], at[3]
	for range n {
		if before != nil {
			before[q] = y[i]
		}
		y[i] = b[j]
		i, j, q = i+step[0], j+step[1], q+step[3]
	}
}

func (r *exchangeRows[T]) each(at, from []int, off, step *slotOffsets) {
	y, b, before, w := r.y, r.b, r.before, off[0]
	for k, o := range at {
		if before != nil {
			before[off[3]+from[k]*step[3]] = y[o+w]
		}
		y[o+w] = b[off[1]+from[k]*step[1]]
	}
}

// one does one writer.
func (r *affineRows[T]) one(i, j, p, q int) {
	h := r.y[i]
	if r.before != nil {
		r.before[q] = h
	}
	r.y[i] = T(r.a[p]*h) + r.b[j]
}

func (r *affineRows[T]) row(at, step *slotOffsets, n int) {
	i, j, p, q := at[0], at[1], at[2], at[3]
	for range n {
		r.one(i, j, p, q)
		i, j, p, q = i+step[0], j+step[1], p+step[2], q+step[3]
	}
}

func (r *affineRows[T]) each(at, from []int, off, step *slotOffsets) {
	for k, o := range at {
		i := from[k]
		r.one(o+off[0], off[1]+i*step[1], off[2]+i*step[2], off[3]+i*step[3])
	}
}

// one does one writer.
func (r *affineBool) one(i, j, p, q int) {
	h := r.y[i]
	if r.before != nil {
		r.before[q] = h
	}
	r.y[i] = r.a[p]&h | r.b[j]
}

func (r *affineBool) row(at, step *slotOffsets, n int) {
	i, j, p, q := at[0], at[1], at[2], at[3]
	for range n {
		r.one(i, j, p, q)
		i, j, p, q = i+step[0], j+step[1], p+step[2], q+step[3]
	}
}

func (r *affineBool) each(at, from []int, off, step *slotOffsets) {
	for k, o := range at {
		i := from[k]
		r.one(o+off[0], off[1]+i*step[1], off[2]+i*step[2], off[3]+i*step[3])
	}
}

// one does one writer.
func (r *affine128) one(i, j, p, q int) {
	h := r.y[i]
	if r.before != nil {
		r.before[q] = h
	}
	r.y[i] = product(r.a[p], h) + r.b[j]
}

func (r *affine128) row(at, step *slotOffsets, n int) {
	i, j, p, q := at[0], at[1], at[2], at[3]
	for range n {
		r.one(i, j, p, q)
		i, j, p, q = i+step[0], j+step[1], p+step[2], q+step[3]
	}
}

func (r *affine128) each(at, from []int, off, step *slotOffsets) {
	for k, o := range at {
		i := from[k]
		r.one(o+off[0], off[1]+i*step[1], off[2]+i*step[2], off[3]+i*step[3])
	}
}

// newExchange is the work of Exchange: movement, by the size of an element.
func newExchange(size int, w *scatterSlots) func() scatterWork {
	switch size {
	case 1:
		return newDirect(w, func() slotRows[uint8] { return new(exchangeRows[uint8]) })
	case 2:
		return newDirect(w, func() slotRows[uint16] { return new(exchangeRows[uint16]) })
	case 4:
		return newDirect(w, func() slotRows[uint32] { return new(exchangeRows[uint32]) })
	case 8:
		return newDirect(w, func() slotRows[uint64] { return new(exchangeRows[uint64]) })
	}
	return newDirect(w, func() slotRows[complex128] { return new(exchangeRows[complex128]) })
}

// newAffine is the work of Affine.
func newAffine(dt tensor.DType, w *scatterSlots) func() scatterWork {
	switch dt {
	case tensor.Bool:
		return newDirect(w, func() slotRows[uint8] { return new(affineBool) })
	case tensor.Int8:
		return newAffineOf[int8](w)
	case tensor.Int16:
		return newAffineOf[int16](w)
	case tensor.Int32:
		return newAffineOf[int32](w)
	case tensor.Int64:
		return newAffineOf[int64](w)
	case tensor.Uint8:
		return newAffineOf[uint8](w)
	case tensor.Uint16:
		return newAffineOf[uint16](w)
	case tensor.Uint32:
		return newAffineOf[uint32](w)
	case tensor.Uint64:
		return newAffineOf[uint64](w)
	case tensor.Float16, tensor.BFloat16:
		return newHalfWork(dt, w, func() slotRows[float32] { return new(affineRows[float32]) })
	case tensor.Float32:
		return newAffineOf[float32](w)
	case tensor.Float64:
		return newAffineOf[float64](w)
	case tensor.Complex64:
		return newAffineOf[complex64](w)
	}
	return newDirect(w, func() slotRows[complex128] { return new(affine128) })
}

func newAffineOf[T summable](w *scatterSlots) func() scatterWork {
	return newDirect(w, func() slotRows[T] { return new(affineRows[T]) })
}
