package ops_test

import (
	"math"
	"math/cmplx"
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func refCast(r array, from tensor.DType) {
	for i, v := range r.data {
		switch {
		case r.dtype == tensor.Bool && v != 0:
			r.data[i] = 1
		case r.dtype.IsInteger() && math.IsNaN(real(v)):
			r.data[i] = 0
		case !r.dtype.IsComplex():
			r.data[i] = complex(real(v), 0)
		}
	}
}

func refUnary(fn ops.UnaryFn, v complex128) complex128 {
	switch fn {
	case ops.UnaryNeg:
		return -v
	case ops.UnarySin:
		return cmplx.Sin(v)
	case ops.UnaryCos:
		return cmplx.Cos(v)
	case ops.UnaryConj:
		return cmplx.Conj(v)
	case ops.UnaryReal:
		return complex(real(v), 0)
	case ops.UnaryImag:
		return complex(imag(v), 0)
	case ops.UnaryNot:
		return 1 - v // of bools
	}
	panic("the reference has no such unary function")
}

func refBinary(fn ops.BinaryFn, a, b complex128, dt tensor.DType) complex128 {
	integer := dt.IsInteger()
	switch fn {
	case ops.BinaryAdd:
		return a + b
	case ops.BinarySub:
		return a - b
	case ops.BinaryMul:
		return mul(a, b, dt)
	case ops.BinaryDiv:
		switch {
		case integer && b == 0:
			return 0
		case integer:
			return complex(math.Trunc(real(a)/real(b)), 0)
		case !dt.IsComplex():
			return complex(real(a)/real(b), 0)
		}
		return a / b
	case ops.BinaryMod:
		if integer && b == 0 {
			return 0
		}
		return complex(real(a)-real(b)*math.Floor(real(a)/real(b)), 0)
	case ops.BinaryMax:
		return refCombine(ops.CombineMax, a, b)
	case ops.BinaryMin:
		return refCombine(ops.CombineMin, a, b)
	case ops.BinaryAnd:
		return a * b
	case ops.BinaryOr:
		return complex(max(real(a), real(b)), 0)
	case ops.BinaryGuard:
		if refCompare(ops.CompareGuards, a, b) {
			return 0
		}
		return b
	}
	panic("the reference has no such binary function")
}

// mul is a product of reals where the dtype is real: the complex one makes NaN of ∞·0.
func mul(a, b complex128, dt tensor.DType) complex128 {
	if dt.IsComplex() {
		return a * b
	}
	return complex(real(a)*real(b), 0)
}

func refCompare(fn ops.CompareFn, a, b complex128) bool {
	switch fn {
	case ops.CompareEqual:
		return a == b
	case ops.CompareNotEqual:
		return a != b
	case ops.CompareLess:
		return real(a) < real(b)
	case ops.CompareAttains:
		return a == b || cmplx.IsNaN(a) && cmplx.IsNaN(b)
	case ops.CompareGuards:
		return a == 0 && (cmplx.IsNaN(b) || cmplx.IsInf(b))
	}
	panic("the reference has no such predicate")
}

func refCombine(c ops.Combine, h, u complex128) complex128 {
	switch c {
	case ops.CombineAdd:
		return h + u
	case ops.CombineMul:
		return h * u
	case ops.CombineMax: // math.Max orders −0 below +0, but prefers ∞ to NaN
		if cmplx.IsNaN(h) || cmplx.IsNaN(u) {
			return cmplx.NaN()
		}
		return complex(math.Max(real(h), real(u)), 0)
	case ops.CombineMin:
		if cmplx.IsNaN(h) || cmplx.IsNaN(u) {
			return cmplx.NaN()
		}
		return complex(math.Min(real(h), real(u)), 0)
	}
	return u
}

func refSum(op ops.ReduceOp, r, x array) {
	if op.Fn != ops.ReduceSum || op.Init {
		panic("the reference has no such reduction")
	}
	k := 0
	for idx := range tensor.Indices(x.shape) {
		var to []int
		for a, i := range idx {
			if !slices.Contains(op.Axes, a) {
				to = append(to, i)
			}
		}
		r.data[r.offset(to)] += x.data[k]
		k++
	}
}
