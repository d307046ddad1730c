package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileCast is out[i…] = To(x[i…]), rounded once; bound by bytes. Elements are read as the widest type of
// their kind, which holds them exactly: int64, uint64, float32, float64 or complex128.
func compileCast(op ops.CastOp, out, in graph.Operand) (graph.Kernel, error) {
	if err := accepts(op.To, out, in); err != nil {
		return nil, err
	}
	from, to := in.DType, op.To
	switch {
	case from == to:
		return compileCopy(out, in)
	case from.IsComplex() && to.IsComplex():
		return map1(cheap, copyTile[complex128], out, in), nil
	case from.IsComplex() && to == tensor.Bool:
		return map1(cheap, notZero[complex128], out, in), nil
	case isNarrowFloat(from) && isNarrowFloat(to):
		return map1(cheap, copyTile[float32], out, in), nil // the tiles' own conversions do it
	}
	var t *tiled
	if to == tensor.Float32 {
		t = roundShort(out, in)
	}
	switch {
	case t != nil:
	case isNarrowFloat(from):
		t = castFloats(sourceOf[float32](1, from), out, in.Layout)
	case from == tensor.Float64 || from.IsComplex():
		t = castFloats(sourceOf[float64](1, from), out, in.Layout)
	case from == tensor.Uint64:
		t = castIntegers(sourceOf[uint64](1, from), out, in.Layout)
	default:
		t = castIntegers(sourceOf[int64](1, from), out, in.Layout)
	}
	return elementwise(t, out, in), nil
}

// roundShort rounds integers that int32 holds to float32; nil where they are others.
func roundShort(out, in graph.Operand) *tiled {
	switch in.DType {
	case tensor.Bool, tensor.Uint8:
		return roundBy[uint8](out, in)
	case tensor.Int8:
		return roundBy[int8](out, in)
	case tensor.Uint16:
		return roundBy[uint16](out, in)
	case tensor.Int16:
		return roundBy[int16](out, in)
	case tensor.Int32:
		return roundBy[int32](out, in)
	}
	return nil
}

func roundBy[S simd.Short](out, in graph.Operand) *tiled {
	return mapTiles(cheap, simd.RoundOf[S](), sourceOf[S](1, in.DType), out, in.Layout)
}

// isNarrowFloat reports whether float32 holds every value of dt.
func isNarrowFloat(dt tensor.DType) bool { return dt.IsHalf() || dt == tensor.Float32 }

// castFloats saturates to integers, and rounds to other floats.
func castFloats[S float](x *source[S], out graph.Operand, in tensor.Layout) *tiled {
	switch out.DType {
	case tensor.Bool:
		return mapTiles(cheap, notZero[S], x, out, in)
	case tensor.Int8:
		return mapTiles(cheap, saturate[int8, S], x, out, in)
	case tensor.Int16:
		return mapTiles(cheap, saturate[int16, S], x, out, in)
	case tensor.Int32:
		return mapTiles(cheap, saturate[int32, S], x, out, in)
	case tensor.Int64:
		return mapTiles(cheap, saturate[int64, S], x, out, in)
	case tensor.Uint8:
		return mapTiles(cheap, saturate[uint8, S], x, out, in)
	case tensor.Uint16:
		return mapTiles(cheap, saturate[uint16, S], x, out, in)
	case tensor.Uint32:
		return mapTiles(cheap, saturate[uint32, S], x, out, in)
	case tensor.Uint64:
		return mapTiles(cheap, saturate[uint64, S], x, out, in)
	case tensor.Float16:
		return mapTiles(cheap, toF16[S], x, out, in)
	case tensor.BFloat16:
		return mapTiles(cheap, floatsToBF16[S], x, out, in)
	}
	return castWide(x, out, in)
}

// castIntegers wraps to other integers, and rounds to floats. It also makes iota.
func castIntegers[S int64 | uint64](x *source[S], out graph.Operand, in tensor.Layout) *tiled {
	switch out.DType {
	case tensor.Bool:
		return mapTiles(cheap, notZero[S], x, out, in)
	case tensor.Int8:
		return mapTiles(cheap, convert[int8, S], x, out, in)
	case tensor.Int16:
		return mapTiles(cheap, convert[int16, S], x, out, in)
	case tensor.Int32:
		return mapTiles(cheap, convert[int32, S], x, out, in)
	case tensor.Int64:
		return mapTiles(cheap, convert[int64, S], x, out, in)
	case tensor.Uint8:
		return mapTiles(cheap, convert[uint8, S], x, out, in)
	case tensor.Uint16:
		return mapTiles(cheap, convert[uint16, S], x, out, in)
	case tensor.Uint32:
		return mapTiles(cheap, convert[uint32, S], x, out, in)
	case tensor.Uint64:
		return mapTiles(cheap, convert[uint64, S], x, out, in)
	case tensor.Float16:
		return mapTiles(cheap, toF16[S], x, out, in)
	case tensor.BFloat16:
		return mapTiles(cheap, integersToBF16[S], x, out, in)
	}
	return castWide(x, out, in)
}

// castWide rounds to the types that Go rounds to.
func castWide[S number](x *source[S], out graph.Operand, in tensor.Layout) *tiled {
	switch out.DType {
	case tensor.Float32:
		return mapTiles(cheap, convert[float32, S], x, out, in)
	case tensor.Float64:
		return mapTiles(cheap, convert[float64, S], x, out, in)
	case tensor.Complex64:
		return mapTiles(cheap, toComplex64[S], x, out, in)
	}
	return mapTiles(cheap, toComplex128[S], x, out, in)
}

// notZero is true for NaN.
func notZero[S comparable](out []bool, x []S) {
	var zero S
	x = x[:len(out)]
	for i := range out {
		out[i] = x[i] != zero
	}
}

// saturate truncates toward zero; what is outside of D becomes its nearest end, NaN 0. Go leaves that to the
// machine.
func saturate[D integer, S float](out []D, x []S) {
	least, greatest := ends[D]()
	low, above := S(least), S(float64(greatest)+1) // powers of two: of the large types greatest rounds to it
	x = x[:len(out)]
	for i := range out {
		v := x[i]
		switch {
		case v >= above:
			out[i] = greatest
		case v > low:
			out[i] = D(v)
		case v <= low:
			out[i] = least
		default:
			out[i] = 0
		}
	}
}

// ends is the least and the greatest integer of a type.
func ends[T integer]() (least, greatest T) {
	if ones := ^T(0); ones > 0 {
		return 0, ones
	}
	for least = 1; least > 0; { // up to the sign bit
		least <<= 1
	}
	return least, ^least
}

func toF16[S number](out []tensor.F16, x []S) {
	x = x[:len(out)]
	for i := range out {
		out[i] = tensor.ToF16From64(float64(x[i])) // an integer that float64 rounds is infinite here
	}
}

func floatsToBF16[S float](out []tensor.BF16, x []S) {
	x = x[:len(out)]
	for i := range out {
		out[i] = tensor.ToBF16From64(float64(x[i]))
	}
}

func integersToBF16[S int64 | uint64](out []tensor.BF16, x []S) {
	x = x[:len(out)]
	for i := range out {
		out[i] = tensor.ToBF16From64(roundToOdd(x[i]))
	}
}

// roundToOdd is v as a float64; where it does not fit, its neighbour with an odd last bit, which a second
// rounding to fewer bits rounds as v itself.
func roundToOdd[S int64 | uint64](v S) float64 {
	if beyond := v >> 53; beyond == 0 || beyond == ^S(0) {
		return float64(v)
	}
	high := v >> 11
	if high<<11 != v {
		high |= 1
	}
	return float64(high) * (1 << 11)
}

func toComplex64[S number](out []complex64, x []S) {
	x = x[:len(out)]
	for i := range out {
		out[i] = complex(float32(x[i]), 0)
	}
}

func toComplex128[S number](out []complex128, x []S) {
	x = x[:len(out)]
	for i := range out {
		out[i] = complex(float64(x[i]), 0)
	}
}
