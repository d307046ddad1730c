package ops_test

import (
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestMaskedBatch: examples with masks of their own are compressed and expanded one by one; fewer places than
// were expected leave zeros, more are left out.
func TestMaskedBatch(t *testing.T) {
	g := graph.Eager(cpu.On(cpu.Serial()))
	x := g.Const(tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)))
	mask := g.Const(tensor.Must(tensor.FromSlice([]bool{true, false, true, false, false, true, true, true, true}, 3, 3)))
	for _, c := range []struct {
		why     string
		op      graph.Op
		x, mask *ops.Node
		batched []bool
		size    int
		shape   []int
		want    []float32
	}{
		{"a mask each", ops.CompressOp{Count: 2}, x, mask, []bool{true, true}, 3, []int{3, 2}, []float32{1, 3, 6, 0, 7, 8}},
		{"one line for all masks", ops.CompressOp{Count: 2}, ops.Index(x, index.At(0)), mask, []bool{false, true}, 3,
			[]int{3, 2}, []float32{1, 3, 3, 0, 1, 2}},
		{"one mask for all", ops.CompressOp{Count: 2}, x, ops.Index(mask, index.At(0)), []bool{true, false}, 3,
			[]int{3, 2}, []float32{1, 3, 4, 6, 7, 9}},
		{"a mask each, put back", ops.ExpandOp{}, ops.SliceAxis(x, 1, 0, 2), mask, []bool{true, true}, 3,
			[]int{3, 3}, []float32{1, 0, 2, 0, 0, 4, 7, 8, 0}},
		{"one mask for all, put back", ops.ExpandOp{}, ops.SliceAxis(x, 1, 0, 2), ops.Index(mask, index.At(0)),
			[]bool{true, false}, 3, []int{3, 3}, []float32{1, 0, 2, 4, 0, 5, 7, 0, 8}},
		{"no examples", ops.CompressOp{Count: 2}, ops.SliceAxis(x, 0, 0, 0), ops.SliceAxis(mask, 0, 0, 0),
			[]bool{true, true}, 0, []int{0, 2}, nil},
		{"no examples, put back", ops.ExpandOp{}, ops.SliceAxis(x, 0, 0, 0), ops.SliceAxis(mask, 0, 0, 0),
			[]bool{true, true}, 0, []int{0, 3}, nil},
	} {
		y := c.op.Batch(nil, []*ops.Node{c.x, c.mask}, c.batched, c.size)[0]
		v, err := y.Value()
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		got := tensor.Must(tensor.Values[float32](v.Read()))
		if !slices.Equal(v.Shape(), c.shape) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v of shape %v, want %v of shape %v", c.why, got, v.Shape(), c.want, c.shape)
		}
	}
}

// TestIndexByMask: what a mask alone selects is one op, whose gradient is one; a mask known only at run time, of
// other axes, or beside other items is not.
func TestIndexByMask(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Float32, 2, 3)
	mask := tensor.Must(tensor.FromSlice([]bool{true, false, true, false, false, true}, 2, 3))
	y := ops.Index(x, index.Mask(mask))
	if op := y.Call().Op; op != (ops.CompressOp{Count: 3}) {
		t.Errorf("x[mask] is %#v, want a compression", op)
	}
	if _, back := pulled(y); back[0].Call().Op != (ops.ExpandOp{}) {
		t.Errorf("its gradient is %s, want ops.Expand", back[0].Call().Op.Name())
	}
	if back := y.Call().Op.VJP(y.Call(), []*ops.Node{y}, []bool{false, false}); back[0] != nil {
		t.Error("a cotangent that nobody needs is made")
	}
	row := tensor.Must(tensor.FromSlice([]bool{true, false}, 2))
	if z := ops.Index(x, index.Mask(row)); z.Call().Op != (ops.CompressOp{Count: 1}) || !slices.Equal(z.Shape(), []int{1, 3}) {
		t.Errorf("rows by a mask are %s of shape %v, want a compression of shape [1 3]", z.Call().Op.Name(), z.Shape())
	}
}
