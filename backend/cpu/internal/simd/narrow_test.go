package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNarrow: indices become what they stand for, of any length and at any place in a cache line; one outside,
// wherever it is, is found; the edges are inside.
func TestNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 5))
	for _, c := range []struct {
		why             string
		wrap, last      int64
		inside, outside []int64
	}{
		{"wrapped", 10, 9, []int64{0, 9, -1, -10}, []int64{10, -11, math.MaxInt64, math.MinInt64, 1 << 16, 1 << 32}},
		{"not wrapped", 0, 9, []int64{0, 9}, []int64{10, -1, -10, math.MinInt64}},
		{"windows of 4", 10, 6, []int64{0, 6, -4, -10}, []int64{7, -3, -11}},
		{"the greatest extent", NarrowExtent, NarrowExtent - 1, []int64{0, NarrowExtent - 1, -NarrowExtent, 1 << 15},
			[]int64{NarrowExtent, -NarrowExtent - 1}},
		{"no place at all", 3, -1, nil, []int64{0, -1, -3, 3}},
	} {
		for _, n := range append([]int{1 << 14, 3<<14 + 77}, moveLengths...) {
			v, dst := atEnds[int64](t, r, n), atEnds[uint16](t, r, n)
			want := make([]uint16, n)
			for i := range v {
				if v[i] = c.outside[0]; c.inside != nil {
					v[i] = c.inside[r.IntN(len(c.inside))]
				}
			}
			ok := narrow(want, v, c.wrap, c.last)
			if got := Narrow(dst, v, c.wrap, c.last); got != ok || ok != (c.inside != nil || n == 0) {
				t.Fatalf("%s: of %d indices that are inside: %v, the twin %v", c.why, n, got, ok)
			}
			if ok && !slices.Equal(dst, want) {
				t.Fatalf("%s: %s", c.why, differ(dst, want))
			}
			for range min(n, 20) {
				at := r.IntN(n)
				old := v[at]
				v[at] = c.outside[r.IntN(len(c.outside))]
				if Narrow(dst, v, c.wrap, c.last) {
					t.Fatalf("%s: %d among %d indices, at %d, passes", c.why, v[at], n, at)
				}
				v[at] = old
			}
		}
	}
	FencePast()
}

// TestNarrows: a take is by narrow indices only where their offsets fit.
func TestNarrows(t *testing.T) {
	fits := Take{Extent: NarrowExtent, Stride: 1<<15 - 1, Step: 1}
	if Narrows[uint32](&fits) != (narrowKernel != nil) || Narrows[uint16](&fits) {
		t.Error("elements of 4 bytes are taken by narrow indices where there is assembly, of 2 bytes never")
	}
	for _, p := range []Take{
		{Extent: NarrowExtent + 1, Stride: 1}, {Extent: NarrowExtent, Stride: 1 << 15, Step: 4096}, {Extent: 9, Stride: -1},
		{Extent: 9, Stride: 1, Step: -1}, {Stride: 1},
	} {
		if Narrows[uint32](&p) {
			t.Errorf("%+v has narrow indices", p)
		}
	}
}
