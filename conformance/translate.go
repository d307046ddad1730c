package conformance

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The translations: a convention of a source that differs from ours, one function a rule. They look at dtypes
// and attributes alone, never at the case.
//
//	source      its convention                                  here
//	StableHLO   argmax of bool sees uint8                       boolAsUint8
//	StableHLO   max and min of complex are lexicographic        lexicographic
//	NumPy       sums and products of small integers widen       numpyWide
//	NumPy       the mean of integers is a float64               numpyMean
//	NumPy       the arg-reductions of bool see uint8            boolAsUint8
//	NumPy       take with mode=wrap is floor-mod                ops.Modulo
//	ONNX        ReduceMax and ReduceMin of an empty set         identityOf
//	ONNX        select_last_index                               lastIndex
//	PyTorch     scatter_reduce: mean, include_self=false        torchScatterReduce
//	PyTorch     cummax and cummin name the last of a tie        torchCumulative
//	PyTorch     the median is the lower middle                  torchMedian
//	StableHLO   top_k compares by totalOrder                    stablehloTopK

// boolAsUint8 is x, a bool as 0 and 1.
func boolAsUint8(x *node) *node {
	if x.DType() == tensor.Bool {
		return ops.Cast(x, tensor.Uint8)
	}
	return x
}

// numpyWide is x as NumPy sums it: signed integers and bools as int64, unsigned ones as uint64.
func numpyWide(x *node) *node {
	switch dt := x.DType(); {
	case dt.IsUnsigned():
		return ops.Cast(x, tensor.Uint64)
	case dt.IsInteger(), dt == tensor.Bool:
		return ops.Cast(x, tensor.Int64)
	}
	return x
}

// identityOf is the element that changes no maximum (greatest) or minimum of dtype dt.
func identityOf(greatest bool, dt tensor.DType) any {
	if dt == tensor.Bool {
		return !greatest
	}
	if dt.IsFloat() {
		if greatest {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	bits := dt.Size() * 8
	if dt.IsUnsigned() {
		if greatest {
			return 0
		}
		return uint64(math.MaxUint64) >> (64 - bits)
	}
	if greatest {
		return int64(math.MinInt64) >> (64 - bits)
	}
	return int64(math.MaxInt64) >> (64 - bits)
}

// lastIndex is the index of the last extreme instead of the first: n − 1 − the index in the reversed line.
func lastIndex(fn ops.ArgFn, x *node, a int) *node {
	i := ops.ArgReduce(fn, ops.Reverse(x, a), a, tensor.Int64)
	return ops.Sub(x.Shape()[axis(a, x.Rank())]-1, i)
}

// combines are the combinations by the names of ref.jsonl and of ONNX.
var combines = map[string]ops.Combine{
	"set": ops.CombineSet, "none": ops.CombineSet, "add": ops.CombineAdd, "mul": ops.CombineMul,
	"max": ops.CombineMax, "min": ops.CombineMin,
}

// gatherElements is GatherElements; of a scalar PyTorch and ONNX read the scalar.
func gatherElements(x, idx *node, a int) *node {
	if x.Rank() == 0 {
		return x
	}
	return ops.GatherElements(x, idx, a)
}

// keeping is a reduction whose axes stay where keep is set.
func keeping(keep bool, reduce ops.Reduction, x *node, axes []int) *node {
	if keep {
		return ops.KeepDims(reduce, x, axes...)
	}
	return reduce(x, axes...)
}

// scan is a builder of scans.
type scan = func(x *node, axis int, options ...ops.ScanOption) *node

// scanOptions are those of the attributes exclusive and reverse.
func scanOptions(c *call) (r []ops.ScanOption) {
	if c.flag("exclusive", false) {
		r = append(r, ops.Exclusive)
	}
	if c.flag("reverse", false) {
		r = append(r, ops.Reversed)
	}
	return r
}

// lexicographic is the combiner of the maximum of complex numbers, or the minimum, by real parts and then by
// imaginary ones; the first of equal ones.
func lexicographic(dt tensor.DType, least bool) (*graph.Func, error) {
	return ops.Combiner("lexicographic", []tensor.DType{dt}, func(a, b []*node) []*node {
		low, high := a[0], b[0]
		if least {
			low, high = b[0], a[0]
		}
		r, s := ops.Real(low), ops.Real(high)
		below := ops.Or(ops.Less(r, s), ops.And(ops.Equal(r, s), ops.Less(ops.Imag(low), ops.Imag(high))))
		return []*node{ops.Where(below, b[0], a[0])}
	})
}

// triangle is x with the elements on one side of diagonal k kept.
func triangle(x *node, k int, upper bool) *node {
	if upper {
		return ops.Triu(x, k)
	}
	return ops.Tril(x, k)
}

// repeatEach is x with element i along an axis repeated counts[i] times, or each counts[0] times.
func repeatEach(c *call, x *node, counts []int, a int) *node {
	a = axis(a, x.Rank())
	n := x.Shape()[a]
	if len(counts) == 1 {
		return ops.Repeat(x, counts[0], a)
	}
	if len(counts) != n {
		c.fail("%d counts for extent %d", len(counts), n)
		return x
	}
	at := []int64{}
	for i, k := range counts {
		at = append(at, slices.Repeat([]int64{int64(i)}, k)...)
	}
	return ops.Take(x, c.g.Const(tensor.Of(at...)), a)
}
