package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileBinary is out[i…] = fn(a[i…], b[i…]). Arithmetic is bound by bytes, pow, atan2, rem and mod by their
// own arithmetic.
func compileBinary(op ops.BinaryOp, out graph.Operand, in []graph.Operand) (graph.Kernel, error) {
	a, b := in[0], in[1]
	if err := alike(a, b); err != nil {
		return nil, err
	}
	if op.Fn == ops.BinaryComplex {
		return compileComplex(op, out, a, b)
	}
	if err := accepts(a.DType, out, a, b); err != nil {
		return nil, err
	}
	if k := chainOfOne(op, out, a, b); k != nil {
		return k, nil
	}
	if k := chooseBinary(op.Fn, out, a, b); k != nil {
		return k, nil
	}
	return nil, noFunction("binary function", op.Fn, a.DType)
}

// chooseBinary is nil where there is no such function.
func chooseBinary(fn ops.BinaryFn, out, a, b graph.Operand) graph.Kernel {
	cost := cheap
	switch fn {
	case ops.BinaryPow, ops.BinaryAtan2, ops.BinaryRem, ops.BinaryMod:
		cost = dear
	}
	switch a.DType {
	case tensor.Bool:
		return map2(cost, logic(fn), out, a, b)
	case tensor.Int8:
		return map2(cost, integerBinary[int8](fn), out, a, b)
	case tensor.Int16:
		return map2(cost, integerBinary[int16](fn), out, a, b)
	case tensor.Int32:
		return map2(cost, integerBinary[int32](fn), out, a, b)
	case tensor.Int64:
		return map2(cost, integerBinary[int64](fn), out, a, b)
	case tensor.Uint8:
		return map2(cost, integerBinary[uint8](fn), out, a, b)
	case tensor.Uint16:
		return map2(cost, integerBinary[uint16](fn), out, a, b)
	case tensor.Uint32:
		return map2(cost, integerBinary[uint32](fn), out, a, b)
	case tensor.Uint64:
		return map2(cost, integerBinary[uint64](fn), out, a, b)
	case tensor.Float64:
		return map2(cost, floatBinary[float64](fn), out, a, b)
	case tensor.Complex64, tensor.Complex128:
		return map2(cost, complexBinary(fn), out, a, b)
	}
	return map2(cost, floatBinary[float32](fn), out, a, b)
}

// logic is the functions on bool, whose bytes are 0 and 1.
func logic(fn ops.BinaryFn) func(out, a, b []uint8) {
	switch fn {
	case ops.BinaryAdd, ops.BinaryMax, ops.BinaryOr:
		return orTile[uint8]
	case ops.BinaryMul, ops.BinaryMin, ops.BinaryAnd:
		return andTile[uint8]
	case ops.BinaryXor:
		return xorTile[uint8]
	case ops.BinaryGuard:
		return secondTile[uint8]
	}
	return nil
}

// arithmetic is what integers and floats share.
func arithmetic[T number](fn ops.BinaryFn) func(out, a, b []T) {
	switch fn {
	case ops.BinaryAdd:
		return simd.ArithmeticOf[T]().Add
	case ops.BinarySub:
		return simd.ArithmeticOf[T]().Sub
	case ops.BinaryMul:
		return simd.ArithmeticOf[T]().Mul
	case ops.BinaryMax:
		return simd.ExtremesOf[T]().MaxRow
	case ops.BinaryMin:
		return simd.ExtremesOf[T]().MinRow
	}
	return nil
}

func integerBinary[T integer](fn ops.BinaryFn) func(out, a, b []T) {
	switch fn {
	case ops.BinaryDiv:
		return divIntegers[T]
	case ops.BinaryPow:
		return powIntegers[T]
	case ops.BinaryRem:
		return remIntegers[T]
	case ops.BinaryMod:
		return modIntegers[T]
	case ops.BinaryAnd:
		return andTile[T]
	case ops.BinaryOr:
		return orTile[T]
	case ops.BinaryXor:
		return xorTile[T]
	case ops.BinaryShiftLeft:
		return shiftLeftTile[T]
	case ops.BinaryShiftRight:
		return shiftRightTile[T]
	case ops.BinaryGuard:
		return secondTile[T]
	}
	return arithmetic[T](fn)
}

func floatBinary[T float](fn ops.BinaryFn) func(out, a, b []T) {
	switch fn {
	case ops.BinaryDiv:
		return simd.FloatsOf[T]().Div
	case ops.BinaryPow:
		return powFloats[T]
	case ops.BinaryAtan2:
		return atan2Tile[T]
	case ops.BinaryRem:
		return remFloats[T]
	case ops.BinaryMod:
		return modFloats[T]
	case ops.BinaryGuard:
		return simd.FloatsOf[T]().Guard
	}
	return arithmetic[T](fn)
}

// compileComplex is out[i…] = a[i…] + b[i…]·i: two movements into the components of the output.
func compileComplex(op ops.BinaryOp, out, a, b graph.Operand) (graph.Kernel, error) {
	var want tensor.DType
	switch a.DType {
	case tensor.Float32:
		want = tensor.Complex64
	case tensor.Float64:
		want = tensor.Complex128
	default:
		return nil, noFunction("binary function", op.Fn, a.DType)
	}
	if err := accepts(want, out, a, b); err != nil {
		return nil, err
	}
	k := &piecewise{Operands: planning.Operands{Out: []graph.Operand{out}, In: []graph.Operand{a, b}}}
	for i, o := range k.In {
		k.parts = append(k.parts, part{copyTiles(o.DType.Size(), componentsOf(out.Layout, i), o.Layout), i})
	}
	return k, nil
}
