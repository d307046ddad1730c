package conformance

import (
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The sort family of every source, and what is made of it.

// orderOf is that of a flag: descending where it is set.
func orderOf(descending bool) ops.Order {
	if descending {
		return ops.Descending
	}
	return ops.Ascending
}

// stablehloSort: the comparator is our order, or one that leaves open where NaN goes; every sort is stable.
func stablehloSort(c *call) []*node {
	c.hint("is_stable")
	switch float := attr[string](c, "float_order"); float {
	case "total_nan_last_zero_equal", "partial":
	default:
		return c.missing("with float_order " + float)
	}
	by := orderOf(c.flag("descending", false))
	return ops.SortBy(attr[int](c, "dimension"), attr[int](c, "num_keys"), by, c.in...)
}

// stablehloTopK compares floats by totalOrder, and indices are int32.
func stablehloTopK(c *call) []*node {
	v, i := ops.TopK(c.x(0), attr[int](c, "k"), -1, ops.TotalDescending)
	return []*node{v, ops.Cast(i, tensor.Int32)}
}

func onnxTopK(c *call) []*node {
	c.hint("sorted") // unsorted is any order
	v, i := ops.TopK(c.x(0), c.int(1), attrOr(c, "axis", -1), orderOf(c.flag("largest", true)))
	return []*node{v, i}
}

// onnxUnique: unsorted is in the order of the first occurrences.
func onnxUnique(c *call) []*node {
	x, a := c.literal(0), 0
	if c.err != nil {
		return nil
	}
	var v, first, inverse, counts *node
	if c.has("axis") {
		a = attr[int](c, "axis")
		v, first, inverse, counts = ops.UniqueRows(x, a)
	} else {
		v, first, inverse, counts = ops.UniqueWithIndex(x)
		inverse = ops.Flatten(inverse)
	}
	if !c.flag("sorted", true) {
		by := ops.ArgSort(first, 0, ops.Ascending)
		v, first, counts = ops.Take(v, by, a), ops.Take(first, by, 0), ops.Take(counts, by, 0)
		inverse = ops.Take(ops.ArgSort(by, 0, ops.Ascending), inverse, 0)
	}
	return []*node{v, first, inverse, counts}[:c.outs]
}

func numpyUnique(c *call) []*node {
	x := c.literal(0)
	if c.err != nil {
		return nil
	}
	v, first, inverse, counts := ops.UniqueWithIndex(x)
	return []*node{v, first, ops.Flatten(inverse), counts}[:c.outs]
}

func numpySearchSorted(c *call) []*node {
	return one(ops.SearchSorted(c.x(0), c.x(1), attr[string](c, "side") == "right"))
}

func torchSort(c *call) []*node {
	c.hint("stable")
	v, i := ops.SortWithIndex(c.x(0), attr[int](c, "dim"), orderOf(c.flag("descending", false)))
	return []*node{v, i}
}

func torchTopK(c *call) []*node {
	c.hint("sorted")
	v, i := ops.TopK(c.x(0), attr[int](c, "k"), attr[int](c, "dim"), orderOf(c.flag("largest", true)))
	return []*node{v, i}
}

func torchKthValue(c *call) []*node {
	v, i := ops.KthValue(c.x(0), attr[int](c, "k"), attr[int](c, "dim"))
	return kept(c, v, i)
}

// torchMedian is the lower of two middles, or the first NaN.
func torchMedian(c *call) []*node {
	x := c.x(0)
	a := axis(attr[int](c, "dim"), x.Rank())
	_, i := ops.KthValue(x, (x.Shape()[a]+1)/2, a)
	i = ops.Where(ops.Any(ops.IsNaN(x), a), ops.ArgMax(x, a), i)
	return kept(c, ops.Squeeze(ops.TakeAlongAxis(x, ops.ExpandDims(i, a), a), a), i)
}

// kept gives a value and an index their axis back where keepdims is set.
func kept(c *call, v, i *node) []*node {
	a := axis(attr[int](c, "dim"), c.x(0).Rank())
	if c.flag("keepdims", false) {
		v, i = ops.ExpandDims(v, a), ops.ExpandDims(i, a)
	}
	return []*node{v, i}
}

var torchBags = map[string]ops.BagMode{"sum": ops.BagSum, "mean": ops.BagMean, "max": ops.BagMax}

func torchEmbeddingBag(c *call) []*node {
	name := attr[string](c, "mode")
	mode, ok := torchBags[name]
	if !ok {
		return c.missing("with mode " + name)
	}
	var padding []int
	if c.has("padding_idx") {
		padding = []int{attr[int](c, "padding_idx")}
	}
	if !c.given(2) {
		return one(ops.EmbeddingBag(c.x(0), c.x(1), mode, padding...))
	}
	return one(ops.EmbeddingBagOffsets(c.x(0), c.x(1), c.x(2), mode, padding...))
}

func refSort(c *call) []*node {
	return one(ops.Sort(c.x(0), attr[int](c, "axis"), orderOf(c.flag("descending", false))))
}

func refArgSort(c *call) []*node {
	return one(ops.ArgSort(c.x(0), attr[int](c, "axis"), orderOf(c.flag("descending", false))))
}

func refTopK(c *call) []*node {
	v, i := ops.TopK(c.x(0), attr[int](c, "k"), attr[int](c, "axis"), ops.Descending)
	return []*node{v, i}
}

var refSegments = map[string]func(data, ids *node, num int) *node{
	"sum": ops.SegmentSum, "mean": ops.SegmentMean, "prod": ops.SegmentProd, "max": ops.SegmentMax,
	"min": ops.SegmentMin,
}

func refSegment(c *call) []*node {
	name := attr[string](c, "op")
	fold, ok := refSegments[name]
	if !ok {
		return c.missing(name)
	}
	return one(fold(c.x(0), c.x(1), attr[int](c, "num_segments")))
}
