package ops

import (
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// FoldByOp is out = init∘(x₀∘x₁∘…∘xₙ₋₁) along Axis, which keeps an extent of 1, of as many operands as the
// combiner F joins; as many initial values, of rank 0, may follow. The tree is that of ReduceBy: the blocks of
// n = 2ᵃ + 2ᵇ + …, a > b > …, are halved down to single elements, and joined as A∘(B∘(C∘…)). It is what backends
// see in place of the calls that ReduceBy and ReduceWindowBy make: see graph.Composite.
type FoldByOp struct {
	F    *graph.Func
	Axis int
}

// Name is ops.FoldBy.
func (o FoldByOp) Name() string { return "ops.FoldBy" }

// Key is the function and the axis.
func (o FoldByOp) Key() string { return graph.KeyOf(o) }

// Infer is the operands without all but one element along Axis.
func (o FoldByOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	out, err := combined(o.F, in, o.Axis)
	for i := range out {
		if out[i].Shape[o.Axis] == 0 {
			return nil, tensor.Errorf("", tensor.ErrShape,
				"operand %d has shape %v: nothing to join along axis %d", i, out[i].Shape, o.Axis)
		}
		out[i].Shape = slices.Clone(out[i].Shape)
		out[i].Shape[o.Axis] = 1
	}
	return out, err
}

// VJP does not exist: differentiation sees the calls that it stands for.
func (o FoldByOp) VJP(c *graph.Call, _ []*Node, _ []bool) []*Node {
	return c.Unsupported("VJP", "it is made by a pass", len(c.In))
}

// JVP does not exist.
func (o FoldByOp) JVP(c *graph.Call, _ []*Node) []*Node {
	return c.Unsupported("JVP", "it is made by a pass", len(c.Out))
}

// Batch does not exist.
func (o FoldByOp) Batch(c *graph.Call, _ []*Node, _ []bool, _ int) []*Node {
	return c.Unsupported("Batch", "it is made by a pass", len(c.Out))
}

func (o FoldByOp) onBatch(batched []bool) (graph.Op, bool) {
	o.Axis++
	return o, !slices.Contains(batched[len(o.F.Out()):], true)
}

// ScanByOp is yᵢ = init∘(x₀∘x₁∘…∘xᵢ) along Axis, or with Exclusive yᵢ = init∘(x₀∘…∘xᵢ₋₁) and y₀ = init, of
// operands as FoldByOp has them. The tree is that of ScanBy: the blocks of i + 1 = 2ᵃ + 2ᵇ + …, a > b > …, are
// halved down to single elements, and joined as ((A∘B)∘C)∘….
type ScanByOp struct {
	F         *graph.Func
	Axis      int
	Exclusive bool
}

// Name is ops.ScanBy.
func (o ScanByOp) Name() string { return "ops.ScanBy" }

// Key is the function, the axis and the kind.
func (o ScanByOp) Key() string { return graph.KeyOf(o) }

// Infer is the operands' specs.
func (o ScanByOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.F != nil && o.Exclusive && len(in) != 2*len(o.F.Out()) {
		return nil, arity(in, 2*len(o.F.Out()))
	}
	return combined(o.F, in, o.Axis)
}

// VJP does not exist: differentiation sees the calls that it stands for.
func (o ScanByOp) VJP(c *graph.Call, _ []*Node, _ []bool) []*Node {
	return c.Unsupported("VJP", "it is made by a pass", len(c.In))
}

// JVP does not exist.
func (o ScanByOp) JVP(c *graph.Call, _ []*Node) []*Node {
	return c.Unsupported("JVP", "it is made by a pass", len(c.Out))
}

// Batch does not exist.
func (o ScanByOp) Batch(c *graph.Call, _ []*Node, _ []bool, _ int) []*Node {
	return c.Unsupported("Batch", "it is made by a pass", len(c.Out))
}

func (o ScanByOp) onBatch(batched []bool) (graph.Op, bool) {
	o.Axis++
	return o, !slices.Contains(batched[len(o.F.Out()):], true)
}

// combined is the specs of what F joins: those of the first operands, which are of one shape with the axis. As
// many scalars may follow.
func combined(f *graph.Func, in []tensor.Spec, axis int) ([]tensor.Spec, error) {
	if f == nil {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "the function is nil")
	}
	k := len(f.Out())
	if len(in) == 0 || len(in) != k && len(in) != 2*k {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "%d operands, want %d or %d", len(in), k, 2*k)
	}
	dtypes := make([]tensor.DType, k)
	for i, s := range in[:k] {
		dtypes[i] = s.DType
	}
	if err := sameShapes(in[:k]...); err != nil {
		return nil, err
	}
	for i, s := range in[k:] {
		if s.Rank() != 0 || s.DType != dtypes[i] {
			return nil, tensor.Errorf("", tensor.ErrShape,
				"operand %d, an initial value, is %s, want a scalar %s", k+i, s, dtypes[i])
		}
	}
	if axis < 0 || axis >= in[0].Rank() {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d of shape %v", axis, in[0].Shape)
	}
	return slices.Clone(in[:k]), checkCombiner(f, dtypes)
}
