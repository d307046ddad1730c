package backendtest

import (
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// slidings are ways for windows to slide over the last two axes.
var slidings = []struct {
	name, why string
	w         ops.Sliding
}{
	{"3x2", "windows overlap", ops.Sliding{Sizes: []int{3, 2}}},
	{"strides", "windows side by side, the rest left out", ops.Sliding{Sizes: []int{2, 2}, Strides: []int{2, 3}}},
	{"padded", "dilated windows, uneven padding", ops.Sliding{
		Sizes: []int{2, 3}, Dilations: []int{2, 1}, Strides: []int{1, 2}, Low: []int{1, 0}, High: []int{0, 2},
	}},
	{"between", "elements set apart and cropped", ops.Sliding{
		Sizes: []int{3, 2}, Between: []int{2, 1}, Low: []int{-1, 1}, High: []int{2, -1},
	}},
	{"ceil", "the last windows reach beyond the end", ops.Sliding{
		Sizes: []int{2, 3}, Strides: []int{2, 2}, Ceil: true,
	}},
}

func slidingRows() []Row {
	rows := unfoldRows()
	for _, s := range slidings {
		for _, c := range []struct {
			name string
			fn   ops.ReduceFn
			dts  []tensor.DType
			fill Fill
			more Fill
		}{
			{"Sum", ops.ReduceSum, anything, between(-2, 2), calm},
			{"Prod", ops.ReduceProd, anything, between(0.5, 1.5), normal},
			{"Max", ops.ReduceMax, ordered, apart(-3, 3), edges},
			{"Min", ops.ReduceMin, ordered, apart(-3, 3), edges},
			{"LogSumExp", ops.ReduceLogSumExp, floats, between(-2, 2), modest},
		} {
			if s.name != "padded" && c.fn != ops.ReduceSum && c.fn != ops.ReduceMax {
				continue // how windows slide is the same for all of them
			}
			init := c.fill
			if c.fn == ops.ReduceMax || c.fn == ops.ReduceMin {
				init = between(0.001, 0.002)
			}
			rows = append(rows, Row{
				Op: "ops.ReduceWindow", Variant: c.name + " " + s.name, Why: s.why, DTypes: c.dts,
				Build: one(func(x *Node) *Node { return ops.ReduceWindow(c.fn, x, s.w) }),
				In:    []Input{in(c.fill, 2, 5, 5)}, More: [][]Input{{in(c.more, 7, 9)}, {in(c.fill, 0, 5, 4)}},
				Large: largeWindows(s.name, c.fill),
			}, Row{
				Op: "ops.ReduceWindowInit", Variant: c.name + " " + s.name, Why: "padding is the initial value",
				DTypes: c.dts,
				Build:  build(func(in []*Node) *Node { return ops.ReduceWindowInit(c.fn, in[0], in[1], s.w) }),
				In:     []Input{in(c.fill, 2, 5, 5), in(init)},
			})
		}
		rows = append(rows, poolRows(s.name, s.why, s.w)...)
	}
	return rows
}

func largeWindows(name string, fill Fill) []Input {
	if name != "3x2" {
		return nil
	}
	return []Input{in(fill, 3, 130, 70)}
}

func poolRows(name, why string, w ops.Sliding) []Row {
	source := func(x *Node) []int {
		pooled := ops.ReduceWindow(ops.ReduceSum, x, w)
		return pooled.Shape()
	}
	var rows []Row
	if name != "between" { // there a window may have no element
		rows = append(rows, Row{
			Op: "ops.MaxPool", Variant: name, Why: why, DTypes: reals,
			Build: one(func(x *Node) *Node { return ops.MaxPool(x, w) }),
			In:    []Input{in(apart(-3, 3), 2, 5, 5)}, More: [][]Input{{in(ties, 2, 5, 6)}, {in(edges, 6, 5)}},
			Large: largeWindows(name, ties),
		}, Row{
			Op: "ops.MaxPoolIndex", Variant: name, Why: "the first of equals", DTypes: reals,
			Build: func(in []*Node) []*Node {
				v, at := ops.MaxPoolIndex(in[0], w)
				return []*Node{v, at}
			},
			In: []Input{in(apart(-3, 3), 2, 5, 5)}, More: [][]Input{{in(ties, 5, 6)}},
		})
	}
	for _, fn := range []ops.ArgFn{ops.ArgMaxFn, ops.ArgMinFn} {
		title := name + " max"
		if fn == ops.ArgMinFn {
			title = name + " min"
		}
		rows = append(rows, Row{
			Op: "ops.SelectAndScatter", Variant: title, Why: "the adjoint of a pool", DTypes: ordered,
			Build: build(func(in []*Node) *Node {
				return ops.SelectAndScatter(fn, in[0], ops.BroadcastTo(in[1], source(in[0])...), in[2], w)
			}),
			In: []Input{in(apart(-3, 3), 2, 5, 5), in(between(-2, 2), 2, 1, 1), in(between(-1, 1))},
		})
	}
	for _, counted := range []bool{false, true} {
		title := name
		if counted {
			title += " with padding"
		}
		rows = append(rows, Row{
			Op: "ops.AvgPool", Variant: title, Why: why, DTypes: analog,
			Build: one(func(x *Node) *Node { return ops.AvgPool(x, w, counted) }),
			In:    []Input{in(between(-2, 2), 2, 5, 5)}, More: [][]Input{{in(calm, 6, 7)}},
		})
	}
	return rows
}

func unfoldRows() []Row {
	fold := func(sizes, strides, dilations []int, shape []int, axes ...int) func(x *Node) *Node {
		return func(x *Node) *Node {
			u := ops.Unfold(x, sizes, strides, dilations, axes...)
			if !u.Valid() {
				return u
			}
			return ops.Fold(u, shape, sizes, strides, dilations, axes...)
		}
	}
	rows := []Row{
		viewRow("ops.Unfold", "one axis", func(x *Node) *Node { return ops.Unfold(x, []int{3}, nil, nil, 1) }, 2, 5, 3),
		viewRow("ops.Unfold", "two axes", func(x *Node) *Node {
			return ops.Unfold(x, []int{2, 3}, []int{2, 1}, []int{1, 2}, -1, 0)
		}, 6, 2, 5),
		viewRow("ops.Unfold", "all axes", func(x *Node) *Node { return ops.Unfold(x, []int{1, 4}, []int{3, 9}, nil) }, 4, 5),
		viewRow("ops.Unfold", "longer than the axis", func(x *Node) *Node { return ops.Unfold(x, []int{4}, nil, nil, 0) }, 3, 2),
		viewRow("ops.Unfold", "of nothing", func(x *Node) *Node { return ops.Unfold(x, []int{0}, []int{2}, nil, 0) }, 3, 2),
		viewRow("ops.Unfold", "of a transpose", func(x *Node) *Node {
			return ops.Unfold(ops.Transpose(x), []int{2}, nil, []int{2}, 1)
		}, 5, 3),
	}
	for _, f := range []struct {
		name string
		f    func(x *Node) *Node
		in   []int
	}{
		{"overlapping", fold([]int{3}, nil, nil, []int{2, 5, 2}, 1), []int{2, 5, 2}},
		{"two axes", fold([]int{2, 3}, []int{1, 2}, []int{2, 1}, []int{5, 2, 6}, 2, 0), []int{5, 2, 6}},
		{"side by side", fold([]int{2, 1}, []int{3, 2}, []int{1, 4}, []int{7, 4}, 0, 1), []int{7, 4}},
		{"empty", fold([]int{4}, nil, nil, []int{3, 2}, 0), []int{3, 2}},
	} {
		rows = append(rows, Row{
			Op: "ops.Fold", Variant: f.name, Why: "what windows share is added", DTypes: anything,
			Build: one(f.f), In: []Input{in(between(-2, 2), f.in...)},
		})
	}
	return append(rows, Row{
		Op: "ops.Unfold", Variant: "large", Why: "kernels read overlapping windows in place", DTypes: anything,
		Build: one(func(x *Node) *Node {
			return ops.Sum(ops.Unfold(x, []int{40}, []int{3}, nil, 1), -1)
		}),
		In: []Input{in(between(-2, 2), 2, 90)}, Large: []Input{in(between(-2, 2), 31, 2000)},
	})
}
