package conformance

import (
	"math"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// torchOps are PyTorch's functions on ours.
var torchOps = map[string]op{
	"amax":                 torchReduce(ops.Max),
	"amin":                 torchReduce(ops.Min),
	"concat":               func(c *call) []*node { return one(ops.Concat(attr[int](c, "dim"), c.in...)) },
	"conv":                 torchConv(ops.Conv),
	"conv_transpose":       torchConv(ops.ConvTranspose),
	"cummax":               torchCumulative(ops.CumMax),
	"cummin":               torchCumulative(ops.CumMin),
	"cumprod":              torchScan(ops.CumProd),
	"cumsum":               torchScan(ops.CumSum),
	"diagonal":             torchDiagonal,
	"dynamic_slice":        torchDynamicSlice,
	"dynamic_update_slice": torchDynamicUpdateSlice,
	"embedding":            torchEmbedding,
	"embedding_bag":        torchEmbeddingBag,
	"flip":                 func(c *call) []*node { return one(ops.Reverse(c.x(0), attr[[]int](c, "dims")...)) },
	"gather": func(c *call) []*node {
		return one(gatherElements(c.x(0), c.x(1), attr[int](c, "dim")))
	},
	"index_add": torchIndexAdd,
	"index_copy": func(c *call) []*node {
		return one(ops.IndexCopy(c.x(0), c.x(1), c.x(2), attr[int](c, "dim")))
	},
	"kthvalue":      torchKthValue,
	"index_select":  func(c *call) []*node { return one(ops.Take(c.x(0), c.x(1), attr[int](c, "dim"))) },
	"log_softmax":   func(c *call) []*node { return one(ops.LogSoftmax(c.x(0), attr[int](c, "dim"))) },
	"logcumsumexp":  torchScan(ops.LogCumSumExp),
	"logsumexp":     torchReduce(ops.LogSumExp),
	"masked_fill":   func(c *call) []*node { return one(ops.MaskedFill(c.x(0), c.x(1), c.x(2))) },
	"masked_select": torchMaskedSelect,
	"max":           torchExtreme(ops.ArgMaxFn),
	"max_all":       func(c *call) []*node { return one(ops.Max(c.x(0))) },
	"mean":          torchReduce(ops.Mean),
	"median":        torchMedian,
	"min":           torchExtreme(ops.ArgMinFn),
	"min_all":       func(c *call) []*node { return one(ops.Min(c.x(0))) },
	"nll_loss":      torchNLLLoss,
	"norm":          torchNorm,
	"pad":           torchPad,
	"prod":          torchProd,
	"prod_all":      func(c *call) []*node { return one(ops.Prod(c.x(0))) },
	"repeat_interleave": func(c *call) []*node {
		return one(repeatEach(c, c.x(0), c.ints(1), attr[int](c, "dim")))
	},
	"roll": func(c *call) []*node {
		return one(ops.Roll(c.x(0), attr[[]int](c, "shifts"), attr[[]int](c, "dims")))
	},
	"scatter":        torchScatter(ops.CombineSet),
	"scatter_add":    torchScatter(ops.CombineAdd),
	"scatter_reduce": torchScatterReduce,
	"softmax":        func(c *call) []*node { return one(ops.Softmax(c.x(0), attr[int](c, "dim"))) },
	"sort":           torchSort,
	"stack":          func(c *call) []*node { return one(ops.Stack(attr[int](c, "dim"), c.in...)) },
	"std":            torchSpread(ops.Std),
	"sum":            torchReduce(ops.Sum),
	"take":           func(c *call) []*node { return one(ops.Take(ops.Flatten(c.x(0)), c.x(1), 0)) },
	"take_along_dim": torchTakeAlongDim,
	"topk":           torchTopK,
	"tril": func(c *call) []*node {
		return one(triangle(c.x(0), attrOr(c, "k", 0), c.flag("upper", false)))
	},
	"unfold": func(c *call) []*node {
		size, step := []int{attr[int](c, "size")}, []int{attr[int](c, "step")}
		return one(ops.Unfold(c.x(0), size, step, nil, attr[int](c, "dim")))
	},
	"var":   torchSpread(ops.Var),
	"where": func(c *call) []*node { return one(ops.Where(c.x(0), c.x(1), c.x(2))) },
}

func torchReduce(reduce ops.Reduction) op {
	return func(c *call) []*node {
		return one(keeping(c.flag("keepdims", false), reduce, c.x(0), attr[[]int](c, "dims")))
	}
}

// torchSpread is a variance or deviation; unbiased is a correction of 1.
func torchSpread(f func(x *node, correction int, axes ...int) *node) op {
	return func(c *call) []*node {
		correction := 0
		if c.flag("unbiased", true) {
			correction = 1
		}
		reduce := func(x *node, axes ...int) *node { return f(x, correction, axes...) }
		return one(keeping(c.flag("keepdims", false), reduce, c.x(0), attr[[]int](c, "dims")))
	}
}

func torchNorm(c *call) []*node {
	p := order(c)
	norm := func(x *node, axes ...int) *node { return ops.Norm(x, p, axes...) }
	return one(keeping(c.flag("keepdims", false), norm, c.x(0), attr[[]int](c, "dims")))
}

// order is the attribute p of a norm.
func order(c *call) float64 {
	switch string(c.attrs["p"]) {
	case `"Inf"`:
		c.hint("p")
		return math.Inf(1)
	case `"-Inf"`:
		c.hint("p")
		return math.Inf(-1)
	}
	return attr[float64](c, "p")
}

func torchProd(c *call) []*node {
	return one(keeping(c.flag("keepdims", false), ops.Prod, c.x(0), []int{attr[int](c, "dim")}))
}

// torchExtreme is the extreme of an axis as the element at its index, which alone gets the gradient.
func torchExtreme(fn ops.ArgFn) op {
	return func(c *call) []*node {
		x := c.x(0)
		a := axis(attr[int](c, "dim"), x.Rank())
		i := ops.ExpandDims(ops.ArgReduce(fn, x, a, tensor.Int64), a)
		v := ops.TakeAlongAxis(x, i, a)
		if !c.flag("keepdims", false) {
			v, i = ops.Squeeze(v, a), ops.Squeeze(i, a)
		}
		return []*node{v, i}
	}
}

func torchScan(f scan) op {
	return func(c *call) []*node { return one(f(c.x(0), attr[int](c, "dim"))) }
}

// torchCumulative is a cumulative extreme and the last of the elements that are it, which alone gets the gradient.
func torchCumulative(f scan) op {
	return func(c *call) []*node {
		x, dim := c.x(0), attr[int](c, "dim")
		place := ops.Iota(c.g, tensor.Int64, dim, x.Shape()...)
		last := ops.CumMax(ops.Where(ops.Attains(x, f(x, dim)), place, -1), dim)
		return []*node{ops.TakeAlongAxis(x, last, dim), last}
	}
}

func torchDiagonal(c *call) []*node {
	return one(ops.Diagonal(c.x(0), attr[int](c, "offset"), attr[int](c, "dim1"), attr[int](c, "dim2")))
}

// starts are an attribute's numbers as nodes.
func starts(c *call) []*node {
	var out []*node
	for _, s := range attr[[]int](c, "start_indices") {
		out = append(out, c.g.Literal(tensor.Int64, s))
	}
	return out
}

func torchDynamicSlice(c *call) []*node {
	return one(ops.DynamicSlice(c.x(0), starts(c), attr[[]int](c, "slice_sizes")))
}

func torchDynamicUpdateSlice(c *call) []*node {
	return one(ops.DynamicUpdateSlice(c.x(0), c.x(1), starts(c)...))
}

func torchEmbedding(c *call) []*node {
	if !c.has("padding_idx") {
		return one(ops.Embedding(c.x(0), c.x(1)))
	}
	return one(ops.Embedding(c.x(0), c.x(1), attr[int](c, "padding_idx")))
}

func torchIndexAdd(c *call) []*node {
	x, v := c.x(0), ops.Mul(c.x(2), attr[float64](c, "alpha"))
	return one(ops.IndexAdd(x, c.x(1), v, attr[int](c, "dim")))
}

// torchMaskedSelect: the mask's trues decide a shape.
func torchMaskedSelect(c *call) []*node {
	return one(ops.MaskedSelect(c.x(0), c.literal(1)))
}

// torchNLLLoss is −w[t]·log softmax(logits)[t] of each row, without the rows whose target is ignored; the mean
// divides by the weights of what is left.
func torchNLLLoss(c *call) []*node {
	p, target := ops.LogSoftmax(c.x(0), 1), c.x(1)
	kept := ops.NotEqual(target, attr[int](c, "ignore_index"))
	safe := ops.Where(kept, target, 0)
	w := ops.Where(kept, ops.Take(c.x(2), safe, 0), 0.0)
	loss := ops.Neg(ops.Mul(w, ops.Squeeze(ops.TakeAlongAxis(p, ops.ExpandDims(safe, 1), 1), 1)))
	switch reduction := attr[string](c, "reduction"); reduction {
	case "none":
		return one(loss)
	case "sum":
		return one(ops.Sum(loss))
	case "mean":
		return one(ops.Div(ops.Sum(loss), ops.Sum(w)))
	default:
		return c.missing("with reduction " + reduction)
	}
}

func torchPad(c *call) []*node {
	x := c.x(0)
	var low, high []int
	for _, w := range attr[[][2]int](c, "pads") {
		low, high = append(low, w[0]), append(high, w[1])
	}
	value := c.g.Literal(x.DType(), attrOr(c, "value", 0.0))
	return one(padded(c, x, attr[string](c, "mode"), value, low, high))
}

func torchScatter(fn ops.Combine) op {
	return func(c *call) []*node {
		return one(ops.ScatterElements(c.x(0), c.x(1), c.x(2), attr[int](c, "dim"), fn))
	}
}

var torchReductions = map[string]struct {
	fn       ops.Combine
	identity float64
}{
	"sum": {ops.CombineAdd, 0}, "mean": {ops.CombineAdd, 0}, "prod": {ops.CombineMul, 1},
	"amax": {ops.CombineMax, math.Inf(-1)}, "amin": {ops.CombineMin, math.Inf(1)},
}

// torchScatterReduce: without include_self an element that is written to starts from the identity; the mean
// divides by the number of terms.
func torchScatterReduce(c *call) []*node {
	x, idx, src := c.x(0), c.x(1), c.x(2)
	a, self, name := attr[int](c, "dim"), c.flag("include_self", true), attr[string](c, "reduce")
	r, ok := torchReductions[name]
	if !ok {
		return c.missing("with reduce " + name)
	}
	from := x
	if !self {
		neutral := ops.Full(c.g, x.DType(), r.identity, src.Shape()...)
		from = ops.ScatterElements(x, idx, neutral, a, ops.CombineSet)
	}
	y := ops.ScatterElements(from, idx, src, a, r.fn)
	if name != "mean" {
		return one(y)
	}
	n := ops.Zeros(c.g, x.DType(), x.Shape()...)
	if self {
		n = ops.Ones(c.g, x.DType(), x.Shape()...)
	}
	n = ops.ScatterElements(n, idx, ops.OnesLike(src), a, ops.CombineAdd)
	return one(ops.Div(y, ops.Maximum(n, 1.0)))
}

// torchTakeAlongDim broadcasts x and the indices beside the axis.
func torchTakeAlongDim(c *call) []*node {
	return one(ops.TakeAlongAxis(c.x(0), c.x(1), attr[int](c, "dim")))
}
