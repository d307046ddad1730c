package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
)

// elementary32 is the loop of an elementary function on float32, nil for another function.
func elementary32(fn ops.UnaryFn) func(out, x []float32) {
	switch fn {
	case ops.UnaryExp:
		return simd.ElementaryOf[float32]().Exp
	case ops.UnaryLog:
		return simd.ElementaryOf[float32]().Log
	case ops.UnaryTanh:
		return simd.ElementaryOf[float32]().Tanh
	case ops.UnarySigmoid:
		return simd.ElementaryOf[float32]().Sigmoid
	}
	return callEach(rare32[fn])
}

// elementary64 is elementary32 on float64.
func elementary64(fn ops.UnaryFn) func(out, x []float64) {
	switch fn {
	case ops.UnaryExp:
		return simd.ElementaryOf[float64]().Exp
	case ops.UnaryLog:
		return simd.ElementaryOf[float64]().Log
	case ops.UnaryTanh:
		return simd.ElementaryOf[float64]().Tanh
	case ops.UnarySigmoid:
		return simd.ElementaryOf[float64]().Sigmoid
	}
	return callEach(rare64[fn])
}

// callEach calls f for every element: for functions that take 10 ns and more, next to which a call through
// a variable is small.
func callEach[T float](f func(T) T) func(out, x []T) {
	if f == nil {
		return nil
	}
	return func(out, x []T) {
		x = x[:len(out)]
		for i := range out {
			out[i] = f(x[i])
		}
	}
}

var rare32 = map[ops.UnaryFn]func(float32) float32{
	ops.UnaryExp2: fmath.Exp232, ops.UnaryExpm1: fmath.Expm132,
	ops.UnaryLog2: fmath.Log232, ops.UnaryLog10: fmath.Log1032, ops.UnaryLog1p: fmath.Log1p32,
	ops.UnaryCbrt: fmath.Cbrt32,
	ops.UnarySin:  fmath.Sin32, ops.UnaryCos: fmath.Cos32, ops.UnaryTan: fmath.Tan32,
	ops.UnaryAsin: fmath.Asin32, ops.UnaryAcos: fmath.Acos32, ops.UnaryAtan: fmath.Atan32,
	ops.UnarySinh: fmath.Sinh32, ops.UnaryCosh: fmath.Cosh32,
	ops.UnaryAsinh: fmath.Asinh32, ops.UnaryAcosh: fmath.Acosh32, ops.UnaryAtanh: fmath.Atanh32,
	ops.UnarySoftplus: fmath.Softplus32,
	ops.UnaryErf:      fmath.Erf32, ops.UnaryErfc: fmath.Erfc32, ops.UnaryErfinv: fmath.Erfinv32,
}

var rare64 = map[ops.UnaryFn]func(float64) float64{
	ops.UnaryExp2: fmath.Exp2, ops.UnaryExpm1: fmath.Expm1,
	ops.UnaryLog2: fmath.Log2, ops.UnaryLog10: fmath.Log10, ops.UnaryLog1p: fmath.Log1p,
	ops.UnaryCbrt: fmath.Cbrt,
	ops.UnarySin:  fmath.Sin, ops.UnaryCos: fmath.Cos, ops.UnaryTan: fmath.Tan,
	ops.UnaryAsin: fmath.Asin, ops.UnaryAcos: fmath.Acos, ops.UnaryAtan: fmath.Atan,
	ops.UnarySinh: fmath.Sinh, ops.UnaryCosh: fmath.Cosh,
	ops.UnaryAsinh: fmath.Asinh, ops.UnaryAcosh: fmath.Acosh, ops.UnaryAtanh: fmath.Atanh,
	ops.UnarySoftplus: fmath.Softplus,
	ops.UnaryErf:      fmath.Erf, ops.UnaryErfc: fmath.Erfc, ops.UnaryErfinv: fmath.Erfinv,
}
