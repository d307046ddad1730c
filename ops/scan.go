package ops

import (
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// ScanFn is a scan: ScanSum, ScanProd, ScanMax, ScanMin, ScanLogSumExp or ScanAffine.
type ScanFn uint8

// The functions of ScanOp.
const (
	ScanSum  ScanFn = iota // or, for bool
	ScanProd               // and, for bool
	ScanMax                // or, for bool
	ScanMin                // and, for bool
	ScanLogSumExp
	ScanAffine // of two operands, a and b; for bool it is a and h, or b
	scanCount
)

var scanTraits = [scanCount]struct {
	name  string
	takes accept
}{
	ScanSum:       {"ops.CumSum", acceptAny},
	ScanProd:      {"ops.CumProd", acceptAny},
	ScanMax:       {"ops.CumMax", acceptOrdered},
	ScanMin:       {"ops.CumMin", acceptOrdered},
	ScanLogSumExp: {"ops.LogCumSumExp", acceptFloat},
	ScanAffine:    {"ops.AffineScan", acceptAny},
}

// ScanOp is the fold of Fn along Axis with all that it goes through. h starts at the identity of Fn, meets the
// elements of a line in order, or from the last to the first if Reverse, and becomes
//
//	h ← Fn(h, xᵢ)      operand x
//	h ← aᵢ·h + bᵢ      operands a, b, for Affine; at the first element met h ← bᵢ, whatever aᵢ is
//
// Result y, of x's spec, is h at each element: after the element, or before it if Exclusive. Max and Min have
// a second result of int64: the place along the axis of the element that h is, the first met of those that
// tie (−0 and +0 do), the first NaN where h is NaN; −1 where nothing was met.
type ScanOp struct {
	Fn                 ScanFn
	Axis               int
	Exclusive, Reverse bool
}

// Name is that of the builder, ops.CumSum for example.
func (o ScanOp) Name() string {
	if o.Fn >= scanCount {
		return unknown("Scan", uint8(o.Fn))
	}
	return scanTraits[o.Fn].name
}

// Key is the canonical form of the attributes.
func (o ScanOp) Key() string { return graph.KeyOf(o) }

// extreme reports whether o tells indices too.
func (o ScanOp) extreme() bool { return o.Fn == ScanMax || o.Fn == ScanMin }

// Infer is the operands' spec, and for Max and Min that of the indices.
func (o ScanOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Fn >= scanCount {
		return nil, noFunction(uint8(o.Fn))
	}
	n := 1
	if o.Fn == ScanAffine {
		n = 2
	}
	if err := arity(in, n); err != nil {
		return nil, err
	}
	if err := sameDTypes(in...); err != nil {
		return nil, err
	}
	if err := sameShapes(in...); err != nil {
		return nil, err
	}
	x := in[0]
	if err := scanTraits[o.Fn].takes.check(0, x.DType); err != nil {
		return nil, err
	}
	if o.Axis < 0 || o.Axis >= x.Rank() {
		return nil, tensor.Errorf("", tensor.ErrAxis, "axis %d is outside of rank %d", o.Axis, x.Rank())
	}
	if o.extreme() {
		return []tensor.Spec{x, {DType: tensor.Int64, Shape: x.Shape}}, nil
	}
	return []tensor.Spec{x}, nil
}

// InPlace allows every operand, unless results are written ahead of what is read.
func (o ScanOp) InPlace(int) bool { return !o.Exclusive }

// Batch moves the axis up by one.
func (o ScanOp) Batch(_ *Call, in []*Node, batched []bool, size int) []*Node {
	o.Axis++
	return o.apply(batchAll(in, batched, size)...)
}

// apply is all results.
func (o ScanOp) apply(in ...*Node) []*Node {
	if o.extreme() {
		return graph.ApplyN(2, o, in...)
	}
	return []*Node{graph.Apply(o, in...)}
}

// The scans give, at each element along an axis, the fold of the elements up to it. Options say which those
// are: Exclusive leaves the element itself out, so the first is the identity; Reversed goes from the last
// element to the first. A negative axis counts from the end. Errors (sticky) of every one: tensor.ErrAxis,
// tensor.ErrUnsupported for nil and for an option that is none.

// ScanOption is how a scan goes.
type ScanOption uint8

// The options.
const (
	Exclusive ScanOption = iota + 1 // of the elements before each, without itself
	Reversed                        // from the last element to the first
)

// CumSum is yᵢ = Σ xⱼ over j ≤ i, from 0; for bool it is or, integers wrap. Float sums carry what rounding
// loses from one block of 32 elements to the next, so that the error does not grow with their number, and sums
// of what is not negative never fall. Half floats are summed in float32, and each result is rounded once. The
// cotangent is the CumSum in the other direction.
func CumSum(x *Node, axis int, options ...ScanOption) *Node {
	return scan(ScanSum, axis, options, x)[0]
}

// CumProd is yᵢ = Π xⱼ over j ≤ i, from 1; for bool it is and, integers wrap. Half floats are multiplied in
// float32, and each result is rounded once. The derivatives are right with any number of zeros.
func CumProd(x *Node, axis int, options ...ScanOption) *Node {
	return scan(ScanProd, axis, options, x)[0]
}

// CumMax is yᵢ = max xⱼ over j ≤ i: NaN from the first NaN on, +0 of the two zeros; for bool it is or. What is
// exclusive starts from −∞, of integers from the least. The cotangent goes to the first element met among
// those that attain the maximum, the one that CumMaxWithIndex names.
//
// Errors (sticky): also tensor.ErrUnsupported for complex.
func CumMax(x *Node, axis int, options ...ScanOption) *Node {
	return scan(ScanMax, axis, options, x)[0]
}

// CumMin is yᵢ = min xⱼ over j ≤ i: NaN from the first NaN on, −0 of the two zeros; for bool it is and. What
// is exclusive starts from +∞, of integers from the greatest. The cotangent goes to the first element met
// among those that attain the minimum, the one that CumMinWithIndex names.
//
// Errors (sticky): also tensor.ErrUnsupported for complex.
func CumMin(x *Node, axis int, options ...ScanOption) *Node {
	return scan(ScanMin, axis, options, x)[0]
}

// CumMaxWithIndex is CumMax, and the place along the axis of each maximum as int64: the first met of those
// that tie, −0 and +0 included; the first NaN. Where Exclusive has met nothing it is −1, which no read should
// take for the last element: use it with Dropped after a test, or not at all.
//
// Errors (sticky): also tensor.ErrUnsupported for complex.
func CumMaxWithIndex(x *Node, axis int, options ...ScanOption) (y, at *Node) {
	r := scan(ScanMax, axis, options, x)
	return r[0], r[1]
}

// CumMinWithIndex is CumMin, and the place along the axis of each minimum as int64, as in CumMaxWithIndex.
//
// Errors (sticky): also tensor.ErrUnsupported for complex.
func CumMinWithIndex(x *Node, axis int, options ...ScanOption) (y, at *Node) {
	r := scan(ScanMin, axis, options, x)
	return r[0], r[1]
}

// LogCumSumExp is yᵢ = log Σ exp(xⱼ) over j ≤ i of floats, shifted so that it does not overflow; −∞ of nothing.
// The derivatives are exp(xⱼ − yᵢ): 0 where yᵢ is −∞, and where it is +∞ equal shares of the elements that
// are +∞.
//
// Errors (sticky): also tensor.ErrDType for integers and bool, tensor.ErrUnsupported for complex.
func LogCumSumExp(x *Node, axis int, options ...ScanOption) *Node {
	return scan(ScanLogSumExp, axis, options, x)[0]
}

// AffineScan is yᵢ = aᵢ·yᵢ₋₁ + bᵢ along an axis of what a and b, nodes or Go scalars, broadcast to; the first is
// y₀ = b₀, whatever a₀ is, or 0 if Exclusive. A decaying average and a linear recurrence are such scans. The
// cotangent of b is an AffineScan in the other direction, that of a its product with yᵢ₋₁.
//
// Errors (sticky): also tensor.ErrDType for a and b of different dtypes, tensor.ErrShape where they do not
// broadcast.
func AffineScan(a, b any, axis int, options ...ScanOption) *Node {
	in, bad := liftBroadcast(scanTraits[ScanAffine].name, a, b)
	if bad != nil {
		return bad
	}
	return scan(ScanAffine, axis, options, in...)[0]
}

func scan(fn ScanFn, axis int, options []ScanOption, in ...*Node) []*Node {
	o := ScanOp{Fn: fn}
	results := 1
	if o.extreme() {
		results = 2
	}
	if bad := graph.Invalid(o.Name(), in...); bad != nil {
		return repeat(bad, results)
	}
	axis, err := axisOf(axis, in[0].Rank())
	if err == nil {
		o, err = o.with(options)
	}
	if err != nil {
		return repeat(graph.Fail(o.Name(), err, in...), results)
	}
	o.Axis = axis
	return o.apply(in...)
}

// with is o with options.
func (o ScanOp) with(options []ScanOption) (ScanOp, error) {
	for _, option := range options {
		switch option {
		case Exclusive:
			o.Exclusive = true
		case Reversed:
			o.Reverse = true
		default:
			return o, tensor.Errorf("", tensor.ErrUnsupported, "there is no option %d of scans", option)
		}
	}
	return o, nil
}
