package conformance

import (
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// onnxOps are ONNX's operators on ours: movement here, arithmetic and reductions in onnx_reduce.go.
var onnxOps = map[string]op{
	"Compress": onnxCompress,
	"Concat":   func(c *call) []*node { return one(ops.Concat(attr[int](c, "axis"), c.in...)) },
	"Einsum":   func(c *call) []*node { return one(ops.Einsum(attr[string](c, "equation"), c.in...)) },
	"Expand":   onnxExpand,
	"Flatten":  onnxFlatten,
	"Gather":   func(c *call) []*node { return one(ops.Take(c.x(0), c.x(1), attrOr(c, "axis", 0))) },
	"GatherElements": func(c *call) []*node {
		return one(gatherElements(c.x(0), c.x(1), attrOr(c, "axis", 0)))
	},
	"GatherND":        onnxGatherND,
	"NonZero":         onnxNonZero,
	"OneHot":          onnxOneHot,
	"Pad":             onnxPad,
	"Range":           onnxRange,
	"Reshape":         onnxReshape,
	"ReverseSequence": onnxReverseSequence,
	"Scatter":         onnxScatterElements,
	"ScatterElements": onnxScatterElements,
	"ScatterND":       onnxScatterND,
	"Slice":           onnxSlice,
	"Split":           onnxSplit,
	"Squeeze":         onnxSqueeze,
	"TopK":            onnxTopK,
	"Transpose":       onnxTranspose,
	"Trilu":           onnxTrilu,
	"Unique":          onnxUnique,
	"Unsqueeze":       func(c *call) []*node { return one(ops.ExpandDims(c.x(0), c.ints(1)...)) },
	"Where":           func(c *call) []*node { return one(ops.Where(c.x(0), c.x(1), c.x(2))) },

	"ArgMax":          onnxArg(ops.ArgMaxFn),
	"ArgMin":          onnxArg(ops.ArgMinFn),
	"AveragePool":     onnxAveragePool,
	"Clip":            onnxClip,
	"CumProd":         onnxScan(ops.CumProd),
	"CumSum":          onnxScan(ops.CumSum),
	"GlobalMaxPool":   onnxGlobalMaxPool,
	"Hardmax":         func(c *call) []*node { return one(ops.Hardmax(c.x(0), attrOr(c, "axis", -1))) },
	"LogSoftmax":      func(c *call) []*node { return one(ops.LogSoftmax(c.x(0), attrOr(c, "axis", -1))) },
	"Max":             onnxFold(ops.Maximum),
	"MaxPool":         onnxMaxPool,
	"Mean":            onnxMean,
	"Min":             onnxFold(ops.Minimum),
	"ReduceL1":        onnxReduce(onnxL1),
	"ReduceL2":        onnxReduce(onnxL2),
	"ReduceLogSum":    onnxReduce(onnxLogSum),
	"ReduceLogSumExp": onnxReduce(ops.LogSumExp),
	"ReduceMax":       onnxReduce(onnxExtreme(ops.ReduceMax)),
	"ReduceMean":      onnxReduce(ops.Mean),
	"ReduceMin":       onnxReduce(onnxExtreme(ops.ReduceMin)),
	"ReduceProd":      onnxReduce(ops.Prod),
	"ReduceSum":       onnxReduce(ops.Sum),
	"ReduceSumSquare": onnxReduce(onnxSumSquare),
	"Softmax":         func(c *call) []*node { return one(ops.Softmax(c.x(0), attrOr(c, "axis", -1))) },
	"Sum":             onnxFold(ops.Add),
}

// runONNX runs a line of onnx.jsonl.
func runONNX(h *harness, r *record) error {
	return r.runOp(h, onnxOps, r.Type, r.nearness)
}

// onnxCompress keeps the slices of an axis, or the elements, where a condition, perhaps shorter, is true.
func onnxCompress(c *call) []*node {
	x := c.x(0)
	if !c.has("axis") {
		return one(ops.Compress(ops.Flatten(x), c.literal(1), 0))
	}
	return one(ops.Compress(x, c.literal(1), attr[int](c, "axis")))
}

// onnxExpand broadcasts both ways: the shape that x and the given one broadcast to.
func onnxExpand(c *call) []*node {
	shape, err := tensor.BroadcastShapes(c.x(0).Shape(), c.ints(1))
	if err != nil {
		c.fail("shape: %w", err)
	}
	return one(ops.BroadcastTo(c.x(0), shape...))
}

// onnxFlatten is a matrix: the axes before axis, and the others.
func onnxFlatten(c *call) []*node {
	x := c.x(0)
	a := axis(attrOr(c, "axis", 1), x.Rank())
	return one(ops.Reshape(x, tensor.Size(x.Shape()[:a]), tensor.Size(x.Shape()[a:])))
}

func onnxGatherND(c *call) []*node {
	return one(ops.GatherND(c.x(0), c.x(1), attrOr(c, "batch_dims", 0)))
}

func onnxScatterND(c *call) []*node {
	fn, ok := onnxCombine(c)
	if !ok {
		return nil
	}
	return one(ops.ScatterND(c.x(0), c.x(1), c.x(2), fn))
}

func onnxScatterElements(c *call) []*node {
	fn, ok := onnxCombine(c)
	if !ok {
		return nil
	}
	return one(ops.ScatterElements(c.x(0), c.x(1), c.x(2), attrOr(c, "axis", 0), fn))
}

func onnxCombine(c *call) (ops.Combine, bool) {
	name := attrOr(c, "reduction", "none")
	fn, ok := combines[name]
	if !ok {
		c.missing("with reduction " + name)
	}
	return fn, ok
}

// onnxNonZero is a row per axis of x.
func onnxNonZero(c *call) []*node {
	return one(ops.Stack(0, ops.Nonzero(c.mask(0))...))
}

// onnxOneHot has values [off, on]; indices may be floats, and negative ones count from the end.
func onnxOneHot(c *call) []*node {
	idx, depth, values := ops.Cast(c.x(0), tensor.Int64), c.int(1), c.x(2)
	idx = ops.Where(ops.Less(idx, 0), ops.Add(idx, depth), idx)
	on := ops.OneHot(idx, depth, tensor.Bool)
	pair := scalars(values)
	if len(pair) != 2 {
		return c.missing("with other than two values")
	}
	y := ops.Where(on, pair[1], pair[0])
	return one(ops.MoveAxis(y, y.Rank()-1, axis(attrOr(c, "axis", -1), y.Rank())))
}

func onnxPad(c *call) []*node {
	x, pads := c.x(0), c.ints(1)
	axes := axesBut(x.Rank(), -1)
	if c.given(3) {
		axes = c.ints(3)
	}
	low, high := make([]int, x.Rank()), make([]int, x.Rank())
	for k, a := range axes {
		a = axis(a, x.Rank())
		low[a], high[a] = pads[k], pads[k+len(axes)]
	}
	var value any = ops.Zeros(c.g, x.DType())
	if c.given(2) {
		value = ops.Reshape(c.x(2))
	}
	return one(padded(c, x, attrOr(c, "mode", "constant"), value, low, high))
}

var padModes = map[string]ops.PadMode{
	"edge": ops.PadEdge, "replicate": ops.PadEdge, "reflect": ops.PadReflect,
	"symmetric": ops.PadSymmetric, "wrap": ops.PadWrap, "circular": ops.PadWrap,
}

// padded is x padded by a mode's name.
func padded(c *call, x *node, mode string, value any, low, high []int) *node {
	if mode == "constant" {
		return ops.Pad(x, value, low, high, nil)
	}
	m, ok := padModes[mode]
	if !ok {
		c.missing("with mode " + mode)
		return nil
	}
	return ops.PadWith(x, m, low, high)
}

// onnxRange: the number of elements decides a shape, so start, limit and delta are attributes in disguise.
func onnxRange(c *call) []*node {
	var v [3]float64
	for i := range v {
		c.x(i)
		if c.err != nil {
			return nil
		}
		f, err := c.views[i].Read().Float64s()
		if err != nil {
			c.fail("operand %d: %w", i, err)
			return nil
		}
		v[i] = f[0]
	}
	return one(ops.Arange(c.g, c.x(0).DType(), v[0], v[1], v[2]))
}

// onnxReshape: an extent of 0 copies x's, unless allowzero is set.
func onnxReshape(c *call) []*node {
	x, shape := c.x(0), c.ints(1)
	for a, d := range shape {
		if d == 0 && !c.flag("allowzero", false) {
			shape[a] = x.Shape()[a]
		}
	}
	c.hint("allowzero")
	return one(ops.Reshape(x, shape...))
}

// onnxReverseSequence reverses the first lens[b] elements along the time axis: t becomes len − 1 − t there.
func onnxReverseSequence(c *call) []*node {
	x := c.x(0)
	t, b := attrOr(c, "time_axis", 0), attrOr(c, "batch_axis", 1)
	shape := slices.Repeat([]int{1}, x.Rank())
	lens := ops.Reshape(c.x(1), with(shape, b, x.Shape()[b])...)
	shape[t] = x.Shape()[t]
	at := ops.Iota(c.g, c.x(1).DType(), t, shape...)
	at = ops.Where(ops.Less(at, lens), ops.Sub(ops.Sub(lens, 1), at), at)
	return one(ops.TakeAlongAxis(x, at, t))
}

func onnxSqueeze(c *call) []*node {
	if c.given(1) {
		return one(ops.Squeeze(c.x(0), c.ints(1)...))
	}
	return one(ops.Squeeze(c.x(0)))
}

func onnxTranspose(c *call) []*node {
	return one(ops.Transpose(c.x(0), attrOr(c, "perm", []int(nil))...))
}

func onnxTrilu(c *call) []*node {
	k := 0
	if c.given(1) {
		k = c.int(1)
	}
	return one(triangle(c.x(0), k, c.flag("upper", true)))
}
