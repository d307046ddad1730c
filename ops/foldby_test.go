package ops_test

import (
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestInferCombined: what stands for the calls of a combiner is checked like them.
func TestInferCombined(t *testing.T) {
	f := combiner(composed, tensor.Float32, tensor.Float32)
	x, none, scalar := f32spec(2, 3), f32spec(2, 0), f32spec()
	plus := combiner(func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{ops.Add(a[0], b[0])} }, tensor.Float32)
	rows := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 3}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{4}}
	idx, u := i32spec(4), f32spec(4, 3)
	checkInfer(t, []inferRow{
		{why: "keeps an extent of 1", op: ops.FoldByOp{F: plus, Axis: 1}, in: specs(x), want: f32spec(2, 1)},
		{why: "takes initial values", op: ops.FoldByOp{F: plus, Axis: 0}, in: specs(x, scalar), want: f32spec(1, 3)},
		{why: "has elements to join", op: ops.FoldByOp{F: plus, Axis: 1}, in: specs(none), err: tensor.ErrShape, says: "nothing to join along axis 1"},
		{why: "has a function", op: ops.FoldByOp{}, in: specs(x), err: tensor.ErrUnsupported, says: "the function is nil"},
		{why: "counts operands", op: ops.FoldByOp{F: f}, in: specs(x), err: tensor.ErrUnsupported, says: "1 operands, want 2 or 4"},
		{why: "wants one shape", op: ops.FoldByOp{F: f}, in: specs(x, u), err: tensor.ErrShape, says: "[2 3]"},
		{why: "wants scalars to begin with", op: ops.FoldByOp{F: plus}, in: specs(x, x), err: tensor.ErrShape, says: "operand 1, an initial value"},
		{why: "has the axis", op: ops.FoldByOp{F: plus, Axis: 2}, in: specs(x), err: tensor.ErrAxis, says: "axis 2"},
		{why: "wants the function's dtype", op: ops.FoldByOp{F: plus}, in: specs(i32spec(2, 3)), err: tensor.ErrDType, says: "int32"},
		{why: "keeps the spec", op: ops.ScanByOp{F: plus, Axis: 1}, in: specs(none), want: none},
		{why: "starts from something", op: ops.ScanByOp{F: plus, Exclusive: true}, in: specs(x), err: tensor.ErrUnsupported, says: "1 operands, want 2"},
		{why: "keeps x's spec", op: ops.ScatterByOp{F: plus, Window: rows}, in: specs(x, u, idx), want: x},
		{why: "has a function", op: ops.ScatterByOp{Window: rows}, in: specs(x, u, idx), err: tensor.ErrUnsupported, says: "nil"},
		{why: "has updates", op: ops.ScatterByOp{F: plus, Window: rows}, in: specs(x), err: tensor.ErrUnsupported, says: "1 operands, want 2"},
		{why: "wants the window's shape", op: ops.ScatterByOp{F: plus, Window: rows}, in: specs(x, x, idx), err: tensor.ErrShape, says: "[2 3]"},
		{why: "wants the function's dtypes", op: ops.ScatterByOp{F: plus, Window: rows}, in: specs(x, i32spec(4, 3), idx), err: tensor.ErrDType, says: "operand 1"},
		{why: "is what was made", op: ops.ComposedOp{Of: ops.FoldByOp{F: plus, Axis: 1}, From: 1}, in: specs(x, f32spec(2, 1)), want: f32spec(2, 1)},
		{why: "is of the op's shape", op: ops.ComposedOp{Of: ops.FoldByOp{F: plus, Axis: 1}, From: 1}, in: specs(x, x), err: tensor.ErrShape, says: "[2 3]"},
		{why: "stands for an op", op: ops.ComposedOp{From: 1}, in: specs(x, x), err: tensor.ErrUnsupported, says: "1 of 2 operands"},
		{why: "has its operands", op: ops.ComposedOp{Of: ops.FoldByOp{F: plus}, From: 3}, in: specs(x, x), err: tensor.ErrUnsupported, says: "3 of 2 operands"},
	})
}

// TestComposedRules: the rules of what was made, in every one of them, and no cotangent for what nobody needs.
func TestComposedRules(t *testing.T) {
	g := graph.New()
	x := g.Placeholder(f32spec(2, 3))
	y := ops.ReduceBy(combiner(func(a, b []*ops.Node) []*ops.Node { return []*ops.Node{ops.Add(a[0], b[0])} }, tensor.Float32),
		[]*ops.Node{x}, nil, 1)[0].Call().In[0]
	c := y.Call()
	whole, n := c.Op.(graph.Composite).Whole()
	if _, ok := whole.(ops.FoldByOp); !ok || n != 1 || c.Op.(graph.Aliaser).Alias(0) != 1 {
		t.Fatalf("%s of %d operands", c.Op.Name(), n)
	}
	ct, back := pulled(y)
	if back[0] != nil || back[1] != ct {
		t.Error("the cotangent does not go to what was made alone")
	}
	if back := c.Op.VJP(c, []*ops.Node{ct}, []bool{true, false}); back[0] != nil || back[1] != nil {
		t.Error("a cotangent that nobody needs")
	}
	if tan := c.Op.JVP(c, []*ops.Node{nil, ct}); tan[0] != ct {
		t.Error("the tangent is not that of what was made")
	}
}
