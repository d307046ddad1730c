package nn

import (
	"hash/fnv"
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/internal/philox"
	"github.com/adjoint-go/adjoint/tensor"
)

// The random initializers draw from Philox4x32-10 under a key made of the store's seed and the variable's
// name: the numbers depend on nothing else, not on the order in which variables are made. A number is made of
// its words as ops.RandomUniform and ops.RandomNormal make theirs. They take the float dtypes; others are
// tensor.ErrDType.

// Fill is the initializer of one value everywhere, of any dtype: Fill(0.5).
type Fill float64

// The usual fills.
const (
	Zeros Fill = 0
	Ones  Fill = 1
)

// Init is spec filled with the value. Error: tensor.ErrOverflow where an integer dtype cannot hold it.
func (f Fill) Init(_ uint64, _ string, spec tensor.Spec) (*tensor.Tensor, error) {
	if math.Float64bits(float64(f)) == 0 {
		return tensor.New(spec.DType, spec.Shape...)
	}
	values := make([]float64, spec.Size())
	for i := range values {
		values[i] = float64(f)
	}
	return tensor.FromFloat64s(spec.DType, values, spec.Shape...)
}

// Uniform is uniform in [lo, hi), rounded to the dtype.
func Uniform(lo, hi float64) graph.Initializer {
	return graph.InitFunc(func(seed uint64, name string, spec tensor.Spec) (*tensor.Tensor, error) {
		return uniform(seed, name, spec, lo, hi)
	})
}

// Normal is the normal distribution with mean 0 and deviation std.
func Normal(std float64) graph.Initializer {
	return graph.InitFunc(func(seed uint64, name string, spec tensor.Spec) (*tensor.Tensor, error) {
		return normal(seed, name, spec, std)
	})
}

// Scaled is a random initializer whose width follows from the shape, so that values neither grow nor vanish
// from layer to layer. Of a weight of shape [k…, in, out], fanIn is Πk·in and fanOut is Πk·out. A shape of
// rank 0 or 1 is tensor.ErrRank.
type Scaled uint8

// The scaled initializers. Xavier's (Glorot and Bengio 2010) are for layers followed by a function with
// derivative 1 at 0, tanh for one; He's (He, Zhang, Ren and Sun 2015) for layers followed by Relu.
const (
	XavierUniform Scaled = iota // uniform in ±√(6 / (fanIn + fanOut))
	XavierNormal                // deviation √(2 / (fanIn + fanOut))
	HeUniform                   // uniform in ±√(6 / fanIn)
	HeNormal                    // deviation √(2 / fanIn)
)

// Init draws the values of spec.
func (s Scaled) Init(seed uint64, name string, spec tensor.Spec) (*tensor.Tensor, error) {
	last := spec.Rank() - 1
	if last < 1 {
		return nil, tensor.Errorf("", tensor.ErrRank, "shape %v has no fans, want rank 2 or more", spec.Shape)
	}
	field := float64(tensor.Size(spec.Shape[:last-1]))
	fan := field * float64(spec.Shape[last-1])
	if s == XavierUniform || s == XavierNormal {
		fan = (fan + field*float64(spec.Shape[last])) / 2
	}
	fan = max(fan, 1) // of a weight without elements
	switch s {
	case XavierUniform, HeUniform:
		bound := math.Sqrt(3 / fan)
		if s == HeUniform {
			bound = math.Sqrt(6 / fan)
		}
		return uniform(seed, name, spec, -bound, bound)
	case XavierNormal:
		return normal(seed, name, spec, math.Sqrt(1/fan))
	case HeNormal:
		return normal(seed, name, spec, math.Sqrt(2/fan))
	}
	return nil, tensor.Errorf("", tensor.ErrUnsupported, "there is no scaled initializer %d", uint8(s))
}

// uniform is lo + (hi − lo)·u, u a multiple of 2^−digits in [0, 1).
func uniform(seed uint64, name string, spec tensor.Spec, lo, hi float64) (*tensor.Tensor, error) {
	digits := map[tensor.DType]int{
		tensor.Float64: 53, tensor.Float32: 24, tensor.Float16: 11, tensor.BFloat16: 8,
	}[spec.DType]
	values, err := wholes(seed, name, spec, digits)
	if err != nil {
		return nil, err
	}
	unit := math.Ldexp(1, -digits)
	for i, k := range values {
		values[i] = lo + float64((hi-lo)*(k*unit))
	}
	return tensor.FromFloat64s(spec.DType, values, spec.Shape...)
}

// normal is std·√2·Erfinv(u) with u = (k + ½)·2^(1−digits) − 1, which is never ±1.
func normal(seed uint64, name string, spec tensor.Spec, std float64) (*tensor.Tensor, error) {
	digits := 23
	if spec.DType == tensor.Float64 {
		digits = 52
	}
	values, err := wholes(seed, name, spec, digits)
	if err != nil {
		return nil, err
	}
	unit := math.Ldexp(1, 1-digits)
	for i, k := range values {
		values[i] = std * (math.Sqrt2 * fmath.Erfinv(float64((k+0.5)*unit)-1))
	}
	return tensor.FromFloat64s(spec.DType, values, spec.Shape...)
}

// wholes is whole numbers below 2^digits, uniform: the top bits of a word each, of two words beyond 32 bits.
func wholes(seed uint64, name string, spec tensor.Spec, digits int) ([]float64, error) {
	if !spec.DType.IsFloat() {
		return nil, tensor.Errorf("", tensor.ErrDType, "a random initial value of %s, want a float", spec.DType)
	}
	key, each := keyOf(seed, name), 1
	if digits > 32 {
		each = 2
	}
	values := make([]float64, spec.Size())
	perBlock := 4 / each
	for i := 0; i < len(values); i += perBlock {
		b := philox.Block(key, uint64(i/perBlock))
		for k := range min(perBlock, len(values)-i) {
			word := uint64(b[k*each]) << 32
			if each == 2 {
				word |= uint64(b[k*each+1])
			}
			values[i+k] = float64(word >> (64 - digits))
		}
	}
	return values, nil
}

// keyOf is the first words of the block that a seed as key and a name's FNV-1a hash as counter give.
func keyOf(seed uint64, name string) [2]uint32 {
	h := fnv.New64a()
	h.Write([]byte(name))
	b := philox.Block([2]uint32{uint32(seed), uint32(seed >> 32)}, h.Sum64())
	return [2]uint32{b[0], b[1]}
}
