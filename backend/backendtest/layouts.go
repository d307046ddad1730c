package backendtest

import (
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/tensor"
)

// arrangement is a way to lay an array out in memory.
type arrangement struct {
	name               string
	transposed, mirror bool
	gap                int // elements left free between neighbours
	offset             int
	mixed              bool // a random order, signs and gaps
}

var arrangements = []arrangement{
	{name: "row-major"},
	{name: "transposed memory", transposed: true},
	{name: "negative strides", mirror: true},
	{name: "holed with an offset", gap: 1, offset: 3},
	{name: "mixed", offset: 1, mixed: true},
}

// lay gives a layout of a shape and the number of elements of memory that it needs. The memory order of the
// axes, their signs and gaps are the arrangement's.
func (a arrangement) lay(shape []int, r *rand.Rand) (l tensor.Layout, size int) {
	rank := len(shape)
	order := make([]int, rank) // from the innermost axis in memory outward
	for k := range order {
		order[k] = rank - 1 - k
		if a.transposed {
			order[k] = k
		}
	}
	if a.mixed {
		order = r.Perm(rank)
	}
	l = tensor.Layout{Shape: append([]int{}, shape...), Strides: make([]int, rank), Offset: a.offset}
	step := 1
	for _, axis := range order {
		gap, back := a.gap, a.mirror
		if a.mixed {
			gap, back = r.IntN(3), r.IntN(2) == 1
		}
		step *= 1 + gap
		l.Strides[axis] = step
		if d := shape[axis]; back && tensor.Size(shape) > 0 {
			l.Offset += (d - 1) * step
			l.Strides[axis] = -step
		}
		step *= max(shape[axis], 1)
	}
	return l, a.offset + step + 2
}

// dirt is what memory holds before anything is written.
const dirt = 0xA5

// view puts an array into memory of its own under a layout, with dirt around.
func (a array) view(how arrangement, r *rand.Rand) tensor.View {
	l, size := how.lay(a.Shape, r)
	mem := dirty(size * a.DType.Size())
	b := tensor.Must(mem.Bytes())
	each(a.Shape, func(idx []int) { store(a.DType, b, l.At(idx), a.elem(idx)) })
	return tensor.Must(tensor.NewView(mem, a.DType, l))
}

func dirty(size int) *tensor.Storage {
	s := tensor.NewStorage(size)
	b := tensor.Must(s.Bytes())
	for i := range b {
		b[i] = dirt
	}
	return s
}

// repeated is the array with its first elements along an axis in place of all, and a view of the same values
// by stride 0. ok is false where there is no axis to repeat along.
func (a array) repeated(r *rand.Rand) (same array, v tensor.View, ok bool) {
	axis := -1
	for k, d := range a.Shape {
		if d > 1 && (axis < 0 || r.IntN(2) == 0) {
			axis = k
		}
	}
	if axis < 0 || tensor.Size(a.Shape) == 0 {
		return a, v, false
	}
	same = newArray(a.DType, a.Shape...)
	each(a.Shape, func(idx []int) {
		at := append([]int{}, idx...)
		at[axis] = 0
		same.at[same.pos(idx)] = a.elem(at)
	})
	shape := append([]int{}, a.Shape...)
	shape[axis] = 1
	short := newArray(a.DType, shape...)
	each(shape, func(idx []int) { short.at[short.pos(idx)] = a.elem(idx) })
	v = short.view(arrangement{offset: 2}, r)
	v, err := v.Broadcast(a.Shape...)
	return same, v, err == nil
}
