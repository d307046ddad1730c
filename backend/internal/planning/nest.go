package planning

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Coalesce normalises layouts of one shape, keeping the row-major order of the elements: axes of extent 1 are
// dropped, and neighbouring axes that are one run in every layout are joined. strides are per layout.
func Coalesce(layouts ...tensor.Layout) (shape []int, strides [][]int) {
	strides = make([][]int, len(layouts))
	for a, d := range layouts[0].Shape {
		if d == 1 {
			continue
		}
		k := len(shape) - 1
		joins := k >= 0
		for i, l := range layouts {
			joins = joins && strides[i][k] == d*l.Strides[a]
		}
		if joins {
			shape[k] *= d
		} else {
			shape = append(shape, d)
		}
		for i, l := range layouts {
			if joins {
				strides[i][k] = l.Strides[a]
			} else {
				strides[i] = append(strides[i], l.Strides[a])
			}
		}
	}
	return shape, strides
}

// ByStride puts the axes of layouts of one shape in the order of the first one's strides, largest outermost: for
// work in which the order of the elements does not matter.
func ByStride(layouts ...tensor.Layout) []tensor.Layout {
	perm := make([]int, layouts[0].Rank())
	for a := range perm {
		perm[a] = a
	}
	slices.SortStableFunc(perm, func(a, b int) int {
		return Magnitude(layouts[0].Strides[b]) - Magnitude(layouts[0].Strides[a])
	})
	sorted := make([]tensor.Layout, len(layouts))
	for k, l := range layouts {
		sorted[k] = tensor.Must(l.Transpose(perm...))
	}
	return sorted
}

// Distinct is a layout with extent 1 along the axes that repeat elements: each element once, in order.
func Distinct(l tensor.Layout) tensor.Layout {
	if l.Size() == 0 {
		return l
	}
	l.Shape = slices.Clone(l.Shape)
	for a, s := range l.Strides {
		if s == 0 {
			l.Shape[a] = 1
		}
	}
	return l
}

// Magnitude is |v|.
func Magnitude[I int | int64](v I) I { return max(v, -v) }

// Split parts a layout in its other axes, with its offset, and the named ones, from offset 0.
func Split(l tensor.Layout, axes []int) (kept, named tensor.Layout) {
	kept.Offset = l.Offset
	for a, d := range l.Shape {
		to := &kept
		if slices.Contains(axes, a) {
			to = &named
		}
		to.Shape, to.Strides = append(to.Shape, d), append(to.Strides, l.Strides[a])
	}
	return kept, named
}
