package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSumLines_past holds sums that go past the caches to those of the Go code. Lines begin and end with their pages.
func TestSumLines_past(t *testing.T) {
	if !linesPast {
		t.Skip("there is no assembly for it")
	}
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{1024, 3 * 1024, 1024 - 31} { // pages, and what is less than a block
		s, want := Lines[float32]{Past: true}, Lines[float32]{}
		var sums [LinesAtOnce][]float32
		for l := range s.X {
			x := guarded[float32](t, n)[:n]
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			sums[l] = guarded[float32](t, n)[:n]
			s.X[l], s.Y[l], s.Hi[l], s.R[l] = x, sums[l], float32(l), 0x1p-30
			want.X[l], want.Y[l], want.Hi[l], want.R[l] = x, make([]float32, n), float32(l), 0x1p-30
		}
		ys := want.Y
		if !s.CanPast() {
			t.Fatal("lines that begin with pages cannot go past the caches")
		}
		floats32.SumLines(&s)
		sumLines(&want)
		for l := range sums {
			if !slices.Equal(sums[l], ys[l]) || s.Hi[l] != want.Hi[l] || s.R[l] != want.R[l] {
				t.Errorf("line %d of %d elements has other sums", l, n)
			}
		}
	}
	var s Lines[float32]
	for l := range s.Y {
		s.Y[l] = guarded[float32](t, 64)[:64]
	}
	for _, y := range [][]float32{s.Y[3][1:], nil} {
		u := s
		u.Y[3] = y
		if u.CanPast() {
			t.Errorf("%d elements elsewhere, or none, are taken for whole cache lines", len(y))
		}
	}
}
