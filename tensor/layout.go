package tensor

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Layout maps a logical index to Offset + Σ index[a]·Strides[a], counted in elements. Strides may be
// negative (a reversed axis) or zero (a broadcast one). Layouts are immutable: every method returns a new
// one, and nobody writes to the slices of a layout that was handed out.
type Layout struct {
	Shape, Strides []int
	Offset         int
}

// NewLayout checks and makes a layout.
//
// Errors: ErrStride if the lengths differ, ErrShape for a negative extent, ErrOverflow if the number of
// elements or an offset does not fit an int.
func NewLayout(shape, strides []int, offset int) (Layout, error) {
	if len(shape) != len(strides) {
		return Layout{}, Errorf("tensor.NewLayout", ErrStride, "%d strides %v for rank %d shape %v",
			len(strides), strides, len(shape), shape)
	}
	if _, err := CheckedSize(shape); err != nil {
		return Layout{}, err
	}
	l := Layout{slices.Clone(shape), slices.Clone(strides), offset}
	if _, _, err := l.Span(); err != nil {
		return Layout{}, err
	}
	return l, nil
}

// RowMajor is the compact layout of a shape in which the last axis varies fastest. The shape must have
// passed CheckedSize.
func RowMajor(shape []int) Layout {
	st := make([]int, len(shape))
	n := 1
	for a := len(shape) - 1; a >= 0; a-- {
		st[a] = n
		n *= max(shape[a], 1)
	}
	return Layout{slices.Clone(shape), st, 0}
}

// ColMajor is the compact layout of a shape in which the first axis varies fastest. The shape must have
// passed CheckedSize.
func ColMajor(shape []int) Layout {
	st := make([]int, len(shape))
	n := 1
	for a := range shape {
		st[a] = n
		n *= max(shape[a], 1)
	}
	return Layout{slices.Clone(shape), st, 0}
}

// Size is the number of elements of a shape that has passed CheckedSize: the product of its extents, 1 for
// rank 0.
func Size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// CheckedSize is Size with every check: ErrShape for a negative extent, ErrOverflow where the product of the
// non-zero extents does not fit an int (so an extent of 0 hides no overflow of the strides).
func CheckedSize(shape []int) (int, error) {
	n, empty := uint64(1), false
	for a, d := range shape {
		if d < 0 {
			return 0, Errorf("", ErrShape, "extent %d of axis %d in shape %v is negative", d, a, shape)
		}
		if d == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt {
			return 0, Errorf("", ErrOverflow, "shape %v has more elements than an int counts", shape)
		}
		n = lo
	}
	if empty {
		return 0, nil
	}
	return int(n), nil
}

// EqualShapes reports whether two shapes have the same extents.
func EqualShapes(a, b []int) bool { return slices.Equal(a, b) }

// Size is the number of logical elements.
func (l Layout) Size() int { return Size(l.Shape) }

// Rank is the number of axes.
func (l Layout) Rank() int { return len(l.Shape) }

// Equal reports whether shape, strides and offset all agree.
func (l Layout) Equal(m Layout) bool {
	return l.Offset == m.Offset && slices.Equal(l.Shape, m.Shape) && slices.Equal(l.Strides, m.Strides)
}

// Summary is the layout in one line: shape=[2] strides=[1] offset=0.
func (l Layout) Summary() string {
	return fmt.Sprintf("shape=%v strides=%v offset=%d", l.Shape, l.Strides, l.Offset)
}

// String is Summary.
func (l Layout) String() string { return l.Summary() }

// At is the offset of an index that is known to be inside: Linear without its checks.
func (l Layout) At(idx []int) int {
	o := l.Offset
	for a, i := range idx {
		o += i * l.Strides[a]
	}
	return o
}

// Linear is the element offset of a logical index.
//
// Errors: ErrRank for the wrong number of indices, ErrBounds for an index outside its extent.
func (l Layout) Linear(idx ...int) (int, error) {
	if len(idx) != len(l.Shape) {
		return 0, Errorf("tensor.Linear", ErrRank, "%d indices %v for rank %d shape %v", len(idx), idx,
			l.Rank(), l.Shape)
	}
	for a, i := range idx {
		if i < 0 || i >= l.Shape[a] {
			return 0, Errorf("tensor.Linear", ErrBounds,
				"index %d is out of bounds for axis %d with extent %d", i, a, l.Shape[a])
		}
	}
	if _, _, err := l.Span(); err != nil {
		return 0, err
	}
	return l.At(idx), nil
}

// Span is the half-open range [lo, hi) of element offsets that the layout reaches; lo == hi == Offset where
// it is empty. Error: ErrOverflow where a bound does not fit an int.
func (l Layout) Span() (lo, hi int, err error) {
	if slices.Contains(l.Shape, 0) {
		return l.Offset, l.Offset, nil
	}
	var down, up uint64 // distance below and above Offset
	for a, d := range l.Shape {
		to, s := &up, l.Strides[a]
		mag := uint64(s)
		if s < 0 {
			to, mag = &down, -uint64(s)
		}
		h, m := bits.Mul64(uint64(d-1), mag)
		sum, carry := bits.Add64(*to, m, 0)
		if h|carry != 0 || mag > math.MaxInt && d > 1 { // a stride must have a negative
			return 0, 0, Errorf("", ErrOverflow, "offsets of %s overflow", l)
		}
		*to = sum
	}
	below, above := uint64(l.Offset)-1<<63, math.MaxInt-uint64(l.Offset) // the room, which may be more than an int
	if down > below || up >= above {
		return 0, 0, Errorf("", ErrOverflow, "offsets of %s overflow", l)
	}
	lo, hi = l.Offset-int(down), l.Offset+int(up)
	return lo, hi + 1, nil
}

// IsRowMajor reports whether the elements lie without gaps in row-major order. Strides of axes of extent 1
// and of empty layouts do not matter, nor does Offset.
func (l Layout) IsRowMajor() bool {
	n := 1
	for a := len(l.Shape) - 1; a >= 0; a-- {
		if l.Shape[a] != 1 && l.Strides[a] != n {
			return l.Size() == 0
		}
		n *= l.Shape[a]
	}
	return true
}

// IsColMajor is IsRowMajor with the first axis varying fastest.
func (l Layout) IsColMajor() bool {
	n := 1
	for a, d := range l.Shape {
		if d != 1 && l.Strides[a] != n {
			return l.Size() == 0
		}
		n *= d
	}
	return true
}

// Unravel is the logical index of a row-major position: the inverse of RowMajor(shape).At.
func Unravel(pos int, shape []int) []int {
	idx := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		idx[a] = pos % shape[a]
		pos /= shape[a]
	}
	return idx
}

// Indices yields every logical index of a shape in row-major order. The slice is reused: copy it to keep it.
// It is for tests, literals and printing; kernels have loops of their own.
func Indices(shape []int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		if Size(shape) == 0 {
			return
		}
		idx := make([]int, len(shape))
		for {
			if !yield(idx) {
				return
			}
			a := len(shape) - 1
			for ; a >= 0; a-- {
				if idx[a]++; idx[a] < shape[a] {
					break
				}
				idx[a] = 0
			}
			if a < 0 {
				return
			}
		}
	}
}
