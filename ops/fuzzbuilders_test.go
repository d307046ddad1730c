package ops_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// builders are all exported functions of ops.
var builders = map[string]any{
	"Arange": ops.Arange[int], "Arange of floats": ops.Arange[float64],
	"Abs": ops.Abs, "Acos": ops.Acos, "Acosh": ops.Acosh, "Add": ops.Add, "AddIndex": ops.AddIndex,
	"AffineScan": ops.AffineScan, "All": ops.All, "And": ops.And, "Any": ops.Any, "ArgMax": ops.ArgMax,
	"ArgMaxAbs": ops.ArgMaxAbs, "ArgMaxAll": ops.ArgMaxAll, "ArgMin": ops.ArgMin, "ArgMinAbs": ops.ArgMinAbs,
	"ArgMinAll": ops.ArgMinAll, "ArgReduce": ops.ArgReduce, "ArgSort": ops.ArgSort, "Asin": ops.Asin,
	"Asinh": ops.Asinh, "Atan": ops.Atan, "Atan2": ops.Atan2, "Atanh": ops.Atanh, "Attains": ops.Attains,
	"AvgPool": ops.AvgPool, "BatchNormalize": ops.BatchNormalize, "Bernoulli": ops.Bernoulli,
	"Bincount": ops.Bincount, "BroadcastTo": ops.BroadcastTo, "Cast": ops.Cast, "Cbrt": ops.Cbrt,
	"Ceil": ops.Ceil, "Clamp": ops.Clamp, "Combiner": ops.Combiner, "Complex": ops.Complex, "Compress": ops.Compress, "Concat": ops.Concat,
	"Conj": ops.Conj, "Conv": ops.Conv, "ConvTranspose": ops.ConvTranspose, "Cos": ops.Cos, "Cosh": ops.Cosh, "CumMax": ops.CumMax,
	"CumMaxWithIndex": ops.CumMaxWithIndex, "CumMin": ops.CumMin, "CumMinWithIndex": ops.CumMinWithIndex,
	"CumProd": ops.CumProd, "CumSum": ops.CumSum, "Diagonal": ops.Diagonal, "Diff": ops.Diff, "Div": ops.Div,
	"Dot": ops.Dot, "DynamicSlice": ops.DynamicSlice, "DynamicUpdateSlice": ops.DynamicUpdateSlice,
	"Einsum": ops.Einsum, "Embedding": ops.Embedding, "EmbeddingBag": ops.EmbeddingBag,
	"EmbeddingBagOffsets": ops.EmbeddingBagOffsets, "Equal": ops.Equal, "Erf": ops.Erf, "Erfc": ops.Erfc,
	"Erfinv": ops.Erfinv, "Exp": ops.Exp, "Exp2": ops.Exp2, "ExpandDims": ops.ExpandDims, "Expm1": ops.Expm1,
	"Eye": ops.Eye, "Filled": ops.Filled, "Flatten": ops.Flatten, "Floor": ops.Floor, "FloorDiv": ops.FloorDiv,
	"Fold": ops.Fold, "FoldIn": ops.FoldIn, "Full": ops.Full, "Gather": ops.Gather,
	"GatherElements": ops.GatherElements, "GatherFill": ops.GatherFill, "GatherND": ops.GatherND,
	"Gelu": ops.Gelu, "GeluTanh": ops.GeluTanh, "Greater": ops.Greater, "GreaterEqual": ops.GreaterEqual,
	"GroupNormalize": ops.GroupNormalize, "Guard": ops.Guard, "Hardmax": ops.Hardmax, "Imag": ops.Imag,
	"Index": ops.Index, "IndexAdd": ops.IndexAdd, "IndexCopy": ops.IndexCopy, "IndexFill": ops.IndexFill,
	"Iota": ops.Iota, "IsFinite": ops.IsFinite, "IsInf": ops.IsInf, "IsNaN": ops.IsNaN, "KeepDims": ops.KeepDims,
	"Key": ops.Key, "KthValue": ops.KthValue, "LeakyRelu": ops.LeakyRelu, "Less": ops.Less,
	"LessEqual": ops.LessEqual, "Log": ops.Log, "Log10": ops.Log10, "Log1p": ops.Log1p, "Log2": ops.Log2,
	"LogAddExp": ops.LogAddExp, "LogCumSumExp": ops.LogCumSumExp, "LogSoftmax": ops.LogSoftmax,
	"LogSumExp": ops.LogSumExp, "Map": ops.Map, "MaskedFill": ops.MaskedFill, "MaskedScatter": ops.MaskedScatter,
	"MaskedSelect": ops.MaskedSelect, "MatMul": ops.MatMul, "Max": ops.Max,
	"MaxAbsWithIndex": ops.MaxAbsWithIndex, "MaxIndex": ops.MaxIndex, "MaxPool": ops.MaxPool,
	"MaxPoolIndex": ops.MaxPoolIndex, "MaxWithIndex": ops.MaxWithIndex, "Maximum": ops.Maximum, "Mean": ops.Mean,
	"Median": ops.Median, "Min": ops.Min, "MinAbsWithIndex": ops.MinAbsWithIndex, "MinIndex": ops.MinIndex,
	"MinWithIndex": ops.MinWithIndex, "Minimum": ops.Minimum, "Mod": ops.Mod, "MoveAxis": ops.MoveAxis,
	"Mul": ops.Mul, "MulIndex": ops.MulIndex, "NanArgMax": ops.NanArgMax, "NanArgMin": ops.NanArgMin,
	"NanMax": ops.NanMax, "NanMean": ops.NanMean, "NanMin": ops.NanMin, "NanProd": ops.NanProd,
	"NanSum": ops.NanSum, "Neg": ops.Neg, "Nonzero": ops.Nonzero, "NonzeroSized": ops.NonzeroSized,
	"Norm": ops.Norm, "Not": ops.Not, "NotEqual": ops.NotEqual, "OneHot": ops.OneHot, "Ones": ops.Ones,
	"OnesLike": ops.OnesLike, "Or": ops.Or, "Outer": ops.Outer, "Pad": ops.Pad, "PadWith": ops.PadWith,
	"Pow": ops.Pow, "Prod": ops.Prod, "PutAlongAxis": ops.PutAlongAxis, "PutSlice": ops.PutSlice,
	"Quantile": ops.Quantile, "Quantiles": ops.Quantiles, "RMSNormalize": ops.RMSNormalize,
	"RandomBits": ops.RandomBits, "RandomInt": ops.RandomInt, "RandomNormal": ops.RandomNormal,
	"RandomUniform": ops.RandomUniform, "Real": ops.Real, "Reciprocal": ops.Reciprocal,
	"ReduceBy": ops.ReduceBy, "ReduceInit": ops.ReduceInit, "ReduceWindow": ops.ReduceWindow,
	"ReduceWindowBy": ops.ReduceWindowBy, "ReduceWindowInit": ops.ReduceWindowInit,
	"Relu": ops.Relu, "Rem": ops.Rem, "Repeat": ops.Repeat, "RepeatCounts": ops.RepeatCounts,
	"Reshape": ops.Reshape, "Reverse": ops.Reverse, "Roll": ops.Roll, "Round": ops.Round, "Rsqrt": ops.Rsqrt,
	"ScanBy": ops.ScanBy, "Scatter": ops.Scatter, "ScatterElements": ops.ScatterElements, "ScatterND": ops.ScatterND,
	"SearchSorted": ops.SearchSorted, "SegmentMax": ops.SegmentMax, "SegmentMean": ops.SegmentMean,
	"SegmentMin": ops.SegmentMin, "SegmentProd": ops.SegmentProd, "SegmentSum": ops.SegmentSum,
	"SelectAndScatter": ops.SelectAndScatter, "SetIndex": ops.SetIndex, "ShiftLeft": ops.ShiftLeft,
	"ShiftRight": ops.ShiftRight, "Sigmoid": ops.Sigmoid, "Sign": ops.Sign, "Silu": ops.Silu, "Sin": ops.Sin,
	"Sinh": ops.Sinh, "Slice": ops.Slice, "SliceAxis": ops.SliceAxis, "Softmax": ops.Softmax,
	"Softplus": ops.Softplus, "Sort": ops.Sort, "SortBy": ops.SortBy, "SortWithIndex": ops.SortWithIndex,
	"Split": ops.Split, "SplitKey": ops.SplitKey, "Sqrt": ops.Sqrt, "Square": ops.Square, "Squeeze": ops.Squeeze,
	"StableHLOGather": ops.StableHLOGather, "StableHLOScatter": ops.StableHLOScatter, "Stack": ops.Stack,
	"Standardize": ops.Standardize, "Std": ops.Std, "StopGradient": ops.StopGradient, "Sub": ops.Sub,
	"Sum": ops.Sum, "SumTo": ops.SumTo, "SwapAxes": ops.SwapAxes, "Take": ops.Take,
	"TakeAlongAxis": ops.TakeAlongAxis, "Tan": ops.Tan, "Tanh": ops.Tanh, "Tile": ops.Tile, "TopK": ops.TopK,
	"Trace": ops.Trace, "Transpose": ops.Transpose, "Tril": ops.Tril, "Triu": ops.Triu, "Trunc": ops.Trunc,
	"Unfold": ops.Unfold, "Unique": ops.Unique, "UniqueRows": ops.UniqueRows, "UniqueSized": ops.UniqueSized,
	"UniqueWithIndex": ops.UniqueWithIndex, "Var": ops.Var, "Where": ops.Where, "Xor": ops.Xor,
	"Zeros": ops.Zeros, "ZerosLike": ops.ZerosLike,
}

const places = "a table of places along an axis, no larger than what the axis holds"

// grows are the builders whose graphs or tables grow with an extent or a count that they are given: they are asked for
// small ones.
var grows = map[string]string{
	"AddIndex": places, "AvgPool": places, "Diff": "a node for each order", "Fold": places, "MaxPool": places,
	"MaxPoolIndex": places, "MulIndex": places, "ReduceWindow": places, "ReduceWindowInit": places,
	"SelectAndScatter": places, "SetIndex": places, "Unfold": places,
}

// bodies are what combiners are traced from.
var bodies = []func(a, b []*graph.Node) []*graph.Node{
	func(a, b []*graph.Node) []*graph.Node {
		r := make([]*graph.Node, len(a))
		for i := range a {
			r[i] = ops.Add(a[i], b[i])
		}
		return r
	},
	func(a, b []*graph.Node) []*graph.Node { return b },
	func(a, b []*graph.Node) []*graph.Node { return nil },
	func(a, b []*graph.Node) []*graph.Node { return []*graph.Node{nil} },
}

// functions are what is applied at every index and what combines.
var functions = func() []*graph.Func {
	f64 := []tensor.DType{tensor.Float64}
	sum := tensor.Must(ops.Combiner("sum", f64, bodies[0]))
	product := tensor.Must(ops.Combiner("product", f64, func(a, b []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Mul(a[0], b[0])}
	}))
	affine := tensor.Must(ops.Combiner("affine", append(f64, f64...), func(a, b []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Mul(a[0], b[0]), ops.Add(ops.Mul(a[1], b[0]), b[1])}
	}))
	square := tensor.Must(graph.NewFunc("square", []tensor.Spec{{DType: tensor.Float64}},
		func(g *graph.Graph, in []*graph.Node) []*graph.Node { return []*graph.Node{ops.Mul(in[0], in[0])} }))
	rows := tensor.Must(graph.NewFunc("rows", []tensor.Spec{{DType: tensor.Float64, Shape: []int{2}}},
		func(g *graph.Graph, in []*graph.Node) []*graph.Node { return in }))
	return []*graph.Func{sum, product, sum, affine, square, rows, nil}
}()

// hostile draws arguments from a fuzzer's bytes.
type hostile struct {
	data   []byte
	g      *graph.Graph
	nodes  []*graph.Node
	small  bool  // no extent and no number is large
	failed error // of the last call, where a builder returns it
}

func (h *hostile) n(n int) int {
	if len(h.data) == 0 {
		return 0
	}
	b := h.data[0]
	h.data = h.data[1:]
	return int(b) % n
}

var farOff = []int{math.MaxInt, math.MinInt, math.MaxInt - 1, 1 << 62, -1 << 62, 1 << 33, 1 << 31, -1 << 31, 1 << 40, -9}

func (h *hostile) int() int {
	if h.n(10) == 9 && !h.small {
		return farOff[h.n(len(farOff))]
	}
	return h.n(7) - 2
}

func (h *hostile) float() float64 {
	return []float64{0, 1, 0.5, 2, -1, math.Inf(1), math.NaN(), math.Inf(-1), 1e300, 3}[h.n(10)]
}

// node is one of those that went before, mostly; nil and an invalid one too.
func (h *hostile) node() *graph.Node {
	x := h.nodes[h.n(len(h.nodes))]
	if x.Valid() && h.small && x.Size() > 1<<20 {
		return h.nodes[0]
	}
	return x
}

// any is what a builder takes beside nodes: Go scalars, and things that it does not take.
func (h *hostile) any() any {
	switch h.n(10) {
	case 0:
		return h.int()
	case 1:
		return h.float()
	case 2:
		return h.n(2) == 1
	case 3:
		return []any{nil, "x", struct{}{}, []int{1}, uint8(3), complex(1, 2), int8(-1), tensor.Of(1.0), float32(2)}[h.n(9)]
	}
	return h.node()
}

func (h *hostile) item() index.Item {
	switch h.n(8) {
	case 0:
		return index.At(h.int())
	case 1:
		return index.Step(new(h.int()), new(h.int()), h.int())
	case 2:
		return index.Ellipsis
	case 3:
		return index.NewAxis
	case 4:
		return index.Bool(h.n(2) == 1)
	case 5, 6:
		if x := h.node(); x != nil {
			return index.Of(x)
		}
	}
	return index.All
}

// value draws an argument of a type.
func (h *hostile) value(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[*graph.Node]():
		return reflect.ValueOf(h.node())
	case reflect.TypeFor[*graph.Graph]():
		return reflect.ValueOf(h.g)
	case reflect.TypeFor[index.Item]():
		return reflect.ValueOf(h.item())
	case reflect.TypeFor[ops.Bound]():
		return reflect.ValueOf([]ops.Bound{ops.Clamped, ops.Dropped, ops.Modulo, ops.Filled(h.any())}[h.n(4)])
	case reflect.TypeFor[*graph.Func]():
		return reflect.ValueOf(functions[h.n(len(functions))])
	case reflect.TypeFor[ops.Reduction]():
		return reflect.ValueOf([]ops.Reduction{ops.Sum, ops.Max, nil, ops.LogSumExp}[h.n(4)])
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Func: // a combiner's
		v.Set(reflect.ValueOf(bodies[h.n(len(bodies))]))
	case reflect.Interface:
		if a := h.any(); a != nil {
			v.Set(reflect.ValueOf(a))
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(h.int()))
	case reflect.Uint64:
		v.SetUint(uint64(h.int()))
	case reflect.Uint8: // a dtype, a function, a mode
		v.SetUint(uint64(h.n(18)))
	case reflect.Float64:
		v.SetFloat(h.float())
	case reflect.Bool:
		v.SetBool(h.n(2) == 1)
	case reflect.String:
		specs := []string{"ij,jk->ik", "ii->i", "...i,i", "ij->ji", "", "->", "ab,", "i...->...", "é", "iii", "ij,jk->z", "i i"}
		v.SetString(specs[h.n(len(specs))])
	case reflect.Slice:
		for range h.n(5) {
			v.Set(reflect.Append(v, h.value(t.Elem())))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(h.value(t.Field(i).Type))
		}
	default:
		panic(fmt.Sprintf("no argument of type %s", t))
	}
	return v
}

// call applies a builder to arguments of its types, and keeps its results.
func (h *hostile) call(f any) []*graph.Node {
	v := reflect.ValueOf(f)
	var in []reflect.Value
	for i := range v.Type().NumIn() {
		in = append(in, h.value(v.Type().In(i)))
	}
	out := v.Call
	if v.Type().IsVariadic() {
		out = v.CallSlice
	}
	var nodes []*graph.Node
	for _, r := range out(in) {
		switch r := r.Interface().(type) {
		case *graph.Node:
			nodes = append(nodes, r)
		case []*graph.Node:
			nodes = append(nodes, r...)
		case error:
			h.failed = r
		}
	}
	return nodes
}

func newHostile(data []byte) *hostile {
	h := &hostile{data: data, g: graph.New()}
	for i, s := range []tensor.Spec{
		{DType: tensor.Float64, Shape: []int{2, 3}}, {DType: tensor.Float32, Shape: []int{4}}, {DType: tensor.Float64, Shape: []int{2, 3, 4}},
		{DType: tensor.Int64, Shape: []int{2}}, {DType: tensor.Bool, Shape: []int{2, 3}}, {DType: tensor.Float64, Shape: []int{}},
		{DType: tensor.Complex128, Shape: []int{3, 3}}, {DType: tensor.Float16, Shape: []int{0, 3}}, {DType: tensor.Uint32, Shape: []int{2}},
		{DType: tensor.Int8, Shape: []int{2, 3}}, {DType: tensor.Float64, Shape: []int{5, 2, 3, 2}},
		{DType: tensor.Float64, Shape: []int{1 << 31, 1 << 31}}, {DType: tensor.Int32, Shape: []int{math.MaxInt}},
	} {
		h.nodes = append(h.nodes, h.g.Input(fmt.Sprint("x", i), s.DType, s.Shape...))
	}
	h.nodes = append(h.nodes, h.g.Const(tensor.Of[int64](1, 0)), h.g.Const(tensor.Of(true, false)), nil)
	return h
}

// told fails unless an error is of a kind that callers can tell.
func told(t *testing.T, name string, err error) {
	t.Helper()
	var e *tensor.Error
	var i *index.Error
	if !errors.As(err, &e) && !errors.As(err, &i) {
		t.Fatalf("%s: untyped error %T: %v", name, err, err)
	}
}

// fuzzBuilders applies a few builders, to results of each other too, then takes gradients and compiles what is small.
func fuzzBuilders(t *testing.T, data []byte, names []string, count map[string]int) {
	h := newHostile(data)
	var built []*graph.Node
	for range 1 + h.n(3) {
		name := names[(h.n(256)*256+h.n(256))%len(names)]
		h.small = grows[name] != ""
		nodes := h.call(builders[name])
		if err := h.g.Err(); err != nil {
			told(t, name, err)
			h.g.ClearErr()
			continue
		}
		if err := h.failed; err != nil {
			told(t, name, err)
			h.failed = nil
			continue
		}
		count[name]++
		for _, x := range nodes {
			if x.Valid() {
				built = append(built, x)
				h.nodes = append(h.nodes, x)
			}
		}
	}
	for _, y := range built {
		if !y.DType().IsDifferentiable() {
			continue
		}
		grads := autograd.VJP([]*graph.Node{y}, []*graph.Node{ops.OnesLike(y)}, []*graph.Node{h.nodes[0], h.nodes[2], h.nodes[10]})
		if err := h.g.Err(); err != nil {
			told(t, "gradient", err)
			h.g.ClearErr()
			continue
		}
		built = append(built, grads...)
	}
	for _, c := range graph.Topo(built) {
		for _, n := range c.Out {
			if n.Size() > 1<<16 {
				return
			}
		}
	}
	if len(built) > 0 {
		if _, err := graph.Compile(cpu.New(), built...); err != nil {
			told(t, "compile", err)
		}
	}
}

func builderNames() []string {
	var names []string
	for n := range builders {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// FuzzBuilders gives every builder arguments of its types but of any values: never a panic, never an untyped error.
func FuzzBuilders(f *testing.F) {
	r := rand.New(rand.NewPCG(12, 13))
	for range 300 {
		seed := make([]byte, 100)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	names := builderNames()
	f.Fuzz(func(t *testing.T, data []byte) { fuzzBuilders(t, data, names, map[string]int{}) })
}

// TestFuzzBuildersReaches: the list is whole, and what is drawn is often accepted.
func TestFuzzBuildersReaches(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() && builders[fn.Name.Name] == nil {
				t.Errorf("the fuzzer does not know ops.%s", fn.Name.Name)
			}
		}
	}
	names, count := builderNames(), map[string]int{}
	r := rand.New(rand.NewPCG(1, 2))
	cases := 20000
	if testing.Short() {
		cases /= 5
	}
	for range cases {
		data := make([]byte, 100)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		fuzzBuilders(t, data, names, count)
	}
	never := 0
	for _, n := range names {
		if count[n] == 0 {
			never++
			t.Logf("%s was never accepted", n)
		}
	}
	if never > len(names)/10 && !testing.Short() {
		t.Errorf("%d of %d builders were never accepted", never, len(names))
	}
}
