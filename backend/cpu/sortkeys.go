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
	sign  E    // the sign bit of signed dtypes, else 0
	inf   E    // the bits of +∞
	float bool // floats with one NaN above all and one zero
	total bool // floats in totalOrder
	flip  E    // all ones where the order descends
}

// newKeyOrder is the order of a dtype that is not complex.
func newKeyOrder[E word](dt tensor.DType, order ops.Order) keyOrder[E] {
	var k keyOrder[E]
	if dt.IsFloat() || dt.IsInteger() && !dt.IsUnsigned() {
		k.sign = 1 << (8*dt.Size() - 1)
	}
	if dt.IsFloat() {
		k.total = order == ops.TotalAscending || order == ops.TotalDescending
		k.float = !k.total
		k.inf = E(infinityBits(dt))
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

// key: a negative float is all its bits inverted, another has its sign bit set; −0 becomes +0 and a NaN the
// greatest there is. Which of the three kinds an order is, is the same for a whole run, and foreseen.
func (k *keyOrder[E]) key(v E) E {
	switch {
	case k.float:
		switch m := v &^ k.sign; {
		case m > k.inf:
			v = ^E(0)
		case v&k.sign == 0 || m == 0:
			v = m | k.sign
		default:
			v = ^v
		}
	case k.total && v&k.sign != 0:
		v = ^v
	default:
		v ^= k.sign
	}
	return v ^ k.flip
}
