package backendtest

import (
	"math/rand/v2"
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// ascending is a fill in ascending order.
func ascending(fill Fill) Fill {
	return func(r *rand.Rand, dt tensor.DType, n int) []element {
		out := fill(r, dt, n)
		slices.SortStableFunc(out, func(a, b element) int { return compareOrdered(dt, ops.Ascending, a, b) })
		return out
	}
}

const noGradientIndex = "an index carries none"

// pairOf lists two results.
func pairOf(a, b *Node) []*Node { return []*Node{a, b} }

func sortRows() []Row {
	var rows []Row
	add := func(op, variant string, f func(x *Node) []*Node) *Row {
		rows = append(rows, Row{
			Op: op, Variant: variant, Why: "stable; NaN is the greatest", DTypes: ordered,
			Build: func(in []*Node) []*Node { return f(in[0]) },
			In:    []Input{in(apart(-3, 3), 2, 7, 3)},
			More: [][]Input{
				{in(edges, 3, 18, 2)}, {in(ties, 5, 67, 3)}, {in(edges, 1, 300)}, {in(payloads, 2, 40)}, {in(ties, 0, 4, 3)},
			},
		})
		return &rows[len(rows)-1]
	}
	for order := ops.Ascending; order <= ops.TotalDescending; order++ {
		name := order.String()
		add("ops.Sort", name, func(x *Node) []*Node { return []*Node{ops.Sort(x, 1, order)} })
		add("ops.ArgSort", name, func(x *Node) []*Node { return []*Node{ops.ArgSort(x, 1, order)} }).Gradient.None = noGradientIndex
		add("ops.TopK", name, func(x *Node) []*Node { return pairOf(ops.TopK(x, 3, 1, order)) })
	}
	// An order is how an element becomes a key, and an operation what becomes of the sorted keys. Neither asks how
	// long the lines are: each order, and each operation, has long ones once.
	for order, op := range [...]string{"ops.Sort", "ops.ArgSort", "ops.TopK", "ops.Sort"} {
		k := slices.IndexFunc(rows, func(r Row) bool { return r.Op == op && r.Variant == ops.Order(order).String() })
		rows[k].Large = []Input{in(ties, 2, 40000, 1)}
	}
	add("ops.SortWithIndex", "", func(x *Node) []*Node { return pairOf(ops.SortWithIndex(x, -2, ops.Descending)) }).More = [][]Input{
		{in(edges, 18, 3)}, {in(ties, 0, 3)}, {in(ties, 3, 0)},
	}
	add("ops.TopK", "none", func(x *Node) []*Node { return pairOf(ops.TopK(x, 0, 1, ops.Descending)) })
	add("ops.KthValue", "", func(x *Node) []*Node { return pairOf(ops.KthValue(x, 4, 1)) })
	by := func(variant, why string, keys int, dts []tensor.DType, sample ...Input) {
		rows = append(rows, Row{
			Op: "ops.SortBy", Variant: variant, Why: why, DTypes: dts, In: sample,
			Build: func(in []*Node) []*Node { return ops.SortBy(-1, keys, ops.Descending, in...) },
		})
	}
	by("two keys", "the second decides where the first does not", 2, ordered,
		Input{Shape: []int{3, 20}, DType: tensor.Uint8, Fill: ties}, in(apart(-3, 3), 3, 20))
	by("carried", "what is no key may be of any dtype", 1, anything,
		Input{Shape: []int{3, 20}, DType: tensor.Int16, Fill: ties}, in(between(-2, 2), 3, 20))
	return append(rows, searchRows()...)
}

func searchRows() []Row {
	var rows []Row
	for _, right := range []bool{false, true} {
		side := "left"
		if right {
			side = "right"
		}
		rows = append(rows,
			Row{
				Op: "ops.SearchSorted", Variant: side, Why: "a line for values of any shape", DTypes: ordered,
				Build: two(func(a, v any) *Node { return ops.SearchSorted(a, v, right) }),
				In:    []Input{in(ascending(between(-2, 2)), 9), in(between(-3, 3), 2, 5)},
				More: [][]Input{
					{in(ascending(edges), 40), in(edges, 3, 18)}, {in(ascending(ties), 0), in(ties, 4)},
					{in(ascending(ties), 33), in(ties)}, {in(ascending(ties), 5), in(ties, 0, 2)},
				},
				Large:    []Input{in(ascending(between(-99, 99)), 1000), in(between(-100, 100), 30, 100)},
				Gradient: Gradient{None: noGradientIndex},
			},
			Row{
				Op: "ops.SearchSorted", Variant: side + " lines", Why: "each line of values has its own", DTypes: ordered,
				Build:    two(func(a, v any) *Node { return ops.SearchSorted(ops.Sort(a.(*Node), -1, ops.Ascending), v, right) }),
				In:       []Input{in(between(-2, 2), 2, 3, 9), in(between(-3, 3), 2, 3, 4)},
				More:     [][]Input{{in(edges, 3, 40), in(edges, 3, 18)}, {in(ties, 0, 3), in(ties, 0, 2)}},
				Gradient: Gradient{None: noGradientIndex},
			})
	}
	return rows
}

func quantileRows() []Row {
	row := func(op, variant string, dts []tensor.DType, f func(x *Node) *Node) Row {
		return Row{
			Op: op, Variant: variant, Why: "the elements beside a place of the sorted line", DTypes: dts,
			Build: one(f),
			In:    []Input{in(apart(-3, 3), 2, 7, 3)},
			More:  [][]Input{{in(edges, 3, 18, 2)}, {in(ties, 2, 6, 1)}, {in(calm, 4, 1, 3)}, {in(ties, 2, 0, 3)}},
			Large: []Input{in(between(-3, 3), 2, 3000, 3)},
		}
	}
	rows := []Row{
		row("ops.Median", "axis 1", floats, func(x *Node) *Node { return ops.Median(x, 1) }),
		row("ops.Median", "axes 1 and 2", floats, func(x *Node) *Node { return ops.Median(x, 2, 1) }),
		row("ops.Median", "all", floats, func(x *Node) *Node { return ops.Median(x) }),
		row("ops.Median", "none", floats, func(x *Node) *Node { return ops.Median(x, []int{}...) }),
		row("ops.Quantiles", "", floats, func(x *Node) *Node {
			return ops.Quantiles(x, []float64{0.9, 0, 0.3, 1}, ops.QuantileLinear, 1)
		}),
	}
	for m, name := range quantileNames {
		r := row("ops.Quantile", name, floats, func(x *Node) *Node {
			return ops.Quantile(x, 0.3, ops.QuantileMethod(m), 1)
		})
		if m > 0 { // the methods part behind the sort
			r.Large = nil
		}
		rows = append(rows, r)
	}
	return rows
}

var quantileNames = []string{
	"linear", "lower", "higher", "nearest", "midpoint", "inverted", "hazen", "weibull", "median unbiased", "normal unbiased",
}

// uniqueRows: how many there are depends on the elements, unless a size is given.
func uniqueRows() []Row {
	row := func(op string, f func(x *Node) []*Node) Row {
		return Row{
			Op: op, Why: "equal elements are one, the first", DTypes: ordered,
			Build: func(in []*Node) []*Node { return f(in[0]) },
			In:    []Input{in(ties, 4, 3)},
			More:  [][]Input{{in(edges, 20, 2)}, {in(payloads, 3, 9)}, {in(ties, 0, 3)}, {in(ties, 3, 0)}},
			Eager: "the number of different elements depends on them",
			Gradient: Gradient{
				Unchecked: "there are ties; TestUniqueGradient has its values", NoVmap: "the number depends on the elements",
			},
		}
	}
	return []Row{
		row("ops.Unique", func(x *Node) []*Node { return []*Node{ops.Unique(x)} }),
		row("ops.UniqueWithIndex", func(x *Node) []*Node {
			v, i, n, c := ops.UniqueWithIndex(x)
			return []*Node{v, i, n, c}
		}),
		row("ops.UniqueRows", func(x *Node) []*Node {
			v, i, n, c := ops.UniqueRows(x, 0)
			return []*Node{v, i, n, c}
		}),
		{
			Op: "ops.UniqueSized", Why: "too few are filled, too many cut off", DTypes: ordered,
			Build: func(in []*Node) []*Node {
				v, i, n, c := ops.UniqueSized(in[0], 5, in[1])
				return []*Node{v, i, n, c}
			},
			In:   []Input{in(apart(-3, 3), 3, 3), in(between(-2, 2))},
			More: [][]Input{{in(ties, 4, 3), in(ties)}, {in(edges, 20), in(ties)}, {in(ties, 0, 3), in(ties)}, {in(ties), in(ties)}},
		},
	}
}
