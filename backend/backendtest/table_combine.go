package backendtest

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// combiner is how a row or a case joins two groups of values.
type combiner = func(a, b []*Node) []*Node

// with traces a combiner for the dtypes of nodes. Where it cannot be traced, bad are invalid nodes.
func with(join combiner, xs []*Node) (f *graph.Func, bad []*Node) {
	dts := make([]tensor.DType, len(xs))
	for i, x := range xs {
		dts[i] = x.DType()
	}
	f, err := ops.Combiner("join", dts, join)
	if err != nil {
		for range xs {
			bad = append(bad, graph.Fail("ops.Combiner", err, xs...))
		}
	}
	return f, bad
}

// reducedBy, scannedBy and windowsBy are the builders, of nodes of whatever dtypes.
func reducedBy(join combiner, xs []*Node, inits []any, axes ...int) []*Node {
	f, bad := with(join, xs)
	if bad != nil {
		return bad
	}
	return ops.ReduceBy(f, xs, inits, axes...)
}

func scannedBy(join combiner, xs []*Node, inits []any, axis int, options ...ops.ScanOption) []*Node {
	f, bad := with(join, xs)
	if bad != nil {
		return bad
	}
	return ops.ScanBy(f, xs, inits, axis, options...)
}

func windowsBy(join combiner, xs []*Node, inits []any, w ops.Sliding) []*Node {
	f, bad := with(join, xs)
	if bad != nil {
		return bad
	}
	return ops.ReduceWindowBy(f, xs, inits, w)
}

// composed joins x → a₀·x + a₁ and x → b₀·x + b₁ to what comes of the one after the other: it is associative, and
// its order shows.
func composed(a, b []*Node) []*Node {
	return []*Node{ops.Mul(a[0], b[0]), ops.Add(ops.Mul(a[1], b[0]), b[1])}
}

// logAdded is log(eᵃ + eᵇ).
func logAdded(a, b []*Node) []*Node { return []*Node{ops.LogAddExp(a[0], b[0])} }

// combinerRows are what is reduced, scanned and mapped by a function of the user's.
func combinerRows() []Row {
	slopes, offsets := between(-1.5, 1.5), between(-2, 2)
	pair := func(shape ...int) []Input { return []Input{in(slopes, shape...), in(offsets, shape...)} }
	started := func(shape ...int) []Input { return append(pair(shape...), in(slopes), in(offsets)) }
	twisted := func(in []*Node) []*Node {
		dts := []tensor.Spec{{DType: in[0].DType()}, {DType: in[1].DType()}}
		f, err := graph.NewFunc("twisted", dts, func(g *graph.Graph, x []*Node) []*Node {
			return []*Node{ops.Sub(ops.Mul(x[0], ops.Square(x[1])), 2), x[1], g.Literal(x[0].DType(), 3)}
		})
		if err != nil {
			return []*Node{graph.Fail("ops.Map", err, in...)}
		}
		return ops.Map(f, in...)
	}
	return []Row{
		{
			Op: "ops.ReduceBy", Why: "axes apart, in row-major order", DTypes: anything,
			Build: func(in []*Node) []*Node { return reducedBy(composed, in, nil, 0, 2) },
			In:    pair(3, 2, 2),
			More:  [][]Input{{in(ties, 5, 4, 3), in(ties, 5, 4, 3)}, pair(1, 3, 1), {in(ties, 17, 1, 2), in(edges, 17, 1, 2)}, pair(2, 0, 3)},
			Large: []Input{in(near(-1, 1), 31, 90, 29), in(offsets, 31, 90, 29)},
		},
		{
			Op: "ops.ReduceBy", Variant: "initial values", Why: "they come first, and are all there is of nothing", DTypes: anything,
			Build: func(in []*Node) []*Node { return reducedBy(composed, in[:2], []any{in[2], in[3]}, 1) },
			In:    started(2, 5, 2), More: [][]Input{started(2, 1, 3), started(2, 0, 3), started(0, 3, 2), started(3, 8, 1)},
		},
		{
			Op: "ops.ReduceBy", Variant: "all axes", Why: "no axes named", DTypes: floats,
			Build: func(in []*Node) []*Node { return reducedBy(logAdded, in, []any{-inf}) },
			In:    []Input{in(offsets, 3, 3)}, More: [][]Input{{in(edges, 13)}, {in(edges)}, {in(edges, 2, 0)}},
		},
		{
			Op: "ops.ScanBy", Why: "in log₂ n steps", DTypes: anything,
			Build: func(in []*Node) []*Node { return scannedBy(composed, in, nil, 1) },
			In:    pair(2, 5, 2), More: [][]Input{{in(ties, 2, 17, 3), in(ties, 2, 17, 3)}, pair(3, 1, 2), pair(2, 0, 3), pair(4, 2, 1), pair(0, 3, 1)},
			Large: []Input{in(near(-1, 1), 31, 90, 29), in(offsets, 31, 90, 29)},
		},
		{
			Op: "ops.ScanBy", Variant: "initial values", Why: "they come before every element", DTypes: anything,
			Build: func(in []*Node) []*Node { return scannedBy(composed, in[:2], []any{in[2], in[3]}, 0, ops.Reversed) },
			In:    started(3, 2), More: [][]Input{started(8, 3), started(1, 2), started(0, 2)},
		},
		{
			Op: "ops.ScanBy", Variant: "exclusive", Why: "from the initial values on", DTypes: anything,
			Build: func(in []*Node) []*Node {
				return scannedBy(composed, in[:2], []any{in[2], in[3]}, -1, ops.Reversed, ops.Exclusive)
			},
			In: started(2, 4), More: [][]Input{started(3, 9), started(2, 1), started(2, 0)},
		},
		{
			Op: "ops.ReduceWindowBy", Why: "padding is the initial values, which come first too", DTypes: anything,
			Build: func(in []*Node) []*Node {
				return windowsBy(composed, in[:2], []any{in[2], in[3]}, ops.Sliding{
					Sizes: []int{3, 2}, Strides: []int{2, 1}, Dilations: []int{1, 2}, Between: []int{1, 2}, Low: []int{1, -1}, High: []int{0, 1},
				})
			},
			In: started(2, 3, 3), More: [][]Input{started(1, 7, 5), started(2, 1, 4), started(0, 3, 2)},
		},
		{
			Op: "ops.ReduceWindowBy", Variant: "no initial values", Why: "nothing is padded", DTypes: anything,
			Build: func(in []*Node) []*Node { return windowsBy(composed, in, nil, ops.Sliding{Sizes: []int{2, 3}}) },
			In:    pair(3, 4), More: [][]Input{{in(ties, 2, 5, 9), in(ties, 2, 5, 9)}, pair(1, 3), pair(0, 3)},
		},
		{
			Op: "ops.Map", Why: "each op of the function is one op; a result may be an argument or a constant", DTypes: numbers,
			Build: twisted, In: []Input{in(offsets, 2, 1, 3), in(offsets, 2, 1)},
			More:  [][]Input{{in(offsets), in(offsets)}, {in(offsets, 0, 3), in(offsets, 3)}, {in(realEdges, 12), in(realEdges, 12)}},
			Large: []Input{in(offsets, 310, 257), in(offsets, 257)},
		},
	}
}
