package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ConvSpec says how the windows of a convolution slide, by lists with an element for each axis of space; a nil
// list is ones, of Low, High and Over zeros. As for Sliding, the elements along an axis are first set Between
// apart, then padded by Low and High, of which negative ones crop; a window begins every Strides elements of
// that, and its elements are Dilations apart.
//
// Axes are batch, channels, space in x and in the result, and features, channels, space in the weight. XAxes,
// WAxes and OutAxes tell where they are instead, in that order: XAxes 0 3 1 2 is for images whose channels
// come last. Any order is a view, and costs no copy. A window the other way round is ops.Reverse of the
// weight.
type ConvSpec struct {
	Strides   []int
	Dilations []int // of the windows
	Between   []int // the dilation of x: its base
	Low, High []int
	// Groups divides the channels of x and the features into as many groups, each a convolution of its own; 0
	// is 1. The weight has the channels of one group.
	Groups int
	// BatchGroups divides the batch of x and the features likewise; the batch of the result is that of one
	// group. 0 is 1.
	BatchGroups           int
	XAxes, WAxes, OutAxes []int
	// Over is for ConvTranspose alone: how far its result reaches beyond the last window.
	Over []int
}

// Conv is out[n, o, p…] = Σ x̃[n, c, p·Strides + k·Dilations]·w[o, c, k…] over the channels c and the places k
// of a window, where x̃ is x [N, C, space…] as s sets it apart and pads it with zeros, and w has the shape
// [O, C/Groups, window…]. Numbers of one dtype; integers wrap, halves accumulate in float32. Padding is part
// of the sum, so that 0·∞ is NaN there; what stands between the elements of x is not. There may be no axis of
// space at all. The derivatives are x̄ = ConvTranspose(ct, w) and the convolution of x with ct.
//
// The order of each sum is fixed: channels from the outside, then the places of the window in row-major order,
// in blocks of up to 256, of whole channels or of places of one channel, as few and as equal as can be.
//
// Errors (sticky): tensor.ErrDType for bool and for different dtypes; tensor.ErrRank where the ranks differ or
// are below 2; tensor.ErrAxis for lists of another length and axes that are none; tensor.ErrShape where
// channels, groups and features do not fit together, for a stride or dilation below 1 and for padding that
// crops more than there is; tensor.ErrOverflow; tensor.ErrUnsupported for nil and for Over.
func Conv(x, w *Node, s ConvSpec) *Node {
	const op = "ops.Conv"
	if bad := graph.Invalid(op, x, w); bad != nil {
		return bad
	}
	c, err := s.over(x.Spec(), w.Spec())
	if err == nil && s.Over != nil {
		err = tensor.Errorf("", tensor.ErrUnsupported, "Over is %v: it is for ops.ConvTranspose", s.Over)
	}
	if err == nil {
		err = c.divide(false)
	}
	if err != nil {
		return graph.Fail(op, err, x, w)
	}
	s = c.spec
	return c.apply(ConvOp{s.Strides, s.Dilations, s.Between, s.Low, s.High}, x, w, false)
}

// ConvTranspose is the adjoint of Conv in its first operand: what ops.Conv(y, w, s) makes of y by the linear
// map A, ConvTranspose(x, w, s) makes of x by Aᵀ. x is [N, O, space…], w [O, C/Groups, window…] as for Conv,
// the result [N, C, space…], with
//
//	extent   ⌊((d − 1)·Strides + (K − 1)·Dilations + Over − Low − High) / Between⌋ + 1
//
// for extent d and window K: Over chooses among the extents that Conv maps to d. It is PyTorch's and ONNX's
// transposed convolution, and is computed as a convolution of x, set Strides apart, without a product more
// than that has. Complexes are not conjugated.
//
// Errors (sticky): as Conv; tensor.ErrUnsupported for BatchGroups.
func ConvTranspose(x, w *Node, s ConvSpec) *Node {
	const op = "ops.ConvTranspose"
	if bad := graph.Invalid(op, x, w); bad != nil {
		return bad
	}
	c, err := s.over(x.Spec(), w.Spec())
	if err == nil && s.BatchGroups > 1 {
		err = tensor.Errorf("", tensor.ErrUnsupported, "%d batch groups: they are for ops.Conv", s.BatchGroups)
	}
	if err == nil {
		err = c.divide(true)
	}
	if err != nil {
		return graph.Fail(op, err, x, w)
	}
	s = c.spec
	o := ConvOp{Strides: s.Between, Dilations: s.Dilations, Between: s.Strides}
	for j, d := range s.Dilations {
		reach := (c.w[2+j] - 1) * d
		o.Low, o.High = append(o.Low, reach-s.Low[j]), append(o.High, reach-s.High[j]+s.Over[j])
	}
	return c.apply(o, x, w, true)
}
