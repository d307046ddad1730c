package cpu

import (
	"math"
	"slices"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileScan makes the kernel of a scan: out[0] = h at each element along an axis, and for Max and Min, where
// used[1], out[1] = the place of the element that h is.
//
// Lines are scanned one element after another, so that the order depends on nothing but the extent; the loops
// of scanloops.go say how. Halves are computed in float32, complex64 products in complex128, each result rounded
// once. Integers wrap; for bool, Sum and Max are or, Prod and Min are and. It may run in place, unless it is
// exclusive.
//
// Errors: ErrUnsupported for unknown functions and for dtypes that they do not take; ErrDType, ErrShape,
// ErrAxis for operands that do not fit each other.
func compileScan(op ops.ScanOp, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	if err := validScan(op, out, in); err != nil {
		return nil, err
	}
	s := newScanPlan(op, out, in, used)
	switch dt := in[0].DType; dt {
	case tensor.Bool: // bytes 0 and 1
		return newScanner(s, sameRows[uint8](), boolScan(op.Fn)), nil
	case tensor.Int8:
		return newScanner(s, sameRows[int8](), integerScan[int8](op.Fn, math.MinInt8, math.MaxInt8)), nil
	case tensor.Int16:
		return newScanner(s, sameRows[int16](), integerScan[int16](op.Fn, math.MinInt16, math.MaxInt16)), nil
	case tensor.Int32:
		return newScanner(s, sameRows[int32](), integerScan[int32](op.Fn, math.MinInt32, math.MaxInt32)), nil
	case tensor.Int64:
		return newScanner(s, sameRows[int64](), integerScan[int64](op.Fn, math.MinInt64, math.MaxInt64)), nil
	case tensor.Uint8:
		return newScanner(s, sameRows[uint8](), integerScan[uint8](op.Fn, 0, math.MaxUint8)), nil
	case tensor.Uint16:
		return newScanner(s, sameRows[uint16](), integerScan[uint16](op.Fn, 0, math.MaxUint16)), nil
	case tensor.Uint32:
		return newScanner(s, sameRows[uint32](), integerScan[uint32](op.Fn, 0, math.MaxUint32)), nil
	case tensor.Uint64:
		return newScanner(s, sameRows[uint64](), integerScan[uint64](op.Fn, 0, math.MaxUint64)), nil
	case tensor.Float16:
		return newScanner(s, float16Rows, floatScan(op.Fn, exponentials32)), nil
	case tensor.BFloat16:
		return newScanner(s, bfloat16Rows, floatScan(op.Fn, exponentials32)), nil
	case tensor.Float32:
		return newScanner(s, sameRows[float32](), floatScan(op.Fn, exponentials32)), nil
	case tensor.Float64:
		return newScanner(s, sameRows[float64](), floatScan(op.Fn, exponentials64)), nil
	case tensor.Complex64:
		if op.Fn == ops.ScanSum {
			return newScanner(s, sameRows[complex64](), complex64Scan()), nil
		}
		return newScanner(s, complex64Rows, complexScan(op.Fn)), nil
	}
	return newScanner(s, sameRows[complex128](), complexScan(op.Fn)), nil
}

// validScan makes the errors of compileScan.
func validScan(op ops.ScanOp, out, in []graph.Operand) error {
	results, operands := 1, 1
	switch op.Fn {
	case ops.ScanMax, ops.ScanMin:
		results = 2
	case ops.ScanAffine:
		operands = 2
	}
	if len(in) != operands || len(out) != results {
		return tensor.Errorf("", tensor.ErrPlanMismatch, "%d operands and %d results for a scan of %d and %d",
			len(in), len(out), operands, results)
	}
	x := in[0]
	switch isFloat := x.DType.IsFloat(); {
	case !x.DType.Valid():
		return tensor.Errorf("", tensor.ErrDType, "operand 0 has dtype %s", x.DType)
	case op.Fn > ops.ScanAffine:
		return tensor.Errorf("", tensor.ErrUnsupported, "no scan %d", op.Fn)
	case op.Fn == ops.ScanLogSumExp && !isFloat, x.DType.IsComplex() && results == 2:
		return tensor.Errorf("", tensor.ErrUnsupported, "scan %d does not take %s", op.Fn, x.DType)
	case op.Axis < 0 || op.Axis >= x.Rank():
		return tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of shape %v", op.Axis, x.Shape)
	}
	if operands == 2 {
		if err := checkSpec("operand 1", in[1], x.DType, x.Shape); err != nil {
			return err
		}
	}
	if results == 2 {
		if err := checkSpec("the index", out[1], tensor.Int64, x.Shape); err != nil {
			return err
		}
	}
	return checkSpec("the result", out[0], x.DType, x.Shape)
}

// The operands of a scan by their place in its nest. What there is not has the layout of y.
const (
	scanY  = iota // the result
	scanX         // the operand, of two b
	scanA         // a
	scanAt        // the indices
	scanSlots
)

// scanPlan is a scan whatever its element type. Every scan goes forwards: one that is reversed has reversed
// layouts.
type scanPlan struct {
	operands     planning.Operands
	affine       bool
	exclusive    bool
	indices      bool
	lines        nest // where lines begin
	step         [scanSlots]int
	length       int
	met          int // elements that are met: the last is not, where results leave their own element out
	first, along int // the place of the first element met, and from one to the next
	sideBySide   bool
	past         bool // the result is large
}

func newScanPlan(op ops.ScanOp, out, in []graph.Operand, used []bool) scanPlan {
	s := scanPlan{exclusive: op.Exclusive, indices: len(out) == 2 && used[1]}
	s.affine, s.length, s.along = len(in) == 2, in[0].Shape[op.Axis], 1
	if s.met = s.length; op.Exclusive {
		s.met--
	}
	if !s.indices {
		out = out[:1]
	}
	s.operands = planning.Operands{Out: slices.Clone(out), In: slices.Clone(in), Over: [][]bool{make([]bool, len(in))}}
	for i := range in {
		s.operands.Over[0][i] = !op.Exclusive
	}
	of := [scanSlots]tensor.Layout{out[0].Layout, in[len(in)-1].Layout, in[0].Layout, out[len(out)-1].Layout}
	kept := make([]tensor.Layout, scanSlots)
	for k, l := range of {
		if op.Reverse && s.length > 0 {
			l = tensor.Must(l.Reverse(op.Axis))
		}
		s.step[k] = l.Strides[op.Axis]
		kept[k], _ = planning.Split(l, []int{op.Axis})
	}
	if op.Reverse {
		s.first, s.along = s.length-1, -1
	}
	s.lines = newNestByStride(kept...)
	s.past = out[0].Layout.Size()*out[0].DType.Size() >= tuning.past
	s.sideBySide = sideBySide(&s.lines, s.length, s.step[scanY])
	return s
}
