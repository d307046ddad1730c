package conformance

import (
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// sliding is the windows of ONNX's pools over the axes behind batch and channels.
func sliding(c *call) ops.Sliding {
	w := ops.Sliding{
		Sizes:     attr[[]int](c, "kernel_shape"),
		Strides:   attrOr(c, "strides", []int(nil)),
		Dilations: attrOr(c, "dilations", []int(nil)),
		Ceil:      c.flag("ceil_mode", false),
	}
	if pads := attrOr(c, "pads", []int(nil)); pads != nil {
		w.Low, w.High = pads[:len(pads)/2], pads[len(pads)/2:]
	}
	switch auto := attrOr(c, "auto_pad", "NOTSET"); auto {
	case "NOTSET", "VALID":
	case "SAME_UPPER", "SAME_LOWER":
		w.Low, w.High = samePadding(w, c.x(0).Shape(), auto == "SAME_LOWER")
	default:
		c.missing("with auto_pad " + auto)
	}
	return w
}

// samePadding gives as many windows as strides fit into the extent; of an odd number the rest is before or
// behind.
func samePadding(w ops.Sliding, shape []int, before bool) (low, high []int) {
	n := len(w.Sizes)
	for j, size := range w.Sizes {
		d, stride, dilation := shape[len(shape)-n+j], 1, 1
		if w.Strides != nil {
			stride = w.Strides[j]
		}
		if w.Dilations != nil {
			dilation = w.Dilations[j]
		}
		total := max(((d+stride-1)/stride-1)*stride+(size-1)*dilation+1-d, 0)
		lo, hi := total/2, total-total/2
		if before {
			lo, hi = hi, lo
		}
		low, high = append(low, lo), append(high, hi)
	}
	return low, high
}

// onnxMaxPool: a position counts from the start of x, in column-major order where storage_order is 1.
func onnxMaxPool(c *call) []*node {
	w, x := sliding(c), c.x(0)
	y, at := ops.MaxPoolIndex(x, w)
	if c.outs == 1 {
		c.hint("storage_order")
		return one(y)
	}
	spatial := x.Shape()[x.Rank()-len(w.Sizes):]
	if c.flag("storage_order", false) {
		at = columnMajor(at, spatial)
	}
	planes := slices.Clone(x.Shape())
	for a := x.Rank() - len(spatial); a < x.Rank(); a++ {
		planes[a] = 1
	}
	plane := ops.Reshape(ops.Iota(c.g, tensor.Int64, 0, tensor.Size(planes)), planes...)
	return []*node{y, ops.Add(at, ops.Mul(plane, tensor.Size(spatial)))}
}

// columnMajor is a row-major position counted with the first axis varying fastest.
func columnMajor(at *node, shape []int) *node {
	to := ops.ZerosLike(at)
	for a := len(shape) - 1; a >= 0; a-- {
		to = ops.Add(to, ops.Mul(ops.Rem(at, shape[a]), tensor.Size(shape[:a])))
		at = ops.Div(at, shape[a])
	}
	return to
}

func onnxAveragePool(c *call) []*node {
	return one(ops.AvgPool(c.x(0), sliding(c), c.flag("count_include_pad", false)))
}
