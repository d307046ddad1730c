package kernels

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/tensor"
)

// arguments is elements for each operand: special values, n random ones and, unless these are few, every
// value of a type of 8 or 16 bits. Two operands have every special value with every other, or some of these
// pairs where n is small.
func arguments(dts []tensor.DType, n int) [][]byte {
	out := make([][]byte, len(dts))
	appendAll := func(words ...[]byte) {
		for k := range out {
			out[k] = append(out[k], words[k]...)
		}
	}
	last := dts[len(dts)-1]
	special, few := specials(last), n < 1024
	rng := rand.New(rand.NewPCG(1, 2))
	for _, a := range special {
		switch {
		case len(dts) == 1:
			appendAll(a)
		case few:
			appendAll(conditions(dts, rng, a, special[rng.IntN(len(special))])...)
		default:
			for _, b := range special {
				appendAll(conditions(dts, rng, a, b)...)
			}
		}
	}
	if last.Size() <= 2 && last != tensor.Bool && !few {
		for v := range 1 << (8 * last.Size()) {
			a := littleEndian(uint64(v), last.Size())
			if len(dts) == 1 {
				appendAll(a)
				continue
			}
			b := random(rng, last)
			appendAll(conditions(dts, rng, a, b)...)
			appendAll(conditions(dts, rng, b, a)...)
		}
	}
	for range n {
		a, b := random(rng, last), random(rng, last)
		if len(dts) == 1 {
			appendAll(a)
			continue
		}
		appendAll(conditions(dts, rng, a, b)...)
	}
	return out
}

// conditions puts the bool that a choice has before its operands.
func conditions(dts []tensor.DType, rng *rand.Rand, a, b []byte) [][]byte {
	if len(dts) == 3 {
		return [][]byte{{byte(rng.IntN(2))}, a, b}
	}
	return [][]byte{a, b}
}

func littleEndian(v uint64, size int) []byte { return binary.LittleEndian.AppendUint64(nil, v)[:size] }

// random is one element: of floats half are any bits, which lie mostly where functions are 0 or infinite,
// and half numbers between 2⁻²⁰ and 2¹², whole and half ones among them.
func random(rng *rand.Rand, dt tensor.DType) []byte {
	switch {
	case dt == tensor.Bool:
		return []byte{byte(rng.IntN(2))}
	case dt.IsComplex():
		if rng.IntN(8) == 0 {
			special := specials(dt.Real())
			return append(random(rng, dt.Real()), special[rng.IntN(len(special))]...)
		}
		return append(random(rng, dt.Real()), random(rng, dt.Real())...)
	case dt.IsInteger() && rng.IntN(4) == 0: // in the middle of two numbers of 8 bits, or next to it
		return littleEndian((2*rng.Uint64N(1<<8)+1)<<rng.IntN(55)+rng.Uint64N(3)-1, dt.Size())
	case dt.IsInteger():
		return littleEndian(uint64(int64(rng.Uint64())>>rng.IntN(64)), dt.Size())
	case rng.IntN(2) == 0:
		return littleEndian(rng.Uint64(), dt.Size())
	}
	v := math.Ldexp(1+rng.Float64(), rng.IntN(32)-20)
	if rng.IntN(8) == 0 {
		v = math.Trunc(2*v) / 2
	}
	if rng.IntN(2) == 0 {
		v = -v
	}
	return float(dt, v)
}

// float is v in a type of floats.
func float(dt tensor.DType, v float64) []byte {
	switch dt {
	case tensor.Float16:
		return littleEndian(uint64(tensor.ToF16From64(v)), 2)
	case tensor.BFloat16:
		return littleEndian(uint64(tensor.ToBF16From64(v)), 2)
	case tensor.Float32:
		return littleEndian(uint64(math.Float32bits(float32(v))), 4)
	}
	return littleEndian(math.Float64bits(v), 8)
}

// specials is the values at which functions change their ways, with their neighbours.
func specials(dt tensor.DType) [][]byte {
	switch {
	case dt == tensor.Bool:
		return [][]byte{{0}, {1}}
	case dt.IsComplex():
		var all [][]byte
		few := []float64{0, math.Copysign(0, -1), 1, -1, 0.25, -3, 0x1p-30, 25, -41, 800, 0x1p21,
			math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -0x1p-1074, 0x1p-300, 0x1p500}
		for _, a := range few {
			for _, b := range few {
				all = append(all, append(float(dt.Real(), a), float(dt.Real(), b)...))
			}
		}
		return all
	case dt.IsInteger():
		var all [][]byte
		top := uint64(1) << (8*dt.Size() - 1)
		for _, v := range []uint64{0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100,
			top - 1, top, top + 1, 1 << 53, 1<<53 + 1} {
			all = append(all, littleEndian(v, dt.Size()), littleEndian(-v, dt.Size()))
		}
		return all
	}
	return specialFloats(dt)
}

func specialFloats(dt tensor.DType) [][]byte {
	var all [][]byte
	width, f := 8*dt.Size(), fraction[dt]
	sign, infinity := uint64(1)<<(width-1), uint64(1)<<(width-1)-1<<f
	put := func(bits uint64) {
		all = append(all, littleEndian(bits, dt.Size()), littleEndian(bits|sign, dt.Size()))
	}
	for _, bits := range []uint64{0, 1, 2, 1<<f - 1, 1 << f, 1<<f + 1, infinity - 1, infinity,
		infinity | 1, infinity | 1<<(f-1), infinity | 1<<(f-1) | 5, infinity | 1<<(f-2) | 1<<(f-1)} {
		put(bits)
	}
	for _, v := range []float64{
		0.17, 0.25, 0.29, 0.4375, 0.5, 0.6875, 0.75, math.Pi / 4, 0.85, 1, 1.1875, 1.5, math.Pi / 2, 2,
		2.4375, 2.5, 3, math.Pi, 4, 6, 10, 22, 28, 40, 50, 88.7228391, 89, 104, 127.5, 128, 150, 255, 256,
		709.7827, 711, 745.14, 1024, 1075, 32768, 65504, 65520, 65536, 0x1p20, 0x1p24, 0x1p28, 0x1p31,
		0x1p32, 0x1p53, 0x1p60, 0x1p63, 0x1p64, 0x1p127, 0x1p400, 0x1p1000, 0x1p-13, 0x1p-14, 0x1p-24,
		0x1p-27, 0x1p-28, 0x1p-54, 0x1p-60, 0x1p-126, 0x1p-149, 0x1p-400, 0x1p-1000, 0x1p-1022,
	} {
		bits := word(float(dt, v))
		put(bits)
		if bits > 0 && bits < infinity {
			put(bits - 1)
			put(bits + 1)
		}
	}
	return all
}
