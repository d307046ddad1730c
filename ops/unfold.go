package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// UnfoldOp is out[o…, k…] = x[o·Strides + k·Dilations]: every window of x, as a view. Axis Axes[j] of x
// becomes the number of its windows, and the window's own axes, of extents Sizes, stand at the end in the
// order of Axes. Windows may overlap; those that would reach beyond the end are left out.
//
// It is linear; its adjoint is Fold.
type UnfoldOp struct{ Axes, Sizes, Strides, Dilations []int }

// Name is ops.Unfold.
func (o UnfoldOp) Name() string { return "ops.Unfold" }

// Key is the canonical form of the attributes.
func (o UnfoldOp) Key() string { return graph.KeyOf(o) }

// Infer is the number of windows in place of each of the axes, and Sizes.
func (o UnfoldOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if err := arity(in, 1); err != nil {
		return nil, err
	}
	shape, err := o.shape(in[0].Shape)
	return one(in[0].DType, shape), err
}

func (o UnfoldOp) shape(x []int) ([]int, error) {
	n := len(o.Axes)
	if len(o.Sizes) != n || len(o.Strides) != n || len(o.Dilations) != n {
		return nil, tensor.Errorf("", tensor.ErrAxis, "%d sizes, %d strides and %d dilations for %d axes %v",
			len(o.Sizes), len(o.Strides), len(o.Dilations), n, o.Axes)
	}
	shape := slices.Clone(x)
	for j, a := range o.Axes {
		if a < 0 || a >= len(x) || slices.Contains(o.Axes[:j], a) {
			return nil, tensor.Errorf("", tensor.ErrAxis, "axes %v of shape %v, want them unique and inside",
				o.Axes, x)
		}
		if o.Sizes[j] < 0 || o.Strides[j] < 1 || o.Dilations[j] < 1 {
			return nil, tensor.Errorf("", tensor.ErrShape,
				"window of size %d, stride %d and dilation %d on axis %d",
				o.Sizes[j], o.Strides[j], o.Dilations[j], a)
		}
		shape[a] = windowCount(x[a], o.Sizes[j], o.Strides[j], o.Dilations[j])
	}
	shape = append(shape, o.Sizes...)
	_, err := tensor.CheckedSize(shape)
	return shape, err
}

// windowCount is how many windows fit into an extent.
func windowCount(extent, size, stride, dilation int) int {
	if size == 0 {
		return extent/stride + 1
	}
	if size-1 > (extent-1)/dilation || extent == 0 { // it is longer than the axis
		return 0
	}
	return (extent-1-(size-1)*dilation)/stride + 1
}

// View multiplies the strides: of the windows by Strides, of the elements of a window by Dilations.
func (o UnfoldOp) View(l tensor.Layout) (tensor.Layout, bool) {
	shape, err := o.shape(l.Shape)
	if err != nil {
		return l, false
	}
	r := tensor.RowMajor(shape)
	r.Offset = l.Offset
	if r.Size() == 0 {
		return r, true
	}
	copy(r.Strides, l.Strides)
	for j, a := range o.Axes {
		k := l.Rank() + j
		r.Strides[k] = l.Strides[a]
		if shape[a] > 1 { // else the product might overflow, and is never used
			r.Strides[a] *= o.Strides[j]
		}
		if shape[k] > 1 {
			r.Strides[k] *= o.Dilations[j]
		}
	}
	return r, true
}

// VJP adds the cotangents of what several windows share.
func (o UnfoldOp) VJP(c *Call, ct []*Node, need []bool) []*Node {
	return pull(c, ct, need, func(int) *Node { return o.fold(ct[0], c.In[0].Shape()) })
}

// JVP unfolds the tangent.
func (o UnfoldOp) JVP(_ *Call, tan []*Node) []*Node {
	return push(tan, func(_ int, t *Node) *Node { return graph.Apply(o, t) })
}

// Batch moves the axes up by one.
func (o UnfoldOp) Batch(_ *Call, in []*Node, _ []bool, _ int) []*Node {
	return []*Node{graph.Apply(UnfoldOp{shift(o.Axes, 1), o.Sizes, o.Strides, o.Dilations}, in...)}
}

// fold is the adjoint: a scatter-add of u onto zeros of shape x, in the row-major order of u. Windows that
// neither overlap nor are dilated are put side by side instead, which gives the same elements.
func (o UnfoldOp) fold(u *Node, x []int) *Node {
	if !u.Valid() {
		return u
	}
	apart := true
	for j := range o.Axes {
		apart = apart && o.Strides[j] >= o.Sizes[j] && (o.Dilations[j] == 1 || o.Sizes[j] <= 1)
	}
	if apart {
		return o.foldApart(u, x)
	}
	rank := len(x)
	w := Window{
		IndexAxes: o.Axes, SliceSizes: slices.Clone(x), Collapsed: o.Axes,
		IndexShape: []int{}, OffsetAxes: without(o.Axes, rank),
	}
	space := make([]int, rank) // the axis of the index space of each axis of x
	for a, d := range u.Shape() {
		if a >= rank || slices.Contains(o.Axes, a) {
			if a < rank {
				space[a] = len(w.IndexShape)
			}
			w.IndexShape = append(w.IndexShape, d)
		}
	}
	at := make([]*Node, len(o.Axes))
	for j, a := range o.Axes {
		w.SliceSizes[a] = 1
		n, k := space[a], len(w.IndexShape)-len(o.Axes)+j
		at[j] = o.places(u.Graph(), j, u.Shape()[a], n, k, len(w.IndexShape))
	}
	p := places{window: w, mode: Mode{OOB: OOBSkip}, idx: at} // nothing is skipped; no index can be an error
	return p.scatter(CombineAdd, Zeros(u.Graph(), u.DType(), x...), u)
}

// places is o·stride + k·dilation, o along axis n of an index space of some rank and k along axis k.
func (o UnfoldOp) places(g *graph.Graph, j, count, n, k, rank int) *Node {
	at := make([]int64, 0, count*o.Sizes[j])
	for i := range count {
		for e := range o.Sizes[j] {
			at = append(at, int64(i*o.Strides[j]+e*o.Dilations[j]))
		}
	}
	shape := filled(rank, 1)
	shape[n], shape[k] = count, o.Sizes[j]
	return Reshape(g.Const(tensor.Of(at...)), shape...)
}

// foldApart folds windows of which no two have an element in common: each is padded to the stride, which
// makes the axis again.
func (o UnfoldOp) foldApart(u *Node, x []int) *Node {
	rank := len(x)
	perm, joined := []int{}, slices.Clone(x)
	low, high := filled(len(u.Shape()), 0), filled(len(u.Shape()), 0)
	end, crop := filled(rank, 0), filled(rank, 0)
	for a := range rank {
		perm = append(perm, a)
		j := slices.Index(o.Axes, a)
		if j < 0 {
			continue
		}
		k := rank + j
		perm = append(perm, k)
		// A stride that leaves the axis after one window needs no more than the axis.
		step := min(o.Strides[j], max(x[a], o.Sizes[j]))
		high[k] = step - o.Sizes[j]
		joined[a] = u.Shape()[a] * step
		end[a] = x[a] - joined[a]
	}
	zero := u.Graph().Literal(u.DType(), number(u.DType(), 0))
	y := Reshape(permute(Pad(u, zero, low, high, nil), perm), joined...)
	return Pad(y, zero, crop, end, nil)
}

// Unfold is out[o…, k…] = x[o·stride + k·dilation]: the windows of some axes of x, as a view that costs
// nothing. Axis axes[j] becomes the number of windows of sizes[j] elements, dilations[j] apart, that begin
// every strides[j] elements and end inside of x; a window longer than its axis gives none. The elements of
// the windows stand on new last axes, in the order of axes. Nil strides and dilations are ones, no axes is
// every axis. The cotangents of an element that several windows have are added, in the row-major order of
// out.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range or named twice and where the lengths differ,
// tensor.ErrShape for a negative size and a stride or dilation below 1, tensor.ErrOverflow,
// tensor.ErrUnsupported for nil.
func Unfold(x *Node, sizes, strides, dilations []int, axes ...int) *Node {
	const op = "ops.Unfold"
	if bad := graph.Invalid(op, x); bad != nil {
		return bad
	}
	o, err := newUnfold(x.Rank(), sizes, strides, dilations, axes)
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	return graph.Apply(o, x)
}

func newUnfold(rank int, sizes, strides, dilations, axes []int) (UnfoldOp, error) {
	at, err := axesOf(axes, rank)
	return UnfoldOp{at, slices.Clone(sizes), onesFor(strides, len(at)), onesFor(dilations, len(at))}, err
}

// onesFor is v, or n ones where it is nil.
func onesFor(v []int, n int) []int {
	if v == nil {
		return filled(n, 1)
	}
	return slices.Clone(v)
}

// Fold is the adjoint of Unfold: a tensor of the given shape in which each element is the sum of all the
// elements of u that Unfold with the same sizes, strides, dilations and axes would fill from it, added in the
// row-major order of u; 0 where no window comes. Half floats are added in float32 and rounded once. The
// cotangent is unfolded.
//
// Errors (sticky): those of Unfold, tensor.ErrShape where u has not the shape that Unfold gives.
func Fold(u *Node, shape, sizes, strides, dilations []int, axes ...int) *Node {
	const op = "ops.Fold"
	if bad := graph.Invalid(op, u); bad != nil {
		return bad
	}
	if _, err := tensor.CheckedSize(shape); err != nil {
		return u.Graph().Fail(op, err)
	}
	o, err := newUnfold(len(shape), sizes, strides, dilations, axes)
	if err != nil {
		return u.Graph().Fail(op, err)
	}
	want, err := o.shape(shape)
	if err == nil && !slices.Equal(want, u.Shape()) {
		err = tensor.Errorf("", tensor.ErrShape, "operand 0 has shape %v, the windows of shape %v have %v",
			u.Shape(), shape, want)
	}
	if err != nil {
		return u.Graph().Fail(op, err)
	}
	return o.fold(u, slices.Clone(shape))
}
