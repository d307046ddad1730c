package backendtest

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Node is a graph.Node.
type Node = graph.Node

// Row is an operation with sample inputs: one function, mode or form of one builder.
type Row struct {
	Op      string // the builder: ops.Gather
	Variant string // the attributes, where the operation has several rows
	Why     string // what the row is for
	Build   func(in []*Node) []*Node
	// In is the sample at which gradients are checked: off ties and kinks.
	In []Input
	// More are further samples: edges of the dtype, ties, other ranks, empty extents.
	More [][]Input
	// Large is a sample that several threads share.
	Large []Input
	// DTypes are those taken; any other is refused with tensor.ErrDType or tensor.ErrUnsupported.
	DTypes []tensor.DType
	// Eager says why the row cannot be compiled: its shapes depend on data.
	Eager    string
	Gradient Gradient
}

// Gradient says what is known of a row's derivatives; the zero value is that every check holds. Each exception
// carries its reason.
type Gradient struct {
	None       string // there is no gradient: every cotangent is zero
	Unchecked  string // finite differences cannot see it; an Exact has its values
	Held       []int  // inputs without a gradient
	HeldWhy    string
	FirstOrder string // second order is not checked
	NoForward  string // there is no forward mode
	NoVmap     string // it cannot be mapped
}

// Name is the builder and the variant.
func (r Row) Name() string {
	if r.Variant == "" {
		return r.Op
	}
	return r.Op + "/" + r.Variant
}

// Takes reports whether the row takes a dtype.
func (r Row) Takes(dt tensor.DType) bool { return slices.Contains(r.DTypes, dt) }

// Samples are the inputs of In for a dtype, the same each time.
func (r Row) Samples(dt tensor.DType) []*tensor.Tensor {
	var out []*tensor.Tensor
	for _, a := range samples(r.In, dt, tensor.Int64, 1) {
		out = append(out, a.tensor())
	}
	return out
}

// The sets of dtypes.
var (
	signed    = []tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64}
	unsigned  = []tensor.DType{tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64}
	integral  = slices.Concat(signed, unsigned)
	floats    = []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64}
	complexes = []tensor.DType{tensor.Complex64, tensor.Complex128}
	reals     = slices.Concat(integral, floats)
	analog    = slices.Concat(floats, complexes)
	numbers   = slices.Concat(reals, complexes)
	ordered   = slices.Concat([]tensor.DType{tensor.Bool}, reals)
	anything  = slices.Concat([]tensor.DType{tensor.Bool}, numbers)
	bitwise   = slices.Concat([]tensor.DType{tensor.Bool}, integral)
)

// Table is every operation, function and mode: at least a row each.
func Table() []Row {
	return slices.Concat(unaryRows(), binaryRows(), compositeRows(), castRows(), creationRows(), viewRows(),
		reductionRows(), cumulativeRows(), combinerRows(), slidingRows(), normRows(), elementRows(),
		productRows(), convRows(), randomRows(), gatherRows(), scatterRows(), scanRows(), indexRows(), sortRows(),
		quantileRows(), uniqueRows(), controlRows(), segmentRows(), bagRows(), nanRows())
}

func one(f func(*Node) *Node) func([]*Node) []*Node {
	return func(in []*Node) []*Node { return []*Node{f(in[0])} }
}

func two(f func(a, b any) *Node) func([]*Node) []*Node {
	return func(in []*Node) []*Node { return []*Node{f(in[0], in[1])} }
}

func build(f func(in []*Node) *Node) func([]*Node) []*Node {
	return func(in []*Node) []*Node { return []*Node{f(in)} }
}

const (
	noGradientInts  = "integers and bools carry no gradient"
	noGradientSteps = "constant between its jumps"
)
