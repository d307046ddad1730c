package tensor_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/tensor"
)

// affine reports whether offsets in row-major order are those of some strides for a shape. The strides are
// forced, one by the first step along each axis, so this is the whole search.
func affine(at, shape []int) bool {
	if len(at) == 0 {
		return true
	}
	l := tensor.Layout{Shape: shape, Strides: make([]int, len(shape)), Offset: at[0]}
	for a, below := range tensor.RowMajor(shape).Strides {
		if shape[a] > 1 {
			l.Strides[a] = at[below] - at[0]
		}
	}
	return slices.Equal(offsets(l), at)
}

// shapesOf is every shape of size n up to a rank, extents of 1 included.
func shapesOf(n, rank int) [][]int {
	if rank == 0 {
		if n == 1 {
			return [][]int{{}}
		}
		return nil
	}
	var out [][]int
	if n == 1 {
		out = append(out, []int{})
	}
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			for _, rest := range shapesOf(n/d, rank-1) {
				out = append(out, append([]int{d}, rest...))
			}
		}
	}
	return out
}

// stridedLayout is a random layout of a given shape, biased to axes that join their neighbours.
func stridedLayout(rng *rand.Rand, shape []int) tensor.Layout {
	strides := make([]int, len(shape))
	run := rng.IntN(5) - 2
	for a := len(shape) - 1; a >= 0; a-- {
		strides[a] = run
		if rng.IntN(3) == 0 {
			strides[a] = rng.IntN(15) - 7
		}
		run = strides[a] * shape[a]
	}
	return tensor.Must(tensor.NewLayout(shape, strides, rng.IntN(10)))
}

// TestReshapeCopiesOnlyWhereItMust holds Reshape against the search, both ways, for every shape of a dozen
// elements: what it gives has the same elements, what it refuses has no strides at all.
func TestReshapeCopiesOnlyWhereItMust(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	views, copies := 0, 0
	for _, n := range []int{1, 2, 4, 6, 8, 12} {
		shapes := shapesOf(n, 4)
		for range 60 {
			l := stridedLayout(rng, shapes[rng.IntN(len(shapes))])
			at := offsets(l)
			for _, shape := range shapes {
				r, ok := l.Reshape(shape...)
				if want := affine(at, shape); ok != want {
					t.Fatalf("%s to %v: ok = %t, the search says %t", l, shape, ok, want)
				}
				if !ok {
					copies++
					continue
				}
				views++
				if !slices.Equal(r.Shape, shape) || !slices.Equal(offsets(r), at) {
					t.Fatalf("%s to %v gives %s", l, shape, r)
				}
			}
		}
	}
	if views < 1000 || copies < 1000 {
		t.Errorf("%d views and %d copies: the layouts are too much alike to tell", views, copies)
	}
}

func TestReshape(t *testing.T) {
	for _, row := range []struct {
		why  string
		l    tensor.Layout
		to   []int
		want []int // strides; nil where refused
	}{
		{"split", tensor.RowMajor(ints(6)), ints(2, 3), ints(3, 1)},
		{"join", tensor.RowMajor(ints(2, 3)), ints(6), ints(1)},
		{"join a reversed whole", tensor.Layout{Shape: ints(2, 3), Strides: ints(-3, -1), Offset: 5},
			ints(6), ints(-1)},
		{"split a broadcast axis", tensor.Layout{Shape: ints(6), Strides: ints(0)}, ints(2, 3), ints(0, 0)},
		{"split a strided axis", tensor.Layout{Shape: ints(6, 2), Strides: ints(4, 1)}, ints(2, 3, 2),
			ints(12, 4, 1)},
		{"extent 1 has any stride", tensor.Layout{Shape: ints(2, 1, 3), Strides: ints(3, 99, 1)}, ints(6),
			ints(1)},
		{"transposed", tensor.Layout{Shape: ints(3, 2), Strides: ints(1, 3)}, ints(6), nil},
		{"one axis reversed", tensor.Layout{Shape: ints(2, 3), Strides: ints(3, -1), Offset: 2}, ints(6),
			nil},
		{"another size", tensor.RowMajor(ints(6)), ints(5), nil},
		{"a size that wraps to 1", tensor.RowMajor(ints(1)), ints(math.MaxInt, math.MaxInt), nil},
		{"two negatives", tensor.RowMajor(ints(1)), ints(-1, -1), nil},
		{"empty to another empty", tensor.Layout{Shape: ints(0, 3), Strides: ints(7, -9)}, ints(2, 0),
			ints(1, 1)},
		{"empty to a hostile empty", tensor.RowMajor(ints(0)), ints(math.MaxInt, math.MaxInt, 0), nil},
	} {
		r, ok := row.l.Reshape(row.to...)
		if ok != (row.want != nil) || ok && (!slices.Equal(r.Strides, row.want) || r.Offset != row.l.Offset) {
			t.Errorf("%s: %s to %v: %s, %t, want strides %v", row.why, row.l, row.to, r, ok, row.want)
		}
	}
}

func TestCoalesce(t *testing.T) {
	for _, row := range []struct {
		why  string
		l    tensor.Layout
		want tensor.Layout
	}{
		{"compact is one run", tensor.RowMajor(ints(2, 3, 4)), tensor.RowMajor(ints(24))},
		{"rank 0", tensor.Layout{Offset: 2}, tensor.Layout{Offset: 2}},
		{"all ones", tensor.RowMajor(ints(1, 1)), tensor.Layout{}},
		{"empty", tensor.RowMajor(ints(2, 0, 3)), tensor.Layout{Shape: ints(0), Strides: ints(1)}},
		{"a gap parts", tensor.Layout{Shape: ints(2, 3), Strides: ints(4, 1)}, tensor.Layout{Shape: ints(2,
			3), Strides: ints(4, 1)}},
		{"broadcast joins", tensor.Layout{Shape: ints(2, 3), Strides: ints(0, 0)},
			tensor.Layout{Shape: ints(6), Strides: ints(0)}},
	} {
		if got := row.l.Coalesce(); !got.Equal(row.want) {
			t.Errorf("%s: %s becomes %s, want %s", row.why, row.l, got, row.want)
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		n := []int{0, 1, 4, 6, 12, 16}[rng.IntN(6)]
		shapes := append(shapesOf(n, 4), ints(2, 0, 3))
		l := stridedLayout(rng, shapes[rng.IntN(len(shapes))])
		at, got := offsets(l), l.Coalesce()
		if !slices.Equal(offsets(got), at) {
			t.Fatalf("%s becomes %s: other elements", l, got)
		}
		for _, s := range shapesOf(len(at), 4) {
			if len(s) < got.Rank() && affine(at, s) {
				t.Fatalf("%s becomes %s, but %v needs fewer axes", l, got, s)
			}
		}
	}
}

func TestInjective(t *testing.T) {
	const big = math.MaxInt
	seventh := big / 7
	for _, row := range []struct {
		why            string
		shape, strides []int
		offset         int
		want           bool
	}{
		{"rank 0", nil, nil, 0, true},
		{"compact", ints(2, 3), ints(3, 1), 0, true},
		{"negative", ints(2, 3), ints(-3, 1), 3, true},
		{"stride 0", ints(2), ints(0), 0, false},
		{"stride 0 of extent 1", ints(1, 3), ints(0, 1), 0, true},
		{"stride 0 of an empty layout", ints(0, 3), ints(0, 0), 0, true},
		{"a window that slides", ints(3, 2), ints(1, 1), 0, false},
		{"opposite strides", ints(2, 2), ints(1, -1), 1, false},
		{"SEMANTICS: interleaved but apart", ints(3, 1500), ints(2000, 3), 0, true},
		{"the same met by a third", ints(3, 1501), ints(1500, 3), 0, false},
		{"2^24 elements are enumerated", ints(4096, 4096), ints(2, 4097), 0, true},
		{"2^24 + 2^12 are refused", ints(4096, 4097), ints(2, 4097), 0, false},
		{"quick: stride 0 of more than can be walked", ints(1<<40, 2), ints(0, 1), 0, false},
		{"quick: a huge compact layout", ints(1<<20, 1<<20), ints(1<<20, 1), 0, true},
		{"a span too wide for a bit set", ints(2, 2, 2), ints(1<<40, 1<<40+1, 1), 0, false},
		{"wide and apart", ints(2, 2, 2), ints(1<<40, 1<<40+2, 1), 0, true},
		{"span beyond an int", ints(4, 8, 2), ints(1, -seventh, seventh), 0, false},
		{"span beyond an int, apart", ints(2, 2), ints(big-5, -(big - 6)), 0, true},
		{"a layout whose offsets overflow", ints(3), ints(big), 0, false},
		{"the least stride", ints(2), ints(math.MinInt), 0, false},
	} {
		t.Run(row.why, func(t *testing.T) {
			if testing.Short() && tensor.Size(row.shape) == 1<<24 {
				t.Skip("walks 2^24 elements")
			}
			l := tensor.Layout{Shape: row.shape, Strides: row.strides, Offset: row.offset}
			if got := l.Injective(); got != row.want {
				t.Errorf("%s: %t", l, got)
			}
		})
	}
}

func TestInjectiveAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	count := map[bool]int{}
	for range 20000 {
		n := rng.IntN(4)
		shape, strides := make([]int, n), make([]int, n)
		for a := range n {
			shape[a], strides[a] = rng.IntN(6), rng.IntN(41)-20
			if rng.IntN(20) > 0 {
				shape[a]++
			}
		}
		l := tensor.Must(tensor.NewLayout(shape, strides, 0))
		at := offsets(l)
		slices.Sort(at)
		want := len(slices.Compact(at)) == l.Size()
		if count[want]++; l.Injective() != want {
			t.Fatalf("%s: %t, want %t", l, !want, want)
		}
	}
	if count[true] < 1000 || count[false] < 1000 {
		t.Errorf("injective or not: %v", count)
	}
}
