package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCopyRuns holds runs of every length against copies, at the ends of guarded memory, with what lies between
// rows left alone.
func TestCopyRuns(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testCopyRuns(t, func(i int) float32 { return float32(i) }) })
	t.Run("float64", func(t *testing.T) { testCopyRuns(t, func(i int) float64 { return float64(i) }) })
	t.Run("uint16", func(t *testing.T) { testCopyRuns(t, func(i int) uint16 { return uint16(i) }) })
	t.Run("complex128", func(t *testing.T) { testCopyRuns(t, func(i int) complex128 { return complex(float64(i), 1) }) })
}

func testCopyRuns[E comparable](t *testing.T, at func(i int) E) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 1; n <= 90; n++ {
		for _, rows := range []int{1, 2, 7, 30} {
			var r Runs
			r.Reset()
			from, reach := rng.IntN(9)-4, 0
			var places []int
			for range rows {
				place := rng.IntN(50)
				places, reach = append(places, place), max(reach, place+n)
				r.Add(place - from)
			}
			dstRow := n + rng.IntN(4)
			src, dst := atEnds[E](t, rng, reach), atEnds[E](t, rng, (rows-1)*dstRow+n)
			for i := range src {
				src[i] = at(i + 1)
			}
			for i := range dst {
				dst[i] = at(0)
			}
			want := slices.Clone(dst)
			for k, place := range places {
				copy(want[k*dstRow:][:n], src[place:])
			}
			if CopyRuns(dst, dstRow, src, from, &r, n); !slices.Equal(dst, want) {
				t.Fatalf("%d rows of %d: %v, want %v", rows, n, dst, want)
			}
		}
	}
	var none Runs
	CopyRuns[E](nil, 1, nil, 0, &none, 4)
}
