package cpu

import (
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// word is the elements of one width as unsigned integers, whatever they mean.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// keyOrder turns the bits of an element into a key: unsigned integers that ascend as the elements do in the
// order asked for, and that are equal where elements tie.
type keyOrder[E word] struct {
	sign   E    // the sign bit of signed dtypes, else 0
	flip   E    // all ones where the order descends
	floats bool // whose bits are a sign and a magnitude
	total  bool // in totalOrder; else one NaN is above all, and there is one zero
	inf    E    // the bits of +∞
	shift  uint // of the sign bit
}

// newKeyOrder is the order of a dtype that is not complex.
func newKeyOrder[E word](dt tensor.DType, order ops.Order) keyOrder[E] {
	var k keyOrder[E]
	if dt.IsFloat() || dt.IsInteger() && !dt.IsUnsigned() {
		k.sign = 1 << (8*dt.Size() - 1)
	}
	if k.floats = dt.IsFloat(); k.floats {
		k.total = order == ops.TotalAscending || order == ops.TotalDescending
		k.inf, k.shift = E(infinityBits(dt)), uint(8*dt.Size()-1)
	}
	if order == ops.Descending || order == ops.TotalDescending {
		k.flip = ^E(0)
	}
	return k
}

func infinityBits(dt tensor.DType) uint64 {
	switch dt {
	case tensor.Float16:
		return 0x7c00
	case tensor.BFloat16:
		return 0x7f80
	case tensor.Float32:
		return 0x7f800000
	}
	return 0x7ff0000000000000
}

// key inverts all bits of a negative float and the sign bit of another; −0 becomes +0 and a NaN the greatest
// key there is. The one branch that depends on the element is for these two, so it is foreseen.
func (k *keyOrder[E]) key(v E) E {
	if !k.floats {
		return v ^ k.sign ^ k.flip
	}
	if m := v &^ k.sign; !k.total && m-1 >= k.inf { // zero, which wraps, or NaN
		if m == 0 {
			return k.sign ^ k.flip
		}
		return ^k.flip
	}
	return v ^ (-(v >> k.shift) | k.sign) ^ k.flip
}
