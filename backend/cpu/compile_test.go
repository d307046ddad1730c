package cpu_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestCompileTrustsNothing spoils the operands and results of every kernel in every way: each is an error, never
// a panic.
func TestCompileTrustsNothing(t *testing.T) {
	f, i, b := tensor.Float32, tensor.Int64, tensor.Bool
	rows := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 3}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{2}}
	block := ops.PutSliceOp{Start: []int{1, 0}, Step: []int{1, 2}, Size: []int{1, 2}}
	for _, r := range []struct {
		op graph.Op
		in []graph.Operand
	}{
		{graph.Copy{}, operands(f, 2, 3)},
		{ops.UnaryOp{Fn: ops.UnaryExp}, operands(f, 2, 3)},
		{ops.BinaryOp{Fn: ops.BinaryAdd}, append(operands(f, 2, 3), operands(f, 2, 3)...)},
		{ops.CompareOp{Fn: ops.CompareLess}, append(operands(f, 2, 3), operands(f, 2, 3)...)},
		{ops.SelectOp{}, slices.Concat(operands(b, 2, 3), operands(f, 2, 3), operands(f, 2, 3))},
		{ops.CastOp{To: i}, operands(f, 2, 3)},
		{ops.IotaOp{DType: i, Axis: 1, Shape: []int{2, 3}}, nil},
		{ops.RandomBitsOp{Shape: []int{2, 3}}, operands(tensor.Uint32, 2)},
		{block, append(operands(f, 2, 3), operands(f, 1, 2)...)},
		{ops.ConcatOp{Axis: 1}, append(operands(f, 2, 3), operands(f, 2, 1)...)},
		{ops.MatMulOp{}, append(operands(f, 2, 3), operands(f, 3, 2)...)},
		{ops.ConvOp{Strides: []int{1}, Dilations: []int{1}, Between: []int{2}, Low: []int{1}, High: []int{0}}, append(operands(f, 2, 3, 4), operands(f, 5, 3, 2)...)},
		{ops.ReduceOp{Axes: []int{1}}, operands(f, 2, 3)},
		{ops.ReduceOp{Axes: []int{0}, Init: true}, append(operands(f, 2, 3), operands(f)...)},
		{ops.ArgReduceOp{Axis: 1, Index: i}, operands(f, 2, 3)},
		{ops.SoftmaxOp{Axis: 1}, operands(f, 2, 3)},
		{ops.GatherOp{Window: rows}, append(operands(f, 4, 3), operands(i, 2)...)},
		{ops.ScatterOp{Window: rows}, slices.Concat(operands(f, 4, 3), operands(f, 2, 3), operands(i, 2))},
		{ops.ScatterScanOp{Window: rows, Affine: true}, slices.Concat(operands(f, 4, 3), operands(f, 2, 3), operands(f, 2, 3), operands(i, 2))},
	} {
		t.Run(r.op.Name(), func(t *testing.T) {
			var out []graph.Operand
			for _, s := range tensor.Must(r.op.Infer(specsOf(r.in))) {
				out = append(out, operands(s.DType, s.Shape...)...)
			}
			used := slices.Repeat([]bool{true}, len(out))
			compile := func(out, in []graph.Operand, used []bool) error {
				_, err := cpu.New().Compile(r.op, out, in, used)
				return err
			}
			if err := compile(out, r.in, used); err != nil {
				t.Fatal(err)
			}
			refused := func(what string, out, in []graph.Operand, used []bool) {
				t.Helper()
				if compile(out, in, used) == nil {
					t.Errorf("%s: compiled", what)
				}
			}
			refused("no results", nil, r.in, nil)
			refused("a result too many", append(slices.Clone(out), out[0]), r.in, append([]bool{true}, used...))
			refused("no word on what is used", out, r.in, nil)
			if len(r.in) > 0 {
				refused("no operands", out, nil, used)
				refused("an operand too few", out, r.in[1:], used)
			}
			refused("an operand too many", out, append(slices.Clone(r.in), operands(f, 7)...), used)
			for what, spoil := range spoiled {
				for k := range r.in {
					in := slices.Clone(r.in)
					in[k] = spoil(in[k])
					refused(fmt.Sprintf("operand %d with %s", k, what), out, in, used)
				}
				for k := range out {
					bad := slices.Clone(out)
					bad[k] = spoil(bad[k])
					refused(fmt.Sprintf("result %d with %s", k, what), bad, r.in, used)
				}
			}
		})
	}
}

// spoiled makes of an operand what no op takes in its place.
var spoiled = map[string]func(o graph.Operand) graph.Operand{
	"no dtype":          func(o graph.Operand) graph.Operand { o.DType = tensor.Invalid; return o },
	"an unknown dtype":  func(o graph.Operand) graph.Operand { o.DType = 200; return o },
	"a stride too many": func(o graph.Operand) graph.Operand { o.Strides = append(slices.Clone(o.Strides), 1); return o },
	"an axis more":      func(o graph.Operand) graph.Operand { return operands(o.DType, append(slices.Clone(o.Shape), 2)...)[0] },
	"a negative extent": func(o graph.Operand) graph.Operand {
		o.Shape, o.Strides = append([]int{-1}, o.Shape...), append([]int{1}, o.Strides...)
		return o
	},
	"offsets beyond int": func(o graph.Operand) graph.Operand { o.Offset = math.MaxInt; return o },
	"too many elements": func(o graph.Operand) graph.Operand {
		o.Shape, o.Strides = append([]int{math.MaxInt, 3}, o.Shape...), append([]int{0, 0}, o.Strides...)
		return o
	},
}

// operands is one row-major operand.
func operands(dt tensor.DType, shape ...int) []graph.Operand {
	return []graph.Operand{{DType: dt, Layout: tensor.RowMajor(shape)}}
}

func specsOf(in []graph.Operand) []tensor.Spec {
	s := make([]tensor.Spec, len(in))
	for k, o := range in {
		s[k] = o.Spec()
	}
	return s
}
