package nn

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Conv is out[n, o, p…] = Σ x̃[n, c, p·Strides + k·Dilations]·W[k…, c, o] + B[o] over channels c and windows k:
// ops.Conv with the weight in the order of the scaled initializers, any number of axes of space.
type Conv struct {
	W *graph.Variable // [window…, in/Groups, out], unless Spec.WAxes tells otherwise
	B *graph.Variable // [out]; nil: nothing is added
	// Spec says how windows slide. It is copied when the layer is applied.
	Spec ops.ConvSpec
}

// NewConv makes the variables name/w, by init, and name/b, zeros, in a store. The store keeps the errors. For a
// layer without a bias or with a weight in another order, fill a Conv yourself.
func NewConv(s *graph.Store, name string, init graph.Initializer, dt tensor.DType, in, out int, spec ops.ConvSpec,
	window ...int) *Conv {
	shape := append(slices.Clone(window), in/max(spec.Groups, 1), out)
	spec.WAxes = nil
	return &Conv{W: s.New(name+"/w", init, dt, shape...), B: s.New(name+"/b", Zeros, dt, out), Spec: spec}
}

// Apply builds the layer.
//
// Errors (sticky): those of ops.Conv and of ops.Add, tensor.ErrUnsupported for nil and without W.
func (l *Conv) Apply(x *Node) *Node {
	const name = "nn.Conv"
	if bad := graph.Invalid(name, x); bad != nil {
		return bad
	}
	if l == nil || l.W == nil {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrUnsupported, "the layer has no weight"), x)
	}
	w, s := l.W.Read(x.Graph()), l.Spec
	if rank := w.Rank(); s.WAxes == nil && rank >= 2 {
		s.WAxes = []int{rank - 1, rank - 2}
		for a := range rank - 2 {
			s.WAxes = append(s.WAxes, a)
		}
	}
	y := ops.Conv(x, w, s)
	if l.B == nil || !y.Valid() {
		return y
	}
	channels := 1
	if s.OutAxes != nil {
		channels = s.OutAxes[1]
	}
	if channels < 0 {
		channels += y.Rank()
	}
	shape := slices.Repeat([]int{1}, y.Rank())
	shape[channels] = y.Shape()[channels]
	return ops.Add(y, ops.Reshape(l.B.Read(x.Graph()), shape...))
}
