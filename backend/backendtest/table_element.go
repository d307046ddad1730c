package backendtest

import (
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// combinations are what scatters do, with the dtypes and numbers that they are checked with.
var combinations = []struct {
	c    ops.Combine
	dts  []tensor.DType
	x, u Fill
}{
	{ops.CombineSet, anything, between(-2, 2), between(-2, 2)},
	{ops.CombineAdd, anything, between(-2, 2), between(-2, 2)},
	{ops.CombineMul, anything, between(0.5, 1.5), between(0.5, 1.5)},
	{ops.CombineMax, ordered, apart(-3, 3), apart(-3.1, 2.7)},
	{ops.CombineMin, ordered, apart(-3, 3), apart(-3.1, 2.7)},
}

func elementRows() []Row {
	plain := between(-2, 2)
	rows := []Row{
		viewRow("ops.Roll", "", func(x *Node) *Node { return ops.Roll(x, []int{2, -1, 3}, []int{1, 0, -2}) }, 2, 3, 4),
		viewRow("ops.Roll", "not at all", func(x *Node) *Node { return ops.Roll(x, []int{6}, []int{1}) }, 2, 3),
		viewRow("ops.Tril", "", func(x *Node) *Node { return ops.Tril(x, 0) }, 2, 3, 4),
		viewRow("ops.Tril", "below", func(x *Node) *Node { return ops.Tril(x, -1) }, 4, 3),
		viewRow("ops.Triu", "", func(x *Node) *Node { return ops.Triu(x, 1) }, 2, 3, 4),
		{
			Op: "ops.Trace", Why: "the sum of a diagonal", DTypes: anything,
			Build: one(func(x *Node) *Node { return ops.Trace(x, 1, 0, -1) }), In: []Input{in(plain, 3, 2, 4)},
		},
		{
			Op: "ops.Outer", Why: "every pair", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.Outer(in[0], in[1]) }),
			In:    []Input{in(plain, 3, 2), in(plain, 4)}, More: [][]Input{{in(plain), in(plain, 2)}},
		},
		{
			Op: "ops.Diff", Why: "second differences; ≠ of bools", DTypes: anything,
			Build: one(func(x *Node) *Node { return ops.Diff(x, 2, 1) }), In: []Input{in(plain, 2, 5, 3)},
		},
		{
			Op: "ops.Diff", Variant: "too many", Why: "nothing is left", DTypes: anything,
			Build: one(func(x *Node) *Node { return ops.Diff(x, 9, -1) }), In: []Input{in(plain, 2, 3)},
		},
		{
			Op: "ops.GatherElements", Why: "indices smaller than x", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.GatherElements(in[0], in[1], 1) }),
			In:    []Input{in(plain, 3, 4, 2), indices(startsIn(4, 1, true), 2, 5, 2)},
		},
		{
			Op: "ops.GatherND", Why: "slices", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.GatherND(in[0], in[1], 0) }),
			In:    []Input{in(plain, 3, 3, 2), indices(startsIn(3, 1, true), 4, 2)},
		},
		{
			Op: "ops.GatherND", Variant: "batch", Why: "elements of each batch", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.GatherND(in[0], in[1], 1) }),
			In:    []Input{in(plain, 2, 3, 3), indices(startsIn(3, 1, true), 2, 4, 2)},
		},
		{
			Op: "ops.IndexAdd", Why: "repeated indices add", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.IndexAdd(in[0], in[1], in[2], 1) }),
			In:    []Input{in(plain, 2, 4, 3), indices(startsIn(4, 1, true), 6), in(plain, 2, 6, 1)},
		},
		{
			Op: "ops.IndexCopy", Why: "the last writer wins", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.IndexCopy(in[0], in[1], in[2], -2) }),
			In:    []Input{in(plain, 2, 4, 3), indices(startsIn(4, 1, true), 6), in(plain, 2, 6, 3)},
		},
		{
			Op: "ops.IndexFill", Why: "one value", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.IndexFill(in[0], in[1], in[2], 1) }),
			In:    []Input{in(plain, 2, 4, 3), indices(startsIn(4, 1, true), 2), in(plain)},
		},
		{
			Op: "ops.MaskedFill", Why: "the mask broadcasts", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.MaskedFill(in[0], in[1], in[2]) }),
			In:    []Input{in(plain, 2, 4, 3), bools(4, 1), in(plain)},
		},
		{
			Op: "ops.MaskedScatter", Why: "as many as are true", DTypes: anything,
			Build: build(func(in []*Node) *Node {
				return ops.MaskedScatter(in[0], in[0].Graph().Const(mask45), in[1])
			}),
			In: []Input{in(plain, 3, 4, 5), in(plain, 7, 4)},
		},
	}
	for _, c := range combinations {
		rows = append(rows,
			Row{
				Op: "ops.ScatterElements", Variant: c.c.String(), Why: "indices smaller than x and the updates",
				DTypes: c.dts,
				Build:  build(func(in []*Node) *Node { return ops.ScatterElements(in[0], in[1], in[2], 1, c.c) }),
				In:     []Input{in(c.x, 3, 4, 2), indices(startsIn(4, 1, true), 2, 5, 2), in(c.u, 2, 5, 3)},
			},
			Row{
				Op: "ops.ScatterND", Variant: c.c.String(), Why: "slices", DTypes: c.dts,
				Build: build(func(in []*Node) *Node { return ops.ScatterND(in[0], in[1], in[2], c.c) }),
				In:    []Input{in(c.x, 3, 3, 2), indices(startsIn(3, 1, true), 4, 2), in(c.u, 4, 2)},
			})
	}
	return rows
}
