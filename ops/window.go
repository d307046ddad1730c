package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Window says how an index space I and a window space W address an operand x. Gather, Scatter and
// ScatterScan carry one. At index position i and window position w, the place on axis a of x is
//
//	XBatch[j]     i[IndexBatch[j]]
//	IndexAxes[k]  start_k(i) + w[a], with w[a] = 0 where a is in Collapsed
//	any other     w[a]
//
// start_k(i) is read from index operand k, an integer tensor that broadcasts to IndexShape, the shape of I; it
// keeps its own shape, so that what broadcasts to nothing is there to be checked.
//
// The shape U of a gather's result and of a scatter's updates interleaves I and W: OffsetAxes (sorted) are
// the axes of U that belong to W, in the order of x; the others are the axes of I in order.
//
// Of n places:
//
//	elements of a vector   {IndexAxes: {0}, SliceSizes: {1}, Collapsed: {0}, IndexShape: {n}}
//	rows of d columns      {IndexAxes: {0}, SliceSizes: {1, d}, Collapsed: {0}, OffsetAxes: {1}, IndexShape: {n}}
type Window struct {
	IndexAxes  []int // the axis of x that each index operand indexes
	SliceSizes []int // extent of the window on each axis of x; 1 on collapsed and batch axes
	Collapsed  []int // axes of x whose window extent is dropped from W
	XBatch     []int // axes of x paired with axes of I
	IndexBatch []int // the axes of I that they are paired with
	OffsetAxes []int // axes of U that are axes of W
	IndexShape []int // the shape of I
}

// OOB says what happens where a start is out of bounds: s with window w on extent n is in bounds when
// 0 ≤ s ≤ n − w: OOBError, OOBClamp or OOBSkip.
type OOB uint8

// The three answers. Skip is Fill (with 0) in a gather and Drop in a scatter, so each mode is its own
// adjoint.
const (
	OOBError OOB = iota // *IndexError, nothing is written
	OOBClamp            // the start clamps to [0, n − w]
	OOBSkip             // a gather reads 0 there, a scatter does not write
)

var oobNames = [...]string{"error", "clamp", "skip"}

// String is error, clamp or skip.
func (o OOB) String() string {
	if o <= OOBSkip {
		return oobNames[o]
	}
	return "unknown"
}

// Mode completes a Window.
type Mode struct {
	OOB        OOB
	Wrap       bool // −n…−1 count from the end: n is added once, before the test
	PerElement bool // Skip judges each element by its own place (StableHLO), not whole windows (JAX)
}

func (m Mode) check() error {
	if m.OOB > OOBSkip {
		return tensor.Errorf("", tensor.ErrUnsupported, "out-of-bounds mode %d is unknown", m.OOB)
	}
	return nil
}

// fallible reports whether a kernel can meet an index that is an error.
func fallible(w Window, m Mode) bool { return m.OOB == OOBError && len(w.IndexAxes) > 0 }

// Resolved is a Window checked against the shapes it addresses.
type Resolved struct {
	Shape     []int // of U
	WindowX   []int // the axis of x of each axis of W
	IndexOut  []int // the axis of U of each axis of I
	WindowOut []int // the axis of U of each axis of W: OffsetAxes
}

// Resolve checks every constraint of a Window on an operand of shape x and index operands of the given
// specs.
//
// Errors, in this order: tensor.ErrDType for an index operand that is not of an integer dtype; tensor.ErrAxis for
// axes that are out of range, repeated, with two roles, too few or too many; tensor.ErrShape for extents that do
// not fit together, and where clamp is set for a window that fits nowhere because its axis has extent 0;
// tensor.ErrOverflow for more index positions than an int counts.
func (w Window) Resolve(x []int, idx []tensor.Spec, clamp bool) (Resolved, error) {
	for k, s := range idx {
		if !s.DType.IsInteger() {
			return Resolved{}, tensor.Errorf("", tensor.ErrDType, "index operand %d has dtype %s, want an integer",
				k, s.DType)
		}
	}
	role, err := w.roles(len(x))
	if err != nil {
		return Resolved{}, err
	}
	r, err := w.interleave(role)
	if err != nil {
		return Resolved{}, err
	}
	if err := w.checkIndices(idx); err != nil {
		return r, err
	}
	if err := w.checkExtents(x, role, clamp); err != nil {
		return r, err
	}
	r.Shape = make([]int, len(r.IndexOut)+len(r.WindowOut))
	for i, o := range r.IndexOut {
		r.Shape[o] = w.IndexShape[i]
	}
	for k, o := range r.WindowOut {
		r.Shape[o] = w.SliceSizes[r.WindowX[k]]
	}
	_, err = tensor.CheckedSize(w.IndexShape)
	return r, err
}

// interleave lays the axes of I and W out in U.
func (w Window) interleave(role []uint8) (Resolved, error) {
	r := Resolved{WindowOut: w.OffsetAxes}
	for a := range role {
		if role[a]&(isCollapsed|isBatch) == 0 {
			r.WindowX = append(r.WindowX, a)
		}
	}
	n := len(w.IndexShape) + len(r.WindowX)
	if len(w.OffsetAxes) != len(r.WindowX) {
		return r, tensor.Errorf("", tensor.ErrAxis,
			"OffsetAxes %v are %d axes, but %d axes of x are neither in Collapsed nor in XBatch", w.OffsetAxes,
			len(w.OffsetAxes), len(r.WindowX))
	}
	isWindow := make([]bool, n)
	for k, o := range w.OffsetAxes {
		if o < 0 || o >= n || k > 0 && o <= w.OffsetAxes[k-1] {
			return r, tensor.Errorf("", tensor.ErrAxis, "offset axes %v of rank %d, want them sorted and unique",
				w.OffsetAxes, n)
		}
		isWindow[o] = true
	}
	for o := range n {
		if !isWindow[o] {
			r.IndexOut = append(r.IndexOut, o)
		}
	}
	return r, nil
}

const (
	isIndexed = 1 << iota
	isCollapsed
	isBatch
)

// roles is what each axis of an operand of some rank is.
func (w Window) roles(rank int) ([]uint8, error) {
	if len(w.XBatch) != len(w.IndexBatch) {
		return nil, tensor.Errorf("", tensor.ErrAxis,
			"batch axes %v of the operand are paired with %v of the indices", w.XBatch, w.IndexBatch)
	}
	for j, b := range w.IndexBatch {
		if b < 0 || b >= len(w.IndexShape) {
			return nil, tensor.Errorf("", tensor.ErrAxis, "batch axis %d of the indices is outside of index shape %v",
				b, w.IndexShape)
		}
		if slices.Contains(w.IndexBatch[:j], b) {
			return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is repeated in the batch axes %v of the indices",
				b, w.IndexBatch)
		}
	}
	role := make([]uint8, rank)
	for _, group := range []struct {
		name string
		axes []int
		bit  uint8
	}{{"indexed", w.IndexAxes, isIndexed}, {"collapsed", w.Collapsed, isCollapsed}, {"batch", w.XBatch, isBatch}} {
		for _, a := range group.axes {
			if a < 0 || a >= rank {
				return nil, tensor.Errorf("", tensor.ErrAxis, "%s axis %d is outside of rank %d", group.name, a, rank)
			}
			if role[a]&group.bit != 0 {
				return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is repeated in the %s axes %v",
					a, group.name, group.axes)
			}
			if role[a] |= group.bit; group.bit == isBatch && role[a] != isBatch {
				return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is a batch axis and indexed or collapsed too", a)
			}
		}
	}
	return role, nil
}

// checkIndices holds the shapes of the index operands against the index shape.
func (w Window) checkIndices(idx []tensor.Spec) error {
	for a, d := range w.IndexShape {
		if d < 0 {
			return tensor.Errorf("", tensor.ErrShape, "extent %d of axis %d in index shape %v is negative", d, a, w.IndexShape)
		}
	}
	if len(idx) != len(w.IndexAxes) {
		return tensor.Errorf("", tensor.ErrShape, "%d index operands for %d indexed axes %v",
			len(idx), len(w.IndexAxes), w.IndexAxes)
	}
	for k, s := range idx {
		lead := len(w.IndexShape) - len(s.Shape)
		fits := lead >= 0
		for a, d := range s.Shape {
			fits = fits && (d == 1 || d == w.IndexShape[lead+a])
		}
		if !fits {
			return tensor.Errorf("", tensor.ErrShape, "index operand %d has shape %v, which does not broadcast to %v",
				k, s.Shape, w.IndexShape)
		}
	}
	return nil
}

// checkExtents holds the slice sizes and the batch axes against the operand's shape.
func (w Window) checkExtents(x []int, role []uint8, clamp bool) error {
	if len(w.SliceSizes) != len(x) {
		return tensor.Errorf("", tensor.ErrShape, "%d slice sizes %v for operand shape %v",
			len(w.SliceSizes), w.SliceSizes, x)
	}
	for a, extent := range x {
		size, dropped := w.SliceSizes[a], role[a]&(isCollapsed|isBatch) != 0
		switch {
		case dropped && size != 1:
			return tensor.Errorf("", tensor.ErrShape, "slice size %d on axis %d, which is dropped, want 1", size, a)
		case size < 0 || size > extent && (!dropped || role[a] == isCollapsed): // a start can be out of bounds, 0 cannot
			return tensor.Errorf("", tensor.ErrShape, "slice size %d on axis %d with extent %d", size, a, extent)
		case clamp && role[a]&isIndexed != 0 && size > extent:
			return tensor.Errorf("", tensor.ErrShape,
				"a window of %d clamps to no place on axis %d with extent %d", size, a, extent)
		}
	}
	for j, a := range w.XBatch {
		if b := w.IndexBatch[j]; w.IndexShape[b] != x[a] {
			return tensor.Errorf("", tensor.ErrShape,
				"batch axis %d of operand shape %v has extent %d, its partner, axis %d of index shape %v, has %d",
				a, x, x[a], b, w.IndexShape, w.IndexShape[b])
		}
	}
	return nil
}

// The ways a batch enters a Window; in each the new axis is axis 0 of U.

// batchX: x has it, the indices do not: one more window axis, taken whole.
func (w Window) batchX(n int) Window {
	return Window{
		IndexAxes: shift(w.IndexAxes, 1), SliceSizes: prepend(n, w.SliceSizes), Collapsed: shift(w.Collapsed, 1),
		XBatch: shift(w.XBatch, 1), IndexBatch: w.IndexBatch,
		OffsetAxes: prepend(0, shift(w.OffsetAxes, 1)), IndexShape: w.IndexShape,
	}
}

// batchIndex: the indices have it, x does not: one more index axis.
func (w Window) batchIndex(n int) Window {
	w.IndexBatch, w.OffsetAxes = shift(w.IndexBatch, 1), shift(w.OffsetAxes, 1)
	w.IndexShape = prepend(n, w.IndexShape)
	return w
}

// batchBoth: x and the indices have it: a pair of batch axes.
func (w Window) batchBoth(n int) Window {
	return Window{
		IndexAxes: shift(w.IndexAxes, 1), SliceSizes: prepend(1, w.SliceSizes), Collapsed: shift(w.Collapsed, 1),
		XBatch: prepend(0, shift(w.XBatch, 1)), IndexBatch: prepend(0, shift(w.IndexBatch, 1)),
		OffsetAxes: shift(w.OffsetAxes, 1), IndexShape: prepend(n, w.IndexShape),
	}
}

func shift(v []int, by int) []int {
	r := make([]int, len(v))
	for i, a := range v {
		r[i] = a + by
	}
	return r
}

func prepend(head int, tail []int) []int { return append([]int{head}, tail...) }
