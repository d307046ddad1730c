package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// layoutKinds are the ways in which one logical tensor may lie in memory.
var layoutKinds = []string{"row-major", "col-major", "reversed", "holed", "reversed-holed-transposed"}

// layoutOf is a layout of a shape of the kind named, and the number of elements its storage needs.
func layoutOf(kind string, shape []int) (tensor.Layout, int) {
	perm := make([]int, len(shape))
	for a := range perm {
		perm[a] = a
	}
	gap, flip, lead := 1, false, 0
	switch kind {
	case "col-major":
		slices.Reverse(perm)
	case "reversed":
		flip = true
	case "holed":
		gap, lead = 3, 2
	case "reversed-holed-transposed":
		gap, flip, lead = 2, true, 1
		slices.Reverse(perm)
	}
	l := tensor.Layout{Shape: slices.Clone(shape), Strides: make([]int, len(shape)), Offset: lead}
	n := gap
	for a := len(perm) - 1; a >= 0; a-- {
		l.Strides[perm[a]] = n
		n *= max(shape[perm[a]], 1)
	}
	if flip && tensor.Size(shape) > 0 {
		for a := range l.Strides {
			l.Offset += (shape[a] - 1) * l.Strides[a]
			l.Strides[a] = -l.Strides[a]
		}
	}
	return l, n + lead
}

// viewAs puts logical values into memory of the kind named; junk fills the holes.
func viewAs[T tensor.Element](t *testing.T, kind string, shape []int, values []T, junk T) tensor.View {
	t.Helper()
	l, n := layoutOf(kind, shape)
	data := slices.Repeat([]T{junk}, n)
	i := 0
	for idx := range tensor.Indices(shape) {
		data[l.At(idx)] = values[i]
		i++
	}
	return tensor.Must(tensor.ViewOf(data, l))
}

// operandOf is what a kernel would be compiled for to take v.
func operandOf(v tensor.View) graph.Operand {
	return graph.Operand{DType: v.DType(), Layout: v.Layout()}
}

// randomValues are small integers, halves of them, and the special values of a dtype now and then.
func randomValues[T tensor.Element](rng *rand.Rand, n int, special bool) []T {
	out := make([]T, n)
	specials := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0}
	for i := range out {
		v := float64(rng.IntN(41)-20) / 2
		if special && rng.IntN(12) == 0 {
			v = specials[rng.IntN(len(specials))]
		}
		out[i] = element[T](v, float64(rng.IntN(9)-4))
	}
	return out
}

// element converts for tests: integers truncate, bool is v > 0, im is used for complex types alone.
func element[T tensor.Element](v, im float64) T {
	var z T
	if v != v && tensor.DTypeFor[T]().IsInteger() {
		v = 7
	}
	switch p := any(&z).(type) {
	case *bool:
		*p = v > 0
	case *int8:
		*p = int8(max(min(v*12, 127), -128))
	case *int16:
		*p = int16(max(min(v, 1e4), -1e4))
	case *int32:
		*p = int32(max(min(v, 1e4), -1e4))
	case *int64:
		*p = int64(max(min(v, 1e4), -1e4))
	case *uint8:
		*p = uint8(max(min(v*12, 255), 0))
	case *uint16:
		*p = uint16(max(min(v, 1e4), 0))
	case *uint32:
		*p = uint32(max(min(v, 1e4), 0))
	case *uint64:
		*p = uint64(max(min(v, 1e4), 0))
	case *tensor.F16:
		*p = tensor.ToF16(float32(v))
	case *tensor.BF16:
		*p = tensor.ToBF16(float32(v))
	case *float32:
		*p = float32(v)
	case *float64:
		*p = v
	case *complex64:
		*p = complex(float32(v), float32(im))
	case *complex128:
		*p = complex(v, im)
	}
	return z
}
