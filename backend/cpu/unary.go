package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileUnary is out[i…] = fn(x[i…]). Cheap functions are bound by bytes, elementary ones by the latency of
// their polynomials.
//
// Of integers floor, ceil, round, trunc, conj and real are the identity, imag is 0, and neg and abs wrap;
// of bool there are not, and the tests for NaN and infinity.
func compileUnary(op ops.UnaryOp, out, in graph.Operand) (graph.Kernel, error) {
	want := in.DType
	switch op.Fn {
	case ops.UnaryIsNaN, ops.UnaryIsInf, ops.UnaryIsFinite:
		want = tensor.Bool
	case ops.UnaryAbs, ops.UnaryReal, ops.UnaryImag:
		want = in.DType.Real()
	}
	if err := accepts(want, out, in); err != nil {
		return nil, err
	}
	if k := chooseUnary(op.Fn, out, in); k != nil {
		return k, nil
	}
	return nil, noFunction("unary function", op.Fn, in.DType)
}

// chooseUnary is nil where there is no such function.
func chooseUnary(fn ops.UnaryFn, out, in graph.Operand) graph.Kernel {
	switch dt := in.DType; dt {
	case tensor.Bool:
		if fn == ops.UnaryNot {
			return map1(cheap, notBools, out, in)
		}
		return testIntegers[uint8](fn, out, in)
	case tensor.Int8:
		return unaryInteger[int8](fn, out, in)
	case tensor.Int16:
		return unaryInteger[int16](fn, out, in)
	case tensor.Int32:
		return unaryInteger[int32](fn, out, in)
	case tensor.Int64:
		return unaryInteger[int64](fn, out, in)
	case tensor.Uint8:
		return unaryInteger[uint8](fn, out, in)
	case tensor.Uint16:
		return unaryInteger[uint16](fn, out, in)
	case tensor.Uint32:
		return unaryInteger[uint32](fn, out, in)
	case tensor.Uint64:
		return unaryInteger[uint64](fn, out, in)
	case tensor.Float64:
		return unaryFloat(fn, elementary64, out, in)
	case tensor.Complex64, tensor.Complex128:
		return unaryComplex(fn, out, in)
	}
	return unaryFloat(fn, elementary32, out, in)
}

func unaryInteger[T integer](fn ops.UnaryFn, out, in graph.Operand) graph.Kernel {
	switch fn {
	case ops.UnaryNeg:
		return map1(cheap, negIntegers[T], out, in)
	case ops.UnaryAbs:
		return map1(cheap, absIntegers[T], out, in)
	case ops.UnarySign:
		return map1(cheap, signTile[T], out, in)
	case ops.UnaryNot:
		return map1(cheap, notIntegers[T], out, in)
	case ops.UnaryFloor, ops.UnaryCeil, ops.UnaryRound, ops.UnaryTrunc, ops.UnaryConj, ops.UnaryReal:
		return map1(cheap, copyTile[T], out, in)
	case ops.UnaryImag:
		return map1(cheap, zeroTile[T], out, in)
	}
	return testIntegers[T](fn, out, in)
}

// testIntegers is the tests for NaN and infinity of a type that has neither.
func testIntegers[T integer](fn ops.UnaryFn, out, in graph.Operand) graph.Kernel {
	switch fn {
	case ops.UnaryIsNaN, ops.UnaryIsInf:
		return map1(cheap, falseTile[T], out, in)
	case ops.UnaryIsFinite:
		return map1(cheap, trueTile[T], out, in)
	}
	return nil
}

func unaryFloat[T float](fn ops.UnaryFn, elementary func(ops.UnaryFn) func(out, x []T), out,
	in graph.Operand) graph.Kernel {
	switch fn {
	case ops.UnaryNeg:
		return map1(cheap, simd.FloatsOf[T]().Neg, out, in)
	case ops.UnaryAbs:
		return map1(cheap, absFloats[T], out, in)
	case ops.UnarySign:
		return map1(cheap, signTile[T], out, in)
	case ops.UnarySqrt:
		return map1(cheap, simd.FloatsOf[T]().Sqrt, out, in)
	case ops.UnaryRsqrt:
		return map1(cheap, rsqrtTile[T], out, in)
	case ops.UnaryFloor:
		return map1(cheap, floorTile[T], out, in)
	case ops.UnaryCeil:
		return map1(cheap, ceilTile[T], out, in)
	case ops.UnaryRound:
		return map1(cheap, roundTile[T], out, in)
	case ops.UnaryTrunc:
		return map1(cheap, truncTile[T], out, in)
	case ops.UnaryIsNaN:
		return map1(cheap, isNaNTile[T], out, in)
	case ops.UnaryIsInf:
		return map1(cheap, isInfTile[T], out, in)
	case ops.UnaryIsFinite:
		return map1(cheap, isFiniteTile[T], out, in)
	case ops.UnaryConj, ops.UnaryReal:
		return map1(cheap, copyTile[T], out, in)
	case ops.UnaryImag:
		return map1(cheap, zeroTile[T], out, in)
	}
	return map1(dear, elementary(fn), out, in)
}
