package ops

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// QuantileMethod says which place of a sorted line of n elements, counted from 0, the quantile q stands for.
// A place between two elements is interpolated linearly.
type QuantileMethod uint8

// The methods, those of NumPy. The last five are numbers 4 to 6, 8 and 9 of Hyndman and Fan (1996), whose
// number 7 is QuantileLinear; their places are n·q + α + q·(1 − α − β) − 1, not before 0 nor after n − 1.
const (
	QuantileLinear         QuantileMethod = iota // (n − 1)·q
	QuantileLower                                // ⌊(n − 1)·q⌋
	QuantileHigher                               // ⌈(n − 1)·q⌉
	QuantileNearest                              // (n − 1)·q rounded, half to even
	QuantileMidpoint                             // half way between Lower and Higher
	QuantileInverted                             // α = 0, β = 1
	QuantileHazen                                // α = β = 1/2
	QuantileWeibull                              // α = β = 0
	QuantileMedianUnbiased                       // α = β = 1/3
	QuantileNormalUnbiased                       // α = β = 3/8
	quantileCount
)

// place is that of q in a line of n elements.
func (m QuantileMethod) place(q float64, n int) float64 {
	at := float64(n-1) * q
	hyndmanFan := func(alpha, beta float64) float64 {
		return min(max(float64(n)*q+(alpha+q*(1-alpha-beta))-1, 0), float64(n-1))
	}
	switch m {
	case QuantileLower:
		return math.Floor(at)
	case QuantileHigher:
		return math.Ceil(at)
	case QuantileNearest:
		return math.RoundToEven(at)
	case QuantileMidpoint:
		return (math.Floor(at) + math.Ceil(at)) / 2
	case QuantileInverted:
		return hyndmanFan(0, 1)
	case QuantileHazen:
		return hyndmanFan(0.5, 0.5)
	case QuantileWeibull:
		return hyndmanFan(0, 0)
	case QuantileMedianUnbiased:
		return hyndmanFan(1.0/3, 1.0/3)
	case QuantileNormalUnbiased:
		return hyndmanFan(0.375, 0.375)
	}
	return at
}

// Median is the middle element of the sorted line, or the mean of the two middle ones: QuantileLinear at
// 1/2. No axes means all; the axes are dropped. See Quantile for NaN, for nothing, for the gradient and for
// the errors.
func Median(x *Node, axes ...int) *Node {
	return quantiles("ops.Median", x, []float64{0.5}, QuantileLinear, axes)[0]
}

// Quantile is the value below which the part q of each line lies, of floats: the elements beside the place
// that method names, weighed by their distance from it. No axes means all; the axes are dropped. A line with
// NaN gives NaN, a line of nothing too. Half floats are computed in float32 and rounded once. The cotangent
// goes, by the weights, to the elements that stand beside the place when the line is sorted as Descending,
// or to the first NaN.
//
// Errors (sticky): tensor.ErrDType for integers and bool: cast first; tensor.ErrBounds for a q that is not
// from 0 to 1, tensor.ErrAxis, tensor.ErrUnsupported for complex, for an unknown method and for nil.
func Quantile(x *Node, q float64, method QuantileMethod, axes ...int) *Node {
	return quantiles("ops.Quantile", x, []float64{q}, method, axes)[0]
}

// Quantiles is the Quantile for each q, on a new first axis, at the cost of sorting once.
//
// Errors (sticky): those of Quantile, tensor.ErrShape for no q.
func Quantiles(x *Node, q []float64, method QuantileMethod, axes ...int) *Node {
	const name = "ops.Quantiles"
	if len(q) == 0 {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrShape, "there is no q"), x)
	}
	return Stack(0, quantiles(name, x, q, method, axes)...)
}

func quantiles(name string, x *Node, q []float64, method QuantileMethod, axes []int) []*Node {
	if bad := checked(name, x, acceptFloat); bad != nil {
		return repeat(bad, len(q))
	}
	sorted, err := sortedAxes(axes, x.Rank())
	if err == nil {
		err = checkQuantiles(q, method)
	}
	if err != nil {
		return repeat(graph.Fail(name, err, x), len(q))
	}
	if len(sorted) == 0 { // of one element, each of these is the element
		return repeat(x, len(q))
	}
	lines, axis := joined(x, sorted)
	n := lines.Shape()[axis]
	if n == 0 {
		nothing := Full(x.Graph(), x.DType(), math.NaN(), pick(x.Shape(), without(sorted, x.Rank()))...)
		return repeat(nothing, len(q))
	}
	places, first := make([]float64, len(q)), n-1
	for i, v := range q {
		places[i] = method.place(v, n)
		first = min(first, int(places[i]))
	}
	// Descending, so that a NaN comes first; what is less than the first place is not wanted.
	values, _ := sortFirst(lines, axis, n-first, Descending)
	top := dropTo(values, axis, 0)
	r := make([]*Node, len(q))
	for i, at := range places {
		lo, t := int(at), at-math.Floor(at)
		y := dropTo(values, axis, n-1-lo)
		if t > 0 {
			y = between(y, dropTo(values, axis, n-2-lo), t)
		}
		r[i] = Where(IsNaN(top), top, y)
	}
	return r
}

func checkQuantiles(q []float64, method QuantileMethod) error {
	if method >= quantileCount {
		return tensor.Errorf("", tensor.ErrUnsupported, "there is no method %d", method)
	}
	for _, v := range q {
		if !(v >= 0 && v <= 1) {
			return tensor.Errorf("", tensor.ErrBounds, "q is %v, want 0 to 1", v)
		}
	}
	return nil
}

// joined makes one axis of the named ones, sorted: the axis itself where it is one, else a new last axis.
func joined(x *Node, axes []int) (lines *Node, axis int) {
	if len(axes) == 1 {
		return x, axes[0]
	}
	kept := without(axes, x.Rank())
	shape := append(pick(x.Shape(), kept), tensor.Size(pick(x.Shape(), axes)))
	return Reshape(permute(x, slices.Concat(kept, axes)), shape...), len(kept)
}

// between is (1 − t)·a + t·b, for 0 < t < 1; where a and b are equal it is just that, whatever is rounded.
func between(a, b *Node, t float64) *Node {
	dt := a.DType()
	a, b = Cast(a, widened(dt)), Cast(b, widened(dt))
	y := Add(Mul(a, 1-t), Mul(b, t))
	if t != 0.5 && dt == a.DType() {
		exact := And(Equal(a, b), IsFinite(a))
		y = Add(y, StopGradient(Where(exact, Sub(a, y), 0)))
	}
	return Cast(y, dt)
}
