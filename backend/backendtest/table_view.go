package backendtest

import "github.com/adjoint-go/adjoint/ops"

// viewRow is a row of a builder that only moves elements: any dtype, any bits.
func viewRow(op, variant string, f func(x *Node) *Node, shape ...int) Row {
	return Row{
		Op: op, Variant: variant, Why: "moves elements", Build: one(f), DTypes: anything,
		In: []Input{in(between(-2, 2), shape...)}, More: [][]Input{{in(payloads, shape...)}},
	}
}

func viewRows() []Row {
	rows := []Row{
		viewRow("ops.Transpose", "reversed", func(x *Node) *Node { return ops.Transpose(x) }, 2, 3, 4),
		viewRow("ops.Transpose", "permuted", func(x *Node) *Node { return ops.Transpose(x, 1, -1, 0) }, 2, 3, 4),
		viewRow("ops.SwapAxes", "", func(x *Node) *Node { return ops.SwapAxes(x, 0, -1) }, 2, 3, 4),
		viewRow("ops.MoveAxis", "", func(x *Node) *Node { return ops.MoveAxis(x, 0, 2) }, 2, 3, 4),
		viewRow("ops.Reverse", "", func(x *Node) *Node { return ops.Reverse(x, 0, -1) }, 2, 3, 4),
		viewRow("ops.Slice", "steps of both signs", func(x *Node) *Node {
			return ops.Slice(x, []int{5, 0, 1}, []int{-2, 1, 2}, []int{3, 3, 2})
		}, 6, 3, 4),
		viewRow("ops.Slice", "empty", func(x *Node) *Node { return ops.Slice(x, []int{4, 0}, []int{1, 1}, []int{0, 3}) }, 4, 3),
		viewRow("ops.SliceAxis", "", func(x *Node) *Node { return ops.SliceAxis(x, 1, 1, 2) }, 2, 4, 3),
		viewRow("ops.Diagonal", "main", func(x *Node) *Node { return ops.Diagonal(x, 0, 0, 1) }, 3, 4, 2),
		viewRow("ops.Diagonal", "below", func(x *Node) *Node { return ops.Diagonal(x, -1, 2, 0) }, 3, 2, 4),
		viewRow("ops.BroadcastTo", "", func(x *Node) *Node { return ops.BroadcastTo(x, 2, 3, 4) }, 3, 1),
		viewRow("ops.BroadcastTo", "rank 0", func(x *Node) *Node { return ops.BroadcastTo(x, 2, 3) }),
		viewRow("ops.BroadcastTo", "to nothing", func(x *Node) *Node { return ops.BroadcastTo(x, 0, 3) }, 3),
		viewRow("ops.Reshape", "", func(x *Node) *Node { return ops.Reshape(x, 4, -1) }, 2, 3, 2),
		viewRow("ops.Reshape", "of a transpose", func(x *Node) *Node { return ops.Reshape(ops.Transpose(x), 6, 2) }, 3, 4),
		viewRow("ops.Reshape", "empty", func(x *Node) *Node { return ops.Reshape(x, 5, 0) }, 0, 3),
		viewRow("ops.Flatten", "", ops.Flatten, 2, 3),
		viewRow("ops.ExpandDims", "", func(x *Node) *Node { return ops.ExpandDims(x, 0, -1) }, 2, 3),
		viewRow("ops.Squeeze", "", func(x *Node) *Node { return ops.Squeeze(x) }, 2, 1, 3, 1),
		viewRow("ops.Tile", "", func(x *Node) *Node { return ops.Tile(x, 2, 1, 3) }, 2, 3),
		viewRow("ops.Repeat", "", func(x *Node) *Node { return ops.Repeat(x, 3, -1) }, 2, 3),
		viewRow("ops.PadWith", "edge", func(x *Node) *Node { return ops.PadWith(x, ops.PadEdge, []int{2, 0}, []int{1, 3}) }, 2, 3),
		viewRow("ops.PadWith", "reflect", func(x *Node) *Node { return ops.PadWith(x, ops.PadReflect, []int{2, 0}, []int{1, 4}) }, 2, 3),
		viewRow("ops.PadWith", "symmetric", func(x *Node) *Node { return ops.PadWith(x, ops.PadSymmetric, []int{2, 0}, []int{1, 4}) }, 2, 3),
		viewRow("ops.PadWith", "wrap", func(x *Node) *Node { return ops.PadWith(x, ops.PadWrap, []int{2, 0}, []int{1, 4}) }, 2, 3),
		viewRow("ops.Concat", "with itself", func(x *Node) *Node { return ops.Concat(1, x, x) }, 2, 3),
		{
			Op: "ops.Split", Why: "views side by side", DTypes: anything,
			In:    []Input{in(between(-2, 2), 2, 6)},
			Build: func(in []*Node) []*Node { return ops.Split(in[0], -1, 1, 0, 3, 2) },
		},
		{
			Op: "ops.Concat", Variant: "three", Why: "extents differ along the axis, one is 0",
			DTypes: anything,
			Build:  build(func(in []*Node) *Node { return ops.Concat(-2, in...) }),
			In:     []Input{in(between(-2, 2), 2, 3, 4), in(between(-2, 2), 2, 0, 4), in(between(-2, 2), 2, 2, 4)},
			More:   [][]Input{{in(payloads, 1, 5), in(payloads, 3, 5), in(payloads, 2, 5)}, {in(payloads, 3, 0), in(payloads, 1, 0)}},
			Large:  []Input{in(payloads, 2, 60, 301), in(payloads, 2, 71, 301), in(payloads, 2, 3, 301)},
		},
		{
			Op: "ops.Stack", Why: "a new axis", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.Stack(-1, in...) }),
			In:    []Input{in(between(-2, 2), 2, 3), in(between(-2, 2), 2, 3)},
			More:  [][]Input{{in(payloads), in(payloads), in(payloads)}},
		},
		{
			Op: "ops.PutSlice", Why: "a negative step; u is broadcast", DTypes: anything,
			Build: build(func(in []*Node) *Node {
				rows, cols := in[0].Shape()[0], in[0].Shape()[1]
				return ops.PutSlice(in[0], in[1], []int{rows - 1, 1}, []int{-2, 1}, []int{rows / 2, cols - 1})
			}),
			In:    []Input{in(between(-2, 2), 5, 4), in(between(-2, 2), 3)},
			More:  [][]Input{{in(payloads, 5, 4), in(payloads, 2, 3)}, {in(payloads, 5, 7), in(payloads)}},
			Large: []Input{in(payloads, 310, 257), in(payloads, 155, 256)},
		},
		{
			Op: "ops.PutSlice", Variant: "empty", Why: "nothing is put", DTypes: anything,
			Build: build(func(in []*Node) *Node {
				return ops.PutSlice(in[0], in[1], []int{0, 0}, []int{1, 1}, []int{0, 4})
			}),
			In: []Input{in(between(-2, 2), 5, 4), in(between(-2, 2), 0, 4)},
		},
		{
			Op: "ops.Pad", Why: "crops, pads between; the value gets the rest", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.Pad(in[0], in[1], []int{-1, 2}, []int{2, 0}, []int{1, 2}) }),
			In:    []Input{in(between(-2, 2), 4, 3), in(between(-2, 2))},
		},
	}
	return rows
}
