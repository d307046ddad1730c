package cpu

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compile chooses the kernel: one line an op.
func compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	switch op := op.(type) {
	case graph.Copy:
		return compileCopy(out[0], in[0])
	case graph.FusedOp:
		return compileFused(op, out, in)
	case ops.UnaryOp:
		return compileUnary(op, out[0], in[0])
	case ops.BinaryOp:
		return compileBinary(op, out[0], in)
	case ops.CompareOp:
		return compileCompare(op, out[0], in)
	case ops.SelectOp:
		return compileSelect(op, out[0], in)
	case ops.CastOp:
		return compileCast(op, out[0], in[0])
	case ops.IotaOp:
		return compileIota(op, out[0])
	case ops.RandomBitsOp:
		return compileRandomBits(op, out[0], in[0])
	case ops.PutSliceOp:
		return compilePutSlice(op, out[0], in)
	case ops.ConcatOp:
		return compileConcat(op, out[0], in)
	case ops.MatMulOp:
		return compileMatMul(op, out[0], in[0], in[1])
	case ops.ConvOp:
		return compileConv(op, out[0], in[0], in[1])
	case ops.ReduceOp:
		return compileReduce(op, out[0], in)
	case ops.ArgReduceOp:
		return compileArgReduce(op, out[0], in[0])
	case ops.ScanOp:
		return compileScan(op, out, in, used)
	case ops.SoftmaxOp:
		return compileSoftmax(op, out[0], in[0])
	case ops.GatherOp:
		return compileGather(op, out, in)
	case ops.CompressOp:
		return compileMasked(op, op.Axis, false, out[0], in)
	case ops.ExpandOp:
		return compileMasked(op, op.Axis, true, out[0], in)
	case ops.ScatterOp:
		return compileScatter(op, out, in)
	case ops.SparseUpdateOp:
		return compileSparseUpdate(op, out, in)
	case ops.CheckPlacesOp:
		return compileCheckPlaces(op, out, in)
	case ops.ScatterScanOp:
		return compileScatterScan(op, out, in, used)
	case ops.SortOp:
		return compileSort(op, out, in, used)
	case ops.SearchSortedOp:
		return compileSearchSorted(op, out[0], in)
	}
	return nil, tensor.Errorf("", tensor.ErrUnsupported, "cpu has no kernel for %s", op.Name())
}
