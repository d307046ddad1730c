package index

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// dice makes the choices of a generated expression, from random numbers or from a fuzzer's bytes.
type dice func(n int) int

func bytesDice(data []byte) dice {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b) % n
	}
}

func (d dice) bound(extent int) int {
	switch d(12) {
	case 0:
		return math.MaxInt - d(3)
	case 1:
		return math.MinInt + d(3)
	}
	return d(2*min(extent, 9)+5) - min(extent, 9) - 2
}

func (d dice) step() int {
	return []int{1, -1, 2, -2, 3, -3, 5, -7, math.MaxInt, math.MinInt, -math.MaxInt, 1}[d(12)]
}

func (d dice) shape() []int {
	s := make([]int, d(5))
	for a := range s {
		s[a] = []int{2, 3, 1, 4, 2, 3, 5, 0}[d(8)]
	}
	if len(s) > 0 && d(16) == 1 {
		s[d(len(s))] = []int{math.MaxInt, math.MaxInt - 1, 1 << 40}[d(3)]
	}
	return s
}

// items generates an expression that mostly fits the shape: it follows which axis it is at.
func (d dice) items(shape []int) []Item {
	var items []Item
	axis, dots := 0, 0
	for range d(7) {
		n := 0
		if axis < len(shape) {
			n = shape[axis]
		} else if d(8) > 0 {
			break
		}
		switch k := d(16); k {
		case 0, 1, 2:
			i := d(2*min(n, 9)+1) - min(n, 9)
			if i == n && d(8) > 0 {
				i = -1
			}
			items = append(items, At(i))
			axis++
		case 3, 4, 5:
			start, stop := new(d.bound(n)), new(d.bound(n))
			if d(3) == 0 {
				start = nil
			}
			if d(3) == 0 {
				stop = nil
			}
			step := d.step()
			if d(40) == 1 {
				step = 0
			}
			items = append(items, Step(start, stop, step))
			axis++
		case 6:
			if dots++; dots == 1 || d(20) == 1 {
				items = append(items, Ellipsis)
				axis = max(axis, len(shape)-d(3))
			}
		case 7:
			items = append(items, NewAxis)
		case 8:
			items = append(items, Bool(d(3) > 0))
		case 9, 10:
			it, rank := d.mask(shape[min(axis, len(shape)):])
			items = append(items, it)
			axis += rank
		case 11:
			items = append(items, All)
			axis++
		default:
			items = append(items, d.array(n))
			axis++
		}
	}
	return items
}

func (d dice) mask(rest []int) (it Item, rank int) {
	rank = min(1+d(2), len(rest))
	shape := slices.Clone(rest[:rank])
	for a := range shape {
		if shape[a] > 9 || d(40) == 1 {
			shape[a] = d(4)
		}
	}
	values := make([]bool, tensor.Size(shape))
	for i := range values {
		values[i] = d(2) == 1
	}
	return Of(tensor.Must(tensor.FromSlice(values, shape...))), rank
}

func (d dice) array(extent int) Item {
	shape := [][]int{{}, {1}, {2}, {2}, {3, 1}, {3, 2}, {1, 2}, {0}, {3}}[d(9)]
	n := tensor.Size(shape)
	signed := make([]int8, n)
	unsigned := make([]uint64, n)
	for i := range n {
		v := d(2*min(extent, 9)+1) - min(extent, 9)
		if v == extent && d(16) > 0 {
			v = 0
		}
		signed[i], unsigned[i] = int8(v), uint64(max(v, -v-1))
	}
	switch d(24) {
	case 0:
		return Of(tensor.Must(tensor.New(tensor.Float32, shape...)))
	case 1:
		return Mask(tensor.Must(tensor.FromSlice(signed, shape...)))
	case 2, 3, 4, 5:
		return Of(tensor.Must(tensor.FromSlice(unsigned, shape...)))
	case 6, 7, 8, 9: // any layout will do
		v := tensor.Must(tensor.FromSliceColMajor(signed, shape...)).View()
		return Of(v)
	}
	return Of(tensor.Must(tensor.FromSlice(signed, shape...)))
}
