package backendtest

import (
	"math"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// reduceRow is a reduction of the middle axis, of the outer ones and of all.
func reduceRow(op string, f ops.Reduction, dts []tensor.DType, fill, special Fill, why string, axes ...int) Row {
	return Row{
		Op: op, Why: why, DTypes: dts, Variant: axesName(axes),
		Build: one(func(x *Node) *Node { return f(x, axes...) }),
		In:    []Input{in(fill, 2, 4, 3)},
		More: [][]Input{
			{in(special, 3, 19, 2)}, {in(ties, 2, 5, 3)}, {in(fill, 1, 1, 1)}, {in(fill, 5, 67, 3)}, {in(special, 18, 2, 2)},
		},
		Large: []Input{in(fill, 41, 73, 29)},
	}
}

func axesName(axes []int) string {
	switch {
	case axes == nil:
		return "all"
	case len(axes) == 0:
		return "none"
	}
	name := ""
	for _, a := range axes {
		name += string(rune('0' + a))
	}
	return "axes " + name
}

// modest is edges without the greatest numbers, whose sums overflow in some orders and not in others.
func modest(r *rand.Rand, dt tensor.DType, n int) []element {
	out := realEdges(r, dt, n)
	for i, e := range out {
		if f := floatOf(dt, e.re); dt.IsFloat() && !math.IsInf(f, 0) && math.Abs(f) > 100 {
			out[i] = fromFloat(dt, 7)
		}
	}
	return out
}

// calm is modest with at most one kind of what is not finite, so that a sum has one answer.
func calm(r *rand.Rand, dt tensor.DType, n int) []element {
	out := modest(r, dt, n)
	for i, e := range out {
		if dt.IsFloat() && !isFinite(dt, e) && r.IntN(3) > 0 {
			out[i] = fromFloat(dt, 0.5)
		}
	}
	return out
}

// normal is calm without subnormal numbers, whose products lose digits in some orders and not in others.
func normal(r *rand.Rand, dt tensor.DType, n int) []element {
	out := calm(r, dt, n)
	for i, e := range out {
		if f := math.Abs(floatOf(dt, e.re)); dt.IsFloat() && f > 0 && f < 1e-7 {
			out[i] = fromFloat(dt, 2)
		}
	}
	return out
}

func reductionRows() []Row {
	var rows []Row
	for _, axes := range [][]int{{1}, {0, 2}, {2}, nil, {}} {
		rows = append(rows,
			reduceRow("ops.Sum", ops.Sum, anything, between(-2, 2), calm, "halves in float32; or, for bool", axes...),
			reduceRow("ops.Prod", ops.Prod, anything, between(0.5, 1.5), normal, "and, for bool", axes...),
			reduceRow("ops.Max", ops.Max, ordered, apart(-3, 3), edges, "off ties", axes...),
			reduceRow("ops.Min", ops.Min, ordered, apart(-3, 3), edges, "off ties", axes...),
			reduceRow("ops.LogSumExp", ops.LogSumExp, floats, between(-2, 2), modest, "shifted by the maximum", axes...),
		)
	}
	rows = append(rows,
		reduceRow("ops.Mean", ops.Mean, analog, between(-2, 2), calm, "halves in float32", 0, 1),
		reduceRow("ops.Any", ops.Any, anything, ties, edges, "NaN is true", 1),
		reduceRow("ops.All", ops.All, anything, ties, edges, "NaN is true", 1),
		Row{
			Op: "ops.KeepDims", Why: "the reduced axes stay", DTypes: ordered,
			In:    []Input{in(apart(-3, 3), 2, 4, 3)},
			Build: one(func(x *Node) *Node { return ops.KeepDims(ops.Max, x, -2) }),
		},
		Row{
			Op: "ops.SumTo", Why: "the adjoint of BroadcastTo", DTypes: anything,
			In:    []Input{in(between(-2, 2), 2, 4, 3)},
			Build: one(func(x *Node) *Node { return ops.SumTo(x, 1, 3) }),
		},
	)
	for i := range rows {
		if rows[i].Op == "ops.Any" || rows[i].Op == "ops.All" {
			rows[i].Gradient.None = noGradientSteps
		}
	}
	return append(append(rows, initRows()...), append(argRows(), emptyRows()...)...)
}

func initRows() []Row {
	var rows []Row
	for _, c := range []struct {
		name   string
		fn     ops.ReduceFn
		dts    []tensor.DType
		fill   Fill
		second Fill
	}{
		{"Sum", ops.ReduceSum, anything, between(-2, 2), between(-2, 2)},
		{"Prod", ops.ReduceProd, anything, between(0.5, 1.5), between(0.5, 1.5)},
		{"Max", ops.ReduceMax, ordered, apart(-3, 3), between(0.1, 0.2)},
		{"Min", ops.ReduceMin, ordered, apart(-3, 3), between(0.1, 0.2)},
		{"LogSumExp", ops.ReduceLogSumExp, floats, between(-2, 2), between(-2, 2)},
	} {
		rows = append(rows, Row{
			Op: "ops.ReduceInit", Variant: c.name, Why: "the initial value is one more element",
			DTypes: c.dts,
			Build:  build(func(in []*Node) *Node { return ops.ReduceInit(c.fn, in[0], in[1], 0, -1) }),
			In:     []Input{in(c.fill, 2, 4, 3), in(c.second)},
			More:   [][]Input{{in(normal, 3, 2, 7), in(c.second)}, {in(c.fill, 0, 2, 3), in(c.second)}, {in(ties, 2, 2), in(ties)}},
			Large:  []Input{in(c.fill, 41, 73, 29), in(c.second)},
		})
	}
	return rows
}

func argRows() []Row {
	var rows []Row
	add := func(op, variant string, dts []tensor.DType, f func(x *Node) *Node) {
		rows = append(rows, Row{
			Op: op, Variant: variant, Why: "the first NaN, else the lowest index of a tie", DTypes: dts,
			Build: one(f),
			In:    []Input{in(ties, 2, 7, 3)},
			More:  [][]Input{{in(edges, 3, 18, 2)}, {in(apart(-3, 3), 5, 67, 3)}, {in(ties, 1, 1)}, {in(ties, 0, 3, 0)}},
			// the row of all elements has no line in an empty sample
			Large:    []Input{in(ties, 41, 73, 29)},
			Gradient: Gradient{None: "an index carries none"},
		})
		if r := &rows[len(rows)-1]; op == "ops.ArgMaxAll" || op == "ops.ArgMinAll" {
			r.More = r.More[:3]
		}
	}
	for _, c := range []struct {
		op  string
		f   func(x *Node, axis int) *Node
		fn  ops.ArgFn
		dts []tensor.DType
	}{
		{"ops.ArgMax", ops.ArgMax, ops.ArgMaxFn, reals}, {"ops.ArgMin", ops.ArgMin, ops.ArgMinFn, reals},
		{"ops.ArgMaxAbs", ops.ArgMaxAbs, ops.ArgMaxAbsFn, numbers}, {"ops.ArgMinAbs", ops.ArgMinAbs, ops.ArgMinAbsFn, numbers},
	} {
		add(c.op, "", c.dts, func(x *Node) *Node { return c.f(x, 1) })
		add("ops.ArgReduce", c.op[4:]+" int32", c.dts, func(x *Node) *Node { return ops.ArgReduce(c.fn, x, 1, tensor.Int32) })
	}
	add("ops.ArgMaxAll", "", reals, ops.ArgMaxAll)
	add("ops.ArgMinAll", "", reals, ops.ArgMinAll)
	for _, c := range []struct {
		op  string
		f   func(x *Node, axis int) (value, index *Node)
		dts []tensor.DType
	}{
		{"ops.MaxWithIndex", ops.MaxWithIndex, reals}, {"ops.MinWithIndex", ops.MinWithIndex, reals},
		{"ops.MaxAbsWithIndex", ops.MaxAbsWithIndex, numbers}, {"ops.MinAbsWithIndex", ops.MinAbsWithIndex, numbers},
	} {
		rows = append(rows, Row{
			Op: c.op, Why: "the first NaN, else the lowest index of a tie, and the element there", DTypes: c.dts,
			Build: func(in []*Node) []*Node { return pairOf(c.f(in[0], -2)) },
			In:    []Input{in(apart(-3, 3), 2, 7, 3)},
			More:  [][]Input{{in(edges, 3, 18, 2)}, {in(ties, 5, 67, 3)}, {in(ties, 1, 1)}, {in(ties, 0, 3, 0)}},
			Large: []Input{in(ties, 41, 73, 29)},
		})
	}
	return rows
}

// emptyRows: what a reduction of nothing is.
func emptyRows() []Row {
	empty := func(op string, f ops.Reduction, dts []tensor.DType, shape []int, axes ...int) Row {
		return Row{
			Op: op, Variant: "of nothing", Why: "the identity", DTypes: dts,
			In:       []Input{in(between(0, 1), shape...)},
			Build:    one(func(x *Node) *Node { return f(x, axes...) }),
			Gradient: Gradient{None: "there is no element"},
		}
	}
	return []Row{
		empty("ops.Sum", ops.Sum, anything, []int{2, 0}, 1), empty("ops.Prod", ops.Prod, anything, []int{2, 0}, 1),
		empty("ops.Mean", ops.Mean, analog, []int{2, 0}, 1), empty("ops.LogSumExp", ops.LogSumExp, floats, []int{2, 0}, 1),
		empty("ops.Max", ops.Max, ordered, []int{0, 4}, 1), empty("ops.Any", ops.Any, anything, []int{0}),
		empty("ops.All", ops.All, anything, []int{0}),
	}
}

func productRows() []Row {
	plain := between(-2, 2)
	pair := func(op, variant string, f func(x, y *Node) *Node, a, b []int) Row {
		return Row{
			Op: op, Variant: variant, Why: "extents of 0, 1 and more", DTypes: numbers,
			Build: build(func(in []*Node) *Node { return f(in[0], in[1]) }),
			In:    []Input{in(plain, a...), in(plain, b...)},
		}
	}
	square := pair("ops.MatMul", "matrices", ops.MatMul, []int{3, 4}, []int{4, 2})
	square.More = [][]Input{
		{in(plain, 17, 33), in(plain, 33, 19)}, {in(plain, 3, 0), in(plain, 0, 2)}, {in(plain, 0, 3), in(plain, 3, 2)},
		{in(plain, 1, 70), in(plain, 70, 1)}, {in(plain, 7, 1), in(plain, 1, 9)},
	}
	square.Large = []Input{in(plain, 67, 61), in(plain, 61, 83)}
	rows := []Row{
		square,
		pair("ops.MatMul", "a batch by one matrix", ops.MatMul, []int{2, 3, 4}, []int{4, 2}),
		pair("ops.MatMul", "batches broadcast", ops.MatMul, []int{2, 1, 3, 4}, []int{3, 4, 2}),
		pair("ops.MatMul", "a row by a matrix", ops.MatMul, []int{4}, []int{2, 4, 3}),
		pair("ops.MatMul", "two rows", ops.MatMul, []int{4}, []int{4}),
		pair("ops.Dot", "", ops.Dot, []int{2, 3, 4}, []int{3, 4, 2}),
		pair("ops.Dot", "by a scalar", ops.Dot, []int{2, 3}, nil),
	}
	for _, c := range []struct {
		spec   string
		shapes [][]int
	}{
		{"ij,jk->ik", [][]int{{2, 3}, {3, 4}}}, {"bij,bjk->bki", [][]int{{2, 3, 4}, {2, 4, 2}}},
		{"ii->i", [][]int{{3, 3}}}, {"...ij->...", [][]int{{2, 3, 2}}}, {"i,j,ij->", [][]int{{2}, {3}, {2, 3}}},
	} {
		r := Row{
			Op: "ops.Einsum", Variant: c.spec, Why: "contracted from left to right", DTypes: numbers,
			Build: build(func(in []*Node) *Node { return ops.Einsum(c.spec, in...) }),
		}
		for _, s := range c.shapes {
			r.In = append(r.In, in(plain, s...))
		}
		rows = append(rows, r)
	}
	for _, c := range []struct {
		op string
		f  func(x *Node, axis int) *Node
	}{{"ops.Softmax", ops.Softmax}, {"ops.LogSoftmax", ops.LogSoftmax}} {
		for _, axis := range []int{1, -1} {
			rows = append(rows, Row{
				Op: c.op, Variant: map[int]string{1: "inner axis", -1: "last axis"}[axis], DTypes: floats,
				Why:   "shifted by the maximum; −∞ and +∞",
				Build: one(func(x *Node) *Node { return c.f(x, axis) }),
				In:    []Input{in(plain, 2, 4, 3)},
				More:  [][]Input{{in(calm, 3, 7, 2)}, {in(between(-80, 80), 3, 9, 5)}, {in(plain, 2, 1, 1)}, {in(plain, 2, 0, 3)}, {in(exactly(math.Inf(-1)), 2, 2, 2)}},
				Large: []Input{in(plain, 11, 53, 29)},
			})
		}
	}
	return rows
}

// key is two words for the random operations.
func keyRow(op, variant, why string, f func(key *Node) *Node, shape ...int) Row {
	return Row{
		Op: op, Variant: variant, Why: why, DTypes: []tensor.DType{tensor.Uint32}, Build: one(f),
		In:       []Input{in(func(r *rand.Rand, dt tensor.DType, n int) []element { return payloads(r, dt, n) }, shape...)},
		Gradient: Gradient{None: "keys carry none"},
	}
}

func randomRows() []Row {
	rows := []Row{
		keyRow("ops.RandomBits", "one key", "Philox 4×32, ten rounds", func(k *Node) *Node { return ops.RandomBits(k, 3, 5) }, 2),
		keyRow("ops.RandomBits", "large", "threads share the blocks", func(k *Node) *Node { return ops.RandomBits(k, 301, 257) }, 2),
		keyRow("ops.RandomBits", "keys", "equal keys give equal numbers", func(k *Node) *Node { return ops.RandomBits(k, 7) }, 2, 3, 2),
		keyRow("ops.RandomBits", "of nothing", "no numbers", func(k *Node) *Node { return ops.RandomBits(k, 0, 3) }, 2),
		keyRow("ops.RandomBits", "offset", "a counter beyond 32 bits", func(k *Node) *Node {
			return graph.Apply(ops.RandomBitsOp{Shape: []int{9}, Offset: 1<<32 - 1}, k)
		}, 2),
		keyRow("ops.FoldIn", "", "a new key", func(k *Node) *Node { return ops.FoldIn(k, 7) }, 2),
		keyRow("ops.SplitKey", "", "new keys", func(k *Node) *Node { return ops.SplitKey(k, 3) }, 2),
		keyRow("ops.Bernoulli", "", "u < p", func(k *Node) *Node { return ops.Bernoulli(k, 0.25, 4, 5) }, 2),
		keyRow("ops.RandomInt", "", "in [lo, hi)", func(k *Node) *Node { return ops.RandomInt(k, tensor.Int16, -5, 1000, 20) }, 2),
		made("ops.Key", "", "the two words of a seed", anything, func(g *graph.Graph, _ tensor.DType) *Node {
			return ops.Key(g, 0x0123456789abcdef)
		}),
	}
	for _, dt := range floats {
		rows = append(rows,
			keyRow("ops.RandomUniform", dt.String(), "in [0, 1)", func(k *Node) *Node { return ops.RandomUniform(k, dt, 5, 7) }, 2),
			keyRow("ops.RandomNormal", dt.String(), "√2·Erfinv", func(k *Node) *Node { return ops.RandomNormal(k, dt, 5, 7) }, 2))
	}
	return rows
}
