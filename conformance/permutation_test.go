package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
	"pgregory.net/rapid"
)

// segments is how many segments, bins and rows the permutations write to.
const segments = 7

// symmetric are operations of elements x with ids whose results do not depend on the order of the pairs (x, id).
// Sums and products are so for integers, which wrap, and the others for every dtype.
var symmetric = []struct {
	name     string
	integers bool
	ordered  bool // bool has arithmetic of another kind
	f        func(x, ids *node) *node
}{
	{"Max", false, false, func(x, _ *node) *node { return ops.Max(x) }},
	{"Min", false, false, func(x, _ *node) *node { return ops.Min(x) }},
	{"the element at ArgMax", false, true, func(x, _ *node) *node { return tied(ops.Take(x, ops.ArgMax(x, 0), 0)) }},
	{"the element at ArgMin", false, true, func(x, _ *node) *node { return tied(ops.Take(x, ops.ArgMin(x, 0), 0)) }},
	{"Any", false, false, func(x, _ *node) *node { return ops.Any(x) }},
	{"All", false, false, func(x, _ *node) *node { return ops.All(x) }},
	{"Sum", true, false, func(x, _ *node) *node { return ops.Sum(x) }},
	{"Prod", true, false, func(x, _ *node) *node { return ops.Prod(x) }},
	{"the last of CumSum", true, false, func(x, _ *node) *node { return last(ops.CumSum(x, 0)) }},
	{"the last of CumMax", false, false, func(x, _ *node) *node { return last(ops.CumMax(x, 0)) }},
	{"Sort", false, false, func(x, _ *node) *node { return tied(ops.Sort(x, 0, ops.Ascending)) }},
	{"Sort, descending", false, false, func(x, _ *node) *node { return tied(ops.Sort(x, 0, ops.Descending)) }},
	{"Sort, total", false, false, func(x, _ *node) *node { return ops.Sort(x, 0, ops.TotalAscending) }},
	{"Unique", false, false, func(x, _ *node) *node { return tied(ops.Unique(x)) }},
	{"counts of Unique", false, false, func(x, _ *node) *node { _, _, _, n := ops.UniqueWithIndex(x); return n }},
	{"Bincount", false, false, func(_, ids *node) *node { return ops.Bincount(ids, segments) }},
	{"SegmentSum", true, false, func(x, ids *node) *node { return ops.SegmentSum(x, ids, segments) }},
	{"SegmentProd", true, false, func(x, ids *node) *node { return ops.SegmentProd(x, ids, segments) }},
	{"SegmentMax", false, false, func(x, ids *node) *node { return tied(ops.SegmentMax(x, ids, segments)) }},
	{"SegmentMin", false, false, func(x, ids *node) *node { return tied(ops.SegmentMin(x, ids, segments)) }},
}

// tied gives what ties one form: zeros without a sign where that is open, and NaN, which moves with its payload and
// of several is any where elements are combined.
func tied(x *node) *node {
	if !x.DType().IsFloat() {
		return x
	}
	return ops.Where(ops.IsNaN(x), math.NaN(), ops.Add(x, 0))
}

func last(x *node) *node { return ops.SliceAxis(x, 0, x.Size()-1, 1) }

var permutedDTypes = []tensor.DType{
	tensor.Int8, tensor.Uint16, tensor.Int32, tensor.Uint64, tensor.Int64, tensor.Bool,
	tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64,
}

// TestPermutation: where the order of elements means nothing, results have the same bits in any order, on one
// thread and on several, at sizes that threads share.
func TestPermutation(t *testing.T) {
	h := testHarness(t)
	for _, s := range symmetric {
		t.Run(s.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				dt := rapid.SampledFrom(permutedDTypes).
					Filter(func(dt tensor.DType) bool {
						return !(s.integers && dt.IsFloat()) && !(s.ordered && dt == tensor.Bool)
					}).Draw(t, "dtype")
				n := rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1000, 5000)).Draw(t, "n")
				seed := rapid.Uint64().Draw(t, "seed")
				x, ids, permutation := permuted(dt, n, seed)
				var first tensor.View
				for i, backend := range h.on {
					g := graph.Eager(backend)
					a, b, p := g.Const(x), g.Const(ids), g.Const(permutation)
					y := s.f(a, b)
					z := s.f(ops.Take(a, p, 0), ops.Take(b, p, 0))
					v, err := y.Value()
					if err != nil {
						t.Fatal(err)
					}
					w, err := z.Value()
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 {
						first = v
					}
					for what, got := range map[string]tensor.View{"permuted": w, fmt.Sprint("threads ", threadCounts[i]): v} {
						if err := sameBits(got.Read(), first.Read()); err != nil {
							t.Fatalf("%s of %d %s, seed %d, %s: %v", s.name, n, dt, seed, what, err)
						}
					}
				}
			})
		})
	}
}

// permuted draws elements, ids (some of no segment) and a permutation of them.
func permuted(dt tensor.DType, n int, seed uint64) (x, ids, p *tensor.Tensor) {
	r := rand.New(rand.NewPCG(seed, 1))
	bits, id, at := make([]uint64, n), make([]int64, n), make([]int64, n)
	for i := range bits {
		bits[i] = r.Uint64()
		switch {
		case dt == tensor.Bool:
			bits[i] &= 1
		case dt.IsFloat() && r.IntN(4) > 0: // else any bits, NaNs among them
			bits[i] = bitsIn(dt, float64(r.IntN(5)-2)) | uint64(r.IntN(2))<<(8*dt.Size()-1)
		}
		id[i] = int64(r.IntN(segments+2)) - 1
	}
	for i, v := range r.Perm(n) {
		at[i] = int64(v)
	}
	return fromBits(dt, bits, n), tensor.Of(id...), tensor.Of(at...)
}
