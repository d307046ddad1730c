package conformance

import (
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// numpyOps are NumPy's functions on ours.
var numpyOps = map[string]op{
	"all":    numpyReduce(ops.All),
	"any":    numpyReduce(ops.Any),
	"argmax": numpyArg(ops.ArgMaxFn),
	"argmin": numpyArg(ops.ArgMinFn),
	"argsort": func(c *call) []*node {
		c.hint("kind")
		return one(ops.ArgSort(c.x(0), attr[int](c, "axis"), ops.Ascending))
	},
	"argwhere":    numpyArgwhere,
	"bincount":    numpyBincount,
	"concatenate": func(c *call) []*node { return one(ops.Concat(attr[int](c, "axis"), c.in...)) },
	"cumprod": func(c *call) []*node {
		return one(ops.CumProd(c.x(0), attr[int](c, "axis")))
	},
	"cumsum": func(c *call) []*node {
		return one(ops.CumSum(c.x(0), attr[int](c, "axis")))
	},
	"diff": func(c *call) []*node {
		return one(ops.Diff(c.x(0), attr[int](c, "n"), attr[int](c, "axis")))
	},
	"max": numpyReduce(ops.Max),
	"maximum.accumulate": func(c *call) []*node {
		return one(ops.CumMax(c.x(0), attr[int](c, "axis")))
	},
	"mean": numpyReduce(numpyMean),
	"min":  numpyReduce(ops.Min),
	"minimum.accumulate": func(c *call) []*node {
		return one(ops.CumMin(c.x(0), attr[int](c, "axis")))
	},
	"nanmax": numpyReduce(ops.NanMax),
	"nanmin": numpyReduce(ops.NanMin),
	"nansum": numpyReduce(ops.NanSum),
	"pad":    numpyPad,
	"prod":   numpyReduce(func(x *node, axes ...int) *node { return ops.Prod(numpyWide(x), axes...) }),
	"repeat": func(c *call) []*node {
		return one(repeatEach(c, c.x(0), c.ints(1), attr[int](c, "axis")))
	},
	"roll": func(c *call) []*node {
		return one(ops.Roll(c.x(0), []int{attr[int](c, "shift")}, []int{attr[int](c, "axis")}))
	},
	"searchsorted": numpySearchSorted,
	"sort":         func(c *call) []*node { return one(ops.Sort(c.x(0), attr[int](c, "axis"), ops.Ascending)) },
	"std":          numpySpread(ops.Std),
	"sum":          numpyReduce(func(x *node, axes ...int) *node { return ops.Sum(numpyWide(x), axes...) }),
	"take":         numpyTake,
	"take_along_axis": func(c *call) []*node {
		return one(ops.TakeAlongAxis(c.x(0), c.x(1), attr[int](c, "axis")))
	},
	"tile":   func(c *call) []*node { return one(ops.Tile(c.x(0), attr[[]int](c, "reps")...)) },
	"unique": numpyUnique,
	"var":    numpySpread(ops.Var),
}

// runNumPy runs a line of npops.jsonl.
func runNumPy(h *harness, r *record) error {
	return r.runOp(h, numpyOps, r.Op, r.nearness)
}

// numpyReduce: axis null means all.
func numpyReduce(reduce ops.Reduction) op {
	return func(c *call) []*node {
		return one(keeping(c.flag("keepdims", false), reduce, c.x(0), attrOr(c, "axis", []int(nil))))
	}
}

// numpyMean of integers and bools is a float64.
func numpyMean(x *node, axes ...int) *node {
	if x.DType().IsInteger() || x.DType() == tensor.Bool {
		x = ops.Cast(x, tensor.Float64)
	}
	return ops.Mean(x, axes...)
}

// numpySpread is a variance or deviation; integers and bools become float64.
func numpySpread(f func(x *node, correction int, axes ...int) *node) op {
	return func(c *call) []*node {
		x, ddof := c.x(0), attrOr(c, "ddof", 0)
		if x.DType().IsInteger() || x.DType() == tensor.Bool {
			x = ops.Cast(x, tensor.Float64)
		}
		reduce := func(x *node, axes ...int) *node { return f(x, ddof, axes...) }
		return one(keeping(c.flag("keepdims", false), reduce, x, attrOr(c, "axis", []int(nil))))
	}
}

// numpyArg: without an axis the index is that of the flattened x.
func numpyArg(fn ops.ArgFn) op {
	return func(c *call) []*node {
		x, keep := boolAsUint8(c.x(0)), c.flag("keepdims", false)
		if !c.has("axis") {
			y := ops.ArgReduce(fn, ops.Flatten(x), 0, tensor.Int64)
			if keep {
				y = ops.Reshape(y, slices.Repeat([]int{1}, x.Rank())...)
			}
			return one(y)
		}
		a := axis(attr[int](c, "axis"), x.Rank())
		y := ops.ArgReduce(fn, x, a, tensor.Int64)
		if keep {
			y = ops.ExpandDims(y, a)
		}
		return one(y)
	}
}

// numpyArgwhere is a row per element that is not zero, and of rank 0 a row of no columns.
func numpyArgwhere(c *call) []*node {
	x := c.mask(0)
	at := ops.Nonzero(x)
	if x.Rank() == 0 {
		return one(ops.Reshape(ops.SliceAxis(ops.ExpandDims(at[0], 1), 1, 0, 0), at[0].Size(), 0))
	}
	return one(ops.Stack(1, at...))
}

// numpyBincount adds weights, or ones, at bins; the greatest bin decides a shape.
func numpyBincount(c *call) []*node {
	n := attrOr(c, "minlength", 0)
	for _, b := range c.ints(0) {
		n = max(n, b+1)
	}
	if c.given(1) {
		return one(ops.SegmentSum(c.x(1), c.x(0), n))
	}
	return one(ops.Bincount(c.x(0), n))
}

func numpyPad(c *call) []*node {
	x := c.x(0)
	var low, high []int
	for _, w := range attr[[][2]int](c, "pad_width") {
		low, high = append(low, w[0]), append(high, w[1])
	}
	value := ops.Zeros(c.g, x.DType())
	if c.has("constant_values") {
		value = c.g.Literal(x.DType(), attr[float64](c, "constant_values"))
	}
	return one(padded(c, x, attr[string](c, "mode"), value, low, high))
}

func numpyTake(c *call) []*node {
	x, idx, a := c.x(0), c.x(1), 0
	if c.has("axis") {
		a = attr[int](c, "axis")
	} else {
		x = ops.Flatten(x)
	}
	switch mode := attrOr(c, "mode", "raise"); mode {
	case "raise":
		return one(ops.Take(x, idx, a))
	case "wrap":
		return one(ops.Take(x, idx, a, ops.Modulo))
	case "clip": // a negative index is out of bounds here, and clips to 0
		return one(ops.Take(x, ops.Maximum(idx, 0), a, ops.Clamped))
	default:
		return c.missing("with mode " + mode)
	}
}
