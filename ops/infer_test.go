package ops_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// inferRow is one claim about Infer: the spec of the only result, or the kind of error and words of its
// message.
type inferRow struct {
	why  string
	op   graph.Op
	in   []tensor.Spec
	want tensor.Spec
	err  error
	says string
}

func spec(dt tensor.DType, shape ...int) tensor.Spec { return tensor.Spec{DType: dt, Shape: shape} }

func f32spec(shape ...int) tensor.Spec  { return spec(tensor.Float32, shape...) }
func i32spec(shape ...int) tensor.Spec  { return spec(tensor.Int32, shape...) }
func boolspec(shape ...int) tensor.Spec { return spec(tensor.Bool, shape...) }
func c64spec(shape ...int) tensor.Spec  { return spec(tensor.Complex64, shape...) }

func specs(s ...tensor.Spec) []tensor.Spec { return s }

func checkInfer(t *testing.T, table []inferRow) {
	t.Helper()
	for _, row := range table {
		t.Run(strings.ReplaceAll(row.op.Name()+" "+row.why, " ", "_"), func(t *testing.T) {
			got, err := row.op.Infer(row.in)
			if row.err != nil {
				if !errors.Is(err, row.err) || !strings.Contains(err.Error(), row.says) {
					t.Fatalf("error %v, want %v saying %q", err, row.err, row.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || !got[0].Equal(row.want) {
				t.Fatalf("%v, want %v", got, row.want)
			}
		})
	}
}

func TestInferElementwise(t *testing.T) {
	unary := func(fn ops.UnaryFn) graph.Op { return ops.UnaryOp{Fn: fn} }
	binary := func(fn ops.BinaryFn) graph.Op { return ops.BinaryOp{Fn: fn} }
	compare := func(fn ops.CompareFn) graph.Op { return ops.CompareOp{Fn: fn} }
	f, i, b, c := f32spec(2, 3), i32spec(2, 3), boolspec(2, 3), c64spec(2, 3)
	half := spec(tensor.Float16, 2, 3)
	checkInfer(t, []inferRow{
		{why: "keeps shape and dtype", op: unary(ops.UnaryExp), in: specs(f), want: f},
		{why: "takes halves", op: unary(ops.UnaryExp), in: specs(half), want: half},
		{why: "takes complexes", op: unary(ops.UnaryExp), in: specs(c), want: c},
		{why: "does not promote integers", op: unary(ops.UnaryExp), in: specs(i), err: tensor.ErrDType, says: "operand 0 is int32, want a float or a complex: cast it first"},
		{why: "does not promote bools", op: unary(ops.UnarySqrt), in: specs(b), err: tensor.ErrDType, says: "operand 0 is bool"},
		{why: "is real", op: unary(ops.UnaryErf), in: specs(c), err: tensor.ErrUnsupported, says: "operand 0 is complex64"},
		{why: "has no complex kernel", op: unary(ops.UnaryAsin), in: specs(c), err: tensor.ErrUnsupported, says: "operand 0 is complex64"},
		{why: "has no order to round in", op: unary(ops.UnaryFloor), in: specs(c), err: tensor.ErrUnsupported, says: "operand 0 is complex64"},
		{why: "takes integers", op: unary(ops.UnaryNeg), in: specs(i), want: i},
		{why: "is no operation of bools", op: unary(ops.UnaryNeg), in: specs(b), err: tensor.ErrDType, says: "operand 0 is bool"},
		{why: "of a complex is real", op: unary(ops.UnaryAbs), in: specs(spec(tensor.Complex128, 2)), want: spec(tensor.Float64, 2)},
		{why: "of an integer is one", op: unary(ops.UnaryAbs), in: specs(i), want: i},
		{why: "keeps the complex dtype", op: unary(ops.UnarySign), in: specs(c), want: c},
		{why: "is the component's dtype", op: unary(ops.UnaryImag), in: specs(c), want: f},
		{why: "is for complexes", op: unary(ops.UnaryReal), in: specs(f), err: tensor.ErrDType, says: "operand 0 is float32, want a complex"},
		{why: "is a bool", op: unary(ops.UnaryIsNaN), in: specs(c), want: b},
		{why: "takes bools", op: unary(ops.UnaryNot), in: specs(b), want: b},
		{why: "is no operation of floats", op: unary(ops.UnaryNot), in: specs(f), err: tensor.ErrDType, says: "operand 0 is float32, want a bool or an integer"},
		{why: "wants one operand", op: unary(ops.UnaryNot), in: specs(b, b), err: tensor.ErrUnsupported, says: "2 operands, want 1"},
		{why: "is no function", op: unary(200), in: specs(b), err: tensor.ErrUnsupported, says: "no function 200"},

		{why: "keeps the spec", op: binary(ops.BinaryAdd), in: specs(f, f), want: f},
		{why: "is or", op: binary(ops.BinaryAdd), in: specs(b, b), want: b},
		{why: "names both dtypes", op: binary(ops.BinaryAdd), in: specs(f, spec(tensor.Int64, 2, 3)), err: tensor.ErrDType, says: "operand 0 is float32, operand 1 is int64"},
		{why: "names both shapes", op: binary(ops.BinaryAdd), in: specs(f, f32spec(3)), err: tensor.ErrShape, says: "operand 0 has shape [2 3], operand 1 has shape [3]"},
		{why: "is no operation of bools", op: binary(ops.BinarySub), in: specs(b, b), err: tensor.ErrDType, says: "operand 0 is bool"},
		{why: "needs an order", op: binary(ops.BinaryMax), in: specs(c, c), err: tensor.ErrUnsupported, says: "operand 0 is complex64"},
		{why: "needs an order", op: binary(ops.BinaryMod), in: specs(c, c), err: tensor.ErrUnsupported, says: "operand 0 is complex64"},
		{why: "is for floats", op: binary(ops.BinaryAtan2), in: specs(i, i), err: tensor.ErrDType, says: "cast it first"},
		{why: "is for integers", op: binary(ops.BinaryShiftLeft), in: specs(b, b), err: tensor.ErrDType, says: "operand 0 is bool, want an integer"},
		{why: "is for bits", op: binary(ops.BinaryXor), in: specs(f, f), err: tensor.ErrDType, says: "operand 0 is float32"},
		{why: "joins float32", op: binary(ops.BinaryComplex), in: specs(f, f), want: c},
		{why: "joins float64", op: binary(ops.BinaryComplex), in: specs(spec(tensor.Float64), spec(tensor.Float64)), want: spec(tensor.Complex128)},
		{why: "has no halves", op: binary(ops.BinaryComplex), in: specs(half, half), err: tensor.ErrDType, says: "float16"},
		{why: "is of derivatives", op: binary(ops.BinaryGuard), in: specs(i, i), err: tensor.ErrDType, says: "operand 0 is int32"},
		{why: "wants two operands", op: binary(ops.BinaryGuard), in: specs(f), err: tensor.ErrUnsupported, says: "1 operands, want 2"},
		{why: "is no function", op: binary(99), in: specs(f, f), err: tensor.ErrUnsupported, says: "no function 99"},

		{why: "is a bool", op: compare(ops.CompareLess), in: specs(f, f), want: b},
		{why: "needs an order", op: compare(ops.CompareGreaterEqual), in: specs(c, c), err: tensor.ErrUnsupported, says: "operand 0 is complex64"},
		{why: "needs no order", op: compare(ops.CompareAttains), in: specs(c, c), want: b},
		{why: "names both dtypes", op: compare(ops.CompareEqual), in: specs(i, b), err: tensor.ErrDType, says: "operand 0 is int32, operand 1 is bool"},
		{why: "is no function", op: compare(99), in: specs(f, f), err: tensor.ErrUnsupported, says: "no function 99"},

		{why: "is the sides' spec", op: ops.SelectOp{}, in: specs(b, f, f), want: f},
		{why: "wants a bool condition", op: ops.SelectOp{}, in: specs(i, f, f), err: tensor.ErrDType, says: "the condition, is int32, want bool"},
		{why: "names the sides", op: ops.SelectOp{}, in: specs(b, f, i), err: tensor.ErrDType, says: "operand 1 is float32, operand 2 is int32"},
		{why: "wants one shape", op: ops.SelectOp{}, in: specs(boolspec(3), f, f), err: tensor.ErrShape, says: "[3]"},
		{why: "is the new dtype", op: ops.CastOp{To: tensor.Int8}, in: specs(c), want: spec(tensor.Int8, 2, 3)},
		{why: "wants a dtype", op: ops.CastOp{}, in: specs(f), err: tensor.ErrDType, says: "cannot cast float32 to invalid"},
		{why: "is the operand", op: ops.StopGradientOp{}, in: specs(i), want: i},
	})
}

func TestInferViews(t *testing.T) {
	x := f32spec(2, 3)
	checkInfer(t, []inferRow{
		{why: "permutes", op: ops.TransposeOp{Perm: []int{1, 0}}, in: specs(x), want: f32spec(3, 2)},
		{why: "repeats an axis", op: ops.TransposeOp{Perm: []int{1, 1}}, in: specs(x), err: tensor.ErrAxis, says: "[1 1]"},
		{why: "lacks an axis", op: ops.TransposeOp{Perm: []int{0}}, in: specs(x), err: tensor.ErrAxis, says: "[0]"},
		{why: "keeps its size", op: ops.SliceOp{Start: []int{1, 2}, Step: []int{1, -2}, Size: []int{1, 2}}, in: specs(x), want: f32spec(1, 2)},
		{why: "leaves the axis", op: ops.SliceOp{Start: []int{1, 2}, Step: []int{1, 2}, Size: []int{1, 2}}, in: specs(x), err: tensor.ErrBounds, says: "axis 1 with extent 3"},
		{why: "counts windows", op: ops.UnfoldOp{Axes: []int{1}, Sizes: []int{2}, Strides: []int{1}, Dilations: []int{1}}, in: specs(x), want: f32spec(2, 2, 2)},
		{why: "lacks a stride", op: ops.UnfoldOp{Axes: []int{1}, Sizes: []int{2}, Dilations: []int{1}}, in: specs(x), err: tensor.ErrAxis, says: "1 sizes, 0 strides and 1 dilations for 1 axes [1]"},
		{why: "repeats an axis", op: ops.UnfoldOp{Axes: []int{1, 1}, Sizes: []int{2, 2}, Strides: []int{1, 1}, Dilations: []int{1, 1}}, in: specs(x), err: tensor.ErrAxis, says: "[1 1]"},
		{why: "has to move on", op: ops.UnfoldOp{Axes: []int{1}, Sizes: []int{2}, Strides: []int{0}, Dilations: []int{1}}, in: specs(x), err: tensor.ErrShape, says: "size 2, stride 0 and dilation 1 on axis 1"},
		{why: "has more elements than an int counts", op: ops.UnfoldOp{Axes: []int{0}, Sizes: []int{1 << 31}, Strides: []int{1}, Dilations: []int{1}},
			in: specs(f32spec(1<<32, 1<<20)), err: tensor.ErrOverflow, says: "more elements"},
		{why: "repeats", op: ops.BroadcastOp{Shape: []int{4, 2, 3}}, in: specs(f32spec(2, 1)), want: f32spec(4, 2, 3)},
		{why: "does not fit", op: ops.BroadcastOp{Shape: []int{2, 4}}, in: specs(x), err: tensor.ErrShape, says: "[2 3] does not broadcast to [2 4]"},
		{why: "keeps the elements", op: ops.ReshapeOp{Shape: []int{6}}, in: specs(x), want: f32spec(6)},
		{why: "counts the elements", op: ops.ReshapeOp{Shape: []int{4}}, in: specs(x), err: tensor.ErrShape, says: "shape [4] has 4 elements, operand shape [2 3] has 6"},
		{why: "wants no negative extent", op: ops.ReshapeOp{Shape: []int{-2, -3}}, in: specs(x), err: tensor.ErrShape, says: "negative"},
		{why: "is the operand's spec", op: ops.PutSliceOp{Start: []int{0, 1}, Step: []int{1, 1}, Size: []int{2, 2}}, in: specs(x, f32spec(2, 2)), want: x},
		{why: "wants the slice's shape", op: ops.PutSliceOp{Start: []int{0, 1}, Step: []int{1, 1}, Size: []int{2, 2}}, in: specs(x, f32spec(2)), err: tensor.ErrShape, says: "operand 1 has shape [2] for a slice of size [2 2]"},
		{why: "wants one dtype", op: ops.PutSliceOp{Start: []int{0, 1}, Step: []int{1, 1}, Size: []int{2, 2}}, in: specs(x, i32spec(2, 2)), err: tensor.ErrDType, says: "operand 1 is int32"},
		{why: "adds extents", op: ops.ConcatOp{Axis: 1}, in: specs(x, f32spec(2, 0), f32spec(2, 4)), want: f32spec(2, 7)},
		{why: "wants other extents equal", op: ops.ConcatOp{Axis: 0}, in: specs(x, f32spec(2, 4)), err: tensor.ErrShape, says: "operand 0 has shape [2 3], operand 1 has shape [2 4]"},
		{why: "wants one rank", op: ops.ConcatOp{Axis: 0}, in: specs(x, f32spec(3)), err: tensor.ErrRank, says: "operand 1 has shape [3]"},
		{why: "wants one dtype", op: ops.ConcatOp{Axis: 0}, in: specs(x, x, i32spec(2, 3)), err: tensor.ErrDType, says: "operand 2 is int32"},
		{why: "has no axis at rank 0", op: ops.ConcatOp{Axis: 0}, in: specs(f32spec(), f32spec()), err: tensor.ErrAxis, says: "axis 0"},
		{why: "wants something", op: ops.ConcatOp{}, err: tensor.ErrShape, says: "nothing to join"},
		{why: "is what it says", op: ops.IotaOp{DType: tensor.Float16, Axis: 1, Shape: []int{2, 3}}, want: spec(tensor.Float16, 2, 3)},
		{why: "is no bool", op: ops.IotaOp{DType: tensor.Bool, Shape: []int{2}}, err: tensor.ErrDType, says: "bool"},
		{why: "has the axis", op: ops.IotaOp{DType: tensor.Int8, Axis: 1, Shape: []int{2}}, err: tensor.ErrAxis, says: "axis 1"},
	})
}

func TestInferReductions(t *testing.T) {
	x := f32spec(2, 0, 4)
	reduce := func(fn ops.ReduceFn, init bool, axes ...int) graph.Op {
		return ops.ReduceOp{Fn: fn, Axes: axes, Init: init}
	}
	arg := func(fn ops.ArgFn, axis int, index tensor.DType) graph.Op {
		return ops.ArgReduceOp{Fn: fn, Axis: axis, Index: index}
	}
	checkInfer(t, []inferRow{
		{why: "drops the axes", op: reduce(ops.ReduceSum, false, 0, 2), in: specs(x), want: f32spec(0)},
		{why: "folds none", op: reduce(ops.ReduceProd, false), in: specs(x), want: x},
		{why: "of bools is or", op: reduce(ops.ReduceSum, false, 0), in: specs(boolspec(2)), want: boolspec()},
		{why: "wants sorted axes", op: reduce(ops.ReduceSum, false, 2, 0), in: specs(x), err: tensor.ErrAxis, says: "[2 0]"},
		{why: "wants unique axes", op: reduce(ops.ReduceSum, false, 1, 1), in: specs(x), err: tensor.ErrAxis, says: "[1 1]"},
		{why: "wants axes inside", op: reduce(ops.ReduceSum, false, 3), in: specs(x), err: tensor.ErrAxis, says: "[3]"},
		{why: "CASES 4: an empty result needs no elements", op: reduce(ops.ReduceMax, false, 1), in: specs(f32spec(0, 4)), want: f32spec(0)},
		{why: "CASES 4: nothing has no greatest", op: reduce(ops.ReduceMax, false, 0), in: specs(f32spec(0, 2)), err: tensor.ErrUnsupported, says: "[0 2] has no elements along axes [0]"},
		{why: "an empty axis with an empty result", op: reduce(ops.ReduceMin, false, 1), in: specs(f32spec(0, 0)), want: f32spec(0)},
		{why: "an initial value is the greatest of nothing else", op: reduce(ops.ReduceMax, true, 0), in: specs(f32spec(0, 2), f32spec()), want: f32spec(2)},
		{why: "the sum of nothing is −∞", op: reduce(ops.ReduceLogSumExp, false, 0), in: specs(f32spec(0, 2)), want: f32spec(2)},
		{why: "needs an order", op: reduce(ops.ReduceMin, false, 0), in: specs(c64spec(2)), err: tensor.ErrUnsupported, says: "operand 0 is complex64"},
		{why: "is of floats", op: reduce(ops.ReduceLogSumExp, false, 0), in: specs(i32spec(2)), err: tensor.ErrDType, says: "cast it first"},
		{why: "wants a scalar to begin with", op: reduce(ops.ReduceSum, true, 0), in: specs(x, f32spec(1)), err: tensor.ErrRank, says: "the initial value, has shape [1]"},
		{why: "wants its dtype to begin with", op: reduce(ops.ReduceSum, true, 0), in: specs(x, i32spec()), err: tensor.ErrDType, says: "operand 1 is int32"},
		{why: "is no function", op: reduce(77, false, 0), in: specs(x), err: tensor.ErrUnsupported, says: "no function 77"},

		{why: "drops the axis", op: arg(ops.ArgMaxFn, 2, tensor.Int64), in: specs(x), want: spec(tensor.Int64, 2, 0)},
		{why: "is int32 where asked", op: arg(ops.ArgMinFn, 0, tensor.Int32), in: specs(x), want: i32spec(0, 4)},
		{why: "has no order of bools", op: arg(ops.ArgMaxFn, 0, tensor.Int64), in: specs(boolspec(2)), err: tensor.ErrDType, says: "operand 0 is bool"},
		{why: "has no order of complexes", op: arg(ops.ArgMinFn, 0, tensor.Int64), in: specs(c64spec(2)), err: tensor.ErrUnsupported, says: "complex64"},
		{why: "has magnitudes of complexes", op: arg(ops.ArgMinAbsFn, 0, tensor.Int64), in: specs(c64spec(2)), want: spec(tensor.Int64)},
		{why: "has two index dtypes", op: arg(ops.ArgMaxFn, 0, tensor.Int16), in: specs(x), err: tensor.ErrDType, says: "index dtype int16"},
		{why: "has no axis at rank 0", op: arg(ops.ArgMaxFn, 0, tensor.Int64), in: specs(f32spec()), err: tensor.ErrAxis, says: "axis 0"},
		{why: "an empty axis, even with no lines", op: arg(ops.ArgMaxFn, 0, tensor.Int64), in: specs(f32spec(0, 0)), err: tensor.ErrUnsupported, says: "axis 0 of operand shape [0 0]"},
		{why: "the last index that int32 holds", op: arg(ops.ArgMaxFn, 0, tensor.Int32), in: specs(f32spec(1 << 31)), want: i32spec()},
		{why: "the first that it does not", op: arg(ops.ArgMaxFn, 0, tensor.Int32), in: specs(f32spec(1<<31 + 1)), err: tensor.ErrOverflow, says: "extent 2147483649"},
		{why: "is no function", op: arg(9, 0, tensor.Int32), in: specs(x), err: tensor.ErrUnsupported, says: "no function 9"},

		{why: "keeps the spec", op: ops.SoftmaxOp{Axis: 1}, in: specs(x), want: x},
		{why: "is of floats", op: ops.SoftmaxOp{Log: true}, in: specs(i32spec(2)), err: tensor.ErrDType, says: "operand 0 is int32"},
		{why: "has the axis", op: ops.SoftmaxOp{Axis: 3}, in: specs(x), err: tensor.ErrAxis, says: "axis 3"},
	})
}

func TestInferScans(t *testing.T) {
	x := f32spec(2, 0, 4)
	scan := func(fn ops.ScanFn, axis int) graph.Op { return ops.ScanOp{Fn: fn, Axis: axis} }
	checkInfer(t, []inferRow{
		{why: "keeps the spec", op: scan(ops.ScanSum, 1), in: specs(x), want: x},
		{why: "of bools is and", op: scan(ops.ScanProd, 0), in: specs(boolspec(2)), want: boolspec(2)},
		{why: "is of floats", op: scan(ops.ScanLogSumExp, 0), in: specs(i32spec(2)), err: tensor.ErrDType, says: "cast it first"},
		{why: "needs an order", op: scan(ops.ScanMax, 0), in: specs(c64spec(2)), err: tensor.ErrUnsupported, says: "operand 0 is complex64"},
		{why: "has the axis", op: scan(ops.ScanSum, 3), in: specs(x), err: tensor.ErrAxis, says: "axis 3 is outside of rank 3"},
		{why: "has no axis at rank 0", op: scan(ops.ScanMin, 0), in: specs(f32spec()), err: tensor.ErrAxis, says: "axis 0"},
		{why: "has two operands", op: scan(ops.ScanAffine, 2), in: specs(x, x), want: x},
		{why: "wants two operands", op: scan(ops.ScanAffine, 2), in: specs(x), err: tensor.ErrUnsupported, says: "1 operands, want 2"},
		{why: "promotes nothing", op: scan(ops.ScanAffine, 0), in: specs(f32spec(2), i32spec(2)), err: tensor.ErrDType, says: "operand 1 is int32"},
		{why: "broadcasts nothing", op: scan(ops.ScanAffine, 0), in: specs(f32spec(2), f32spec(1)), err: tensor.ErrShape, says: "operand 1 has shape [1]"},
		{why: "is no function", op: scan(66, 0), in: specs(x), err: tensor.ErrUnsupported, says: "no function 66"},
	})
	got, err := scan(ops.ScanMax, 0).Infer(specs(x))
	if err != nil || len(got) != 2 || !got[0].Equal(x) || !got[1].Equal(spec(tensor.Int64, 2, 0, 4)) {
		t.Errorf("the extreme and its place: %v, error %v", got, err)
	}
}

func TestInferProducts(t *testing.T) {
	m := ops.MatMulOp{}
	checkInfer(t, []inferRow{
		{why: "multiplies", op: m, in: specs(f32spec(2, 3), f32spec(3, 4)), want: f32spec(2, 4)},
		{why: "keeps the batch", op: m, in: specs(i32spec(5, 6, 2, 0), i32spec(5, 6, 0, 4)), want: i32spec(5, 6, 2, 4)},
		{why: "wants one inner extent", op: m, in: specs(f32spec(2, 3), f32spec(4, 3)), err: tensor.ErrShape, says: "[2 3] and [4 3]"},
		{why: "broadcasts no batch", op: m, in: specs(f32spec(1, 2, 3), f32spec(5, 3, 4)), err: tensor.ErrShape, says: "[1 2 3] and [5 3 4]"},
		{why: "wants matrices", op: m, in: specs(f32spec(3), f32spec(3)), err: tensor.ErrRank, says: "[3] and [3]"},
		{why: "wants one rank", op: m, in: specs(f32spec(1, 2, 3), f32spec(3, 4)), err: tensor.ErrRank, says: "rank"},
		{why: "wants one dtype", op: m, in: specs(f32spec(2, 3), i32spec(3, 4)), err: tensor.ErrDType, says: "operand 1 is int32"},
		{why: "wants numbers", op: m, in: specs(boolspec(2, 3), boolspec(3, 4)), err: tensor.ErrDType, says: "operand 0 is bool"},
		{why: "one key", op: ops.RandomBitsOp{Shape: []int{3, 4}}, in: specs(spec(tensor.Uint32, 2)), want: spec(tensor.Uint32, 3, 4)},
		{why: "keys in front", op: ops.RandomBitsOp{Shape: []int{3}}, in: specs(spec(tensor.Uint32, 5, 6, 2)), want: spec(tensor.Uint32, 5, 6, 3)},
		{why: "wants two words", op: ops.RandomBitsOp{}, in: specs(spec(tensor.Uint32, 3)), err: tensor.ErrDType, says: "the key is uint32[3]"},
		{why: "wants words", op: ops.RandomBitsOp{}, in: specs(spec(tensor.Int32, 2)), err: tensor.ErrDType, says: "the key is int32[2]"},
		{why: "wants an axis", op: ops.RandomBitsOp{}, in: specs(spec(tensor.Uint32)), err: tensor.ErrDType, says: "the key is uint32[]"},
		{why: "wants extents", op: ops.RandomBitsOp{Shape: []int{-1}}, in: specs(spec(tensor.Uint32, 2)), err: tensor.ErrShape, says: "-1"},
	})
}

func TestInferConv(t *testing.T) {
	plain := func(space int) ops.ConvOp {
		o := ops.ConvOp{}
		for range space {
			o.Strides, o.Dilations, o.Between = append(o.Strides, 1), append(o.Dilations, 1), append(o.Between, 1)
			o.Low, o.High = append(o.Low, 0), append(o.High, 0)
		}
		return o
	}
	with := func(f func(o *ops.ConvOp)) ops.ConvOp {
		o := plain(1)
		f(&o)
		return o
	}
	x, w := f32spec(2, 3, 7), f32spec(5, 3, 2)
	checkInfer(t, []inferRow{
		{why: "has a window wherever one ends inside", op: plain(1), in: specs(x, w), want: f32spec(2, 5, 6)},
		{why: "is a product without space", op: plain(0), in: specs(f32spec(2, 3), f32spec(5, 3)), want: f32spec(2, 5)},
		{why: "keeps groups", op: plain(1), in: specs(f32spec(2, 6, 4, 3, 7), f32spec(6, 4, 5, 3, 2)), want: f32spec(2, 6, 4, 5, 6)},
		{why: "strides", op: with(func(o *ops.ConvOp) { o.Strides[0] = 4 }), in: specs(x, w), want: f32spec(2, 5, 2)},
		{why: "dilates", op: with(func(o *ops.ConvOp) { o.Dilations[0] = 6 }), in: specs(x, w), want: f32spec(2, 5, 1)},
		{why: "sets apart, then pads", op: with(func(o *ops.ConvOp) { o.Between[0], o.Low[0], o.High[0] = 2, -1, 3 }), in: specs(x, w), want: f32spec(2, 5, 14)},
		{why: "has no window longer than there is", op: plain(1), in: specs(f32spec(2, 3, 1), w), want: f32spec(2, 5, 0)},
		{why: "has no groups alike", op: plain(1), in: specs(f32spec(2, 4, 3, 7), f32spec(5, 5, 3, 2)), err: tensor.ErrShape, says: "operand 0 has [4 3] for groups and channels, operand 1, the weight, of shape [5 5 3 2] has [5 3]"},
		{why: "has no channels alike", op: plain(1), in: specs(x, f32spec(5, 4, 2)), err: tensor.ErrShape, says: "operand 0 has [3] for groups and channels"},
		{why: "wants one rank", op: plain(1), in: specs(x, f32spec(5, 3)), err: tensor.ErrRank, says: "operand 0 has shape [2 3 7], operand 1, the weight, has shape [5 3]"},
		{why: "wants axes of space", op: plain(3), in: specs(x, w), err: tensor.ErrRank, says: "want one rank, 5 or more"},
		{why: "wants one dtype", op: plain(1), in: specs(x, i32spec(5, 3, 2)), err: tensor.ErrDType, says: "operand 1 is int32"},
		{why: "wants numbers", op: plain(1), in: specs(boolspec(2, 3, 7), boolspec(5, 3, 2)), err: tensor.ErrDType, says: "operand 0 is bool"},
		{why: "wants lists of one length", op: with(func(o *ops.ConvOp) { o.High = nil }), in: specs(x, w), err: tensor.ErrAxis, says: "want as many"},
		{why: "strides forwards", op: with(func(o *ops.ConvOp) { o.Strides[0] = 0 }), in: specs(x, w), err: tensor.ErrShape, says: "stride 0"},
		{why: "crops no more than there is", op: with(func(o *ops.ConvOp) { o.Low[0] = -8 }), in: specs(x, w), err: tensor.ErrShape, says: "padding -8 and 0 crops more than the extent 7"},
		{why: "pads by what fits an int", op: with(func(o *ops.ConvOp) { o.Low[0] = math.MaxInt }), in: specs(x, w), err: tensor.ErrOverflow, says: "padding"},
		{why: "wants two operands", op: plain(1), in: specs(x), err: tensor.ErrUnsupported, says: "1 operands, want 2"},
	})
}

// TestInferIndexed: an op that is applied by hand to too few operands is an error as any other.
func TestInferIndexed(t *testing.T) {
	checkInfer(t, []inferRow{
		{why: "wants x", op: ops.GatherOp{}, err: tensor.ErrUnsupported, says: "0 operands, want 1"},
		{why: "wants x too", op: ops.ScatterOp{}, err: tensor.ErrUnsupported, says: "0 operands, want 2"},
		{why: "wants updates", op: ops.ScatterOp{}, in: specs(f32spec(2)), err: tensor.ErrUnsupported, says: "1 operands, want 2"},
		{why: "wants what it exchanges", op: ops.ScatterScanOp{}, in: specs(f32spec(2)), err: tensor.ErrUnsupported, says: "1 operands, want 2"},
		{why: "wants factors", op: ops.ScatterScanOp{Affine: true}, in: specs(f32spec(2), f32spec()), err: tensor.ErrUnsupported, says: "2 operands, want 3"},
	})
}
