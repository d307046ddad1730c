package backendtest

import (
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// expression is a NumPy index expression on an operand of shape 4, 5, 3, with its index arrays.
type expression struct {
	name  string
	why   string
	items func(i []*Node) []index.Item
	in    []Input
	v     []int // shape of a value that is written
}

var mask45 = tensor.Must(tensor.FromSlice([]bool{
	true, false, false, true, false, false, true, false, false, false,
	false, false, true, false, true, false, false, false, false, true,
}, 4, 5))

var expressions = []expression{
	{"basic", "slices, an integer, a new axis", func([]*Node) []index.Item {
		return []index.Item{index.By(-2), index.NewAxis, index.Range(1, 4), index.At(-1)}
	}, nil, []int{1, 3}},
	{"array", "negative indices count from the end", func(i []*Node) []index.Item {
		return []index.Item{index.All, index.Of(i[0])}
	}, []Input{indices(startsIn(5, 1, true), 6)}, []int{6, 1}},
	{"arrays", "neighbours, broadcast, after an ellipsis", func(i []*Node) []index.Item {
		return []index.Item{index.Ellipsis, index.Of(i[0]), index.Of(i[1])}
	}, []Input{indices(startsIn(5, 1, true), 2, 1), indices(startsIn(3, 1, true), 4)}, []int{4, 2, 4}},
	{"apart", "separated: their axes come first", func(i []*Node) []index.Item {
		return []index.Item{index.Of(i[0]), index.By(2), index.Of(i[1])}
	}, []Input{indices(startsIn(4, 1, true), 6), indices(startsIn(3, 1, true), 6)}, []int{3}},
	{"mask", "a literal mask of rank 2", func([]*Node) []index.Item {
		return []index.Item{index.Mask(mask45)}
	}, nil, []int{6, 1}},
	{"everything", "a bool of rank 0, a stepped slice, an integer and an array", func(i []*Node) []index.Item {
		return []index.Item{index.Bool(true), index.By(-1), index.At(2), index.Of(i[0])}
	}, []Input{indices(startsIn(3, 1, true), 5)}, []int{5, 1}},
}

func indexRows() []Row {
	var rows []Row
	for _, e := range expressions {
		rows = append(rows, Row{
			Op: "ops.Index", Variant: e.name, Why: e.why, DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.Index(in[0], e.items(in[1:])...) }),
			In:    append([]Input{in(between(-2, 2), 4, 5, 3)}, e.in...),
			More:  [][]Input{append([]Input{in(payloads, 4, 5, 3)}, e.in...)},
		})
		for _, u := range []struct {
			op   string
			f    func(x *Node, v any, items ...index.Item) *Node
			dts  []tensor.DType
			x, v Fill
		}{
			{"ops.SetIndex", ops.SetIndex, anything, between(-2, 2), between(-2, 2)},
			{"ops.AddIndex", ops.AddIndex, anything, between(-2, 2), between(-2, 2)},
			{"ops.MulIndex", ops.MulIndex, anything, between(-2, 2), between(-2, 2)},
			{"ops.MaxIndex", ops.MaxIndex, ordered, apart(-3, 3), apart(-3.1, 2.7)},
			{"ops.MinIndex", ops.MinIndex, ordered, apart(-3, 3), apart(-3.1, 2.7)},
		} {
			r := Row{
				Op: u.op, Variant: e.name, Why: e.why, DTypes: u.dts,
				Build: build(func(in []*Node) *Node { return u.f(in[0], in[1], e.items(in[2:])...) }),
				In:    append([]Input{in(u.x, 4, 5, 3), in(u.v, e.v...)}, e.in...),
			}
			if u.op == "ops.MaxIndex" || u.op == "ops.MinIndex" {
				r.Gradient.FirstOrder = "" // linear between its ties
			}
			rows = append(rows, r)
		}
	}
	rows = append(rows, maskRows()...)
	return append(append(rows, takeRows()...), stableRows()...)
}

// maskRows: masks known at run time alone, and the places of a mask.
func maskRows() []Row {
	return []Row{
		{
			Op: "ops.SetIndex", Variant: "run-time mask", Why: "lowers to a select", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.SetIndex(in[0], in[1], index.Mask(in[2])) }),
			In:    []Input{in(between(-2, 2), 4, 5), in(between(-2, 2)), bools(4, 5)},
		},
		{
			Op: "ops.Nonzero", Why: "the places in row-major order", DTypes: []tensor.DType{tensor.Bool},
			Build: func(in []*Node) []*Node { return ops.Nonzero(in[0]) },
			In:    []Input{in(between(0, 1), 3, 4)},
			Eager: "the number of places depends on the mask", Gradient: Gradient{None: noGradientInts},
		},
		{
			Op: "ops.NonzeroSized", Why: "too few places are padded", DTypes: []tensor.DType{tensor.Bool},
			Build: func(in []*Node) []*Node { return ops.NonzeroSized(in[0], 9, -7) },
			In:    []Input{in(between(0, 1), 3, 4)},
			More:  [][]Input{{in(between(0, 1), 5, 5)}}, Gradient: Gradient{None: noGradientInts},
		},
	}
}

func takeRows() []Row {
	plain := between(-2, 2)
	var rows []Row
	for _, b := range []struct {
		name  string
		bound []ops.Bound
		fill  Fill
	}{
		{"", nil, startsIn(4, 1, true)}, {"clamped", []ops.Bound{ops.Clamped}, startsAbout(4, 1)},
		{"modulo", []ops.Bound{ops.Modulo}, startsAbout(4, 1)}, {"dropped", []ops.Bound{ops.Dropped}, startsAbout(4, 1)},
	} {
		rows = append(rows,
			Row{
				Op: "ops.Take", Variant: b.name, Why: "a repeated index adds its cotangents",
				DTypes: anything,
				Build:  build(func(in []*Node) *Node { return ops.Take(in[0], in[1], 1, b.bound...) }),
				In:     []Input{in(plain, 2, 4, 3), indices(b.fill, 3, 2)},
				More:   [][]Input{{in(payloads, 2, 4), indices(b.fill)}},
			},
			Row{
				Op: "ops.TakeAlongAxis", Variant: b.name, Why: "one index an element; others broadcast",
				DTypes: anything,
				Build:  build(func(in []*Node) *Node { return ops.TakeAlongAxis(in[0], in[1], -1, b.bound...) }),
				In:     []Input{in(plain, 3, 4), indices(b.fill, 3, 5)},
				More:   [][]Input{{in(payloads, 1, 4), indices(b.fill, 3, 2)}, {in(payloads, 3, 4), indices(b.fill, 1, 2)}},
			})
		for c := ops.CombineSet; c <= ops.CombineMin; c++ {
			r := Row{
				Op: "ops.PutAlongAxis", Variant: combineNames[c] + " " + b.name,
				Why:    "one index an element",
				DTypes: anything,
				Build:  build(func(in []*Node) *Node { return ops.PutAlongAxis(in[0], in[1], in[2], 1, c, b.bound...) }),
				In:     []Input{in(plain, 3, 4), indices(b.fill, 3, 5), in(plain, 3, 5)},
			}
			if c == ops.CombineMax || c == ops.CombineMin {
				r.DTypes, r.In[0], r.In[2] = ordered, in(apart(-3, 3), 3, 4), in(apart(-3.1, 2.7), 3, 5)
			}
			rows = append(rows, r)
		}
	}
	filled := Row{
		Op: "ops.Take", Variant: "filled", Why: "the fill gets the cotangents of what it filled",
		DTypes: anything,
		Build:  build(func(in []*Node) *Node { return ops.Take(in[0], in[1], 0, ops.Filled(in[2])) }),
		In:     []Input{in(plain, 4, 3), indices(startsAbout(4, 1), 6), in(plain)},
	}
	return append(rows, filled,
		Row{
			Op: "ops.Embedding", Why: "the rows of the ids, in any shape", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.Embedding(in[0], in[1]) }),
			In:    []Input{in(plain, 6, 3), indices(startsIn(6, 1, true), 2, 5)},
			Large: []Input{in(plain, 60, 64), indices(startsIn(60, 1, true), 40, 30)},
		},
		Row{
			Op: "ops.DynamicSlice", Why: "the starts clamp", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.DynamicSlice(in[0], in[1:], []int{2, 3}) }),
			In:    []Input{in(plain, 4, 5), indices(startsAbout(4, 2)), indices(startsAbout(5, 3))},
		},
		Row{
			Op: "ops.DynamicUpdateSlice", Why: "the starts clamp", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.DynamicUpdateSlice(in[0], in[1], in[2:]...) }),
			In:    []Input{in(plain, 4, 5), in(plain, 2, 3), indices(startsAbout(4, 2)), indices(startsAbout(5, 3))},
		})
}

// stableRows: the specification's worked example of gather, and its twin.
func stableRows() []Row {
	plain := between(-2, 2)
	gather := ops.GatherDims{
		OffsetDims: []int{3, 4}, CollapsedSliceDims: []int{1}, OperandBatchingDims: []int{0}, StartIndicesBatchingDims: []int{1},
		StartIndexMap: []int{2, 1}, IndexVectorDim: 3, SliceSizes: []int{1, 1, 2, 2},
	}
	scatter := ops.ScatterDims{
		UpdateWindowDims: []int{3, 4}, InsertedWindowDims: []int{1}, InputBatchingDims: []int{0}, ScatterIndicesBatchingDims: []int{1},
		ScatterDimsToOperandDims: []int{2, 1}, IndexVectorDim: 3,
	}
	x, idx, u := in(plain, 2, 3, 4, 2), indices(between(-1, 4), 2, 2, 3, 2), in(plain, 2, 2, 3, 2, 2)
	rows := []Row{{
		Op: "ops.StableHLOGather", Why: "the starts clamp", DTypes: anything, In: []Input{x, idx},
		Build: build(func(in []*Node) *Node { return ops.StableHLOGather(in[0], in[1], gather) }),
	}}
	for c := ops.CombineSet; c <= ops.CombineMin; c++ {
		r := Row{
			Op: "ops.StableHLOScatter", Variant: combineNames[c],
			Why:    "each element is judged by its own place",
			DTypes: anything,
			Build:  build(func(in []*Node) *Node { return ops.StableHLOScatter(in[0], in[1], in[2], c, scatter) }),
			In:     []Input{x, idx, u},
		}
		if c == ops.CombineMax || c == ops.CombineMin {
			r.DTypes, r.In = ordered, []Input{in(apart(-3, 3), 2, 3, 4, 2), idx, in(apart(-3.1, 2.7), 2, 2, 3, 2, 2)}
		}
		rows = append(rows, r)
	}
	return rows
}
