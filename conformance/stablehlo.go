package conformance

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// stablehloOps are StableHLO's operations on ours.
var stablehloOps = map[string]op{
	"argmax":               stablehloArg(ops.ArgMaxFn),
	"argmin":               stablehloArg(ops.ArgMinFn),
	"broadcast_in_dim":     stablehloBroadcast,
	"clamp":                func(c *call) []*node { return one(ops.Clamp(c.x(1), c.x(0), c.x(2))) },
	"cumlogsumexp":         stablehloScan(ops.LogCumSumExp),
	"cummax":               stablehloScan(ops.CumMax),
	"cummin":               stablehloScan(ops.CumMin),
	"cumprod":              stablehloScan(ops.CumProd),
	"cumsum":               stablehloScan(ops.CumSum),
	"concatenate":          func(c *call) []*node { return one(ops.Concat(attr[int](c, "dimension"), c.in...)) },
	"dynamic_slice":        stablehloDynamicSlice,
	"dynamic_update_slice": stablehloDynamicUpdateSlice,
	"gather":               stablehloGather,
	"iota":                 stablehloIota,
	"pad":                  stablehloPad,
	"reduce":               stablehloReduce,
	"reduce_window":        stablehloReduceWindow,
	"reshape": func(c *call) []*node {
		return one(ops.Reshape(c.x(0), attr[[]int](c, "shape")...))
	},
	"reverse": func(c *call) []*node {
		return one(ops.Reverse(c.x(0), attr[[]int](c, "dimensions")...))
	},
	"scatter":            stablehloScatter,
	"select_and_scatter": stablehloSelectAndScatter,
	"select":             func(c *call) []*node { return one(ops.Where(c.x(0), c.x(1), c.x(2))) },
	"select_n":           stablehloSelectN,
	"slice":              stablehloSlice,
	"sort":               stablehloSort,
	"take":               stablehloTake,
	"top_k":              stablehloTopK,
	"transpose": func(c *call) []*node {
		return one(ops.Transpose(c.x(0), attr[[]int](c, "permutation")...))
	},
}

// runStableHLO runs a line of stablehlo.jsonl.
func runStableHLO(h *harness, r *record) error { return r.runOp(h, stablehloOps, r.Op, r.steps) }

// steps is the tolerance of each result, in units in the last place.
func (r *record) steps([]*tensor.Tensor) (all []tolerance, err error) {
	var tols []struct {
		Kind string
		ULP  uint64 `json:"max_ulp"`
		Atol float64
	}
	err = json.Unmarshal(r.Tolerance, &tols)
	for i, t := range tols {
		ulp := t.ULP
		if i < len(r.RefULP) { // no result is held closer than the source holds itself
			ulp = max(ulp, r.RefULP[i])
		}
		all = append(all, tolerance{ulp: ulp, atol: t.Atol, signedNaN: r.Op == "top_k"})
	}
	return all, err
}

// stablehloArg: the source sees a bool as uint8.
func stablehloArg(fn ops.ArgFn) op {
	return func(c *call) []*node {
		dt, err := tensor.ParseDType(attr[string](c, "index_dtype"))
		if err != nil {
			c.fail("index_dtype: %w", err)
		}
		return one(ops.ArgReduce(fn, boolAsUint8(c.x(0)), attr[int](c, "axis"), dt))
	}
}

// stablehloBroadcast puts axis k of the operand at axis broadcast_dimensions[k] of the result.
func stablehloBroadcast(c *call) []*node {
	dims, shape := attr[[]int](c, "broadcast_dimensions"), attr[[]int](c, "shape")
	x := c.x(0)
	if c.err != nil || len(dims) != x.Rank() {
		return c.missing("with other broadcast_dimensions than axes")
	}
	order := make([]int, len(dims)) // the operand's axes by their place in the result
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return dims[a] - dims[b] })
	expanded := slices.Repeat([]int{1}, len(shape))
	for k, d := range dims {
		expanded[d] = x.Shape()[k]
	}
	if !slices.IsSorted(order) {
		x = ops.Transpose(x, order...)
	}
	return one(ops.BroadcastTo(ops.Reshape(x, expanded...), shape...))
}

// scalars are the elements of a tensor of rank 1 as nodes of rank 0.
func scalars(x *node) []*node {
	out := make([]*node, x.Size())
	for k := range out {
		out[k] = ops.Reshape(ops.SliceAxis(x, 0, k, 1))
	}
	return out
}

func stablehloDynamicSlice(c *call) []*node {
	return one(ops.DynamicSlice(c.x(0), scalars(c.x(1)), attr[[]int](c, "slice_sizes")))
}

func stablehloDynamicUpdateSlice(c *call) []*node {
	return one(ops.DynamicUpdateSlice(c.x(0), c.x(1), scalars(c.x(2))...))
}

func stablehloGather(c *call) []*node {
	return one(ops.StableHLOGather(c.x(0), c.x(1), ops.GatherDims{
		OffsetDims:               attr[[]int](c, "offset_dims"),
		CollapsedSliceDims:       attr[[]int](c, "collapsed_slice_dims"),
		OperandBatchingDims:      attrOr(c, "operand_batching_dims", []int{}),
		StartIndicesBatchingDims: attrOr(c, "start_indices_batching_dims", []int{}),
		StartIndexMap:            attr[[]int](c, "start_index_map"),
		IndexVectorDim:           attr[int](c, "index_vector_dim"),
		SliceSizes:               attr[[]int](c, "slice_sizes"),
		IndicesAreSorted:         c.flag("indices_are_sorted", false),
	}))
}

var stablehloCombines = map[string]ops.Combine{
	"replace": ops.CombineSet, "add": ops.CombineAdd, "multiply": ops.CombineMul,
	"maximum": ops.CombineMax, "minimum": ops.CombineMin,
}

func stablehloScatter(c *call) []*node {
	c.hint("has_out_of_bounds", "has_duplicates")
	var name string
	if err := json.Unmarshal(c.attrs["computation"], &name); err != nil {
		name = string(c.attrs["computation"])
	}
	combine, ok := stablehloCombines[name]
	if c.has("computation"); !ok {
		return c.missing("with computation " + name)
	}
	return one(ops.StableHLOScatter(c.x(0), c.x(1), c.x(2), combine, ops.ScatterDims{
		UpdateWindowDims:           attr[[]int](c, "update_window_dims"),
		InsertedWindowDims:         attr[[]int](c, "inserted_window_dims"),
		InputBatchingDims:          attrOr(c, "input_batching_dims", []int{}),
		ScatterIndicesBatchingDims: attrOr(c, "scatter_indices_batching_dims", []int{}),
		ScatterDimsToOperandDims:   attr[[]int](c, "scatter_dims_to_operand_dims"),
		IndexVectorDim:             attr[int](c, "index_vector_dim"),
		IndicesAreSorted:           c.flag("indices_are_sorted", false),
		UniqueIndices:              c.flag("unique_indices", false),
	}))
}

func stablehloIota(c *call) []*node {
	dt, err := tensor.ParseDType(attr[string](c, "dtype"))
	if err != nil {
		c.fail("dtype: %w", err)
	}
	return one(ops.Iota(c.g, dt, attr[int](c, "dimension"), attr[[]int](c, "shape")...))
}

func stablehloPad(c *call) []*node {
	return one(ops.Pad(c.x(0), c.x(1), attr[[]int](c, "low"), attr[[]int](c, "high"), attr[[]int](c, "interior")))
}

var stablehloReductions = map[string]ops.ReduceFn{
	"add": ops.ReduceSum, "multiply": ops.ReduceProd, "maximum": ops.ReduceMax, "minimum": ops.ReduceMin,
}

// stablehloReduce is a reduction of one operand with one init, or of several, each by a computation of its own:
// the operands come first, then the inits.
func stablehloReduce(c *call) []*node {
	names := []string{""}
	c.has("computation")
	if json.Unmarshal(c.attrs["computation"], &names) != nil {
		names = []string{attr[string](c, "computation")}
	}
	if len(c.in) != 2*len(names) {
		c.missing("of several operands by one computation")
		return nil
	}
	axes, out := attr[[]int](c, "dimensions"), make([]*node, len(names))
	for i, name := range names {
		x, init := c.x(i), c.x(len(names)+i)
		if f := stablehloExtreme(c, x, name); f != nil {
			out[i] = ops.ReduceBy(f, []*node{x}, []any{init}, axes...)[0]
		} else if fn, ok := stablehloFn(c, x, name); ok {
			out[i] = ops.ReduceInit(fn, x, init, axes...)
		} else {
			return nil
		}
	}
	return out
}

// stablehloFn is the function of a reduction of x.
func stablehloFn(c *call, x *node, name string) (ops.ReduceFn, bool) {
	fn, ok := stablehloReductions[name]
	if x.DType() == tensor.Bool && (name == "and" || name == "or") {
		fn, ok = map[string]ops.ReduceFn{"and": ops.ReduceProd, "or": ops.ReduceSum}[name], true
	}
	if !ok {
		c.missing(name + " of " + x.DType().String())
	}
	return fn, ok
}

// stablehloExtreme is the combiner of extremes of complex numbers, nil for other functions and other dtypes.
func stablehloExtreme(c *call, x *node, name string) *graph.Func {
	if !x.DType().IsComplex() || name != "maximum" && name != "minimum" {
		return nil
	}
	f, err := lexicographic(x.DType(), name == "minimum")
	if err != nil {
		c.fail("%w", err)
	}
	return f
}

// stablehloWindows is the windows of a call, over all axes.
func stablehloWindows(c *call) ops.Sliding {
	w := ops.Sliding{
		Sizes:     attr[[]int](c, "window_dimensions"),
		Strides:   attr[[]int](c, "window_strides"),
		Dilations: attr[[]int](c, "window_dilations"),
		Between:   attr[[]int](c, "base_dilations"),
	}
	for _, p := range attr[[][2]int](c, "padding") {
		w.Low, w.High = append(w.Low, p[0]), append(w.High, p[1])
	}
	return w
}

func stablehloReduceWindow(c *call) []*node {
	name := attr[string](c, "computation")
	if f := stablehloExtreme(c, c.x(0), name); f != nil {
		return ops.ReduceWindowBy(f, c.in[:1], []any{c.x(1)}, stablehloWindows(c))
	}
	fn, ok := stablehloFn(c, c.x(0), name)
	if !ok {
		return nil
	}
	return one(ops.ReduceWindowInit(fn, c.x(0), c.x(1), stablehloWindows(c)))
}

func stablehloSelectAndScatter(c *call) []*node {
	fn, ok := map[string]ops.ArgFn{"GE": ops.ArgMaxFn, "LE": ops.ArgMinFn}[attr[string](c, "select")]
	if !ok {
		return c.missing("with another select")
	}
	switch scatter := attr[string](c, "scatter"); {
	case scatter == "add", scatter == "or" && c.x(0).DType() == tensor.Bool:
	default:
		return c.missing("with scatter " + scatter)
	}
	return one(ops.SelectAndScatter(fn, c.x(0), c.x(1), c.x(2), stablehloWindows(c)))
}

// stablehloScan: the extremes of complex numbers are lexicographic.
func stablehloScan(f scan) op {
	return func(c *call) []*node {
		x, a := c.x(0), attr[int](c, "axis")
		if name, ok := map[string]string{"cummax": "maximum", "cummin": "minimum"}[c.name]; ok {
			if extreme := stablehloExtreme(c, x, name); extreme != nil {
				return ops.ScanBy(extreme, c.in[:1], nil, a, scanOptions(c)...)
			}
		}
		return one(f(x, a, scanOptions(c)...))
	}
}

// stablehloSelectN is case which[i…], a bool counting as 0 or 1.
func stablehloSelectN(c *call) []*node {
	which, cases := c.x(0), c.in[1:]
	if which.DType() == tensor.Bool && len(cases) == 2 {
		return one(ops.Where(which, cases[1], cases[0]))
	}
	out := cases[0]
	for k := 1; k < len(cases); k++ {
		out = ops.Where(ops.Equal(which, k), cases[k], out)
	}
	return one(out)
}

func stablehloSlice(c *call) []*node {
	start, limit := attr[[]int](c, "start_indices"), attr[[]int](c, "limit_indices")
	step := attr[[]int](c, "strides")
	size := make([]int, len(start))
	for a := range start {
		size[a] = (limit[a] - start[a] + step[a] - 1) / step[a]
	}
	return one(ops.Slice(c.x(0), start, step, size))
}

// stablehloTake is JAX's jnp.take: with mode fill an index out of bounds reads NaN.
func stablehloTake(c *call) []*node {
	x, a := c.x(0), attr[int](c, "axis")
	if mode := attr[string](c, "mode"); mode != "fill" || !x.DType().IsFloat() {
		return c.missing("mode " + mode + " of " + x.DType().String())
	}
	return one(ops.Take(x, c.x(1), a, ops.Filled(math.NaN())))
}
