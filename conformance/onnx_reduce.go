package conformance

import (
	"slices"

	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// onnxSlice is NumPy's slicing: bounds clamp and negative ones count from the end.
func onnxSlice(c *call) []*node {
	x, starts, ends := c.x(0), c.ints(1), c.ints(2)
	axes, steps := axesBut(len(starts), -1), slices.Repeat([]int{1}, len(starts))
	if c.given(3) {
		axes = c.ints(3)
	}
	if c.given(4) {
		steps = c.ints(4)
	}
	items := slices.Repeat([]index.Item{index.All}, x.Rank())
	for k, a := range axes {
		items[axis(a, x.Rank())] = index.Step(&starts[k], &ends[k], steps[k])
	}
	return one(ops.Index(x, items...))
}

// onnxSplit: without sizes the parts are equal, the last one smaller where that does not come out even.
func onnxSplit(c *call) []*node {
	x := c.x(0)
	a := axis(attrOr(c, "axis", 0), x.Rank())
	if c.given(1) {
		return ops.Split(x, a, c.ints(1)...)
	}
	n, d := attrOr(c, "num_outputs", c.outs), x.Shape()[a]
	part := (d + n - 1) / n
	sizes := slices.Repeat([]int{part}, n)
	sizes[n-1] = d - part*(n-1)
	return ops.Split(x, a, sizes...)
}

func onnxArg(fn ops.ArgFn) op {
	return func(c *call) []*node {
		x := c.x(0)
		a := axis(attrOr(c, "axis", 0), x.Rank())
		y := ops.ArgReduce(fn, x, a, tensor.Int64)
		if c.flag("select_last_index", false) {
			y = lastIndex(fn, x, a)
		}
		if c.flag("keepdims", true) {
			y = ops.ExpandDims(y, a)
		}
		return one(y)
	}
}

// onnxScan: the axis, which must be known, is operand 1.
func onnxScan(f scan) op {
	return func(c *call) []*node { return one(f(c.x(0), c.int(1), scanOptions(c)...)) }
}

// onnxClip has optional bounds.
func onnxClip(c *call) []*node {
	x := c.x(0)
	if c.given(1) && c.given(2) {
		return one(ops.Clamp(x, c.x(1), c.x(2)))
	}
	if c.given(1) {
		x = ops.Maximum(x, c.x(1))
	}
	if c.given(2) {
		x = ops.Minimum(x, c.x(2))
	}
	return one(x)
}

// onnxGlobalMaxPool is the maximum over all axes behind batch and channels.
func onnxGlobalMaxPool(c *call) []*node {
	x := c.x(0)
	return one(ops.KeepDims(ops.Max, x, axesBut(x.Rank(), -1)[2:]...))
}

// onnxFold combines all operands, which broadcast.
func onnxFold(combine func(a, b any) *node) op {
	return func(c *call) []*node {
		y := c.x(0)
		for i := range c.in[1:] {
			y = combine(y, c.x(i+1))
		}
		return one(y)
	}
}

func onnxMean(c *call) []*node {
	return one(ops.Div(onnxFold(ops.Add)(c)[0], len(c.in)))
}

// onnxReduce: the axes are an optional operand; none, or an empty list, means all, unless
// noop_with_empty_axes says that nothing happens then.
func onnxReduce(reduce ops.Reduction) op {
	return func(c *call) []*node {
		x, keep, noop := c.x(0), c.flag("keepdims", true), c.flag("noop_with_empty_axes", false)
		var axes []int
		if c.given(1) {
			axes = c.ints(1)
		}
		if len(axes) == 0 {
			if noop {
				return one(x)
			}
			axes = nil
		}
		return one(keeping(keep, reduce, x, axes))
	}
}

func onnxL1(x *node, axes ...int) *node { return ops.Norm(x, 1, axes...) }

func onnxL2(x *node, axes ...int) *node { return ops.Norm(x, 2, axes...) }

func onnxLogSum(x *node, axes ...int) *node { return ops.Log(ops.Sum(x, axes...)) }

func onnxSumSquare(x *node, axes ...int) *node { return ops.Sum(ops.Square(x), axes...) }

// onnxExtreme starts from the identity, which is what it gives of nothing.
func onnxExtreme(fn ops.ReduceFn) ops.Reduction {
	return func(x *node, axes ...int) *node {
		return ops.ReduceInit(fn, x, identityOf(fn == ops.ReduceMax, x.DType()), axes...)
	}
}
