package backendtest

import (
	"fmt"

	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// outcome is what a result must be: the elements, and how far a backend may stray from them.
type outcome struct {
	array
	// moved: elements are copies of operands' elements, so that even the bits of a NaN are theirs.
	moved bool
	// ulps bounds the distance in units in the last place of the result. 0: the very element.
	ulps float64
	// scale, where it is given, is the magnitude per element that units are measured at, where that of the
	// result says nothing: sums that cancel, components of a complex number.
	scale []float64
	// free marks elements without an agreed value.
	free []bool
}

// reference evaluates an op. The error is that of the data: *ops.IndexError.
func reference(op graph.Op, in []array) ([]outcome, error) {
	one := func(o outcome) ([]outcome, error) { return []outcome{o}, nil }
	switch o := any(op).(type) {
	case graph.Copy:
		return one(outcome{array: in[0], moved: true})
	case ops.TransposeOp:
		return one(refTranspose(o, in[0]))
	case ops.SliceOp:
		return one(refSlice(o, in[0]))
	case ops.UnfoldOp:
		return one(refUnfold(o, in[0]))
	case ops.BroadcastOp:
		return one(refBroadcast(o, in[0]))
	case ops.ReshapeOp:
		return one(outcome{array: array{tensor.Spec{DType: in[0].DType, Shape: o.Shape}, in[0].at}, moved: true})
	case ops.PutSliceOp:
		return one(refPutSlice(o, in[0], in[1]))
	case ops.ConcatOp:
		return one(refConcat(o, in))
	case ops.SelectOp:
		return one(refSelect(in[0], in[1], in[2]))
	case ops.IotaOp:
		return one(refIota(o))
	case ops.RandomBitsOp:
		return one(refRandomBits(o, in[0]))
	case ops.UnaryOp:
		return one(refUnary(o, in[0]))
	case ops.BinaryOp:
		return one(refBinary(o, in[0], in[1]))
	case ops.CompareOp:
		return one(refCompare(o, in[0], in[1]))
	case ops.CastOp:
		return one(refCast(o, in[0]))
	case ops.ReduceOp:
		return one(refReduce(o, in))
	case ops.ArgReduceOp:
		return one(refArgReduce(o, in[0]))
	case ops.ScanOp:
		return refScan(o, in), nil
	case ops.SoftmaxOp:
		return one(refSoftmax(o, in[0]))
	case ops.MatMulOp:
		return one(refMatMul(in[0], in[1]))
	case ops.ConvOp:
		return one(refConv(o, in[0], in[1]))
	case ops.CompressOp:
		return one(refCompress(o, in[0], in[1]))
	case ops.ExpandOp:
		return one(refExpand(o, in[0], in[1]))
	case ops.GatherOp:
		return refGather(o, in)
	case ops.ScatterOp:
		return refScatter(o, in)
	case ops.ScatterScanOp:
		return refScatterScan(o, in)
	case ops.SortOp:
		return refSort(o, in), nil
	case ops.SearchSortedOp:
		return one(refSearchSorted(o, in[0], in[1]))
	case control.CondOp:
		return refCond(o, in)
	case control.WhileOp:
		return refWhile(o, in)
	case control.ScanOp:
		return refLoop(o, in)
	}
	if a, ok := op.(graph.Aliaser); ok {
		specs := make([]tensor.Spec, len(in))
		for i := range in {
			specs[i] = in[i].Spec
		}
		out, err := op.Infer(specs)
		r := make([]outcome, len(out))
		for i := range out {
			r[i] = outcome{array: in[a.Alias(i)], moved: true}
		}
		return r, err
	}
	return nil, fmt.Errorf("the reference does not know %s", op.Name())
}
