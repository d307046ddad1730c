package ops_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// builderRow is one builder applied to operands of the given specs. Name is how its errors call it, where
// that is not the builder's own name.
type builderRow struct {
	builder string
	name    string
	in      []tensor.Spec
	build   func(x []*ops.Node) *ops.Node
}

func one(f func(*ops.Node) *ops.Node) func([]*ops.Node) *ops.Node {
	return func(x []*ops.Node) *ops.Node { return f(x[0]) }
}

func two(f func(a, b any) *ops.Node) func([]*ops.Node) *ops.Node {
	return func(x []*ops.Node) *ops.Node { return f(x[0], x[1]) }
}

func reduced(f ops.Reduction) func([]*ops.Node) *ops.Node {
	return func(x []*ops.Node) *ops.Node { return f(x[0], -1) }
}

func scanned(f func(*ops.Node, int, ...ops.ScanOption) *ops.Node, options ...ops.ScanOption) func([]*ops.Node) *ops.Node {
	return func(x []*ops.Node) *ops.Node { return f(x[0], -1, options...) }
}

func along(f func(*ops.Node, int) *ops.Node) func([]*ops.Node) *ops.Node {
	return func(x []*ops.Node) *ops.Node { return f(x[0], -1) }
}

var (
	a64  = spec(tensor.Float64, 2, 3)
	v64  = spec(tensor.Float64, 3)
	s64  = spec(tensor.Float64)
	c128 = spec(tensor.Complex128, 2, 3)
	n64  = spec(tensor.Int64, 2, 3)
	key2 = spec(tensor.Uint32, 2)
)

// builderRows has every builder of nodes from nodes; some twice, for another dtype.
var builderRows = slices.Concat(elementwiseRows(), viewRows(), reductionRows(), scanRows(), combinerRows(), slidingRows(), elementRows(),
	sortRows(), randomRows())

func elementwiseRows() (rows []builderRow) {
	for name, f := range map[string]func(*ops.Node) *ops.Node{
		"Neg": ops.Neg, "Abs": ops.Abs, "Sign": ops.Sign, "Exp": ops.Exp, "Exp2": ops.Exp2, "Expm1": ops.Expm1,
		"Log": ops.Log, "Log2": ops.Log2, "Log10": ops.Log10, "Log1p": ops.Log1p, "Sqrt": ops.Sqrt, "Rsqrt": ops.Rsqrt,
		"Sin": ops.Sin, "Cos": ops.Cos, "Tan": ops.Tan, "Sinh": ops.Sinh, "Cosh": ops.Cosh, "Tanh": ops.Tanh,
		"Sigmoid": ops.Sigmoid, "IsNaN": ops.IsNaN, "IsInf": ops.IsInf, "IsFinite": ops.IsFinite, "Conj": ops.Conj,
		"Real": ops.Real, "Imag": ops.Imag, "Square": ops.Square, "Reciprocal": ops.Reciprocal,
		"StopGradient": ops.StopGradient, "ZerosLike": ops.ZerosLike, "OnesLike": ops.OnesLike, "Flatten": ops.Flatten,
	} {
		rows = append(rows, builderRow{name, "", specs(a64), one(f)}, builderRow{name, "", specs(c128), one(f)})
	}
	for name, f := range map[string]func(*ops.Node) *ops.Node{
		"Cbrt": ops.Cbrt, "Asin": ops.Asin, "Acos": ops.Acos, "Atan": ops.Atan, "Asinh": ops.Asinh, "Acosh": ops.Acosh,
		"Atanh": ops.Atanh, "Softplus": ops.Softplus, "Erf": ops.Erf, "Erfc": ops.Erfc, "Erfinv": ops.Erfinv,
		"Floor": ops.Floor, "Ceil": ops.Ceil, "Round": ops.Round, "Trunc": ops.Trunc, "Relu": ops.Relu, "Gelu": ops.Gelu,
		"GeluTanh": ops.GeluTanh, "Silu": ops.Silu, "ArgMaxAll": ops.ArgMaxAll, "ArgMinAll": ops.ArgMinAll,
	} {
		rows = append(rows, builderRow{name, "", specs(a64), one(f)})
	}
	for name, f := range map[string]func(a, b any) *ops.Node{
		"Add": ops.Add, "Sub": ops.Sub, "Mul": ops.Mul, "Div": ops.Div, "Pow": ops.Pow, "Equal": ops.Equal,
		"NotEqual": ops.NotEqual, "Attains": ops.Attains, "Guard": ops.Guard,
	} {
		rows = append(rows, builderRow{name, "", specs(a64, v64), two(f)}, builderRow{name, "", specs(c128, c128), two(f)})
	}
	for name, f := range map[string]func(a, b any) *ops.Node{
		"Atan2": ops.Atan2, "Maximum": ops.Maximum, "Minimum": ops.Minimum, "Rem": ops.Rem, "Mod": ops.Mod,
		"Complex": ops.Complex, "Less": ops.Less, "LessEqual": ops.LessEqual, "Greater": ops.Greater,
		"GreaterEqual": ops.GreaterEqual, "FloorDiv": ops.FloorDiv, "LogAddExp": ops.LogAddExp,
	} {
		rows = append(rows, builderRow{name, "", specs(a64, v64), two(f)})
	}
	for name, f := range map[string]func(a, b any) *ops.Node{
		"And": ops.And, "Or": ops.Or, "Xor": ops.Xor, "ShiftLeft": ops.ShiftLeft, "ShiftRight": ops.ShiftRight,
		"FloorDiv": ops.FloorDiv,
	} {
		rows = append(rows, builderRow{name, "", specs(n64, n64), two(f)})
	}
	return append(rows,
		builderRow{"Not", "", specs(boolspec(2)), one(ops.Not)},
		builderRow{"Where", "", specs(boolspec(2, 1), a64, v64), func(x []*ops.Node) *ops.Node { return ops.Where(x[0], x[1], x[2]) }},
		builderRow{"Cast", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Cast(x[0], tensor.Complex64) }},
		builderRow{"Cast", "", specs(c128), func(x []*ops.Node) *ops.Node { return ops.Cast(x[0], tensor.Float32) }},
		builderRow{"Cast", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Cast(x[0], tensor.Int8) }},
		builderRow{"Clamp", "", specs(a64, s64, v64), func(x []*ops.Node) *ops.Node { return ops.Clamp(x[0], x[1], x[2]) }},
		builderRow{"LeakyRelu", "", specs(a64, s64), func(x []*ops.Node) *ops.Node { return ops.LeakyRelu(x[0], x[1]) }})
}

func viewRows() []builderRow {
	return []builderRow{
		{"Transpose", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Transpose(x[0]) }},
		{"SwapAxes", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.SwapAxes(x[0], 0, -1) }},
		{"MoveAxis", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.MoveAxis(x[0], 0, -1) }},
		{"Reverse", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Reverse(x[0], 1) }},
		{"Slice", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Slice(x[0], []int{1, 2}, []int{1, -1}, []int{1, 2}) }},
		{"SliceAxis", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.SliceAxis(x[0], -1, 1, 2) }},
		{"Diagonal", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Diagonal(x[0], 1, 0, 1) }},
		{"BroadcastTo", "", specs(v64), func(x []*ops.Node) *ops.Node { return ops.BroadcastTo(x[0], 4, 2, 3) }},
		{"SumTo", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.SumTo(x[0], 1) }},
		{"Reshape", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Reshape(x[0], 3, -1) }},
		{"ExpandDims", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.ExpandDims(x[0], 0, -1) }},
		{"Squeeze", "", specs(spec(tensor.Float64, 1, 3, 1)), func(x []*ops.Node) *ops.Node { return ops.Squeeze(x[0], -1) }},
		{"Tile", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Tile(x[0], 2, 1, 3) }},
		{"Repeat", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Repeat(x[0], 2, -1) }},
		{"PutSlice", "", specs(a64, s64), func(x []*ops.Node) *ops.Node {
			return ops.PutSlice(x[0], x[1], []int{1, 2}, []int{1, -1}, []int{1, 2})
		}},
		{"Concat", "", specs(a64, a64), func(x []*ops.Node) *ops.Node { return ops.Concat(-1, x...) }},
		{"Stack", "", specs(a64, a64), func(x []*ops.Node) *ops.Node { return ops.Stack(-1, x...) }},
		{"Split", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Split(x[0], -1, 1, 2)[1] }},
		{"Pad", "", specs(a64, s64), func(x []*ops.Node) *ops.Node {
			return ops.Pad(x[0], x[1], []int{1, -1}, []int{0, 2}, []int{1, 0})
		}},
		{"PadWith", "", specs(a64), func(x []*ops.Node) *ops.Node {
			return ops.PadWith(x[0], ops.PadReflect, []int{1, 4}, []int{0, 2})
		}},
		{"OneHot", "", specs(n64), func(x []*ops.Node) *ops.Node { return ops.OneHot(x[0], 3, tensor.Float32) }},
		{"MatMul", "", specs(a64, spec(tensor.Float64, 5, 3, 2)), func(x []*ops.Node) *ops.Node { return ops.MatMul(x[0], x[1]) }},
		{"MatMul", "", specs(spec(tensor.Complex128, 4, 2, 3), spec(tensor.Complex128, 3)), func(x []*ops.Node) *ops.Node { return ops.MatMul(x[0], x[1]) }},
		{"Conv", "", specs(spec(tensor.Float64, 2, 4, 5), spec(tensor.Float64, 6, 2, 3)), func(x []*ops.Node) *ops.Node {
			return ops.Conv(x[0], x[1], ops.ConvSpec{Groups: 2})
		}},
		{"ConvTranspose", "", specs(spec(tensor.Float64, 2, 4, 5), spec(tensor.Float64, 4, 2, 3)), func(x []*ops.Node) *ops.Node {
			return ops.ConvTranspose(x[0], x[1], ops.ConvSpec{Groups: 2})
		}},
		{"Dot", "", specs(spec(tensor.Float64, 5, 2, 3), spec(tensor.Float64, 5, 3, 2)), func(x []*ops.Node) *ops.Node { return ops.Dot(x[0], x[1]) }},
		{"Einsum", "", specs(a64, spec(tensor.Float64, 4, 3), spec(tensor.Float64, 4, 4)), func(x []*ops.Node) *ops.Node { return ops.Einsum("ij,kj,kk->i", x...) }},
	}
}

func reductionRows() []builderRow {
	return []builderRow{
		{"Sum", "", specs(a64), reduced(ops.Sum)},
		{"Prod", "", specs(a64), reduced(ops.Prod)},
		{"Max", "", specs(a64), reduced(ops.Max)},
		{"Min", "", specs(a64), reduced(ops.Min)},
		{"Mean", "", specs(a64), reduced(ops.Mean)},
		{"LogSumExp", "", specs(a64), reduced(ops.LogSumExp)},
		{"Any", "", specs(a64), reduced(ops.Any)},
		{"All", "", specs(a64), reduced(ops.All)},
		{"KeepDims", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.KeepDims(ops.Max, x[0], 0) }},
		{"ReduceInit", "", specs(a64, s64), func(x []*ops.Node) *ops.Node { return ops.ReduceInit(ops.ReduceSum, x[0], x[1], 0) }},
		{"ReduceInit", "", specs(a64, s64), func(x []*ops.Node) *ops.Node { return ops.ReduceInit(ops.ReduceProd, x[0], x[1], 0) }},
		{"ReduceInit", "", specs(a64, s64), func(x []*ops.Node) *ops.Node { return ops.ReduceInit(ops.ReduceMax, x[0], x[1], 0) }},
		{"ReduceInit", "", specs(a64, s64), func(x []*ops.Node) *ops.Node { return ops.ReduceInit(ops.ReduceLogSumExp, x[0], x[1], 0) }},
		{"Max", "", specs(spec(tensor.Float16, 2, 3)), reduced(ops.Max)},
		{"Softmax", "", specs(a64), along(ops.Softmax)},
		{"LogSoftmax", "", specs(a64), along(ops.LogSoftmax)},
		{"ArgMax", "", specs(a64), along(ops.ArgMax)},
		{"ArgMin", "", specs(a64), along(ops.ArgMin)},
		{"MaxWithIndex", "", specs(a64), func(x []*ops.Node) *ops.Node { y, _ := ops.MaxWithIndex(x[0], 0); return y }},
		{"MinWithIndex", "", specs(a64), func(x []*ops.Node) *ops.Node { y, _ := ops.MinWithIndex(x[0], -1); return y }},
		{"MaxAbsWithIndex", "", specs(c128), func(x []*ops.Node) *ops.Node { y, _ := ops.MaxAbsWithIndex(x[0], 0); return y }},
		{"MinAbsWithIndex", "", specs(c128), func(x []*ops.Node) *ops.Node { y, _ := ops.MinAbsWithIndex(x[0], 0); return y }},
		{"ArgMaxAbs", "", specs(c128), along(ops.ArgMaxAbs)},
		{"ArgMinAbs", "", specs(c128), along(ops.ArgMinAbs)},
		{"ArgReduce", "ArgMinAbs", specs(a64), func(x []*ops.Node) *ops.Node {
			return ops.ArgReduce(ops.ArgMinAbsFn, x[0], -1, tensor.Int32)
		}},
	}
}

func scanRows() []builderRow {
	both := []ops.ScanOption{ops.Exclusive, ops.Reversed}
	return []builderRow{
		{"CumSum", "", specs(a64), scanned(ops.CumSum)},
		{"CumSum", "", specs(c128), scanned(ops.CumSum, both...)},
		{"CumProd", "", specs(a64), scanned(ops.CumProd)},
		{"CumProd", "", specs(c128), scanned(ops.CumProd, both...)},
		{"CumMax", "", specs(a64), scanned(ops.CumMax)},
		{"CumMin", "", specs(a64), scanned(ops.CumMin, both...)},
		{"CumMaxWithIndex", "CumMax", specs(a64), func(x []*ops.Node) *ops.Node { y, _ := ops.CumMaxWithIndex(x[0], 0); return y }},
		{"CumMinWithIndex", "CumMin", specs(a64), func(x []*ops.Node) *ops.Node { _, at := ops.CumMinWithIndex(x[0], 0, both...); return at }},
		{"LogCumSumExp", "", specs(a64), scanned(ops.LogCumSumExp)},
		{"LogCumSumExp", "", specs(spec(tensor.Float16, 2, 3)), scanned(ops.LogCumSumExp, both...)},
		{"AffineScan", "", specs(a64, v64), func(x []*ops.Node) *ops.Node { return ops.AffineScan(x[0], x[1], 0) }},
		{"AffineScan", "", specs(c128, c128), func(x []*ops.Node) *ops.Node { return ops.AffineScan(x[0], x[1], -1, both...) }},
	}
}

func combinerRows() []builderRow {
	f := combiner(composed, tensor.Float64, tensor.Float64)
	window := ops.Sliding{Sizes: []int{2}, Low: []int{1}}
	return []builderRow{
		{"ReduceBy", "", specs(a64, a64, s64, s64), func(x []*ops.Node) *ops.Node {
			return ops.ReduceBy(f, x[:2], []any{x[2], x[3]}, 0)[1]
		}},
		{"ScanBy", "", specs(a64, a64, s64, s64), func(x []*ops.Node) *ops.Node {
			return ops.ScanBy(f, x[:2], []any{x[2], x[3]}, 0)[1]
		}},
		{"ReduceWindowBy", "", specs(a64, a64, s64, s64), func(x []*ops.Node) *ops.Node {
			return ops.ReduceWindowBy(f, x[:2], []any{x[2], x[3]}, window)[1]
		}},
		{"Map", "", specs(a64, v64, s64, s64), func(x []*ops.Node) *ops.Node { return ops.Map(f, x...)[1] }},
	}
}

func firstOf(a, b *ops.Node) *ops.Node {
	if !b.Valid() {
		return b
	}
	return a
}

func sortRows() []builderRow {
	rows := []builderRow{
		{"Sort", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Sort(x[0], -1, ops.Descending) }},
		{"ArgSort", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.ArgSort(x[0], 0, ops.Ascending) }},
		{"SortWithIndex", "", specs(boolspec(2, 3)), func(x []*ops.Node) *ops.Node { return firstOf(ops.SortWithIndex(x[0], -1, ops.Ascending)) }},
		{"SortBy", "", specs(a64, c128, n64), func(x []*ops.Node) *ops.Node { return ops.SortBy(-1, 1, ops.Ascending, x...)[2] }},
		{"TopK", "", specs(a64), func(x []*ops.Node) *ops.Node { return firstOf(ops.TopK(x[0], 2, -1, ops.TotalDescending)) }},
		{"KthValue", "", specs(a64), func(x []*ops.Node) *ops.Node { return firstOf(ops.KthValue(x[0], 2, -1)) }},
		{"Quantile", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Quantile(x[0], 0.25, ops.QuantileLinear, 0) }},
		{"Quantiles", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Quantiles(x[0], []float64{0, 0.3}, ops.QuantileLower) }},
		{"SearchSorted", "", specs(v64, a64), func(x []*ops.Node) *ops.Node { return ops.SearchSorted(x[0], x[1], true) }},
		{"Hardmax", "", specs(n64), along(ops.Hardmax)},
		{"Bincount", "", specs(n64), func(x []*ops.Node) *ops.Node { return ops.Bincount(x[0], 4) }},
		{"RepeatCounts", "", specs(a64, spec(tensor.Int8, 3)), func(x []*ops.Node) *ops.Node { return ops.RepeatCounts(x[0], x[1], -1, 5) }},
		{"NanArgMax", "", specs(a64), along(ops.NanArgMax)},
		{"NanArgMin", "", specs(n64), along(ops.NanArgMin)},
	}
	for name, f := range map[string]ops.Reduction{
		"Median": ops.Median, "NanSum": ops.NanSum, "NanProd": ops.NanProd, "NanMean": ops.NanMean, "NanMax": ops.NanMax,
		"NanMin": ops.NanMin,
	} {
		rows = append(rows, builderRow{name, "", specs(a64), reduced(f)})
	}
	for name, f := range map[string]func(data, ids *ops.Node, num int) *ops.Node{
		"SegmentSum": ops.SegmentSum, "SegmentProd": ops.SegmentProd, "SegmentMax": ops.SegmentMax, "SegmentMin": ops.SegmentMin,
		"SegmentMean": ops.SegmentMean,
	} {
		rows = append(rows, builderRow{name, "", specs(a64, spec(tensor.Uint8, 2)), func(x []*ops.Node) *ops.Node { return f(x[0], x[1], 4) }})
	}
	return rows
}

func slidingRows() []builderRow {
	x, w := spec(tensor.Float64, 2, 4, 3), ops.Sliding{Sizes: []int{3, 2}, Low: []int{1, 0}}
	counted := func(f func(x *ops.Node, correction int, axes ...int) *ops.Node) func(x []*ops.Node) *ops.Node {
		return func(x []*ops.Node) *ops.Node { return f(x[0], 1, -1) }
	}
	return []builderRow{
		{"Unfold", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Unfold(x[0], []int{2}, nil, nil, -1) }},
		{"Fold", "", specs(spec(tensor.Float64, 2, 2, 2)), func(x []*ops.Node) *ops.Node {
			return ops.Fold(x[0], []int{2, 3}, []int{2}, nil, nil, -1)
		}},
		{"ReduceWindow", "", specs(x), func(x []*ops.Node) *ops.Node { return ops.ReduceWindow(ops.ReduceMax, x[0], w) }},
		{"ReduceWindowInit", "", specs(x, s64), func(x []*ops.Node) *ops.Node {
			return ops.ReduceWindowInit(ops.ReduceSum, x[0], x[1], w)
		}},
		{"MaxPool", "", specs(x), func(x []*ops.Node) *ops.Node { return ops.MaxPool(x[0], w) }},
		{"MaxPoolIndex", "MaxPool", specs(x), func(x []*ops.Node) *ops.Node {
			_, at := ops.MaxPoolIndex(x[0], w)
			return at
		}},
		{"AvgPool", "", specs(x), func(x []*ops.Node) *ops.Node { return ops.AvgPool(x[0], w, true) }},
		{"SelectAndScatter", "", specs(x, spec(tensor.Float64, 2, 3, 2), s64), func(x []*ops.Node) *ops.Node {
			return ops.SelectAndScatter(ops.ArgMinFn, x[0], x[1], x[2], w)
		}},
		{"Var", "", specs(a64), counted(ops.Var)},
		{"Var", "", specs(c128), counted(ops.Var)},
		{"Std", "", specs(a64), counted(ops.Std)},
		{"Norm", "", specs(c128), func(x []*ops.Node) *ops.Node { return ops.Norm(x[0], 3, 0) }},
		{"Standardize", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Standardize(x[0], 1e-5, -1) }},
		{"RMSNormalize", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.RMSNormalize(x[0], 1e-5, -1) }},
		{"GroupNormalize", "", specs(x), func(x []*ops.Node) *ops.Node { return ops.GroupNormalize(x[0], 1e-5, 2, 1) }},
		{"BatchNormalize", "", specs(a64, v64, v64), func(x []*ops.Node) *ops.Node {
			return ops.BatchNormalize(x[0], x[1], x[2], 1e-5, 1)
		}},
	}
}

func elementRows() []builderRow {
	i3, pairs := spec(tensor.Int32, 3), spec(tensor.Int64, 4, 2)
	return []builderRow{
		{"Roll", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Roll(x[0], []int{2}, []int{-1}) }},
		{"Tril", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Tril(x[0], 0) }},
		{"Triu", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Triu(x[0], 1) }},
		{"Trace", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Trace(x[0], 0, 0, 1) }},
		{"Outer", "", specs(a64, v64), func(x []*ops.Node) *ops.Node { return ops.Outer(x[0], x[1]) }},
		{"Diff", "", specs(a64), func(x []*ops.Node) *ops.Node { return ops.Diff(x[0], 1, -1) }},
		{"GatherElements", "", specs(a64, n64), func(x []*ops.Node) *ops.Node { return ops.GatherElements(x[0], x[1], -1) }},
		{"ScatterElements", "", specs(a64, n64, a64), func(x []*ops.Node) *ops.Node {
			return ops.ScatterElements(x[0], x[1], x[2], 0, ops.CombineAdd)
		}},
		{"GatherND", "", specs(a64, pairs), func(x []*ops.Node) *ops.Node { return ops.GatherND(x[0], x[1], 0) }},
		{"ScatterND", "", specs(a64, pairs, spec(tensor.Float64, 4)), func(x []*ops.Node) *ops.Node {
			return ops.ScatterND(x[0], x[1], x[2], ops.CombineMax)
		}},
		{"IndexAdd", "", specs(a64, i3, s64), func(x []*ops.Node) *ops.Node { return ops.IndexAdd(x[0], x[1], x[2], 0) }},
		{"IndexCopy", "", specs(a64, i3, v64), func(x []*ops.Node) *ops.Node { return ops.IndexCopy(x[0], x[1], x[2], 0) }},
		{"IndexFill", "", specs(a64, i3, s64), func(x []*ops.Node) *ops.Node { return ops.IndexFill(x[0], x[1], x[2], 1) }},
		{"MaskedFill", "", specs(a64, boolspec(3), s64), func(x []*ops.Node) *ops.Node { return ops.MaskedFill(x[0], x[1], x[2]) }},
	}
}

func randomRows() []builderRow {
	return []builderRow{
		{"RandomBits", "", specs(key2), func(x []*ops.Node) *ops.Node { return ops.RandomBits(x[0], 3) }},
		{"FoldIn", "", specs(key2, n64), func(x []*ops.Node) *ops.Node { return ops.FoldIn(x[0], x[1]) }},
		{"SplitKey", "", specs(key2), func(x []*ops.Node) *ops.Node { return ops.SplitKey(x[0], 3) }},
		{"RandomUniform", "", specs(key2), func(x []*ops.Node) *ops.Node { return ops.RandomUniform(x[0], tensor.Float64, 3) }},
		{"RandomNormal", "", specs(key2), func(x []*ops.Node) *ops.Node { return ops.RandomNormal(x[0], tensor.Float16, 3) }},
		{"Bernoulli", "", specs(key2, v64), func(x []*ops.Node) *ops.Node { return ops.Bernoulli(x[0], x[1], 2, 3) }},
		{"RandomInt", "", specs(key2), func(x []*ops.Node) *ops.Node { return ops.RandomInt(x[0], tensor.Int8, -3, 4, 3) }},
	}
}

// creators are the builders that take a graph in place of nodes.
var creators = map[string]func(g *graph.Graph) *ops.Node{
	"Iota":   func(g *graph.Graph) *ops.Node { return ops.Iota(g, tensor.Int8, -1, 2, 3) },
	"Arange": func(g *graph.Graph) *ops.Node { return ops.Arange(g, tensor.Float32, 0, 1, 0.25) },
	"Full":   func(g *graph.Graph) *ops.Node { return ops.Full(g, tensor.Int8, 7, 2) },
	"Zeros":  func(g *graph.Graph) *ops.Node { return ops.Zeros(g, tensor.Bool, 2) },
	"Ones":   func(g *graph.Graph) *ops.Node { return ops.Ones(g, tensor.Complex64, 2) },
	"Eye":    func(g *graph.Graph) *ops.Node { return ops.Eye(g, tensor.Float16, 3) },
	"Key":    func(g *graph.Graph) *ops.Node { return ops.Key(g, 1) },
}

func (r builderRow) called() string {
	if r.name != "" {
		return "ops." + r.name
	}
	return "ops." + r.builder
}

// operands are placeholders: nodes without values in a graph for compiling.
func (r builderRow) operands(g *graph.Graph) []*ops.Node {
	x := make([]*ops.Node, len(r.in))
	for i, s := range r.in {
		x[i] = g.Placeholder(s)
	}
	return x
}

func eachBuilder(t *testing.T, check func(t *testing.T, r builderRow)) {
	for _, r := range builderRows {
		t.Run(fmt.Sprintf("%s%v", r.builder, r.in[0]), func(t *testing.T) { check(t, r) })
	}
}

func TestBuilders(t *testing.T) {
	eachBuilder(t, func(t *testing.T, r builderRow) {
		g := graph.New()
		if y := r.build(r.operands(g)); !y.Valid() || g.Err() != nil {
			t.Fatalf("valid operands give an invalid node: %v", y.Err())
		}
	})
}

func TestBuildersNilOperand(t *testing.T) {
	eachBuilder(t, func(t *testing.T, r builderRow) {
		for i := range r.in {
			g := graph.New()
			x := r.operands(g)
			x[i] = nil
			y := r.build(x)
			err := y.Err()
			if y.Valid() || !errors.Is(err, tensor.ErrUnsupported) {
				t.Fatalf("operand %d nil: node %v, error %v", i, y, err)
			}
			want := fmt.Sprintf(": %s: operand %d is nil", r.called(), i)
			if got := err.Error(); !strings.HasPrefix(got, "builders_test.go:") || !strings.HasSuffix(got, want) {
				t.Errorf("operand %d nil: %q, want builders_test.go:<line>%s", i, got, want)
			}
			if len(x) > 1 && g.Err() == nil {
				t.Errorf("operand %d nil: the graph of the others has no error", i)
			}
		}
		if y := r.build(make([]*ops.Node, len(r.in))); y.Valid() || y.Err() == nil {
			t.Errorf("all operands nil: node %v, error %v", y, y.Err())
		}
	})
}

func TestBuildersInvalidOperand(t *testing.T) {
	eachBuilder(t, func(t *testing.T, r builderRow) {
		for i := range r.in {
			g := graph.New()
			x := r.operands(g)
			x[i] = g.Fail("test", errors.New("the first cause"))
			first := g.Err()
			if y := r.build(x); y.Valid() {
				t.Errorf("operand %d invalid: the result is valid", i)
			}
			if g.Err() != first {
				t.Errorf("operand %d invalid: the error became %v", i, g.Err())
			}
			x[i] = new(ops.Node) // invalid without a graph
			if y := r.build(x); y.Valid() {
				t.Errorf("operand %d a zero node: the result is valid", i)
			}
		}
	})
}

func TestBuildersForeignOperand(t *testing.T) {
	eachBuilder(t, func(t *testing.T, r builderRow) {
		for i := range r.in {
			g := graph.New()
			x := r.operands(g)
			x[i] = graph.New().Placeholder(r.in[i])
			if y := r.build(x); len(x) > 1 && y.Valid() {
				t.Errorf("operand %d of another graph: the result is valid", i)
			}
		}
	})
}

func TestCreators(t *testing.T) {
	for name, f := range creators {
		t.Run(name, func(t *testing.T) {
			g := graph.New()
			if y := f(g); !y.Valid() {
				t.Fatal(y.Err())
			}
			y := f(nil)
			if err := y.Err(); y.Valid() || !errors.Is(err, tensor.ErrUnsupported) ||
				!strings.HasSuffix(err.Error(), ": ops."+name+": the graph is nil") {
				t.Errorf("without a graph: %v", err)
			}
		})
	}
}

// indexing names the files whose builders have tables of their own.
var indexing = []string{"compress", "index", "take", "gather", "scatter", "dynamic", "embedding", "nonzero", "places",
	"stablehlo", "unique", "update", "value", "window"}

func TestEveryBuilderHasARow(t *testing.T) {
	known := map[string]bool{}
	for _, r := range builderRows {
		known[r.builder] = true
	}
	for name := range creators {
		known[name] = true
	}
	examples := exampleNames(t)
	for name := range exportedBuilders(t) {
		if !known[name] {
			t.Errorf("builder %s has no row in builderRows or creators", name)
		}
		if !examples[name] {
			t.Errorf("builder %s has no example", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("row for %s, which is no builder", name)
	}
}

// exportedBuilders are the functions of the package's source that return nodes.
func exportedBuilders(t *testing.T) map[string]bool {
	r := map[string]bool{}
	eachFunc(t, func(file string, fn *ast.FuncDecl) {
		own := !slices.ContainsFunc(indexing, func(prefix string) bool { return strings.HasPrefix(file, prefix) })
		if !strings.HasSuffix(file, "_test.go") && own && fn.Name.IsExported() && returnsNodes(fn) {
			r[fn.Name.Name] = true
		}
	})
	return r
}

// exampleNames are what the package's examples show.
func exampleNames(t *testing.T) map[string]bool {
	r := map[string]bool{}
	eachFunc(t, func(file string, fn *ast.FuncDecl) {
		if name, ok := strings.CutPrefix(fn.Name.Name, "Example"); ok && strings.HasSuffix(file, "_test.go") {
			r[name] = true
		}
	})
	return r
}

// eachFunc visits the functions, not the methods, of every Go file of the package.
func eachFunc(t *testing.T, visit func(file string, fn *ast.FuncDecl)) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range src.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				visit(file, fn)
			}
		}
	}
}

func returnsNodes(fn *ast.FuncDecl) bool {
	if fn.Type.Results == nil {
		return false
	}
	typ := fn.Type.Results.List[0].Type
	if list, ok := typ.(*ast.ArrayType); ok {
		typ = list.Elt
	}
	star, ok := typ.(*ast.StarExpr)
	if !ok {
		return false
	}
	id, ok := star.X.(*ast.Ident)
	return ok && id.Name == "Node"
}
