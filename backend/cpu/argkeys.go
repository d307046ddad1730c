package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// An arg-reduction compares keys: the element itself, or its magnitude in a type that holds it. A key that is
// not itself is a NaN and beats every other.

// newArgKernel chooses the key of a dtype that argReducible lets through.
func newArgKernel(p *ArgReducePlan, axis int) argKernel {
	abs := p.fn == ops.ArgMaxAbsFn || p.fn == ops.ArgMinAbsFn
	switch p.dt {
	case tensor.Int8:
		return newSignedArg[int8, uint8](p, axis, abs)
	case tensor.Int16:
		return newSignedArg[int16, uint16](p, axis, abs)
	case tensor.Int32:
		return newSignedArg[int32, uint32](p, axis, abs)
	case tensor.Int64:
		return newSignedArg[int64, uint64](p, axis, abs)
	case tensor.Uint8:
		return newArgLines(p, axis, true, loadSame[uint8])
	case tensor.Uint16:
		return newArgLines(p, axis, true, loadSame[uint16])
	case tensor.Uint32:
		return newArgLines(p, axis, true, loadSame[uint32])
	case tensor.Uint64:
		return newArgLines(p, axis, true, loadSame[uint64])
	case tensor.Float16:
		return newFloatArg(p, axis, abs, loadFloat16, false)
	case tensor.BFloat16:
		return newFloatArg(p, axis, abs, loadBFloat16, false)
	case tensor.Float32:
		return newFloatArg(p, axis, abs, loadSame[float32], true)
	case tensor.Float64:
		return newFloatArg(p, axis, abs, loadSame[float64], true)
	case tensor.Complex64:
		return newArgLines(p, axis, false, loadModulus64)
	}
	return newArgLines(p, axis, false, loadModulus128)
}

func newSignedArg[I, U integer](p *ArgReducePlan, axis int, abs bool) argKernel {
	if abs {
		return newArgLines(p, axis, false, loadMagnitude[I, U])
	}
	return newArgLines(p, axis, true, loadSame[I])
}

// newFloatArg takes floats as they are loaded; direct says that the load changes nothing.
func newFloatArg[E tensor.Element, K float](p *ArgReducePlan, axis int, abs bool,
	load func(dst []K, src []E, at, step int), direct bool) argKernel {
	if !abs {
		return newArgLines(p, axis, direct, load)
	}
	return newArgLines(p, axis, false, func(dst []K, src []E, at, step int) {
		load(dst, src, at, step)
		for i, v := range dst {
			dst[i] = K(math.Abs(float64(v)))
		}
	})
}

// loadMagnitude loads |v| unsigned, so that the magnitude of the least integer is the greatest of all.
func loadMagnitude[I, U integer](dst []U, src []I, at, step int) {
	for i := range dst {
		v := src[at]
		u := U(v)
		if v < 0 {
			u = -u
		}
		dst[i] = u
		at += step
	}
}

// loadModulus64 loads the modulus as Abs rounds it. A NaN component makes a NaN, though hypot(∞, NaN) is ∞.
func loadModulus64(dst []float32, src []complex64, at, step int) {
	for i := range dst {
		re, im := real(src[at]), imag(src[at])
		at += step
		if re != re || im != im {
			dst[i] = float32(math.NaN())
			continue
		}
		dst[i] = fmath.Hypot32(re, im)
	}
}

func loadModulus128(dst []float64, src []complex128, at, step int) {
	for i := range dst {
		re, im := real(src[at]), imag(src[at])
		at += step
		if re != re || im != im {
			dst[i] = math.NaN()
			continue
		}
		dst[i] = fmath.Hypot(re, im)
	}
}
