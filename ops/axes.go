package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// axisOf is an axis counted from 0; a negative one counts from the end. Error: tensor.ErrAxis.
func axisOf(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// axesOf is axes counted from 0, in the order given and in a slice of their own; nil means all, an empty
// slice none. Error: tensor.ErrAxis for an axis out of range or named twice.
func axesOf(axes []int, rank int) ([]int, error) {
	if axes == nil {
		return upTo(rank), nil
	}
	r := make([]int, len(axes))
	for i, a := range axes {
		n, err := axisOf(a, rank)
		if err != nil {
			return nil, err
		}
		if slices.Contains(r[:i], n) {
			return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is repeated in axes %v", a, axes)
		}
		r[i] = n
	}
	return r, nil
}

// sortedAxes is axesOf in ascending order.
func sortedAxes(axes []int, rank int) ([]int, error) {
	r, err := axesOf(axes, rank)
	slices.Sort(r)
	return r, err
}

// upTo is 0, 1, … n−1.
func upTo(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i
	}
	return r
}

// filled is n times v.
func filled(n, v int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = v
	}
	return r
}

// without is the axes 0 … rank−1 that are not in axes.
func without(axes []int, rank int) []int {
	r := make([]int, 0, rank)
	for a := range rank {
		if !slices.Contains(axes, a) {
			r = append(r, a)
		}
	}
	return r
}

// pick is the extents of the named axes.
func pick(shape, axes []int) []int {
	r := make([]int, len(axes))
	for i, a := range axes {
		r[i] = shape[a]
	}
	return r
}
