package cuda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// sortable are the dtypes that have an order.
var sortable = slices.DeleteFunc(slices.Clone(tensor.DTypes[:]), tensor.DType.IsComplex)

// tied is a view of which elements are equal now and then: what is equal stays in its order.
func tied(r *rand.Rand, dt tensor.DType, l tensor.Layout) tensor.View {
	v := randomView(r, dt, l)
	b, size := tensor.Must(v.Storage().Bytes()), dt.Size()
	var before int
	for idx := range tensor.Indices(l.Shape) {
		at := l.At(idx) * size
		if r.IntN(3) == 0 {
			copy(b[at:at+size], b[before:before+size])
		}
		before = at
	}
	return v
}

// TestSorts is sorts of lines that are shorter than a tile of the sort, each by a block, and longer ones, which go
// together: every dtype and order, by one key and by several, whole and the first few.
func TestSorts(t *testing.T) {
	r := rng(t)
	for _, c := range []struct {
		why   string
		shape []int
		axis  int
	}{
		{"lines of one", []int{4, 1}, 1},
		{"lines of two", []int{3, 2}, 1},
		{"many short lines across", []int{9, 40}, 0},
		{"a warp and one", []int{33}, 0},
		{"a tile", []int{radixTile}, 0},
		{"more than a tile", []int{radixTile + 1}, 0},
		{"two lines of more than a tile", []int{2, radixTile + 70}, 1},
		{"within", []int{2, 300, 3}, 1},
	} {
		for i, dt := range sortable {
			shape, second := c.shape, sortable[r.IntN(len(sortable))]
			if large := tensor.Size(shape) >= radixTile; large && i%3 != 0 || spared(r, 8) {
				continue // an interpreter takes its time
			}
			op := ops.SortOp{Axis: c.axis, Keys: 1 + r.IntN(2), Size: shape[c.axis], Order: ops.Order(r.IntN(4))}
			if r.IntN(3) == 0 {
				op.Size = r.IntN(op.Size + 1)
			}
			to := slices.Clone(shape)
			to[c.axis] = op.Size
			carried := tensor.DTypes[r.IntN(len(tensor.DTypes))]
			w := twin{
				op: op,
				in: []tensor.View{
					tied(r, dt, drawLayout(r, shape)), tied(r, second, drawLayout(r, shape)),
					randomView(r, carried, drawLayout(r, shape)),
				},
				out:    []tensor.Layout{drawLayout(r, to), drawLayout(r, to), drawLayout(r, to), drawLayout(r, to)},
				dtypes: []tensor.DType{dt, second, carried, tensor.Int64},
			}
			t.Run(fmt.Sprint(c.why, "/", dt, "/", op.Order), func(t *testing.T) {
				if err := w.check(t); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestSortEnds has lines that end in every slot of a thread of the sort.
func TestSortEnds(t *testing.T) {
	r := rng(t)
	for _, dt := range []tensor.DType{tensor.Uint8, tensor.Float32, tensor.Int64} {
		for n := 20; n < 600; n += 31 {
			if spared(r, 6) {
				continue
			}
			l := tensor.RowMajor([]int{2, n})
			w := twin{
				op: ops.SortOp{Axis: 1, Keys: 1, Size: n}, in: []tensor.View{tied(r, dt, l)},
				out: []tensor.Layout{l, l}, dtypes: []tensor.DType{dt, tensor.Int64},
			}
			if err := w.check(t); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSearches finds places, from either side, in lines that a sort has made.
func TestSearches(t *testing.T) {
	r := rng(t)
	for _, dt := range sortable {
		for _, length := range []int{0, 1, 2, 7, 64, 65} {
			lines := tied(r, dt, tensor.RowMajor([]int{3, length}))
			sorted := twin{
				op: ops.SortOp{Axis: 1, Keys: 1, Size: length}, in: []tensor.View{lines},
				out: []tensor.Layout{lines.Layout(), lines.Layout()}, dtypes: []tensor.DType{dt, tensor.Int64}, used: []bool{true, false},
			}
			results, err := sorted.run(device(t))
			if err != nil {
				t.Fatal(err)
			}
			l := drawLayout(r, []int{3, length})
			a := randomView(r, dt, l)
			b, size := tensor.Must(a.Storage().Bytes()), dt.Size()
			for idx := range tensor.Indices(l.Shape) {
				copy(b[l.At(idx)*size:][:size], results[0][lines.Layout().At(idx)*size:][:size])
			}
			v := tied(r, dt, drawLayout(r, []int{3, 20}))
			vb := tensor.Must(v.Storage().Bytes())
			for k := range 20 { // values that are there
				if length > 0 && k%2 == 0 {
					copy(vb[v.Layout().At([]int{1, k})*size:][:size], b[l.At([]int{1, r.IntN(length)})*size:][:size])
				}
			}
			for _, right := range []bool{false, true} {
				w := twin{
					op: ops.SearchSortedOp{Right: right}, in: []tensor.View{a, v},
					out: []tensor.Layout{drawLayout(r, []int{3, 20})}, dtypes: []tensor.DType{tensor.Int64},
				}
				if err := w.check(t); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
