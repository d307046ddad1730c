package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The normalisations of layers. Each computes half floats in float32 and rounds once, takes epsilon ≥ 0,
// which is added to a variance or a mean square, and is differentiated through its statistics. Package nn has
// the layers, with their gain and bias.

// Standardize is (x − mean) / √(variance + epsilon) of floats, over the named axes: of the layer, instance
// and group norms, and of batch norm in training. The variance is that of a population. Of a constant line it
// is 0, without epsilon NaN.
//
// Errors (sticky): tensor.ErrAxis for an axis out of range or named twice, tensor.ErrDType for integers and
// bool, tensor.ErrBounds for an epsilon that is negative or NaN, tensor.ErrUnsupported for complex and for
// nil.
func Standardize(x *Node, epsilon float64, axes ...int) *Node {
	const op = "ops.Standardize"
	at, bad := normalized(op, x, epsilon, axes)
	if bad != nil {
		return bad
	}
	wide := Cast(x, widened(x.DType()))
	d := Sub(wide, KeepDims(Mean, wide, at...))
	variance := KeepDims(Mean, Square(d), at...)
	return Cast(Mul(d, Rsqrt(Add(variance, epsilon))), x.DType())
}

// RMSNormalize is x / √(mean of x² + epsilon) of floats, over the named axes.
//
// Errors (sticky): those of Standardize.
func RMSNormalize(x *Node, epsilon float64, axes ...int) *Node {
	const op = "ops.RMSNormalize"
	at, bad := normalized(op, x, epsilon, axes)
	if bad != nil {
		return bad
	}
	wide := Cast(x, widened(x.DType()))
	return Cast(Mul(wide, Rsqrt(Add(KeepDims(Mean, Square(wide), at...), epsilon))), x.DType())
}

// GroupNormalize is Standardize over groups of neighbours along an axis together with all the axes after it:
// with one group layer norm over these, with as many groups as there are channels instance norm.
//
// Errors (sticky): those of Standardize; tensor.ErrShape where the extent of the axis is not a multiple of
// groups.
func GroupNormalize(x *Node, epsilon float64, groups, axis int) *Node {
	const op = "ops.GroupNormalize"
	if _, bad := normalized(op, x, epsilon, nil); bad != nil {
		return bad
	}
	a, err := axisOf(axis, x.Rank())
	if err == nil && (groups < 1 || x.Shape()[a]%groups != 0) {
		err = tensor.Errorf("", tensor.ErrShape, "%d groups of axis %d with extent %d", groups, a, x.Shape()[a])
	}
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	shape := slices.Insert(slices.Clone(x.Shape()), a, groups)
	shape[a+1] /= groups
	y := Standardize(Reshape(x, shape...), epsilon, upTo(len(shape))[a+1:]...)
	return Reshape(y, x.Shape()...)
}

// BatchNormalize is (x − mean) / √(variance + epsilon) of floats, with statistics that are given for each
// position along an axis, of shape [extent]: batch norm where a model is used. The statistics get gradients.
//
// Errors (sticky): those of Standardize; tensor.ErrShape where a statistic has another shape.
func BatchNormalize(x, mean, variance *Node, epsilon float64, axis int) *Node {
	const op = "ops.BatchNormalize"
	if bad := graph.Invalid(op, x, mean, variance); bad != nil {
		return bad
	}
	if _, bad := normalized(op, x, epsilon, nil); bad != nil {
		return bad
	}
	a, err := axisOf(axis, x.Rank())
	if err != nil {
		return x.Graph().Fail(op, err)
	}
	wide, shape := widened(x.DType()), filled(x.Rank(), 1)
	shape[a] = x.Shape()[a]
	var s [2]*Node
	for i, n := range []*Node{mean, variance} {
		if !slices.Equal(n.Shape(), shape[a:a+1]) {
			return x.Graph().Fail(op, tensor.Errorf("", tensor.ErrShape,
				"operand %d has shape %v, want [%d], the extent of axis %d", i+1, n.Shape(), shape[a], a))
		}
		if err := acceptFloat.check(i+1, n.DType()); err != nil {
			return x.Graph().Fail(op, err)
		}
		s[i] = Reshape(Cast(n, wide), shape...)
	}
	return Cast(Mul(Sub(Cast(x, wide), s[0]), Rsqrt(Add(s[1], epsilon))), x.DType())
}

// normalized checks what normalisations have in common and sorts the axes.
func normalized(op string, x *Node, epsilon float64, axes []int) ([]int, *Node) {
	if bad := checked(op, x, acceptFloat); bad != nil {
		return nil, bad
	}
	if !(epsilon >= 0) {
		return nil, x.Graph().Fail(op, tensor.Errorf("", tensor.ErrBounds,
			"epsilon %v, want 0 or more", epsilon))
	}
	at, err := sortedAxes(axes, x.Rank())
	if err != nil {
		return nil, x.Graph().Fail(op, err)
	}
	return at, nil
}
