package ops_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// TestBuilderErrors has the mistakes that builders find before or beside Infer. x is float32[2 3], i int32[2
// 3], b bool[2 3], c complex64[2 3], e float32[0 3], k a key.
func TestBuilderErrors(t *testing.T) {
	g := graph.New()
	x, i, b, c := g.Placeholder(f32spec(2, 3)), g.Placeholder(i32spec(2, 3)), g.Placeholder(boolspec(2, 3)), g.Placeholder(c64spec(2, 3))
	e, k := g.Placeholder(f32spec(0, 3)), ops.Key(g, 1)
	type row struct {
		why   string
		build func() *ops.Node
		err   error
		says  string
	}
	for _, r := range []row{
		{"nothing is promoted", func() *ops.Node { return ops.Add(x, i) }, tensor.ErrDType, "ops.Add: operand 0 is float32, operand 1 is int32; cast one of them"},
		{"shapes must broadcast", func() *ops.Node { return ops.Mul(x, ops.Transpose(x)) }, tensor.ErrShape, "ops.Mul: shapes [2 3] and [3 2] do not broadcast"},
		{"scalars have no dtype", func() *ops.Node { return ops.Add(1, 2) }, tensor.ErrDType, "ops.Add: every operand is a Go scalar"},
		{"scalars have no dtype", func() *ops.Node { return ops.Where(b, 1, 2) }, tensor.ErrDType, "ops.Where: every operand is a Go scalar"},
		{"a scalar takes the node's dtype", func() *ops.Node { return ops.Add(i, 1.5) }, tensor.ErrDType, "1.5"},
		{"a scalar fits the node's dtype", func() *ops.Node { return ops.Less(ops.Cast(i, tensor.Int8), 300) }, tensor.ErrOverflow, "300"},
		{"a string is no operand", func() *ops.Node { return ops.Add(x, "1") }, tensor.ErrDType, "string"},
		{"nil is no operand", func() *ops.Node { return ops.Add(x, nil) }, tensor.ErrUnsupported, "ops.Add: operand 1 is nil"},
		{"the condition is a bool", func() *ops.Node { return ops.Where(x, x, 0) }, tensor.ErrDType, "ops.Where: operand 0, the condition, is float32"},
		{"operands count from the condition", func() *ops.Node { return ops.Where(b, x, i) }, tensor.ErrDType, "ops.Where: operand 1 is float32, operand 2 is int32"},
		{"compositions name themselves", func() *ops.Node { return ops.Gelu(i) }, tensor.ErrDType, "ops.Gelu: operand 0 is int32, want a float: cast it first"},
		{"compositions name themselves", func() *ops.Node { return ops.Square(b) }, tensor.ErrDType, "ops.Square: operand 0 is bool"},
		{"compositions name themselves", func() *ops.Node { return ops.Clamp(c, 0, 1) }, tensor.ErrUnsupported, "ops.Clamp: operand 0 is complex64"},
		{"compositions name themselves", func() *ops.Node { return ops.LogAddExp(i, 1) }, tensor.ErrDType, "ops.LogAddExp: operand 0 is int32"},
		{"compositions name themselves", func() *ops.Node { return ops.FloorDiv(b, b) }, tensor.ErrDType, "ops.FloorDiv: operand 0 is bool"},
		{"compositions name themselves", func() *ops.Node { return ops.Clamp(x, 0, i) }, tensor.ErrDType, "ops.Clamp: operand 0 is float32, operand 2 is int32"},
		{"compositions name themselves", func() *ops.Node { return ops.Clamp(i, 0.5, 1) }, tensor.ErrDType, "0.5"},
		{"a mean of integers would round", func() *ops.Node { return ops.Mean(i) }, tensor.ErrDType, "ops.Mean: operand 0 is int32, want a float or a complex: cast it first"},

		{"a norm of integers would round", func() *ops.Node { return ops.Norm(i, 2) }, tensor.ErrDType, "ops.Norm: operand 0 is int32, want a float or a complex: cast it first"},
		{"a variance of integers would round", func() *ops.Node { return ops.Var(b, 0) }, tensor.ErrDType, "ops.Var: operand 0 is bool"},
		{"a variance of integers would round", func() *ops.Node { return ops.Std(i, 1) }, tensor.ErrDType, "ops.Std: operand 0 is int32"},
		{"orders are numbers", func() *ops.Node { return ops.Norm(x, math.NaN()) }, tensor.ErrUnsupported, "ops.Norm: there is no norm of order NaN"},
		{"an axis is inside", func() *ops.Node { return ops.Norm(x, 2, 2) }, tensor.ErrAxis, "ops.Norm: axis 2 is outside of rank 2"},
		{"an axis is inside", func() *ops.Node { return ops.Std(x, 0, -3) }, tensor.ErrAxis, "ops.Std: axis -3 is outside of rank 2"},
		{"an epsilon is added", func() *ops.Node { return ops.Standardize(x, -1, 0) }, tensor.ErrBounds, "ops.Standardize: epsilon -1, want 0 or more"},
		{"a complex is not normalised", func() *ops.Node { return ops.RMSNormalize(c, 1, 0) }, tensor.ErrUnsupported, "ops.RMSNormalize: operand 0 is complex64"},
		{"groups are equal", func() *ops.Node { return ops.GroupNormalize(x, 1, 2, -1) }, tensor.ErrShape, "ops.GroupNormalize: 2 groups of axis 1 with extent 3"},
		{"there is a group", func() *ops.Node { return ops.GroupNormalize(x, 1, 0, 0) }, tensor.ErrShape, "0 groups"},
		{"a statistic is per channel", func() *ops.Node { return ops.BatchNormalize(x, x, x, 1, 0) }, tensor.ErrShape, "ops.BatchNormalize: operand 1 has shape [2 3], want [2], the extent of axis 0"},
		{"a statistic is a float", func() *ops.Node { return ops.BatchNormalize(x, ops.Sum(x, 1), ops.Sum(i, 1), 1, 0) }, tensor.ErrDType, "operand 2 is int32"},

		{"windows have axes", func() *ops.Node { return ops.Unfold(x, []int{2}, nil, nil) }, tensor.ErrAxis, "ops.Unfold: 1 sizes, 2 strides and 2 dilations for 2 axes [0 1]"},
		{"an axis is inside", func() *ops.Node { return ops.Unfold(x, []int{2}, nil, nil, 2) }, tensor.ErrAxis, "ops.Unfold: axis 2 is outside of rank 2"},
		{"windows move on", func() *ops.Node { return ops.Unfold(x, []int{2}, []int{0}, nil, 0) }, tensor.ErrShape, "ops.Unfold: window of size 2, stride 0 and dilation 1 on axis 0"},
		{"what is folded are the windows", func() *ops.Node { return ops.Fold(x, []int{5}, []int{3}, nil, nil) }, tensor.ErrShape, "ops.Fold: operand 0 has shape [2 3], the windows of shape [5] have [3 3]"},
		{"windows slide over axes", func() *ops.Node {
			return ops.ReduceWindow(ops.ReduceSum, x, ops.Sliding{Sizes: []int{1, 1, 1}})
		}, tensor.ErrAxis, "ops.ReduceWindow: windows of sizes [1 1 1] for operand shape [2 3]"},
		{"the lists of windows are as long", func() *ops.Node {
			return ops.AvgPool(x, ops.Sliding{Sizes: []int{1, 1}, Strides: []int{1}}, false)
		}, tensor.ErrAxis, "ops.AvgPool: [1] for windows of sizes [1 1], want as many"},
		{"windows are not dilated by 0", func() *ops.Node {
			return ops.MaxPool(x, ops.Sliding{Sizes: []int{1}, Dilations: []int{0}})
		}, tensor.ErrShape, "ops.MaxPool: window of size 1, stride 1 and dilation 0 on axis 1"},
		{"windows do not overflow", func() *ops.Node {
			return ops.MaxPool(x, ops.Sliding{Sizes: []int{1}, Strides: []int{1 << 40}})
		}, tensor.ErrOverflow, "stride 1099511627776"},
		{"not everything is cropped", func() *ops.Node {
			return ops.ReduceWindow(ops.ReduceSum, x, ops.Sliding{Sizes: []int{1}, Low: []int{-4}})
		}, tensor.ErrShape, "ops.ReduceWindow: padding -4 and 0 crops more than the extent 3"},
		{"what is cropped stays so", func() *ops.Node {
			return ops.ReduceWindow(ops.ReduceSum, x, ops.Sliding{Sizes: []int{2}, High: []int{-1}, Ceil: true})
		}, tensor.ErrShape, "is cropped by 1 at its end and rounded up"},
		{"a window has an element", func() *ops.Node { return ops.MaxPool(x, ops.Sliding{Sizes: []int{1}, High: []int{2}}) }, tensor.ErrShape, "ops.MaxPool: window 3 of axis 1 has no element"},
		{"a window has an element", func() *ops.Node { return ops.MaxPool(x, ops.Sliding{Sizes: []int{0}}) }, tensor.ErrUnsupported, "no element to point to"},
		{"a pool needs an order", func() *ops.Node { return ops.MaxPool(c, ops.Sliding{}) }, tensor.ErrUnsupported, "ops.MaxPool: operand 0 is complex64"},
		{"an average rounds", func() *ops.Node { return ops.AvgPool(i, ops.Sliding{}, false) }, tensor.ErrDType, "ops.AvgPool: operand 0 is int32"},
		{"a window reduces by what there is", func() *ops.Node { return ops.ReduceWindow(99, x, ops.Sliding{}) }, tensor.ErrUnsupported, "ops.ReduceWindow: there is no function 99"},
		{"the initial value is a scalar", func() *ops.Node {
			return ops.ReduceWindowInit(ops.ReduceSum, x, x, ops.Sliding{})
		}, tensor.ErrRank, "ops.ReduceWindowInit: operand 1, the initial value, has shape [2 3]"},
		{"a source has an element a window", func() *ops.Node {
			return ops.SelectAndScatter(ops.ArgMaxFn, x, x, 0, ops.Sliding{Sizes: []int{2}})
		}, tensor.ErrShape, "ops.SelectAndScatter: operand 1, the source, has shape [2 3] for windows [2 2]"},
		{"magnitudes select nothing", func() *ops.Node {
			return ops.SelectAndScatter(ops.ArgMaxAbsFn, x, x, 0, ops.Sliding{})
		}, tensor.ErrUnsupported, "ops.ArgMaxAbs selects nothing"},

		{"a triangle is of matrices", func() *ops.Node { return ops.Tril(ops.Sum(x, 0), 0) }, tensor.ErrRank, "ops.Tril: operand 0 has shape [3]"},
		{"two axes make a diagonal", func() *ops.Node { return ops.Trace(x, 0, 1, 1) }, tensor.ErrAxis, "axis 1 is repeated"},
		{"a shift per axis", func() *ops.Node { return ops.Roll(x, []int{1}, []int{0, 1}) }, tensor.ErrAxis, "ops.Roll: 1 shifts [1] for 2 axes [0 1]"},
		{"differences are counted", func() *ops.Node { return ops.Diff(x, -1, 0) }, tensor.ErrBounds, "ops.Diff: differences of order -1"},
		{"indices are no larger", func() *ops.Node { return ops.GatherElements(x, ops.Concat(1, i, i), 0) }, tensor.ErrShape, "ops.GatherElements: indices of shape [2 6] exceed x of shape [2 3] beside axis 0"},
		{"indices are integers", func() *ops.Node { return ops.GatherElements(x, x, 0) }, tensor.ErrDType, "ops.GatherElements: indices have dtype float32"},
		{"indices have x's rank", func() *ops.Node { return ops.GatherElements(x, ops.Flatten(i), 0) }, tensor.ErrRank, "ops.GatherElements: indices of shape [6] for x of shape [2 3]"},
		{"updates are no smaller", func() *ops.Node {
			return ops.ScatterElements(x, i, ops.SliceAxis(x, 1, 0, 2), 0, ops.CombineAdd)
		}, tensor.ErrShape, "ops.ScatterElements: updates of shape [2 2] for indices of shape [2 3]"},
		{"tuples are no longer than the rank", func() *ops.Node { return ops.GatherND(x, i, 0) }, tensor.ErrRank, "ops.GatherND: 0 batch axes and tuples of indices [2 3] for x of shape [2 3]"},
		{"slices are named by a list", func() *ops.Node { return ops.IndexAdd(x, i, 1, 0) }, tensor.ErrRank, "ops.IndexAdd: indices of shape [2 3], want rank 1 or 0"},
		{"one value fills", func() *ops.Node { return ops.IndexFill(x, ops.Sum(i, 1), x, 0) }, tensor.ErrRank, "ops.IndexFill: the value has shape [2 3], want rank 0"},
		{"a mask broadcasts to x", func() *ops.Node { return ops.MaskedFill(ops.Sum(x, 0), b, 0) }, tensor.ErrShape, "ops.MaskedFill: mask of shape [2 3] does not broadcast to operand shape [3]"},
		{"a mask is a bool", func() *ops.Node { return ops.MaskedFill(x, i, 0) }, tensor.ErrDType, "ops.MaskedFill: mask has dtype int32, want bool"},
		{"a source has enough", func() *ops.Node {
			return ops.MaskedScatter(x, g.Const(tensor.Of(true, true, false)), ops.SliceAxis(ops.Flatten(x), 0, 0, 3))
		}, tensor.ErrShape, "ops.MaskedScatter: 4 elements of the mask are true, the source has shape [3]"},
		{"a mask is known", func() *ops.Node { return ops.MaskedScatter(x, b, x) }, tensor.ErrDataDependent, "ops.MaskedScatter: the elements of mask bool[2 3] are known only at run time"},

		{"the axes are a permutation", func() *ops.Node { return ops.Transpose(x, 0, -2) }, tensor.ErrAxis, "ops.Transpose: axis -2 is repeated in axes [0 -2]"},
		{"the axes are a permutation", func() *ops.Node { return ops.Transpose(x, 1) }, tensor.ErrAxis, "ops.Transpose"},
		{"an axis is inside", func() *ops.Node { return ops.SwapAxes(x, 0, 2) }, tensor.ErrAxis, "ops.SwapAxes: axis 2 is outside of rank 2"},
		{"an axis is inside", func() *ops.Node { return ops.MoveAxis(x, -3, 0) }, tensor.ErrAxis, "ops.MoveAxis: axis -3"},
		{"an axis is inside", func() *ops.Node { return ops.Reverse(x, 2) }, tensor.ErrAxis, "ops.Reverse: axis 2"},
		{"an axis is inside", func() *ops.Node { return ops.Repeat(x, 2, 2) }, tensor.ErrAxis, "ops.Repeat: axis 2"},
		{"an axis is named once", func() *ops.Node { return ops.Sum(x, 1, -1) }, tensor.ErrAxis, "ops.Sum: axis -1 is repeated in axes [1 -1]"},
		{"an axis is inside", func() *ops.Node { return ops.KeepDims(ops.Any, x, 2) }, tensor.ErrAxis, "ops.Any: axis 2 is outside of rank 2"},
		{"an axis is inside", func() *ops.Node { return ops.CumProd(x, -3) }, tensor.ErrAxis, "ops.CumProd: axis -3 is outside of rank 2"},
		{"rank 0 has no axis", func() *ops.Node { return ops.CumSum(ops.Sum(x), 0) }, tensor.ErrAxis, "ops.CumSum: axis 0 is outside of rank 0"},
		{"an option is one", func() *ops.Node { return ops.CumMin(x, 0, ops.Exclusive, 7) }, tensor.ErrUnsupported, "ops.CumMin: there is no option 7 of scans"},
		{"coefficients broadcast", func() *ops.Node { return ops.AffineScan(x, ops.Transpose(x), 0) }, tensor.ErrShape, "ops.AffineScan: shapes [2 3] and [3 2] do not broadcast"},
		{"two axes make a diagonal", func() *ops.Node { return ops.Diagonal(x, 0, 1, -1) }, tensor.ErrAxis, "ops.Diagonal: axis -1 is repeated"},
		{"places are of the result", func() *ops.Node { return ops.ExpandDims(x, 4) }, tensor.ErrAxis, "ops.ExpandDims: axis 4 is outside of rank 3"},
		{"only ones are squeezed", func() *ops.Node { return ops.Squeeze(x, 1) }, tensor.ErrShape, "ops.Squeeze: axis 1 of shape [2 3] has extent 3"},
		{"a slice stays inside", func() *ops.Node { return ops.SliceAxis(x, 1, 2, 2) }, tensor.ErrBounds, "ops.SliceAxis: slice start 2 step 1 size 2 is outside of axis 1"},
		{"a slice has every axis", func() *ops.Node { return ops.Slice(x, []int{0}, []int{1}, []int{1}) }, tensor.ErrAxis, "ops.Slice"},
		{"−1 stands once", func() *ops.Node { return ops.Reshape(x, -1, -1) }, tensor.ErrShape, "ops.Reshape: shape [-1 -1] has more than one extent −1"},
		{"−1 must divide", func() *ops.Node { return ops.Reshape(x, 4, -1) }, tensor.ErrShape, "ops.Reshape: no extent for −1 in [4 -1] gives the 6 elements"},
		{"−1 times 0 is anything", func() *ops.Node { return ops.Reshape(e, 0, -1) }, tensor.ErrShape, "ops.Reshape: no extent for −1"},
		{"what was repeated is summed", func() *ops.Node { return ops.SumTo(x, 2) }, tensor.ErrShape, "ops.SumTo: shape [2] does not broadcast to operand shape [2 3]"},
		{"repetitions are counted", func() *ops.Node { return ops.Tile(x, -1) }, tensor.ErrShape, "ops.Tile: -1 repetitions"},
		{"repetitions fit an int", func() *ops.Node { return ops.Repeat(x, math.MaxInt, 0) }, tensor.ErrOverflow, ""},
		{"sizes add up", func() *ops.Node { return ops.Split(x, 1, 1, 1)[1] }, tensor.ErrShape, "ops.Split: sizes [1 1] do not add up to the extent 3 of axis 1"},
		{"sizes are not negative", func() *ops.Node { return ops.Split(x, 1, 4, -1)[0] }, tensor.ErrShape, "ops.Split"},
		{"the value broadcasts", func() *ops.Node { return ops.PutSlice(x, ops.Reshape(x, 6), []int{0, 0}, []int{1, 1}, []int{2, 2}) }, tensor.ErrShape, "[6]"},
		{"nothing joins nothing", func() *ops.Node { return ops.Concat(0) }, tensor.ErrShape, "ops.Concat: there is nothing to join"},
		{"nothing joins nothing", func() *ops.Node { return ops.Stack(0) }, tensor.ErrShape, "ops.Stack: there is nothing to join"},
		{"stacks have one shape", func() *ops.Node { return ops.Stack(0, x, e) }, tensor.ErrShape, "ops.Stack: operand 0 has shape [2 3], operand 1 has shape [0 3]"},
		{"stacks have one dtype", func() *ops.Node { return ops.Stack(0, x, i) }, tensor.ErrDType, "ops.Stack: operand 0 is float32, operand 1 is int32"},
		{"the new axis is inside", func() *ops.Node { return ops.Stack(3, x, x) }, tensor.ErrAxis, "ops.Stack: axis 3"},

		{"every axis is padded", func() *ops.Node { return ops.Pad(x, 0, []int{1}, []int{1, 1}, nil) }, tensor.ErrAxis, "ops.Pad: low [1], high [1 1]"},
		{"the inside is not cropped", func() *ops.Node { return ops.Pad(x, 0, []int{0, 0}, []int{0, 0}, []int{0, -1}) }, tensor.ErrShape, "ops.Pad: interior padding -1"},
		{"no more is cropped than is there", func() *ops.Node { return ops.Pad(x, 0, []int{-2, 0}, []int{-1, 0}, nil) }, tensor.ErrShape, "crops more than the extent 2"},
		{"the value is one", func() *ops.Node { return ops.Pad(x, ops.Flatten(x), []int{0, 0}, []int{0, 0}, nil) }, tensor.ErrRank, "ops.Pad: the value has shape [6]"},
		{"extents fit an int", func() *ops.Node { return ops.Pad(x, 0, []int{math.MinInt, 0}, []int{-1, 0}, nil) }, tensor.ErrOverflow, "ops.Pad"},
		{"nothing continues nothing", func() *ops.Node { return ops.PadWith(e, ops.PadWrap, []int{1, 0}, []int{0, 0}) }, tensor.ErrShape, "ops.PadWith: axis 0 of shape [0 3] is empty"},
		{"widths are not negative", func() *ops.Node { return ops.PadWith(x, ops.PadEdge, []int{0, -1}, []int{0, 0}) }, tensor.ErrShape, "ops.PadWith: padding -1"},
		{"widths fit an int", func() *ops.Node { return ops.PadWith(x, ops.PadEdge, []int{0, math.MaxInt}, []int{0, 1}) }, tensor.ErrOverflow, "ops.PadWith"},
		{"there are four modes", func() *ops.Node { return ops.PadWith(x, 9, []int{0, 0}, []int{0, 0}) }, tensor.ErrUnsupported, "ops.PadWith: there is no mode 9"},

		{"the extents fit", func() *ops.Node { return ops.MatMul(x, x) }, tensor.ErrShape, "ops.MatMul: shapes [2 3] and [2 3]: the last extent of operand 0 is 3, that of operand 1 to match is 2"},
		{"scalars have Mul", func() *ops.Node { return ops.MatMul(x, ops.Sum(x)) }, tensor.ErrRank, "ops.MatMul: shapes [2 3] and []"},
		{"batches broadcast", func() *ops.Node {
			return ops.MatMul(ops.Zeros(g, tensor.Int8, 2, 3, 4), ops.Zeros(g, tensor.Int8, 3, 4, 5))
		}, tensor.ErrShape, "ops.MatMul: shapes [2] and [3] do not broadcast"},
		{"there are images and channels", func() *ops.Node { return ops.Conv(ops.Flatten(x), ops.Flatten(x), ops.ConvSpec{}) }, tensor.ErrRank, "ops.Conv: operand 0 has shape [6], operand 1, the weight, has shape [6]: want one rank, 2 or more"},
		{"a list is for the axes of space", func() *ops.Node { return ops.Conv(x, x, ops.ConvSpec{Low: []int{1}}) }, tensor.ErrAxis, "ops.Conv: [1] for the 0 axes of space of operand shape [2 3]"},
		{"axes are all axes", func() *ops.Node { return ops.Conv(x, x, ops.ConvSpec{XAxes: []int{0}}) }, tensor.ErrAxis, "ops.Conv: axes [0] for rank 2"},
		{"axes are different", func() *ops.Node { return ops.Conv(x, x, ops.ConvSpec{WAxes: []int{0, -2}}) }, tensor.ErrAxis, "ops.Conv: axis -2 is repeated"},
		{"groups are positive", func() *ops.Node { return ops.Conv(x, x, ops.ConvSpec{Groups: -1}) }, tensor.ErrShape, "ops.Conv: -1 groups"},
		{"groups divide the features", func() *ops.Node { return ops.Conv(x, x, ops.ConvSpec{Groups: 3}) }, tensor.ErrShape, "ops.Conv: operand 1, the weight, has 2 features, which are not divided by 3 groups"},
		{"groups divide the channels", func() *ops.Node { return ops.Conv(x, x, ops.ConvSpec{Groups: 2}) }, tensor.ErrShape, "ops.Conv: operand 0 has 3 channels in 2 groups, operand 1, the weight, has 3: shapes [2 3] and [2 3]"},
		{"groups divide the batch", func() *ops.Node {
			return ops.Conv(ops.Transpose(x), x, ops.ConvSpec{BatchGroups: 2, XAxes: []int{0, 1}, WAxes: []int{1, 0}})
		}, tensor.ErrShape, "ops.Conv: operand 1, the weight, has 3 features"},
		{"there is one kind of groups", func() *ops.Node { return ops.Conv(x, x, ops.ConvSpec{Groups: 2, BatchGroups: 2}) }, tensor.ErrUnsupported, "ops.Conv: 2 groups and 2 batch groups"},
		{"what is over is of the transposed", func() *ops.Node { return ops.Conv(x, x, ops.ConvSpec{Over: []int{}}) }, tensor.ErrUnsupported, "ops.Conv: Over"},
		{"features are what it begins with", func() *ops.Node { return ops.ConvTranspose(x, x, ops.ConvSpec{}) }, tensor.ErrShape, "ops.ConvTranspose: operand 0 has 3 channels in 1 groups, operand 1, the weight, has 2"},
		{"batch groups are of Conv", func() *ops.Node { return ops.ConvTranspose(x, ops.Transpose(x), ops.ConvSpec{BatchGroups: 2}) }, tensor.ErrUnsupported, "ops.ConvTranspose: 2 batch groups"},
		{"padding fits an int", func() *ops.Node {
			return ops.Conv(ops.Reshape(x, 1, 2, 3), ops.Reshape(x, 1, 2, 3), ops.ConvSpec{High: []int{math.MinInt}})
		}, tensor.ErrOverflow, "ops.Conv: padding"},

		{"the extents fit", func() *ops.Node { return ops.Dot(x, e) }, tensor.ErrShape, "ops.Dot"},

		{"an index has elements", func() *ops.Node { return ops.ArgMaxAll(e) }, tensor.ErrUnsupported, "ops.ArgMaxAll: operand shape [0 3]"},
		{"an axis is inside", func() *ops.Node { return ops.ArgMax(x, -3) }, tensor.ErrAxis, "ops.ArgMax: axis -3"},
		{"an axis is inside", func() *ops.Node { y, _ := ops.MaxWithIndex(x, 2); return y }, tensor.ErrAxis, "axis 2"},
		{"an index has an element", func() *ops.Node { y, _ := ops.MinWithIndex(e, 0); return y }, tensor.ErrUnsupported, "axis 0 of operand shape [0 3]"},
		{"an axis is inside", func() *ops.Node { return ops.LogSoftmax(x, 2) }, tensor.ErrAxis, "ops.LogSoftmax: axis 2"},
		{"a reduction is given", func() *ops.Node { return ops.KeepDims(nil, x) }, tensor.ErrUnsupported, "ops.KeepDims: the reduction is nil"},
		{"it begins with one", func() *ops.Node { return ops.ReduceInit(ops.ReduceSum, x, x, 0) }, tensor.ErrRank, "ops.Sum: operand 1"},

		{"a range goes somewhere", func() *ops.Node { return ops.Arange(g, tensor.Int8, 0, 3, 0) }, tensor.ErrShape, "ops.Arange: no range leads from 0 to 3 in steps of 0"},
		{"a range ends", func() *ops.Node { return ops.Arange(g, tensor.Float32, 0, math.Inf(1), 1) }, tensor.ErrShape, "ops.Arange"},
		{"a range fits an int", func() *ops.Node { return ops.Arange(g, tensor.Float32, 0, 1e300, 1) }, tensor.ErrOverflow, "ops.Arange"},
		{"a fill is a scalar", func() *ops.Node { return ops.Full(g, tensor.Float32, x, 2) }, tensor.ErrDType, "ops.Full"},
		{"a fill is something", func() *ops.Node { return ops.Full(g, tensor.Float32, nil, 2) }, tensor.ErrDType, "ops.Full"},
		{"extents are not negative", func() *ops.Node { return ops.Zeros(g, tensor.Float32, -2) }, tensor.ErrShape, "-2"},
		{"an axis is inside", func() *ops.Node { return ops.Iota(g, tensor.Int8, 0) }, tensor.ErrAxis, "ops.Iota: axis 0 is outside of rank 0"},
		{"indices are integers", func() *ops.Node { return ops.OneHot(x, 3, tensor.Float32) }, tensor.ErrDType, "ops.OneHot: operand 0 is float32, want an integer"},
		{"depths are not negative", func() *ops.Node { return ops.OneHot(i, -1, tensor.Float32) }, tensor.ErrShape, "ops.OneHot: depth -1"},

		{"a key is two words", func() *ops.Node { return ops.RandomNormal(i, tensor.Float32) }, tensor.ErrDType, "ops.RandomNormal: the key is int32[2 3]"},
		{"normal numbers are floats", func() *ops.Node { return ops.RandomNormal(k, tensor.Int8) }, tensor.ErrDType, "ops.RandomNormal: dtype int8, want a float"},
		{"probabilities are floats", func() *ops.Node { return ops.Bernoulli(k, i) }, tensor.ErrDType, "ops.Bernoulli: operand 1 is int32"},
		{"probabilities broadcast", func() *ops.Node { return ops.Bernoulli(k, x, 3, 2) }, tensor.ErrShape, "[2 3]"},
		{"a range has integers", func() *ops.Node { return ops.RandomInt(k, tensor.Int8, 3, 3) }, tensor.ErrBounds, "ops.RandomInt: there is no integer in [3, 3)"},
		{"a range fits the dtype", func() *ops.Node { return ops.RandomInt(k, tensor.Int8, 0, 129) }, tensor.ErrOverflow, "128"},
		{"what is folded in is whole", func() *ops.Node { return ops.FoldIn(k, x) }, tensor.ErrDType, "ops.FoldIn: operand 1 is float32"},
		{"what is folded in is a word", func() *ops.Node { return ops.FoldIn(k, -1) }, tensor.ErrOverflow, "-1"},
		{"keys and numbers broadcast", func() *ops.Node { return ops.FoldIn(ops.SplitKey(k, 4), i) }, tensor.ErrShape, "ops.FoldIn"},
	} {
		t.Run(strings.ReplaceAll(r.why+" "+r.says, " ", "_"), func(t *testing.T) {
			g.ClearErr()
			y := r.build()
			err := y.Err()
			if y.Valid() || !errors.Is(err, r.err) || !strings.Contains(err.Error(), r.says) {
				t.Errorf("error %v, want %v saying %q", err, r.err, r.says)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "buildererrors_test.go:") {
				t.Errorf("error %v, want it at the line of this file", err)
			}
		})
	}
}

func TestErrorStandsAtTheLine(t *testing.T) {
	g := graph.New()
	x := g.Placeholder(f32spec(2))
	_, _, line, _ := runtime.Caller(0)
	bad := ops.Gelu(ops.Add(x, g.Placeholder(f32spec(3)))) // one line below
	after := ops.Exp(ops.Sum(x, 7))
	want := fmt.Sprintf("buildererrors_test.go:%d: ops.Add: shapes [2] and [3] do not broadcast", line+1)
	if bad.Valid() || after.Valid() || g.Err().Error() != want {
		t.Errorf("%v, want the first cause, %s", g.Err(), want)
	}
}

// TestAxesOfReductions: nil means all, an empty slice none, negative axes count from the end, and the
// caller's slice stays as it was.
func TestAxesOfReductions(t *testing.T) {
	g := graph.New()
	x := g.Placeholder(spec(tensor.Float64, 2, 3, 4))
	for name, f := range map[string]ops.Reduction{"Sum": ops.Sum, "Prod": ops.Prod, "Max": ops.Max, "Min": ops.Min,
		"Mean": ops.Mean, "LogSumExp": ops.LogSumExp, "Any": ops.Any, "All": ops.All} {
		axes := []int{-1, 0}
		for _, r := range []struct {
			why       string
			got, want []int
		}{
			{"no axes are all", f(x).Shape(), []int{}},
			{"an empty slice is none", f(x, []int{}...).Shape(), []int{2, 3, 4}},
			{"CASES 25: any order", f(x, axes...).Shape(), []int{3}},
			{"kept with extent 1", ops.KeepDims(f, x, axes...).Shape(), []int{1, 3, 1}},
			{"all kept", ops.KeepDims(f, x).Shape(), []int{1, 1, 1}},
			{"none to keep", ops.KeepDims(f, x, []int{}...).Shape(), []int{2, 3, 4}},
		} {
			if !slices.Equal(r.got, r.want) {
				t.Errorf("%s: %s: shape %v, want %v", name, r.why, r.got, r.want)
			}
		}
		if !slices.Equal(axes, []int{-1, 0}) {
			t.Errorf("%s changed the caller's axes to %v", name, axes)
		}
	}
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
}

// TestCallersSlices: what a builder was given may be changed afterwards.
func TestCallersSlices(t *testing.T) {
	g := graph.New()
	x := g.Placeholder(f32spec(2, 3))
	at, step, size := []int{0, 1}, []int{1, 1}, []int{2, 2}
	for name, build := range map[string]func(s []int) *ops.Node{
		"Transpose":   func(s []int) *ops.Node { s[0], s[1] = 1, 0; return ops.Transpose(x, s...) },
		"BroadcastTo": func(s []int) *ops.Node { s[0], s[1] = 2, 3; return ops.BroadcastTo(ops.Sum(x), s...) },
		"Reshape":     func(s []int) *ops.Node { s[0], s[1] = 3, -1; return ops.Reshape(x, s...) },
		"Slice":       func(s []int) *ops.Node { copy(s, size); return ops.Slice(x, at, step, s) },
		"PutSlice":    func(s []int) *ops.Node { copy(s, size); return ops.PutSlice(x, 0, at, step, s) },
		"Iota":        func(s []int) *ops.Node { copy(s, size); return ops.Iota(g, tensor.Int8, 0, s...) },
		"RandomBits":  func(s []int) *ops.Node { copy(s, size); return ops.RandomBits(ops.Key(g, 1), s...) },
		"Sum":         func(s []int) *ops.Node { s[0], s[1] = 0, 1; return ops.Sum(x, s...) },
	} {
		s := make([]int, 2)
		y := build(s)
		before := y.Call().Op.Key() + fmt.Sprint(y.Shape())
		s[0], s[1] = -77, -77
		if after := y.Call().Op.Key() + fmt.Sprint(y.Shape()); after != before {
			t.Errorf("%s: %s became %s with the caller's slice", name, before, after)
		}
	}
}
