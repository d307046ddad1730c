package backendtest

import (
	"math"
	"math/big"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// refCast: floats to integers truncate toward zero and saturate, NaN gives 0; integers to narrower ones wrap;
// numbers to bool test ≠ 0, NaN being true; complex to real keeps the real part; all else rounds once.
func refCast(o ops.CastOp, x array) outcome {
	out := newArray(o.To, x.Shape...)
	for i, e := range x.at {
		out.at[i] = cast(x.DType, o.To, e)
	}
	return outcome{array: out}
}

func cast(from, to tensor.DType, e element) element {
	switch {
	case to == tensor.Bool:
		return fromBool(isTrue(from, e))
	case from == tensor.Bool:
		return castInt(to, big.NewInt(int64(e.re)))
	case from.IsInteger():
		return castInt(to, integer(from, e))
	case to.IsInteger():
		return saturated(to, floatOf(from, e.re))
	case to.IsComplex() && from.IsComplex():
		return fromComplex(to, complexOf(from, e))
	}
	return element{floatBits(to, floatOf(from, e.re)), 0}
}

// isTrue is ≠ 0.
func isTrue(dt tensor.DType, e element) bool {
	switch {
	case dt.IsComplex():
		return complexOf(dt, e) != 0
	case dt.IsFloat():
		return floatOf(dt, e.re) != 0
	}
	return e.re != 0
}

// integer is the value of an integer element.
func integer(dt tensor.DType, e element) *big.Int {
	if dt == tensor.Uint64 {
		return new(big.Int).SetUint64(e.re)
	}
	return big.NewInt(intOf(dt, e))
}

// castInt wraps into an integer type and rounds once into any other.
func castInt(to tensor.DType, v *big.Int) element {
	if to.IsInteger() {
		low := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)) // two's complement, as And defines it
		return fromInt(to, int64(low.Uint64()))
	}
	f := new(big.Float).SetInt(v)
	switch to {
	case tensor.Float32, tensor.Complex64:
		s, _ := f.Float32()
		return element{uint64(math.Float32bits(s)), 0}
	case tensor.Float64, tensor.Complex128:
		d, _ := f.Float64()
		return element{math.Float64bits(d), 0}
	}
	return element{floatBits(to, roundToOdd(f)), 0}
}

// roundToOdd is a float64 that rounds to a shorter type as f does: what is cut off shows in the last bit.
func roundToOdd(f *big.Float) float64 {
	d, acc := new(big.Float).SetMode(big.ToZero).SetPrec(53).Set(f), big.Exact
	v, _ := d.Float64()
	acc = big.Accuracy(d.Cmp(f))
	if acc != big.Exact {
		return math.Float64frombits(math.Float64bits(v) | 1)
	}
	return v
}

func saturated(to tensor.DType, f float64) element {
	if math.IsNaN(f) {
		return element{}
	}
	lo, hi := limits(to)
	if math.IsInf(f, 0) {
		if f > 0 {
			return castInt(to, hi)
		}
		return castInt(to, lo)
	}
	v, _ := big.NewFloat(f).Int(nil) // toward zero
	switch {
	case v.Cmp(lo) < 0:
		v = lo
	case v.Cmp(hi) > 0:
		v = hi
	}
	return castInt(to, v)
}

// limits are the least and the greatest value of an integer type.
func limits(dt tensor.DType) (lo, hi *big.Int) {
	bits := uint(8 * dt.Size())
	one := big.NewInt(1)
	if dt.IsUnsigned() {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	half := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(half), new(big.Int).Sub(half, one)
}
