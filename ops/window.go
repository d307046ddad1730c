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
// 0 ≤ s ≤ n − w.
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
// Errors: tensor.ErrDType for an index operand that is not of an integer dtype, tensor.ErrAxis for an axis
// out of range, repeated or with two roles, tensor.ErrShape for extents that do not fit together; and where
// clamp is set, tensor.ErrShape for a window that fits nowhere because its axis has extent 0.
func (w Window) Resolve(x []int, idx []tensor.Spec, clamp bool) (Resolved, error) {
	var r Resolved
	if err := w.checkOperands(idx); err != nil {
		return r, err
	}
	if err := w.checkLengths(x); err != nil {
		return r, err
	}
	role, err := w.roles(x)
	if err != nil {
		return r, err
	}
	for a, d := range x {
		if err := w.checkAxis(a, d, role[a], clamp); err != nil {
			return r, err
		}
		if role[a]&(isCollapsed|isBatch) == 0 {
			r.WindowX = append(r.WindowX, a)
		}
	}
	for j, a := range w.XBatch {
		if b := w.IndexBatch[j]; w.IndexShape[b] != x[a] {
			return r, tensor.Errorf("", tensor.ErrShape,
				"batch axis %d of operand shape %v has extent %d, its partner, axis %d of index shape %v, has %d",
				a, x, x[a], b, w.IndexShape, w.IndexShape[b])
		}
	}
	return r, w.interleave(&r)
}

// interleave lays the axes of I and W out in U.
func (w Window) interleave(r *Resolved) error {
	n := len(w.IndexShape) + len(r.WindowX)
	if len(w.OffsetAxes) != len(r.WindowX) {
		return tensor.Errorf("", tensor.ErrAxis, "%d offset axes %v for %d window axes",
			len(w.OffsetAxes), w.OffsetAxes, len(r.WindowX))
	}
	r.Shape, r.WindowOut = make([]int, n), w.OffsetAxes
	isWindow := make([]bool, n)
	for k, o := range w.OffsetAxes {
		if o < 0 || o >= n || k > 0 && o <= w.OffsetAxes[k-1] {
			return tensor.Errorf("", tensor.ErrAxis, "offset axes %v of rank %d, want them sorted and unique",
				w.OffsetAxes, n)
		}
		isWindow[o] = true
		r.Shape[o] = w.SliceSizes[r.WindowX[k]]
	}
	for o := range n {
		if !isWindow[o] {
			r.Shape[o] = w.IndexShape[len(r.IndexOut)]
			r.IndexOut = append(r.IndexOut, o)
		}
	}
	return nil
}

func (w Window) checkOperands(idx []tensor.Spec) error {
	if _, err := tensor.CheckedSize(w.IndexShape); err != nil {
		return err
	}
	if len(idx) != len(w.IndexAxes) {
		return tensor.Errorf("", tensor.ErrShape, "%d index operands for %d indexed axes %v",
			len(idx), len(w.IndexAxes), w.IndexAxes)
	}
	for k, s := range idx {
		if !s.DType.IsInteger() {
			return tensor.Errorf("", tensor.ErrDType, "index operand %d has dtype %s, want an integer",
				k, s.DType)
		}
		got, err := tensor.BroadcastShapes(s.Shape, w.IndexShape)
		if err != nil || !slices.Equal(got, w.IndexShape) {
			return tensor.Errorf("", tensor.ErrShape,
				"index operand %d has shape %v, which does not broadcast to %v",
				k, s.Shape, w.IndexShape)
		}
	}
	return nil
}

func (w Window) checkLengths(x []int) error {
	if len(w.SliceSizes) != len(x) {
		return tensor.Errorf("", tensor.ErrShape, "%d slice sizes %v for operand shape %v",
			len(w.SliceSizes), w.SliceSizes, x)
	}
	if len(w.XBatch) != len(w.IndexBatch) {
		return tensor.Errorf("", tensor.ErrAxis,
			"batch axes %v of the operand are paired with %v of the indices",
			w.XBatch, w.IndexBatch)
	}
	for j, b := range w.IndexBatch {
		if b < 0 || b >= len(w.IndexShape) {
			return tensor.Errorf("", tensor.ErrAxis,
				"batch axis %d of the indices is outside of index shape %v",
				b, w.IndexShape)
		}
		if slices.Contains(w.IndexBatch[:j], b) {
			return tensor.Errorf("", tensor.ErrAxis,
				"axis %d is repeated in the batch axes %v of the indices",
				b, w.IndexBatch)
		}
	}
	return nil
}

const (
	isIndexed = 1 << iota
	isCollapsed
	isBatch
)

func (w Window) roles(x []int) ([]uint8, error) {
	role := make([]uint8, len(x))
	for _, group := range []struct {
		name string
		axes []int
		bit  uint8
	}{{"indexed", w.IndexAxes, isIndexed}, {"collapsed", w.Collapsed, isCollapsed}, {"batch", w.XBatch, isBatch}} {
		for _, a := range group.axes {
			if a < 0 || a >= len(x) {
				return nil, tensor.Errorf("", tensor.ErrAxis, "%s axis %d is outside of rank %d",
					group.name, a, len(x))
			}
			if role[a]&group.bit != 0 {
				return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is repeated in the %s axes %v",
					a, group.name, group.axes)
			}
			role[a] |= group.bit
		}
	}
	return role, nil
}

func (w Window) checkAxis(a, extent int, role uint8, clamp bool) error {
	size := w.SliceSizes[a]
	dropped := role&(isCollapsed|isBatch) != 0
	switch {
	case role&isBatch != 0 && role != isBatch:
		return tensor.Errorf("", tensor.ErrAxis, "axis %d is a batch axis and indexed or collapsed too", a)
	case dropped && size != 1:
		return tensor.Errorf("", tensor.ErrShape, "slice size %d on axis %d, which is dropped, want 1",
			size, a)
	case size < 0 || size > extent && (!dropped || role == isCollapsed): // a start can be out of bounds, 0 cannot
		return tensor.Errorf("", tensor.ErrShape, "slice size %d on axis %d with extent %d", size, a, extent)
	case clamp && role&isIndexed != 0 && size > extent:
		return tensor.Errorf("", tensor.ErrShape,
			"a window of %d clamps to no place on axis %d with extent %d", size, a, extent)
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
