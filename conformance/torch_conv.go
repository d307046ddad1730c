package conformance

import "github.com/adjoint-go/adjoint/ops"

// torchConv is a convolution, or its adjoint, with as much padding in front as behind.
func torchConv(conv func(x, w *node, s ops.ConvSpec) *node) op {
	return func(c *call) []*node {
		padding := attr[[]int](c, "padding")
		return one(conv(c.x(0), c.x(1), ops.ConvSpec{
			Strides: attr[[]int](c, "stride"), Dilations: attr[[]int](c, "dilation"), Low: padding, High: padding,
			Groups: attr[int](c, "groups"), Over: attrOr(c, "output_padding", []int(nil)),
		}))
	}
}
