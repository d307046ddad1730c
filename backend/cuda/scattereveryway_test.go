package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// writes are scatters of every kind that a dtype has, through one window.
func writes(dt tensor.DType, w ops.Window) (list []graph.Op) {
	for _, c := range allCombines {
		if !dt.IsComplex() || c < ops.CombineMax {
			list = append(list, ops.ScatterOp{Window: w, Combine: c})
		}
	}
	list = append(list, ops.ScatterScanOp{Window: w, Reverse: true}, ops.ScatterScanOp{Window: w, Affine: true})
	if dt == tensor.Float32 || dt == tensor.Float64 {
		list = append(list, ops.SparseUpdateOp{Window: w, Scaled: true}, ops.SparseUpdateOp{Window: w, Plus: true})
	}
	return list
}

// TestScattersEveryWay takes every dtype and kind of scatter through one index operand and through several, with
// segments that end in every place of an unrolled loop, the long ones too, in one block that goes round or in several
// that meet.
func TestScattersEveryWay(t *testing.T) {
	r, each := rng(t), blocksEach
	t.Cleanup(func() { blocksEach = each })
	apart := func(lengths ...int) (keys []int64) { // so many of each slot, in any order
		for slot, n := range lengths {
			keys = append(keys, slices.Repeat([]int64{int64(slot)}, n)...)
		}
		r.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		return keys
	}
	for _, c := range []struct {
		why  string
		d    int // elements of a window
		axes int // that are indexed: slots of two go by 8 and 5
		each int // blocks a multiprocessor
		keys []int64
	}{
		{"short segments", 3, 1, 0, apart(slices.Repeat([]int{3, 4, 5, 6, 1, 0, 8, 2}, 5)...)},
		{"two index operands", 2, 2, 0, apart(slices.Repeat([]int{3, 4, 5, 6, 1, 0, 8, 2}, 5)...)},
		{"slots that several blocks write to", 1, 2, each, apart(slices.Repeat([]int{150, 3, 0, 2, 1}, 8)...)},
		{"long segments", 1, 1, 0, apart(512, 513, 514, 515, 511)},
	} {
		n := len(c.keys)
		index := func(of, by int64) tensor.View {
			at := 0
			return integersView(tensor.Int32, tensor.RowMajor([]int{n}), func() int64 { at++; return c.keys[at-1] / by % of })
		}
		shape, w, idx := []int{40, c.d}, rows(n, c.d), []tensor.View{index(40, 1)}
		if c.axes == 2 {
			shape, idx = []int{8, 5, c.d}, []tensor.View{index(8, 5), index(5, 1)}
			w = ops.Window{
				IndexAxes: []int{0, 1}, SliceSizes: []int{1, 1, c.d}, Collapsed: []int{0, 1}, OffsetAxes: []int{1},
				IndexShape: []int{n},
			}
		}
		x, u := tensor.RowMajor(shape), tensor.RowMajor([]int{n, c.d})
		t.Run(c.why, func(t *testing.T) {
			blocksEach = c.each
			for _, dt := range allDTypes {
				for _, op := range writes(dt, w) {
					if spared(r, 24) {
						continue
					}
					factors := func(l tensor.Layout) tensor.View { return factorsView(r, dt, l) }
					in, out := []tensor.View{factors(x), factors(u)}, []tensor.Layout{x}
					same := twin{op: op, in: in, out: out, loose: true, large: true}
					switch op := op.(type) {
					case ops.ScatterScanOp:
						same.out, same.dtypes = append(same.out, u), []tensor.DType{dt, dt}
						if op.Affine {
							same.in = append(same.in, factors(u))
						}
					case ops.SparseUpdateOp:
						if op.Scaled {
							same.in = append(same.in, factors(tensor.RowMajor(nil)))
						}
					}
					same.in = append(same.in, idx...)
					if err := same.check(t); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// factorsView is numbers of which many can be multiplied: odd integers, since the product of many even ones is 0.
func factorsView(r *rand.Rand, dt tensor.DType, l tensor.Layout) tensor.View {
	if dt.IsFloat() || dt.IsComplex() {
		return nearOne(r, dt, l)
	}
	v := randomView(r, dt, l)
	if b := tensor.Must(v.Storage().Bytes()); dt != tensor.Bool {
		for at := 0; at < len(b); at += dt.Size() {
			b[at] |= 1
		}
	}
	return v
}
