package backendtest

import (
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func segmentRows() []Row {
	var rows []Row
	for _, s := range []struct {
		op         string
		f          func(data, ids *Node, num int) *Node
		dts        []tensor.DType
		fill, more Fill
	}{
		{"ops.SegmentSum", ops.SegmentSum, anything, between(-2, 2), calm},
		{"ops.SegmentProd", ops.SegmentProd, anything, near(-1, 1), near(-1, 1)},
		{"ops.SegmentMean", ops.SegmentMean, analog, between(-2, 2), calm},
		{"ops.SegmentMax", ops.SegmentMax, ordered, apart(-3, 3), edges},
		{"ops.SegmentMin", ops.SegmentMin, ordered, apart(-3, 3), edges},
	} {
		rows = append(rows,
			Row{
				Op: s.op, Why: "an id out of range is dropped", DTypes: s.dts,
				Build: build(func(in []*Node) *Node { return s.f(in[0], in[1], 4) }),
				In:    []Input{in(s.fill, 7, 2, 3), indices(exactly(2, 0, 3, -1, 1, 0, 3), 7)}, // none is empty: no ∞ for differences
				More: [][]Input{
					{in(s.more, 18), indices(startsAbout(4, 1), 18)}, {in(s.fill, 0, 2), indices(startsAbout(4, 1), 0)},
					{in(s.fill, 3, 0), indices(startsAbout(4, 1), 3)},
				},
				Large: []Input{in(s.fill, 900, 60), indices(startsAbout(4, 1), 900)},
			},
			Row{
				Op: s.op, Variant: "ids of rank 2", Why: "the first axes of data", DTypes: s.dts,
				Build: build(func(in []*Node) *Node { return s.f(in[0], in[1], 3) }),
				In:    []Input{in(s.fill, 2, 4, 3), indices(exactly(2, 0, 3, -1, 1, 0, 2, 1), 2, 4)},
			})
	}
	return append(rows, countRows()...)
}

var (
	keep43 = tensor.Must(tensor.FromSlice([]bool{true, false, true, false, false, true, true, true, false, false, false, true}, 4, 3))
	keep2  = tensor.Of(false, true)
)

// countRows are those that count and those that choose by a mask, a literal one.
func countRows() []Row {
	plain := between(-2, 2)
	literal := func(x *Node, m *tensor.Tensor) *Node { return x.Graph().Const(m) }
	return []Row{
		{
			Op: "ops.Bincount", Why: "an id out of range is dropped", DTypes: integral,
			Build: one(func(x *Node) *Node { return ops.Bincount(x, 5) }),
			In:    []Input{in(between(-2, 7), 3, 8)}, Gradient: Gradient{None: noGradientInts},
		},
		{
			Op: "ops.RepeatCounts", Why: "cut off at a total, or padded", DTypes: anything,
			Build: build(func(in []*Node) *Node { return ops.RepeatCounts(in[0], in[1], 1, 6) }),
			In:    []Input{in(plain, 2, 4), indices(exactly(2, 0, 1, 2), 4)},
			More: [][]Input{
				{in(payloads, 2, 3), indices(exactly(3, 2, 4), 3)}, {in(plain, 2, 0), indices(exactly(0), 0)},
				{in(plain, 1, 2), Input{Shape: []int{2}, DType: tensor.Int8, Fill: exactly(-3, 5)}},
			},
		},
		{
			Op: "ops.MaskedSelect", Why: "a literal mask; the two broadcast", DTypes: anything,
			Build: one(func(x *Node) *Node { return ops.MaskedSelect(x, literal(x, keep43)) }),
			In:    []Input{in(plain, 2, 4, 3)}, More: [][]Input{{in(payloads, 3)}},
		},
		{
			Op: "ops.MaskedSelect", Variant: "eager", Why: "a mask with a value", DTypes: anything,
			Build:    build(func(in []*Node) *Node { return ops.MaskedSelect(in[0], in[1]) }),
			In:       []Input{in(plain, 4, 3), bools(4, 1)},
			Eager:    "the number of elements depends on the mask",
			Gradient: Gradient{Unchecked: "it cannot be compiled; the row of the literal mask is checked"},
		},
		{
			Op: "ops.Compress", Why: "a literal mask, shorter than the axis", DTypes: anything,
			Build: one(func(x *Node) *Node { return ops.Compress(x, literal(x, keep2), -1) }),
			In:    []Input{in(plain, 2, 4)}, More: [][]Input{{in(payloads, 2)}},
		},
		{
			Op: "ops.Hardmax", Why: "the first of those that tie", DTypes: reals,
			Build: one(func(x *Node) *Node { return ops.Hardmax(x, 1) }),
			In:    []Input{in(ties, 2, 5, 3)}, More: [][]Input{{in(edges, 3, 18)}},
			Gradient: Gradient{None: noGradientSteps},
		},
	}
}

func bagRows() []Row {
	var rows []Row
	for _, m := range []struct {
		name string
		mode ops.BagMode
		dts  []tensor.DType
		fill Fill
	}{{"sum", ops.BagSum, analog, between(-2, 2)}, {"mean", ops.BagMean, analog, between(-2, 2)}, {"max", ops.BagMax, floats, apart(-3, 3)}} {
		rows = append(rows,
			Row{
				Op: "ops.EmbeddingBag", Variant: m.name, Why: "the paddings take no part", DTypes: m.dts,
				Build: build(func(in []*Node) *Node { return ops.EmbeddingBag(in[0], in[1], m.mode, -1, 2) }),
				In:    []Input{in(m.fill, 6, 3), indices(startsIn(6, 1, true), 2, 2, 4)},
				More:  [][]Input{{in(m.fill, 6), indices(startsIn(6, 1, true), 5)}, {in(m.fill, 6, 2), indices(startsIn(6, 1, true), 3, 0)}},
			},
			Row{
				Op: "ops.EmbeddingBagOffsets", Variant: m.name, Why: "a bag of nothing is 0", DTypes: m.dts,
				Build: build(func(in []*Node) *Node { return ops.EmbeddingBagOffsets(in[0], in[1], in[2], m.mode, 3) }),
				In: []Input{in(m.fill, 6, 3), indices(startsIn(6, 1, true), 9), Input{
					Shape: []int{4}, DType: tensor.Int32, Fill: exactly(0, 4, 4, 5),
				}},
			})
	}
	return rows
}

func nanRows() []Row {
	row := func(op string, f ops.Reduction, dts []tensor.DType, fill, more Fill) Row {
		return Row{
			Op: op, Why: "NaN takes no part", DTypes: dts,
			Build: one(func(x *Node) *Node { return f(x, 1) }),
			In:    []Input{in(fill, 2, 4, 3)},
			More:  [][]Input{{in(more, 3, 19, 2)}, {in(more, 40, 2)}, {in(exactly(nan), 2, 3)}, {in(fill, 1, 1)}},
		}
	}
	arg := func(op string, f func(x *Node, axis int) *Node) Row {
		r := row(op, func(x *Node, axes ...int) *Node { return f(x, axes[0]) }, reals, ties, edges)
		r.Gradient.None = noGradientIndex
		return r
	}
	return []Row{
		row("ops.NanSum", ops.NanSum, anything, between(-2, 2), calm),
		row("ops.NanProd", ops.NanProd, anything, near(-1, 1), normal),
		row("ops.NanMean", ops.NanMean, analog, between(-2, 2), calm),
		row("ops.NanMax", ops.NanMax, ordered, apart(-3, 3), edges),
		row("ops.NanMin", ops.NanMin, ordered, apart(-3, 3), edges),
		arg("ops.NanArgMax", ops.NanArgMax), arg("ops.NanArgMin", ops.NanArgMin),
	}
}
