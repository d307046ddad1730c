package conformance

import (
	"math/rand/v2"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// arrangement is a tensor's elements under another layout: a slice of a larger base, its axes permuted. Axis 0
// of the base is not the tensor's: one place of it is taken, which gives every rank an offset.
type arrangement struct {
	base              *tensor.Tensor
	start, step, size []int // the slice of base
	perm              []int // the axes of the tensor among those of base[1:]
}

// arrange lays the elements of t out at random: axes permuted, some reversed, with holes between elements and
// around them. Holes hold bits that would show: ones everywhere, which is NaN for floats and −1 for integers.
func arrange(rng *rand.Rand, t *tensor.Tensor) (*arrangement, error) {
	rank := t.Rank()
	order := rng.Perm(rank) // axis order[b] of t lies at axis b+1 of the base
	a := &arrangement{perm: make([]int, rank)}
	shape := []int{1 + rng.IntN(2)}
	a.start, a.step, a.size = []int{rng.IntN(shape[0])}, []int{1}, []int{1}
	room := 6 // how many times larger the base may become
	for b, axis := range order {
		n := t.Shape()[axis]
		step := 1 + rng.IntN(3)
		if step > room {
			step = 1
		}
		room /= step
		before, after := rng.IntN(2), rng.IntN(2)
		if n > 64 {
			before, after = 0, 0
		}
		start, extent := before, before+max(n-1, 0)*step+min(n, 1)+after
		if rng.IntN(2) == 0 {
			start, step = before+max(n-1, 0)*step, -step
		}
		if n == 0 {
			start = 0
		}
		shape = append(shape, extent)
		a.start, a.step, a.size = append(a.start, start), append(a.step, step), append(a.size, n)
		a.perm[axis] = b
	}
	var err error
	if a.base, err = tensor.New(t.DType(), shape...); err != nil {
		return nil, err
	}
	v, err := a.view()
	if err != nil {
		return nil, err
	}
	return a, a.fill(v.Layout(), t)
}

// fill writes the elements of t to their places and the poison to all others.
func (a *arrangement) fill(l tensor.Layout, t *tensor.Tensor) error {
	to, err := a.base.Storage().Bytes()
	if err != nil {
		return err
	}
	from, err := t.Storage().Bytes()
	if err != nil {
		return err
	}
	poison := byte(0xFF)
	if t.DType() == tensor.Bool {
		poison = 1
	}
	for i := range to {
		to[i] = poison
	}
	width, row := t.DType().Size(), t.Layout()
	for idx := range tensor.Indices(t.Shape()) {
		at, src := l.At(idx)*width, row.At(idx)*width
		copy(to[at:at+width], from[src:src+width])
	}
	return nil
}

// view is the tensor as a view of the base.
func (a *arrangement) view() (tensor.View, error) {
	v, err := a.base.View().Slice(a.start, a.step, a.size)
	if err != nil {
		return v, err
	}
	if v, err = v.Reshape(a.size[1:]...); err != nil {
		return v, err
	}
	return v.Transpose(a.perm...)
}

// node is the tensor as views within a graph that is fed the base: programs copy strided feeds, but not what
// views make of a feed.
func (a *arrangement) node(g *graph.Graph, name string) *node {
	x := g.Input(name, a.base.DType(), a.base.Shape()...)
	x = ops.Slice(x, a.start, a.step, a.size)
	x = ops.Reshape(x, a.size[1:]...)
	if slices.IsSorted(a.perm) {
		return x
	}
	return ops.Transpose(x, a.perm...)
}
