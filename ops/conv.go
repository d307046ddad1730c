package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ConvOp is out[n, g…, o, p…] = Σ x̃[n, g…, c, p·Strides + k·Dilations]·w[g…, o, c, k…] over c and k…, where
// p and k run over the axes of space, as many as the lists have elements, and x̃ is x along these: its
// elements Between apart, what lies outside of them, as Low and High say, 0. The group axes g…, any number of
// them, are those of w before its last 2 + len(Strides). What stands between the elements is left out of the
// sum, while padding is in it: 0·∞ is NaN.
//
// With the groups as axes of their own, every rule is a convolution of views.
type ConvOp struct {
	Strides, Dilations, Between, Low, High []int
}

// Name is ops.Conv.
func (o ConvOp) Name() string { return "ops.Conv" }

// Key is the canonical form of the attributes.
func (o ConvOp) Key() string { return graph.KeyOf(o) }

// Infer wants numbers of one dtype, extents that fit together, and padding that leaves no negative extent.
func (o ConvOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 2); err != nil {
		return nil, err
	}
	if err := sameDTypes(in...); err != nil {
		return nil, err
	}
	if err := acceptNumber.check(0, in[0].DType); err != nil {
		return nil, err
	}
	x, w, space := in[0].Shape, in[1].Shape, len(o.Strides)
	for _, l := range [][]int{o.Dilations, o.Between, o.Low, o.High} {
		if len(l) != space {
			return nil, tensor.Errorf("", tensor.ErrAxis, "%v for strides %v, want as many", l, o.Strides)
		}
	}
	groups := len(w) - 2 - space
	if groups < 0 || len(x) != len(w) {
		return nil, tensor.Errorf("", tensor.ErrRank,
			"operand 0 has shape %v, operand 1, the weight, has shape %v: want one rank, %d or more",
			x, w, 2+space)
	}
	if !slices.Equal(x[1:groups+1], w[:groups]) || x[groups+1] != w[groups+1] {
		return nil, tensor.Errorf("", tensor.ErrShape,
			"operand 0 has %v for groups and channels, operand 1, the weight, of shape %v has %v",
			x[1:groups+2], w, append(slices.Clone(w[:groups]), w[groups+1]))
	}
	out := append(slices.Clone(x[:groups+1]), w[groups])
	for j := range space {
		a := o.axis(j, x, w)
		if err := a.complete(false); err != nil {
			return nil, err
		}
		out = append(out, a.count)
	}
	return one(in[0].DType, out), nil
}

// axis is how windows slide over axis j of space.
func (o ConvOp) axis(j int, x, w []int) slidingAxis {
	at := len(x) - len(o.Strides) + j
	return slidingAxis{
		axis: at, size: w[at], stride: o.Strides[j], dilation: o.Dilations[j], between: o.Between[j],
		low: o.Low[j], high: o.High[j], extent: x[at],
	}
}

// VJP: x̄ is the convolution of the cotangent, set Strides apart, with the weight the other way round; w̄ that
// of x with the cotangent as the weight, batch and channels exchanged. Of complexes the other operand is
// conjugated.
func (o ConvOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	x, w := c.In[0], c.In[1]
	space, groups := len(o.Strides), w.Rank()-2-len(o.Strides)
	return pull(c, ct, need, func(i int) *Node {
		if x.Spec().Size() == 0 || w.Spec().Size() == 0 || ct[0].Spec().Size() == 0 {
			return ZerosLike(c.In[i])
		}
		if i == 0 {
			turned := Reverse(SwapAxes(w, groups, groups+1), upTo(w.Rank())[groups+2:]...)
			back := ConvOp{Strides: o.Between, Dilations: o.Dilations, Between: o.Strides}
			for j := range space {
				a := o.axis(j, x.Shape(), w.Shape())
				low := (a.size-1)*a.dilation - a.low
				back.pad(low, (a.extent-1)*a.between+(a.size-1)*a.dilation+1,
					(c.Out[0].Shape()[a.axis]-1)*a.stride+1)
			}
			return graph.Apply(back, ct[0], Conj(turned))
		}
		back := ConvOp{Strides: o.Dilations, Dilations: o.Strides, Between: o.Between}
		for j := range space {
			a := o.axis(j, x.Shape(), w.Shape())
			back.pad(a.low, (c.Out[0].Shape()[a.axis]-1)*a.stride+(a.size-1)*a.dilation+1,
				(a.extent-1)*a.between+1)
		}
		y := graph.Apply(back, Conj(SwapAxes(x, 0, groups+1)), MoveAxis(ct[0], 0, groups+1))
		return MoveAxis(y, 0, groups+1)
	})
}

// pad adds an axis that gets from a length to an extent, by low in front and the rest behind.
func (o *ConvOp) pad(low, extent, length int) {
	o.Low, o.High = append(o.Low, low), append(o.High, extent-low-length)
}

// JVP is that of a product.
func (o ConvOp) JVP(c *Call, tan []*Node) []*Node {
	return push(tan, func(i int, t *Node) *Node {
		if i == 0 {
			return graph.Apply(o, t, c.In[1])
		}
		return graph.Apply(o, c.In[0], t)
	})
}

// Batch makes the examples more images where x has them, more features where w has them, and a group axis
// more where both have.
func (o ConvOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	x, w := in[0], in[1]
	switch {
	case !batched[1]:
		s := x.Shape()
		y := graph.Apply(o, Reshape(x, append([]int{s[0] * s[1]}, s[2:]...)...), w)
		if !y.Valid() {
			return []*Node{y}
		}
		return []*Node{Reshape(y, append([]int{size, s[1]}, y.Shape()[1:]...)...)}
	case !batched[0]:
		groups := w.Rank() - 3 - len(o.Strides)
		w = MoveAxis(w, 0, groups)
		s := w.Shape()
		features := append(append(slices.Clone(s[:groups]), size*s[groups+1]), s[groups+2:]...)
		y := graph.Apply(o, x, Reshape(w, features...))
		if !y.Valid() {
			return []*Node{y}
		}
		split := append(append(slices.Clone(y.Shape()[:groups+1]), size, s[groups+1]), y.Shape()[groups+2:]...)
		return []*Node{MoveAxis(Reshape(y, split...), groups+1, 0)}
	}
	return []*Node{MoveAxis(graph.Apply(o, MoveAxis(x, 0, 1), w), 1, 0)}
}
