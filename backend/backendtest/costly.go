package backendtest

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// costly reports whether the reference would take long over a large call: hundreds of bits for every element.
// Such calls are held against the reference on the small samples, and large against themselves.
func costly(c *graph.Call) bool {
	switch o := c.Op.(type) {
	case ops.UnaryOp:
		return o.Fn >= ops.UnarySign && o.Fn <= ops.UnaryErfinv
	case ops.BinaryOp:
		return o.Fn == ops.BinaryPow || o.Fn == ops.BinaryAtan2 || c.In[0].DType().IsComplex()
	case ops.ReduceOp:
		return o.Fn == ops.ReduceLogSumExp || o.Fn == ops.ReduceProd
	case ops.ScanOp:
		return o.Fn == ops.ScanLogSumExp || o.Fn == ops.ScanProd || o.Fn == ops.ScanAffine
	case ops.SoftmaxOp, ops.ArgReduceOp, ops.MatMulOp, ops.ConvOp, ops.SortOp, ops.SearchSortedOp:
		return true
	}
	return false
}
