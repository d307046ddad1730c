package ops

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// The distributions take a key, uint32[2], or an array of keys, uint32[b…, 2], for a result of shape
// [b…, shape…]. Errors (sticky) of every one: tensor.ErrDType for what is no key, tensor.ErrShape for a
// negative extent, tensor.ErrOverflow, tensor.ErrUnsupported for nil.

// RandomUniform is uniform in [0, 1), of a float dtype: multiples of 2⁻⁵³ for float64, of 2⁻²⁴ for float32,
// 2⁻¹¹ for float16, 2⁻⁸ for bfloat16. The same on every backend. It has no gradient.
//
// Errors (sticky): also tensor.ErrDType for a dtype that is no float.
func RandomUniform(key *Node, dt tensor.DType, shape ...int) *Node {
	const op = "ops.RandomUniform"
	if bad := random(op, key, acceptFloat, dt); bad != nil {
		return bad
	}
	digits := map[tensor.DType]int{
		tensor.Float64: 53, tensor.Float32: 24, tensor.Float16: 11, tensor.BFloat16: 8,
	}[dt]
	return Mul(whole53(key, dt, digits, shape), math.Ldexp(1, -digits))
}

// whole53 is uniform whole numbers below 2^digits, digits ≤ 53, in a float dtype that holds them exactly.
func whole53(key *Node, dt tensor.DType, digits int, shape []int) *Node {
	if digits <= 32 {
		return Cast(ShiftRight(RandomBits(key, shape...), 32-digits), dt)
	}
	hi, lo := wordPair(key, shape)
	return Add(Mul(Cast(hi, dt), math.Ldexp(1, digits-32)), Cast(ShiftRight(lo, 64-digits), dt))
}

// wordPair is two independent arrays of words.
func wordPair(key *Node, shape []int) (hi, lo *Node) {
	words := RandomBits(key, append(append([]int{}, shape...), 2)...)
	return Squeeze(SliceAxis(words, -1, 0, 1), -1), Squeeze(SliceAxis(words, -1, 1, 1), -1)
}

// RandomNormal is √2·Erfinv(u) with u uniform in (−1, 1): the normal distribution with mean 0 and deviation
// 1, of a float dtype; halves are rounded from float32. It has no gradient.
//
// Errors (sticky): also tensor.ErrDType for a dtype that is no float.
func RandomNormal(key *Node, dt tensor.DType, shape ...int) *Node {
	const op = "ops.RandomNormal"
	if bad := random(op, key, acceptFloat, dt); bad != nil {
		return bad
	}
	wide, digits := widened(dt), 23
	if dt == tensor.Float64 {
		digits = 52
	}
	// (k + ½)·2^(1−digits) − 1 is exact and never ±1.
	u := Sub(Mul(Add(whole53(key, wide, digits, shape), 0.5), math.Ldexp(1, 1-digits)), 1)
	return Cast(Mul(Erfinv(u), math.Sqrt2), dt)
}

// Bernoulli is true with probability p: RandomUniform < p. p is a Go scalar, for float32 numbers, or a node of
// a float dtype that broadcasts to the result's shape; halves are compared in float32, whose numbers are near
// enough to each other for a small p. It has no gradient.
//
// Errors (sticky): also tensor.ErrDType for a p that is no float, tensor.ErrShape where it does not broadcast.
func Bernoulli(key *Node, p any, shape ...int) *Node {
	const op = "ops.Bernoulli"
	if bad := invalid(op, 0, key, p); bad != nil {
		return bad
	}
	dt := tensor.Float32
	if n, isNode := p.(*Node); isNode {
		dt = n.DType()
		if err := acceptFloat.check(1, dt); err != nil {
			return key.Graph().Fail(op, err)
		}
	}
	if bad := random(op, key, acceptFloat, dt); bad != nil {
		return bad
	}
	u := RandomUniform(key, widened(dt), shape...)
	if n, isNode := p.(*Node); isNode {
		p = Cast(n, widened(dt))
	}
	x, bad := lift(op, 0, u, p)
	if bad != nil {
		return bad
	}
	return Less(u, BroadcastTo(x[1], u.Shape()...))
}

// RandomInt is uniform in [lo, hi), of an integer dtype: lo + r mod (hi − lo) with r of 64 bits. The same on
// every backend.
//
// Errors (sticky): also tensor.ErrDType for a dtype that is no integer, tensor.ErrBounds where the range is
// empty, tensor.ErrOverflow where dt does not hold it.
func RandomInt(key *Node, dt tensor.DType, lo, hi int64, shape ...int) *Node {
	const op = "ops.RandomInt"
	if bad := random(op, key, acceptInt, dt); bad != nil {
		return bad
	}
	g := key.Graph()
	if lo >= hi {
		return g.Fail(op, tensor.Errorf("", tensor.ErrBounds, "there is no integer in [%d, %d)", lo, hi))
	}
	first, last := g.Literal(dt, lo), g.Literal(dt, hi-1)
	if !first.Valid() || !last.Valid() {
		return graph.Invalid(op, first, last)
	}
	high, low := wordPair(key, shape)
	r := Or(ShiftLeft(Cast(high, tensor.Uint64), 32), Cast(low, tensor.Uint64))
	return Add(Cast(Rem(r, uint64(hi)-uint64(lo)), dt), first)
}

// random is the first line of a distribution.
func random(op string, key *Node, takes accept, dt tensor.DType) *Node {
	if bad := graph.Invalid(op, key); bad != nil {
		return bad
	}
	if err := checkKey(key.Spec()); err != nil {
		return key.Graph().Fail(op, err)
	}
	if takes&kind(dt) == 0 {
		return key.Graph().Fail(op, tensor.Errorf("", tensor.ErrDType, "dtype %s, want %s", dt, takes))
	}
	return nil
}
