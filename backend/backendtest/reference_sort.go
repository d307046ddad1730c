package backendtest

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compareOrdered is the order of two elements: NaN above all and equal to its like, −0 equal to +0; in a total
// order floats by sign, then by the rest of their bits.
func compareOrdered(dt tensor.DType, order ops.Order, a, b element) int {
	c := 0
	switch total := order == ops.TotalAscending || order == ops.TotalDescending; {
	case !dt.IsFloat():
		c = integer(dt, a).Cmp(integer(dt, b))
	case total:
		c = totalRank(dt, a).Cmp(totalRank(dt, b))
	default:
		f, g := floatOf(dt, a.re), floatOf(dt, b.re)
		switch {
		case math.IsNaN(f) || math.IsNaN(g):
			c = cmp.Compare(truth(math.IsNaN(f)), truth(math.IsNaN(g)))
		case f < g:
			c = -1
		case f > g:
			c = 1
		}
	}
	if order == ops.Descending || order == ops.TotalDescending {
		return -c
	}
	return c
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// totalRank is the magnitude bits with the sign, −0 just below +0.
func totalRank(dt tensor.DType, e element) *big.Int {
	sign := uint64(1) << (8*dt.Size() - 1)
	z := new(big.Int).SetUint64(e.re &^ sign)
	if e.re&sign != 0 {
		return z.Neg(z.Add(z, big.NewInt(1)))
	}
	return z
}

// refSort sorts the positions of each line, the keys deciding in turn.
func refSort(o ops.SortOp, in []array) []outcome {
	shape := slices.Clone(in[0].Shape)
	shape[o.Axis] = o.Size
	perm := newArray(tensor.Int64, shape...)
	lines := slices.Clone(shape)
	lines[o.Axis] = 1
	each(lines, func(idx []int) {
		at := slices.Clone(idx)
		elem := func(a array, i int) element {
			at[o.Axis] = i
			return a.elem(at)
		}
		line := make([]int, in[0].Shape[o.Axis])
		for i := range line {
			line[i] = i
		}
		slices.SortStableFunc(line, func(i, j int) int {
			for _, a := range in[:o.Keys] {
				if c := compareOrdered(a.DType, o.Order, elem(a, i), elem(a, j)); c != 0 {
					return c
				}
			}
			return 0
		})
		for i, from := range line[:o.Size] {
			at[o.Axis] = i
			perm.at[perm.pos(at)] = fromInt(tensor.Int64, int64(from))
		}
	})
	var out []outcome
	for _, a := range in {
		y := newArray(a.DType, shape...)
		each(shape, func(idx []int) {
			at := slices.Clone(idx)
			at[o.Axis] = int(perm.elem(idx).re)
			y.at[y.pos(idx)] = a.elem(at)
		})
		out = append(out, outcome{array: y, moved: true})
	}
	return append(out, outcome{array: perm})
}

// refSearchSorted counts what comes before each value.
func refSearchSorted(o ops.SearchSortedOp, a, v array) outcome {
	out := newArray(tensor.Int64, v.Shape...)
	last := v.Rank() - 1
	each(v.Shape, func(idx []int) {
		at, n := slices.Clone(idx), int64(0)
		for i := range a.Shape[last] {
			at[last] = i
			if c := compareOrdered(a.DType, ops.Ascending, a.elem(at), v.elem(idx)); c < 0 || c == 0 && o.Right {
				n++
			}
		}
		out.at[out.pos(idx)] = fromInt(tensor.Int64, n)
	})
	return outcome{array: out}
}
