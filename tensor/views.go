package tensor

import (
	"fmt"
	"slices"
	"strings"
)

// Transpose permutes the axes: axis a of the result is axis perm[a] of l.
//
// Errors: ErrAxis if perm is not a permutation of the axes.
func (l Layout) Transpose(perm ...int) (Layout, error) {
	if len(perm) != len(l.Shape) {
		return l, Errorf("tensor.Transpose", ErrAxis, "permutation %v for rank %d shape %v", perm,
			l.Rank(), l.Shape)
	}
	seen := make([]bool, len(perm))
	r := Layout{make([]int, len(perm)), make([]int, len(perm)), l.Offset}
	for a, p := range perm {
		if p < 0 || p >= len(perm) || seen[p] {
			return l, Errorf("tensor.Transpose", ErrAxis, "%v is no permutation of the axes of %v", perm,
				l.Shape)
		}
		seen[p] = true
		r.Shape[a], r.Strides[a] = l.Shape[p], l.Strides[p]
	}
	return r, nil
}

// Slice keeps size[a] elements of each axis a: start[a], start[a]+step[a], … A negative step walks back.
//
// Errors: ErrAxis for the wrong number of axes, ErrBounds where an element lies outside of its axis or a
// step of 0 would repeat one, ErrOverflow where a stride does not fit an int.
func (l Layout) Slice(start, step, size []int) (Layout, error) {
	if err := CheckSlice(l.Shape, start, step, size); err != nil {
		return l, err
	}
	r := Layout{slices.Clone(size), make([]int, len(size)), l.Offset}
	if Size(size) == 0 {
		return Layout{r.Shape, RowMajor(size).Strides, l.Offset}, nil
	}
	for a, n := range size {
		r.Strides[a] = l.Strides[a]
		if n > 1 {
			r.Strides[a] = l.Strides[a] * step[a] // the last element is inside, so this cannot overflow
		}
		r.Offset += start[a] * l.Strides[a]
	}
	return r, nil
}

// CheckSlice tells whether a slice is inside of a shape: the errors of Layout.Slice.
func CheckSlice(shape, start, step, size []int) error {
	if len(start) != len(shape) || len(step) != len(shape) || len(size) != len(shape) {
		return Errorf("tensor.Slice", ErrAxis, "slice start %v step %v size %v for rank %d shape %v",
			start, step, size, len(shape), shape)
	}
	for a, d := range shape {
		n := size[a]
		ok := n >= 0
		if n > 0 {
			ok = start[a] >= 0 && start[a] < d
			switch room := d - 1 - start[a]; { // elements beyond the start, in the step's direction
			case n == 1:
			case step[a] > 0:
				ok = ok && n-1 <= room/step[a]
			case step[a] < 0:
				ok = ok && n-1 <= start[a]/max(-step[a], 1) && -step[a] > 0
			default:
				ok = false
			}
		}
		if !ok {
			return Errorf("tensor.Slice", ErrBounds,
				"slice start %d step %d size %d is outside of axis %d with extent %d",
				start[a], step[a], n, a, d)
		}
	}
	return nil
}

// Reverse flips the named axes.
//
// Errors: ErrAxis for an axis out of range or named twice.
func (l Layout) Reverse(axes ...int) (Layout, error) {
	r := Layout{l.Shape, slices.Clone(l.Strides), l.Offset}
	seen, empty := make([]bool, len(l.Shape)), l.Size() == 0
	for _, a := range axes {
		if a < 0 || a >= len(l.Shape) || seen[a] {
			return l, Errorf("tensor.Reverse", ErrAxis,
				"axis %d of axes %v is repeated or outside of rank %d", a, axes, l.Rank())
		}
		seen[a] = true
		if !empty { // the strides of an empty layout mean nothing: its offset must not leave the storage
			r.Offset += (l.Shape[a] - 1) * l.Strides[a]
		}
		r.Strides[a] = -l.Strides[a]
	}
	return r, nil
}

// Broadcast gives the layout a larger shape by NumPy's rule: axes align at the right, an extent of 1
// repeats, missing leading axes repeat. The repeated axes have stride 0.
//
// Errors: ErrShape where an extent neither agrees nor is 1, ErrOverflow as CheckedSize.
func (l Layout) Broadcast(shape ...int) (Layout, error) {
	if _, err := CheckedSize(shape); err != nil {
		return l, err
	}
	lead := len(shape) - len(l.Shape)
	if lead < 0 {
		return l, Errorf("tensor.Broadcast", ErrShape, "shape %v does not broadcast to %v", l.Shape, shape)
	}
	r := Layout{slices.Clone(shape), make([]int, len(shape)), l.Offset}
	for a, d := range l.Shape {
		switch {
		case d == shape[lead+a]:
			r.Strides[lead+a] = l.Strides[a]
		case d != 1:
			return l, Errorf("tensor.Broadcast", ErrShape, "shape %v does not broadcast to %v", l.Shape,
				shape)
		}
	}
	return r, nil
}

// BroadcastShapes is the shape that all of the given ones broadcast to.
//
// Errors: ErrShape naming the shapes, ErrOverflow where they broadcast to more elements than an int counts.
func BroadcastShapes(shapes ...[]int) ([]int, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
	}
	for _, s := range shapes {
		for i, d := range s {
			j := rank - len(s) + i
			if out[j] == 1 {
				out[j] = d
			} else if d != 1 && d != out[j] {
				list := strings.ReplaceAll(fmt.Sprint(shapes), "] [", "] and [")
				return nil, Errorf("", ErrShape, "shapes %s do not broadcast", list[1:len(list)-1])
			}
		}
	}
	if _, err := CheckedSize(out); err != nil {
		return nil, err
	}
	return out, nil
}

// Reshape gives the elements, in row-major order, another shape. ok is false where that needs a copy, or
// where the shapes have not the same size.
func (l Layout) Reshape(shape ...int) (r Layout, ok bool) {
	if n, err := CheckedSize(shape); err != nil || n != l.Size() {
		return l, false
	}
	if l.Size() == 0 {
		r = RowMajor(shape)
		r.Offset = l.Offset
		return r, true
	}
	old := Layout{}
	for a, d := range l.Shape {
		if d != 1 {
			old.Shape, old.Strides = append(old.Shape, d), append(old.Strides, l.Strides[a])
		}
	}
	r = Layout{slices.Clone(shape), make([]int, len(shape)), l.Offset}
	// Groups of old axes and groups of new ones with the same product match; within a group the old axes
	// must be one run.
	i := 0
	for j := 0; j < len(shape); {
		if shape[j] == 1 {
			r.Strides[j] = 1
			j++
			continue
		}
		first, firstNew := i, j
		have, want := old.Shape[i], shape[j]
		for have != want {
			if have < want {
				i++
				have *= old.Shape[i]
			} else {
				j++
				want *= shape[j]
			}
		}
		for k := first; k < i; k++ {
			if !runsOn(old.Strides[k], old.Shape[k+1], old.Strides[k+1]) {
				return l, false
			}
		}
		step := old.Strides[i]
		for k := j; k >= firstNew; k-- {
			r.Strides[k] = step
			step *= shape[k]
		}
		i++
		j++
	}
	return r, true
}

// Coalesce drops axes of extent 1 and joins neighbours that are one run: the fewest axes with the same
// elements in the same row-major order. An empty layout becomes one axis of extent 0.
func (l Layout) Coalesce() Layout {
	if l.Size() == 0 {
		return Layout{[]int{0}, []int{1}, l.Offset}
	}
	r := Layout{Offset: l.Offset}
	for a, d := range l.Shape {
		if d == 1 {
			continue
		}
		if k := len(r.Shape) - 1; k >= 0 && runsOn(r.Strides[k], d, l.Strides[a]) {
			r.Shape[k] *= d
			r.Strides[k] = l.Strides[a]
			continue
		}
		r.Shape, r.Strides = append(r.Shape, d), append(r.Strides, l.Strides[a])
	}
	return r
}

// runsOn reports whether outer = extent·inner, strides of neighbours that are one run. The product may overflow
// even where the layout is valid.
func runsOn(outer, extent, inner int) bool { return outer%extent == 0 && outer/extent == inner }

// exactLimit is how many elements Injective enumerates before it refuses.
const exactLimit = 1 << 24

// Injective reports whether no element is reached twice. Axes sorted by |stride| separate when each stride
// exceeds the span of the smaller ones; else the offsets are enumerated, up to 2^24 elements. Beyond that
// the answer is false: not proven.
func (l Layout) Injective() bool {
	type axis struct{ extent, stride int }
	var axes []axis
	for a, d := range l.Shape {
		if d == 0 {
			return true
		}
		if d > 1 {
			axes = append(axes, axis{d, max(l.Strides[a], -l.Strides[a])})
		}
	}
	if _, _, err := l.Span(); err != nil {
		return false
	}
	slices.SortFunc(axes, func(x, y axis) int { return x.stride - y.stride })
	span := uint64(0) // below and above Offset together: up to 2^64 - 2
	for _, x := range axes {
		if x.stride == 0 {
			return false
		}
		if uint64(x.stride) <= span {
			return l.distinct()
		}
		span += uint64(x.stride) * uint64(x.extent-1)
	}
	return true
}

// distinct enumerates the offsets and marks each in a bit set over the span.
func (l Layout) distinct() bool {
	n, err := CheckedSize(l.Shape)
	if err != nil || n > exactLimit {
		return false
	}
	lo, hi, _ := l.Span()
	width := uint64(hi) - uint64(lo) // may exceed an int
	if uint64(n) > width {
		return false // pigeonhole
	}
	if width > 64*exactLimit {
		return l.distinctSparse(n)
	}
	seen := make([]uint64, width/64+1)
	for idx := range Indices(l.Shape) {
		o := l.At(idx) - lo
		if seen[o/64]>>(o%64)&1 == 1 {
			return false
		}
		seen[o/64] |= 1 << (o % 64)
	}
	return true
}

// distinctSparse sorts the offsets of a layout whose span is too wide for a bit set.
func (l Layout) distinctSparse(n int) bool {
	at := make([]int, 0, n)
	for idx := range Indices(l.Shape) {
		at = append(at, l.At(idx))
	}
	slices.Sort(at)
	return len(slices.Compact(at)) == n
}
