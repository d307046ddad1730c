package backendtest

import (
	"math"
	"math/rand/v2"

	"github.com/adjoint-go/adjoint/tensor"
)

// Fill makes the elements of an input, the same for the same seed.
type Fill func(r *rand.Rand, dt tensor.DType, n int) []element

// Input is one sample input of a row.
type Input struct {
	Shape []int
	DType tensor.DType // Invalid: the dtype that the row is run with
	Fill  Fill
}

func in(fill Fill, shape ...int) Input { return Input{Shape: shape, Fill: fill} }

// indices is an input of integers, int64 unless the suite says otherwise.
func indices(fill Fill, shape ...int) Input {
	return Input{Shape: shape, DType: tensor.Int64, Fill: fill}
}

func bools(shape ...int) Input {
	return Input{Shape: shape, DType: tensor.Bool, Fill: between(0, 1)}
}

// isIndex reports whether an input may be of any integer dtype.
func (i Input) isIndex() bool { return i.DType == tensor.Int64 }

// make gives the tensor for the row's dtype.
func (i Input) make(r *rand.Rand, dt tensor.DType) array {
	if i.DType != tensor.Invalid {
		dt = i.DType
	}
	a := newArray(dt, i.Shape...)
	copy(a.at, i.Fill(r, dt, len(a.at)))
	return a
}

// samples are the inputs of a set, from one seed. index is the dtype of the index operands.
func samples(set []Input, dt, index tensor.DType, seed uint64) []array {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	out := make([]array, len(set))
	for k, i := range set {
		if i.isIndex() {
			i.DType = index
		}
		out[k] = i.make(r, dt)
	}
	return out
}

// between is numbers from lo to hi: short decimal fractions for floats, in both parts for complexes, whole
// numbers for integers (of unsigned types the magnitudes), true and false for bool.
func between(lo, hi float64) Fill {
	return func(r *rand.Rand, dt tensor.DType, n int) []element {
		out := make([]element, n)
		draw := func() float64 { return math.Round((lo+(hi-lo)*r.Float64())*1000) / 1000 }
		for i := range out {
			switch {
			case dt == tensor.Bool:
				out[i] = fromBool(r.IntN(2) == 1)
			case dt.IsInteger():
				v := math.Floor(lo) + float64(r.IntN(int(hi)-int(math.Floor(lo))+1))
				if dt.IsUnsigned() {
					v = math.Abs(v)
				}
				out[i] = number(dt, complex(v, 0))
			default:
				out[i] = number(dt, complex(draw(), draw()))
			}
		}
		return out
	}
}

// apart is like between, with all elements different, by a tenth at least: off the ties of an order.
func apart(lo, hi float64) Fill {
	return func(r *rand.Rand, dt tensor.DType, n int) []element {
		out, order := make([]element, n), r.Perm(n)
		for i := range out {
			v := lo + (hi-lo)*(float64(order[i])+0.5)/float64(max(n, 1))
			if dt.IsInteger() {
				v = math.Floor(v)
				if dt.IsUnsigned() {
					v = math.Abs(v)
				}
			}
			out[i] = number(dt, complex(v, (hi-lo)*r.Float64()/2))
		}
		return out
	}
}

// near is numbers within 0.2 of one of the given centres.
func near(centres ...float64) Fill {
	return func(r *rand.Rand, dt tensor.DType, n int) []element {
		out := make([]element, n)
		for i := range out {
			c := centres[r.IntN(len(centres))]
			if dt.IsInteger() {
				c = math.Floor(c)
				if dt.IsUnsigned() {
					c = math.Abs(c)
				}
				out[i] = number(dt, complex(c, 0))
				continue
			}
			out[i] = number(dt, complex(c+0.4*(r.Float64()-0.5), r.Float64()-0.5))
		}
		return out
	}
}

// ties is numbers of which many are equal.
func ties(r *rand.Rand, dt tensor.DType, n int) []element {
	out := make([]element, n)
	for i := range out {
		v := float64(r.IntN(3))
		if !dt.IsUnsigned() {
			v--
		}
		out[i] = number(dt, complex(v, float64(r.IntN(2))))
	}
	return out
}

// edges is the numbers at which rules change: zeros of both signs, halves, infinities, NaN, the least and the
// greatest, subnormal ones; for integers the ends of the range.
func edges(r *rand.Rand, dt tensor.DType, n int) []element {
	list := edgesOf(dt)
	out, order := make([]element, n), r.Perm(len(list))
	for i := range out {
		out[i] = list[order[i%len(order)]]
		if dt.IsComplex() {
			out[i].im = list[r.IntN(len(list))].re
		}
	}
	return out
}

func edgesOf(dt tensor.DType) []element {
	var out []element
	if dt == tensor.Bool {
		return []element{{0, 0}, {1, 0}}
	}
	if dt.IsInteger() {
		lo, hi := limits(dt)
		for _, v := range []int64{0, 1, 2, 3, 7, -1, -2} {
			out = append(out, fromInt(dt, v))
		}
		return append(out, castInt(dt, lo), castInt(dt, hi))
	}
	inf := math.Inf(1)
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, inf, -inf, math.NaN()} {
		out = append(out, fromFloat(dt, f))
	}
	largest := map[tensor.DType]uint64{tensor.Float16: 0x7bff, tensor.BFloat16: 0x7f7f, tensor.Float32: 0x7f7fffff,
		tensor.Float64: 0x7fefffffffffffff, tensor.Complex64: 0x7f7fffff, tensor.Complex128: 0x7fefffffffffffff}[dt]
	return append(out, element{largest, 0}, element{1, 0}, element{5, 0}) // and two subnormal numbers
}

// payloads is bit patterns of every kind, NaNs with payloads among them: for what only moves elements.
func payloads(r *rand.Rand, dt tensor.DType, n int) []element {
	out := make([]element, n)
	width := 8 * dt.Real().Size()
	for i := range out {
		out[i] = element{r.Uint64() >> (64 - width), 0}
		switch {
		case dt == tensor.Bool:
			out[i].re &= 1
		case dt.IsComplex():
			out[i].im = r.Uint64() >> (64 - width)
		case dt.IsFloat() && i%3 == 0:
			out[i].re = floatBits(dt, math.NaN()) | uint64(r.IntN(8))
		}
	}
	return out
}

// startsIn is starts of windows that are in bounds on an axis, half of them counted from the end where wrap is
// set.
func startsIn(extent, window int, wrap bool) Fill {
	return func(r *rand.Rand, dt tensor.DType, n int) []element {
		out := make([]element, n)
		for i := range out {
			v := r.IntN(extent - window + 1)
			if wrap && !dt.IsUnsigned() && r.IntN(2) == 0 && v < extent {
				v -= extent
			}
			out[i] = fromInt(dt, int64(v))
		}
		return out
	}
}

// startsAbout is starts in and out of bounds: a little, and as far as the dtype goes.
func startsAbout(extent, window int) Fill {
	return func(r *rand.Rand, dt tensor.DType, n int) []element {
		out := make([]element, n)
		lo, hi := limits(dt)
		for i := range out {
			switch r.IntN(8) {
			case 0:
				out[i] = castInt(dt, hi)
			case 1:
				out[i] = castInt(dt, lo)
			default:
				v := int64(r.IntN(2*extent+window+2) - extent - 1)
				if dt.IsUnsigned() {
					v = max(v, 0)
				}
				out[i] = fromInt(dt, v)
			}
		}
		return out
	}
}

// exactly is the given numbers.
func exactly(values ...float64) Fill {
	return func(_ *rand.Rand, dt tensor.DType, n int) []element {
		out := make([]element, n)
		for i := range out {
			out[i] = number(dt, complex(values[i%len(values)], 0))
		}
		return out
	}
}
