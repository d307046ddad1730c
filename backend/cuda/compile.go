package cuda

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compile chooses the kernel: one line an op.
func compile(b *Backend, op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	switch op := op.(type) {
	case graph.Copy:
		return compileCopy(b, out[0], in[0])
	case ops.PutSliceOp:
		return compilePutSlice(b, op, out[0], in)
	case ops.GatherOp:
		return compileGather(b, op, out, in)
	case ops.CompressOp:
		return compileMasked(b, op.Axis, false, out[0], in)
	case ops.ExpandOp:
		return compileMasked(b, op.Axis, true, out[0], in)
	case ops.ScatterOp:
		return compileScatter(b, op, out, in)
	case ops.ScatterScanOp:
		return compileScatterScan(b, op, out, in, used)
	case ops.SparseUpdateOp:
		return compileSparseUpdate(b, op, out, in)
	case ops.CheckPlacesOp:
		return compileCheckPlaces(b, op, out, in)
	case ops.ConcatOp:
		return compileConcat(b, op, out[0], in)
	case graph.FusedOp:
		return compileFused(b, op, out, in)
	case ops.UnaryOp, ops.BinaryOp, ops.CompareOp, ops.SelectOp, ops.CastOp, ops.IotaOp:
		return compileElementwise(b, op, out, in)
	case ops.SortOp:
		return compileSort(b, op, out, in, used)
	case ops.SearchSortedOp:
		return compileSearchSorted(b, op, out, in)
	case ops.RandomBitsOp:
		return compileRandomBits(b, op, out, in)
	case ops.ArgReduceOp:
		return compileArgReduce(b, op, out, in)
	case ops.SoftmaxOp:
		return compileSoftmax(b, op, out, in)
	case ops.MatMulOp:
		return compileMatMul(b, out, in)
	case ops.ConvOp:
		return compileConv(b, op, out, in)
	case ops.ScanOp:
		return compileScan(b, op, out, in, used)
	case ops.FoldByOp:
		return compileFoldBy(b, op, out, in)
	case ops.ScanByOp:
		return compileScanBy(b, op, out, in)
	case ops.ScatterByOp:
		return compileScatterBy(b, op, out, in)
	case ops.ReduceOp:
		return compileReduce(b, op, out, in)
	}
	return nil, tensor.Errorf("", tensor.ErrUnsupported, "cuda has no kernel for %s", op.Name())
}
