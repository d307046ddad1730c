package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileCompare is out[i…] = fn(a[i…], b[i…]), a bool. It is bound by bytes.
func compileCompare(op ops.CompareOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	a, b := in[0], in[1]
	if err := alike(a, b); err != nil {
		return nil, err
	}
	if err := accepts(tensor.Bool, out, a, b); err != nil {
		return nil, err
	}
	k := chooseCompare(op.Fn, out, a, b)
	if k == nil {
		return nil, noFunction("comparison", op.Fn, a.DType)
	}
	return k, nil
}

// chooseCompare is nil where there is no such predicate. On bool, false is below true.
func chooseCompare(fn ops.CompareFn, out, a, b graph.Operand) graph.Kernel {
	switch a.DType {
	case tensor.Bool, tensor.Uint8:
		return map2(cheap, compareIntegers[uint8](fn), out, a, b)
	case tensor.Int8:
		return map2(cheap, compareIntegers[int8](fn), out, a, b)
	case tensor.Int16:
		return map2(cheap, compareIntegers[int16](fn), out, a, b)
	case tensor.Int32:
		return map2(cheap, compareIntegers[int32](fn), out, a, b)
	case tensor.Int64:
		return map2(cheap, compareIntegers[int64](fn), out, a, b)
	case tensor.Uint16:
		return map2(cheap, compareIntegers[uint16](fn), out, a, b)
	case tensor.Uint32:
		return map2(cheap, compareIntegers[uint32](fn), out, a, b)
	case tensor.Uint64:
		return map2(cheap, compareIntegers[uint64](fn), out, a, b)
	case tensor.Float64:
		return map2(cheap, compareFloats[float64](fn), out, a, b)
	case tensor.Complex64, tensor.Complex128:
		if fn == ops.CompareGuards {
			return map2(cheap, guardsComplexTile, out, a, b)
		}
		return map2(cheap, compareEqual[complex128](fn), out, a, b)
	}
	return map2(cheap, compareFloats[float32](fn), out, a, b)
}

func compareIntegers[T integer](fn ops.CompareFn) func(out []bool, a, b []T) {
	if fn == ops.CompareGuards {
		return neverTile[T]
	}
	return compareOrder[T](fn)
}

func compareFloats[T float](fn ops.CompareFn) func(out []bool, a, b []T) {
	if fn == ops.CompareGuards {
		return guardsFloats[T]
	}
	return compareOrder[T](fn)
}

func compareOrder[T number](fn ops.CompareFn) func(out []bool, a, b []T) {
	c := simd.ComparesOf[T]()
	switch fn {
	case ops.CompareEqual:
		return c.Equal
	case ops.CompareNotEqual:
		return c.NotEqual
	case ops.CompareLess:
		return c.Less
	case ops.CompareLessEqual:
		return c.LessEqual
	case ops.CompareGreater:
		return func(out []bool, a, b []T) { c.Less(out, b, a) }
	case ops.CompareGreaterEqual:
		return func(out []bool, a, b []T) { c.LessEqual(out, b, a) }
	}
	return compareEqual[T](fn)
}

func compareEqual[T comparable](fn ops.CompareFn) func(out []bool, a, b []T) {
	switch fn {
	case ops.CompareEqual:
		return simd.Equal[T]
	case ops.CompareNotEqual:
		return simd.NotEqual[T]
	case ops.CompareAttains:
		return attainsTile[T]
	}
	return nil
}

// attainsTile is equal, or both NaN; a complex number is NaN where a component is.
func attainsTile[T comparable](out []bool, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] == b[i] || a[i] != a[i] && b[i] != b[i]
	}
}

// guardsFloats is a = 0 and b not finite.
func guardsFloats[T float](out []bool, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] == 0 && b[i]-b[i] != 0
	}
}

func guardsComplexTile(out []bool, a, b []complex128) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] == 0 && !isFinite(b[i])
	}
}

// neverTile is guardsFloats of a type in which everything is finite.
func neverTile[T any](out []bool, _, _ []T) { clear(out) }
