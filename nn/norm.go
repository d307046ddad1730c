package nn

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The layers that normalise. Each has a gain, ones at first, that the result is multiplied by, and some a
// bias, zeros at first, that is added; a nil one is left out where the shape does not come from it. New… set
// Epsilon to 1e-5. Errors (sticky) of every Apply: those of the normalisation in package ops, tensor.ErrShape
// where x does not fit the variables, tensor.ErrUnsupported for nil.

const defaultEpsilon = 1e-5

// LayerNorm standardizes each example over its last axes, as many as Gain has: Ba, Kiros and Hinton 2016.
type LayerNorm struct {
	Gain, Bias *graph.Variable // of the shape of the last axes
	Epsilon    float64
}

// NewLayerNorm makes the variables name/gain and name/bias of the shape of the last axes. The store keeps the
// errors.
func NewLayerNorm(s *graph.Store, name string, dt tensor.DType, shape ...int) *LayerNorm {
	return &LayerNorm{
		Gain: s.New(name+"/gain", Ones, dt, shape...), Bias: s.New(name+"/bias", Zeros, dt, shape...),
		Epsilon: defaultEpsilon,
	}
}

// Apply builds the layer.
func (l *LayerNorm) Apply(x *Node) *Node {
	if l == nil {
		l = new(LayerNorm)
	}
	axes, bad := lastAxes("nn.LayerNorm", x, l.Gain)
	if bad != nil {
		return bad
	}
	return affine(ops.Standardize(x, l.Epsilon, axes...), l.Gain, l.Bias, nil)
}

// RMSNorm divides each example by the root of its mean square over its last axes, as many as Gain has: Zhang
// and Sennrich 2019.
type RMSNorm struct {
	Gain    *graph.Variable // of the shape of the last axes
	Epsilon float64
}

// NewRMSNorm makes the variable name/gain of the shape of the last axes. The store keeps the errors.
func NewRMSNorm(s *graph.Store, name string, dt tensor.DType, shape ...int) *RMSNorm {
	return &RMSNorm{s.New(name+"/gain", Ones, dt, shape...), defaultEpsilon}
}

// Apply builds the layer.
func (l *RMSNorm) Apply(x *Node) *Node {
	if l == nil {
		l = new(RMSNorm)
	}
	axes, bad := lastAxes("nn.RMSNorm", x, l.Gain)
	if bad != nil {
		return bad
	}
	return affine(ops.RMSNormalize(x, l.Epsilon, axes...), l.Gain, nil, nil)
}

// GroupNorm standardizes groups of neighbouring channels, with all the axes behind them: Wu and He 2018. As
// many groups as channels make an instance norm, one group a layer norm with a gain per channel.
type GroupNorm struct {
	Gain, Bias *graph.Variable // [channels], or nil
	Groups     int
	Axis       int // of the channels
	Epsilon    float64
}

// NewGroupNorm makes the variables name/gain and name/bias for channels that stand on axis 1. The store keeps
// the errors.
func NewGroupNorm(s *graph.Store, name string, dt tensor.DType, groups, channels int) *GroupNorm {
	return &GroupNorm{
		Gain: s.New(name+"/gain", Ones, dt, channels), Bias: s.New(name+"/bias", Zeros, dt, channels),
		Groups: groups, Axis: 1, Epsilon: defaultEpsilon,
	}
}

// Apply builds the layer.
func (l *GroupNorm) Apply(x *Node) *Node {
	const name = "nn.GroupNorm"
	if bad := graph.Invalid(name, x); bad != nil {
		return bad
	}
	if l == nil {
		return without(name, x, "settings")
	}
	shape, bad := channels(name, x, l.Axis, l.Gain, l.Bias)
	if bad != nil {
		return bad
	}
	return affine(ops.GroupNormalize(x, l.Epsilon, l.Groups, l.Axis), l.Gain, l.Bias, shape)
}

// BatchNorm standardizes each channel over all other axes: Ioffe and Szegedy 2015. Train does it with the
// statistics of x and moves the running ones towards them; Apply does it with the running ones.
type BatchNorm struct {
	Gain, Bias     *graph.Variable // [channels], or nil
	Mean, Variance *graph.Variable // [channels], the running statistics
	Axis           int             // of the channels
	Epsilon        float64
	Rate           float64 // the weight of a batch in the running statistics, 0 to 1
}

// NewBatchNorm makes the variables name/gain, name/bias, name/mean (zeros) and name/variance (ones) for
// channels that stand on axis 1, with a Rate of 0.1. For half floats the statistics are float32. The store
// keeps the errors.
func NewBatchNorm(s *graph.Store, name string, dt tensor.DType, channels int) *BatchNorm {
	wide := dt
	if dt.IsHalf() {
		wide = tensor.Float32
	}
	return &BatchNorm{
		Gain: s.New(name+"/gain", Ones, dt, channels), Bias: s.New(name+"/bias", Zeros, dt, channels),
		Mean:     s.New(name+"/mean", Zeros, wide, channels),
		Variance: s.New(name+"/variance", Ones, wide, channels),
		Axis:     1, Epsilon: defaultEpsilon, Rate: 0.1,
	}
}

// Apply builds the layer where a model is used: with the running statistics, which get no gradient.
func (l *BatchNorm) Apply(x *Node) *Node {
	const name = "nn.BatchNorm"
	shape, bad := l.check(name, x)
	if bad != nil {
		return bad
	}
	g := x.Graph()
	mean, variance := ops.StopGradient(l.Mean.Read(g)), ops.StopGradient(l.Variance.Read(g))
	y := ops.BatchNormalize(x, mean, variance, l.Epsilon, l.Axis)
	return affine(y, l.Gain, l.Bias, shape)
}

// Train builds the layer where a model is trained: with the statistics of x, through which it is
// differentiated. updates are assignments that belong among the outputs of the program: each running
// statistic becomes (1 − Rate)·itself + Rate·that of x, the variance being that of a population.
//
// Errors (sticky): also tensor.ErrBounds for a Rate outside of [0, 1].
func (l *BatchNorm) Train(x *Node) (y *Node, updates []*Node) {
	const name = "nn.BatchNorm"
	shape, bad := l.check(name, x)
	if bad == nil && !(l.Rate >= 0 && l.Rate <= 1) {
		bad = graph.Fail(name, tensor.Errorf("", tensor.ErrBounds, "rate %v, want 0 to 1", l.Rate), x)
	}
	if bad != nil {
		return bad, nil
	}
	axes := []int{} // all but that of the channels
	for a := range shape {
		if a != l.Axis && a != l.Axis+x.Rank() {
			axes = append(axes, a)
		}
	}
	still := ops.Cast(ops.StopGradient(x), l.Mean.Spec().DType)
	for _, s := range []struct {
		running *graph.Variable
		batch   *Node
	}{{l.Mean, ops.Mean(still, axes...)}, {l.Variance, ops.Var(still, 0, axes...)}} {
		old := s.running.Read(x.Graph())
		updates = append(updates, s.running.Assign(ops.Add(old, ops.Mul(ops.Sub(s.batch, old), l.Rate))))
	}
	return affine(ops.Standardize(x, l.Epsilon, axes...), l.Gain, l.Bias, shape), updates
}

func (l *BatchNorm) check(name string, x *Node) ([]int, *Node) {
	if bad := graph.Invalid(name, x); bad != nil {
		return nil, bad
	}
	if l == nil || l.Mean == nil || l.Variance == nil {
		return nil, without(name, x, "running statistics")
	}
	return channels(name, x, l.Axis, l.Gain, l.Bias, l.Mean, l.Variance)
}

func without(name string, x *Node, what string) *Node {
	return graph.Fail(name, tensor.Errorf("", tensor.ErrUnsupported, "the layer has no %s", what), x)
}

// lastAxes is the axes of x that a variable's are, from the end.
func lastAxes(name string, x *Node, v *graph.Variable) ([]int, *Node) {
	if bad := graph.Invalid(name, x); bad != nil {
		return nil, bad
	}
	if v == nil {
		return nil, without(name, x, "gain")
	}
	shape := v.Spec().Shape
	lead := x.Rank() - len(shape)
	if lead < 0 || !slices.Equal(x.Shape()[lead:], shape) {
		return nil, graph.Fail(name, tensor.Errorf("", tensor.ErrShape,
			"x has shape %v, the layer is for last axes %v", x.Shape(), shape), x)
	}
	axes := []int{}
	for a := lead; a < x.Rank(); a++ {
		axes = append(axes, a)
	}
	return axes, nil
}

// channels is the shape in which variables of shape [channels] broadcast with x.
func channels(name string, x *Node, axis int, vars ...*graph.Variable) ([]int, *Node) {
	a := axis
	if a < 0 {
		a += x.Rank()
	}
	if a < 0 || a >= x.Rank() {
		return nil, graph.Fail(name, tensor.Errorf("", tensor.ErrAxis,
			"axis %d is outside of rank %d", axis, x.Rank()), x)
	}
	shape := slices.Repeat([]int{1}, x.Rank())
	shape[a] = x.Shape()[a]
	for _, v := range vars {
		if v != nil && !slices.Equal(v.Spec().Shape, shape[a:a+1]) {
			return nil, graph.Fail(name, tensor.Errorf("", tensor.ErrShape,
				"x of shape %v has %d channels, variable %q has shape %v",
				x.Shape(), shape[a], v.Name(), v.Spec().Shape), x)
		}
	}
	return shape, nil
}

// affine is y·gain + bias, each in a shape that broadcasts; nil is its own.
func affine(y *Node, gain, bias *graph.Variable, shape []int) *Node {
	read := func(v *graph.Variable) *Node {
		n := v.Read(y.Graph())
		if shape != nil {
			n = ops.Reshape(n, shape...)
		}
		return n
	}
	if !y.Valid() {
		return y
	}
	if gain != nil {
		y = ops.Mul(y, read(gain))
	}
	if bias != nil {
		y = ops.Add(y, read(bias))
	}
	return y
}
