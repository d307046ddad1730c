package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRowsIn holds the lists against a test of each index: every length, at the ends of guarded memory, with what is
// behind the lists left alone.
func TestRowsIn(t *testing.T) {
	t.Run("int32", func(t *testing.T) { testRowsIn[int32](t, math.MinInt32, math.MaxInt32) })
	t.Run("int64", func(t *testing.T) { testRowsIn[int64](t, math.MinInt64, math.MaxInt64) })
}

func testRowsIn[I Index](t *testing.T, least, most I) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, row := range []struct {
		Rows
		why string
	}{
		{Rows{0, 0, 50}, "all rows, none from the end"}, {Rows{50, 0, 50}, "all rows, also from the end"},
		{Rows{50, 20, 30}, "a part of them"}, {Rows{50, 49, 50}, "the last alone"}, {Rows{50, 7, 7}, "none"},
		{Rows{1<<31 - 1, 0, 1<<31 - 1}, "as many as an int32 counts"},
		{Rows{0, 0, 1 << 31}, "one more, which takes the sign"},
		{Rows{1<<31 - 1, 1 << 30, 1<<31 - 1}, "the greatest of them"},
	} {
		for n := range 150 {
			v := atEnds[I](t, r, n)
			for i := range v {
				edges := []I{least, least + 1, -1, 0, 1, most - 1, most, I(row.Lo), I(row.Hi - 1), I(-row.Wrap), I(-row.Wrap - 1)}
				if v[i] = I(r.IntN(70) - 60); r.IntN(3) == 0 {
					v[i] = edges[r.IntN(len(edges))]
				}
			}
			var wantAt, wantFrom []uint32
			for j, x := range v {
				i := int64(x)
				if i < 0 {
					i += int64(row.Wrap)
				}
				if i >= int64(row.Lo) && i < int64(row.Hi) {
					wantAt, wantFrom = append(wantAt, uint32(i)), append(wantFrom, 1000+uint32(j))
				}
			}
			at, from := atEnds[uint32](t, r, n+1), atEnds[uint32](t, r, n+1)
			kept := RowsIn(at, from, v, row.Rows, 1000)
			if !slices.Equal(at[:kept], wantAt) || !slices.Equal(from[:kept], wantFrom) {
				t.Fatalf("%s: of %v %v at %v, want %v at %v", row.why, v, at[:kept], from[:kept], wantAt, wantFrom)
			}
		}
	}
}

// TestGreatest: each place of a list has the greatest once.
func TestGreatest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	if got := greatest(nil); got != 0 {
		t.Errorf("greatest of none is %d", got)
	}
	for n := 1; n < 100; n++ {
		v := atEnds[uint32](t, r, n)
		for i := range v {
			for j := range v {
				v[j] = r.Uint32() >> 1
			}
			v[i] = 1<<31 + uint32(i)
			if got := greatest(v); got != v[i] {
				t.Fatalf("%d words, the greatest at %d: %d, want %d", n, i, got, v[i])
			}
		}
	}
}
