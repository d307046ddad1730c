package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// convolution is a spec with all that it leaves out filled in, and the shapes of the operands with their axes
// in the order batch or features, channels, space.
type convolution struct {
	spec ConvSpec
	x, w []int
}

// over fills a spec in. Errors: tensor.ErrRank, tensor.ErrAxis, tensor.ErrShape, tensor.ErrOverflow.
func (s ConvSpec) over(x, w tensor.Spec) (*convolution, error) {
	rank := x.Rank()
	if rank < 2 || w.Rank() != rank {
		return nil, tensor.Errorf("", tensor.ErrRank,
			"operand 0 has shape %v, operand 1, the weight, has shape %v: want one rank, 2 or more", x.Shape, w.Shape)
	}
	for _, l := range [][]int{s.Strides, s.Dilations, s.Between, s.Low, s.High, s.Over} {
		if l != nil && len(l) != rank-2 {
			return nil, tensor.Errorf("", tensor.ErrAxis, "%v for the %d axes of space of operand shape %v",
				l, rank-2, x.Shape)
		}
	}
	s.Strides, s.Dilations = onesFor(s.Strides, rank-2), onesFor(s.Dilations, rank-2)
	s.Between = onesFor(s.Between, rank-2)
	for _, l := range []*[]int{&s.Low, &s.High, &s.Over} {
		if *l == nil {
			*l = filled(rank-2, 0)
		}
		*l = slices.Clone(*l)
		for _, v := range *l {
			if v > convLimit || v < -convLimit {
				return nil, tensor.Errorf("", tensor.ErrOverflow, "padding %v of operand shape %v", *l, x.Shape)
			}
		}
	}
	for _, l := range []*[]int{&s.XAxes, &s.WAxes, &s.OutAxes} {
		axes, err := axesOf(*l, rank)
		if err == nil && len(axes) != rank {
			err = tensor.Errorf("", tensor.ErrAxis, "axes %v for rank %d", *l, rank)
		}
		if err != nil {
			return nil, err
		}
		*l = axes
	}
	for _, n := range []*int{&s.Groups, &s.BatchGroups} {
		if *n == 0 {
			*n = 1
		}
		if *n < 0 {
			return nil, tensor.Errorf("", tensor.ErrShape, "%d groups", *n)
		}
	}
	return &convolution{s, pick(x.Shape, s.XAxes), pick(w.Shape, s.WAxes)}, nil
}

const convLimit = 1 << 60 // of padding, so that no sum of a few overflows

// divide is the error where groups do not divide what they are of.
func (c *convolution) divide(transposed bool) error {
	s := c.spec
	channels := c.w[1]
	if transposed {
		channels = c.w[0] / s.Groups
	}
	switch {
	case s.Groups > 1 && s.BatchGroups > 1:
		return tensor.Errorf("", tensor.ErrUnsupported, "%d groups and %d batch groups, want one of them",
			s.Groups, s.BatchGroups)
	case c.w[0]%s.Groups != 0 || c.w[0]%s.BatchGroups != 0:
		return tensor.Errorf("", tensor.ErrShape,
			"operand 1, the weight, has %d features, which are not divided by %d groups",
			c.w[0], max(s.Groups, s.BatchGroups))
	case c.x[1]%s.Groups != 0 || c.x[1]/s.Groups != channels:
		return tensor.Errorf("", tensor.ErrShape,
			"operand 0 has %d channels in %d groups, operand 1, the weight, has %d: shapes %v and %v",
			c.x[1], s.Groups, channels, c.x, c.w)
	case c.x[0]%s.BatchGroups != 0:
		return tensor.Errorf("", tensor.ErrShape,
			"operand 0 has a batch of %d, which is not divided by %d groups", c.x[0], s.BatchGroups)
	}
	return nil
}

// apply arranges the operands, by views, and the result, which has its groups as an axis.
func (c *convolution) apply(o ConvOp, x, w *Node, transposed bool) *Node {
	s := c.spec
	x, w = permute(x, s.XAxes), permute(w, s.WAxes)
	groups := s.Groups * s.BatchGroups
	if s.BatchGroups > 1 {
		x = SwapAxes(Reshape(x, slices.Concat([]int{groups, c.x[0] / groups}, c.x[1:])...), 0, 1)
	} else {
		x = Reshape(x, slices.Concat([]int{c.x[0], groups, c.x[1] / groups}, c.x[2:])...)
	}
	w = Reshape(w, slices.Concat([]int{groups, c.w[0] / groups}, c.w[1:])...)
	if transposed {
		w = Reverse(SwapAxes(w, 1, 2), upTo(w.Rank())[3:]...)
	}
	y := graph.Apply(o, x, w)
	if !y.Valid() {
		return y
	}
	shape := y.Shape()
	y = Reshape(y, slices.Concat([]int{shape[0], groups * shape[2]}, shape[3:])...)
	perm := make([]int, len(s.OutAxes))
	for a, at := range s.OutAxes {
		perm[at] = a
	}
	return permute(y, perm)
}
