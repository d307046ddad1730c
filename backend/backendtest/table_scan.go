package backendtest

import (
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// going is a way to scan three axes.
type going struct {
	axis    int
	options []ops.ScanOption
	long    []int // a shape in which lines are longer than a block
}

var goings = []going{
	{0, nil, []int{300, 2, 9}},
	{1, []ops.ScanOption{ops.Exclusive}, []int{1, 300, 9}},
	{-1, []ops.ScanOption{ops.Reversed}, []int{3, 2, 300}},
	{2, []ops.ScanOption{ops.Reversed, ops.Exclusive}, []int{5, 1, 290}},
	{-1, nil, []int{6, 520}},
}

func (g going) name() string {
	name := "axis " + string(rune('0'+(g.axis+3)%3))
	for _, o := range g.options {
		name += map[ops.ScanOption]string{ops.Exclusive: " exclusive", ops.Reversed: " reversed"}[o]
	}
	return name
}

// finite is y without the elements that are the identity of what is exclusive: ∞ has no differences.
func (g going) finite(y *Node) *Node {
	if !y.Valid() || !slices.Contains(g.options, ops.Exclusive) {
		return y
	}
	from, n := 1, max(y.Shape()[(g.axis+3)%3]-1, 0)
	if n == 0 || slices.Contains(g.options, ops.Reversed) {
		from = 0
	}
	return ops.SliceAxis(y, g.axis, from, n)
}

// cumulativeRows are the scans along an axis, each in every way.
func cumulativeRows() []Row {
	type builder = func(x *Node, axis int, options ...ops.ScanOption) *Node
	pair := func(f func(*Node, int, ...ops.ScanOption) (*Node, *Node)) func(*Node, going) []*Node {
		return func(x *Node, g going) []*Node {
			y, at := f(x, g.axis, g.options...)
			return []*Node{g.finite(y), at}
		}
	}
	single := func(f builder) func(*Node, going) []*Node {
		return func(x *Node, g going) []*Node { return []*Node{f(x, g.axis, g.options...)} }
	}
	cut := func(f builder) func(*Node, going) []*Node {
		return func(x *Node, g going) []*Node { return []*Node{g.finite(f(x, g.axis, g.options...))} }
	}
	var rows []Row
	for _, g := range goings {
		for _, c := range []struct {
			op            string
			build         func(*Node, going) []*Node
			dts           []tensor.DType
			fill, special Fill
			why           string
		}{
			{"ops.CumSum", single(ops.CumSum), anything, between(-2, 2), calm, "what rounding loses is carried; or, for bool"},
			{"ops.CumProd", single(ops.CumProd), anything, near(-1, 1), exactly(2, 0, 3, 4, 0, 0.5), "zeros; and, for bool"},
			{"ops.CumMax", cut(ops.CumMax), ordered, apart(-3, 3), edges, "NaN from the first on"},
			{"ops.CumMin", cut(ops.CumMin), ordered, apart(-3, 3), edges, "NaN from the first on"},
			{"ops.CumMaxWithIndex", pair(ops.CumMaxWithIndex), ordered, apart(-3, 3), edges, "the first met of those that tie"},
			{"ops.CumMinWithIndex", pair(ops.CumMinWithIndex), ordered, apart(-3, 3), edges, "the first met of those that tie"},
			{"ops.LogCumSumExp", cut(ops.LogCumSumExp), floats, between(-2, 2), modest, "shifted, and shifted anew where it rises"},
		} {
			r := Row{
				Op: c.op, Variant: g.name(), Why: c.why, DTypes: c.dts,
				Build: func(in []*Node) []*Node { return c.build(in[0], g) },
				In:    []Input{in(c.fill, 2, 4, 3)},
				More:  [][]Input{{in(c.special, 3, 19, 2)}, {in(ties, 2, 5, 9)}, {in(c.fill, 1, 1, 1)}, {in(c.fill, 2, 0, 3)}, {in(c.fill, 0, 2, 0)}},
				Large: []Input{in(c.fill, 41, 73, 29)},
			}
			if c.op != "ops.LogCumSumExp" || g.options == nil { // the reference's exponentials take long
				r.More = append(r.More, []Input{in(c.fill, g.long...)})
			}
			rows = append(rows, r)
		}
		rows = append(rows, affineRow(g))
	}
	return rows
}

func affineRow(g going) Row {
	r := Row{
		Op: "ops.AffineScan", Variant: g.name(), DTypes: anything,
		Why:   "the first coefficient is not looked at",
		Build: build(func(in []*Node) *Node { return ops.AffineScan(in[0], in[1], g.axis, g.options...) }),
		In:    []Input{in(between(-1.5, 1.5), 2, 4, 3), in(between(-2, 2), 2, 4, 3)},
		More: [][]Input{
			{in(calm, 3, 19, 2), in(calm, 3, 19, 2)}, {in(ties, 2, 5, 9), in(ties, 2, 5, 9)},
			{in(near(-1, 1), g.long...), in(between(-2, 2), g.long...)},
			{in(calm, 2, 0, 3), in(calm, 2, 0, 3)},
		},
		Large: []Input{in(between(-1.1, 1.1), 41, 73, 29), in(between(-2, 2), 41, 73, 29)},
	}
	if slices.Contains(g.options, ops.Exclusive) {
		r.Build = build(func(in []*Node) *Node { // one coefficient for all lines
			a := ops.SliceAxis(ops.SliceAxis(in[0], 0, 0, min(in[0].Shape()[0], 1)), -1, 0, min(in[0].Shape()[2], 1))
			return ops.AffineScan(a, in[1], g.axis, g.options...)
		})
	}
	return r
}
