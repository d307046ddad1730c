package cpu

import (
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The rows of a scatter: operand 0 is y, operand 1 the updates u. They are bound by memory where windows are
// rows, by the latency of y where they are single elements.

// scatterPair is y and u of a run, and what does not depend on the combination.
type scatterPair[T tensor.Element] struct{ y, u []T }

func (p *scatterPair[T]) bind(s *[slots][]T) { p.y, p.u = s[0], s[1] }

// miss drops what is out of bounds.
func (p *scatterPair[T]) miss(at, step *slotOffsets, n int) {}

// eachRun combines runs row by row. It is bound by the memory of y, whose rows are anywhere; touching some rows
// ahead gained nothing over what the processor reads ahead by itself.
func (p *scatterPair[T]) eachRun(row func(y, u []T), at, from []int, off *slotOffsets, step, n int) {
	for k, o := range at {
		i, j := o+off[0], off[1]+from[k]*step
		row(p.y[i:i+n], p.u[j:j+n])
	}
}

type (
	setRows[T tensor.Element] struct{ scatterPair[T] }
	addRows[T summable]       struct{ scatterPair[T] }
	mulRows[T summable]       struct{ scatterPair[T] }
	maxRows[T number]         struct{ scatterPair[T] }
	minRows[T number]         struct{ scatterPair[T] }
	// mulRows128 rounds every product. complex64 needs no such care: Go multiplies it in float64, where the
	// products are exact.
	mulRows128 struct{ scatterPair[complex128] }
)

func (r *setRows[T]) row(at, step *slotOffsets, n int) {
	y, u, i, j := r.y, r.u, at[0], at[1]
	if step[0] == 1 && step[1] == 1 {
		setInto(y[i:i+n], u[j:j+n])
		return
	}
	for range n {
		y[i] = u[j]
		i += step[0]
		j += step[1]
	}
}

func (r *setRows[T]) each(at, from []int, off, step *slotOffsets) {
	y, u, w, j, s := r.y, r.u, off[0], off[1], step[1]
	for k, o := range at {
		y[o+w] = u[j+from[k]*s]
	}
}

func (r *setRows[T]) runs(at, from []int, off *slotOffsets, step, n int) {
	r.eachRun(setInto[T], at, from, off, step, n)
}

func setInto[T tensor.Element](y, u []T) {
	copy(y, u)
}

func (r *addRows[T]) row(at, step *slotOffsets, n int) {
	y, u, i, j := r.y, r.u, at[0], at[1]
	if step[0] == 1 && step[1] == 1 {
		addInto(y[i:i+n], u[j:j+n])
		return
	}
	for range n {
		y[i] += u[j]
		i += step[0]
		j += step[1]
	}
}

func (r *addRows[T]) each(at, from []int, off, step *slotOffsets) {
	y, u, w, j, s := r.y, r.u, off[0], off[1], step[1]
	for k, o := range at {
		y[o+w] += u[j+from[k]*s]
	}
}

func (r *addRows[T]) runs(at, from []int, off *slotOffsets, step, n int) {
	r.eachRun(addInto[T], at, from, off, step, n)
}

func addInto[T summable](y, u []T) {
	u = u[:len(y)]
	for k := range y {
		y[k] += u[k]
	}
}

func (r *mulRows[T]) row(at, step *slotOffsets, n int) {
	y, u, i, j := r.y, r.u, at[0], at[1]
	for range n {
		y[i] *= u[j]
		i += step[0]
		j += step[1]
	}
}

func (r *mulRows[T]) each(at, from []int, off, step *slotOffsets) {
	y, u, w, j, s := r.y, r.u, off[0], off[1], step[1]
	for k, o := range at {
		y[o+w] *= u[j+from[k]*s]
	}
}

func (r *mulRows[T]) runs(at, from []int, off *slotOffsets, step, n int) {
	r.eachRun(mulInto[T], at, from, off, step, n)
}

func mulInto[T summable](y, u []T) {
	u = u[:len(y)]
	for k := range y {
		y[k] *= u[k]
	}
}

func (r *mulRows128) row(at, step *slotOffsets, n int) {
	y, u, i, j := r.y, r.u, at[0], at[1]
	for range n {
		y[i] = product(y[i], u[j])
		i += step[0]
		j += step[1]
	}
}

func (r *mulRows128) each(at, from []int, off, step *slotOffsets) {
	y, u, w, j, s := r.y, r.u, off[0], off[1], step[1]
	for k, o := range at {
		y[o+w] = product(y[o+w], u[j+from[k]*s])
	}
}

// Go's max and min are the order of SEMANTICS.md: NaN wins, −0 is below +0.

func (r *maxRows[T]) row(at, step *slotOffsets, n int) {
	y, u, i, j := r.y, r.u, at[0], at[1]
	for range n {
		y[i] = max(y[i], u[j])
		i += step[0]
		j += step[1]
	}
}

func (r *maxRows[T]) each(at, from []int, off, step *slotOffsets) {
	y, u, w, j, s := r.y, r.u, off[0], off[1], step[1]
	for k, o := range at {
		y[o+w] = max(y[o+w], u[j+from[k]*s])
	}
}

func (r *maxRows[T]) runs(at, from []int, off *slotOffsets, step, n int) {
	r.eachRun(maxInto[T], at, from, off, step, n)
}

func maxInto[T number](y, u []T) {
	u = u[:len(y)]
	for k := range y {
		y[k] = max(y[k], u[k])
	}
}

func (r *minRows[T]) row(at, step *slotOffsets, n int) {
	y, u, i, j := r.y, r.u, at[0], at[1]
	for range n {
		y[i] = min(y[i], u[j])
		i += step[0]
		j += step[1]
	}
}

func (r *minRows[T]) each(at, from []int, off, step *slotOffsets) {
	y, u, w, j, s := r.y, r.u, off[0], off[1], step[1]
	for k, o := range at {
		y[o+w] = min(y[o+w], u[j+from[k]*s])
	}
}

func (r *minRows[T]) runs(at, from []int, off *slotOffsets, step, n int) {
	r.eachRun(minInto[T], at, from, off, step, n)
}

func minInto[T number](y, u []T) {
	u = u[:len(y)]
	for k := range y {
		y[k] = min(y[k], u[k])
	}
}

// newCombine is the work of a scatter; nil where there is none.
func newCombine(dt tensor.DType, c ops.Combine, w *scatterSlots) func() scatterWork {
	switch {
	case c > ops.CombineMin:
		return nil
	case c == ops.CombineSet:
		return newSet(dt.Size(), w)
	}
	switch dt {
	case tensor.Bool: // a byte that is 0 or 1: or is the maximum, and is the minimum
		switch c {
		case ops.CombineAdd:
			c = ops.CombineMax
		case ops.CombineMul:
			c = ops.CombineMin
		}
		return newReal[uint8](c, w)
	case tensor.Int8:
		return newReal[int8](c, w)
	case tensor.Int16:
		return newReal[int16](c, w)
	case tensor.Int32:
		return newReal[int32](c, w)
	case tensor.Int64:
		return newReal[int64](c, w)
	case tensor.Uint8:
		return newReal[uint8](c, w)
	case tensor.Uint16:
		return newReal[uint16](c, w)
	case tensor.Uint32:
		return newReal[uint32](c, w)
	case tensor.Uint64:
		return newReal[uint64](c, w)
	case tensor.Float16, tensor.BFloat16:
		return newHalfWork(dt, w, func() slotRows[float32] { return realRows[float32](c) })
	case tensor.Float32:
		return newReal[float32](c, w)
	case tensor.Float64:
		return newReal[float64](c, w)
	case tensor.Complex64:
		return newComplex(c, w, func() slotRows[complex64] { return new(mulRows[complex64]) })
	}
	return newComplex(c, w, func() slotRows[complex128] { return new(mulRows128) })
}

func newSet(size int, w *scatterSlots) func() scatterWork {
	switch size {
	case 1:
		return newDirect(w, func() slotRows[uint8] { return new(setRows[uint8]) })
	case 2:
		return newDirect(w, func() slotRows[uint16] { return new(setRows[uint16]) })
	case 4:
		return newDirect(w, func() slotRows[uint32] { return new(setRows[uint32]) })
	case 8:
		return newDirect(w, func() slotRows[uint64] { return new(setRows[uint64]) })
	}
	return newDirect(w, func() slotRows[complex128] { return new(setRows[complex128]) })
}

func newReal[T number](c ops.Combine, w *scatterSlots) func() scatterWork {
	return newDirect(w, func() slotRows[T] { return realRows[T](c) })
}

func realRows[T number](c ops.Combine) slotRows[T] {
	switch c {
	case ops.CombineAdd:
		return new(addRows[T])
	case ops.CombineMul:
		return new(mulRows[T])
	case ops.CombineMax:
		return new(maxRows[T])
	}
	return new(minRows[T])
}

// newComplex has no Max and Min.
func newComplex[T complex64 | complex128](c ops.Combine, w *scatterSlots, mul func() slotRows[T]) func() scatterWork {
	switch c {
	case ops.CombineAdd:
		return newDirect(w, func() slotRows[T] { return new(addRows[T]) })
	case ops.CombineMul:
		return newDirect(w, mul)
	}
	return nil
}
