package simd

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

type word interface {
	uint8 | uint16 | uint32 | uint64
}

// filled is n random elements at one end of guarded memory.
func filled[W word](t *testing.T, r *rand.Rand, n int) []W {
	s := atEnds[W](t, r, n)
	for i := range s {
		s[i] = W(r.Uint64())
	}
	return s
}

// flags is n bytes of which those of a share are 1 and the others 0.
func flags(t *testing.T, r *rand.Rand, n int, share float64) []uint8 {
	m := atEnds[uint8](t, r, n)
	for i := range m {
		m[i] = 0
		if r.Float64() < share {
			m[i] = 1
		}
	}
	return m
}

// moveLengths are around the sizes of registers, cache lines and calls.
var moveLengths = []int{
	0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 257, 1000, 4099, 40000, 70001,
}

// TestMoves holds what moves elements against its twins, at the edges of memory that may not be touched.
func TestMoves(t *testing.T) {
	t.Run("1 byte", testMovesOf[uint8])
	t.Run("2 bytes", testMovesOf[uint16])
	t.Run("4 bytes", testMovesOf[uint32])
	t.Run("8 bytes", testMovesOf[uint64])
}

func testMovesOf[W word](t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for _, n := range moveLengths {
		for _, share := range []float64{0, 0.05, 0.5, 1} {
			testMaskedOf[W](t, r, n, share)
		}
		x, y := filled[W](t, r, n), filled[W](t, r, n)
		Reverse(y, x)
		slices.Reverse(x)
		if !slices.Equal(y, x) {
			t.Fatalf("Reverse of %d: %s", n, differ(y, x))
		}
		x, y = filled[W](t, r, max(0, 2*n-1)), filled[W](t, r, n)
		want := make([]W, n)
		EverySecond(y, x)
		everySecond(want, x)
		if !slices.Equal(y, want) {
			t.Fatalf("EverySecond of %d: %s", n, differ(y, want))
		}
	}
}

// testMaskedOf includes results with less room than the mask needs, and with more.
func testMaskedOf[W word](t *testing.T, r *rand.Rand, n int, share float64) {
	mask, all := flags(t, r, n, share), 0
	for _, m := range mask {
		all += int(m)
	}
	if got := CountOnes(mask); got != all {
		t.Fatalf("CountOnes of %d: %d, want %d", n, got, all)
	}
	for _, room := range []int{all, all / 2, all + r.IntN(40)} {
		x, y, want := filled[W](t, r, n), filled[W](t, r, room), make([]W, room)
		copy(want, y)
		got, k := Compress(y, x, mask), compress(want, x, mask)
		if got != k || k != min(all, room) || !slices.Equal(y[:k], want[:k]) {
			t.Fatalf("Compress of %d, %d true, room for %d: %d kept, want %d; %s", n, all, room, got, k, differ(y, want))
		}
		y = filled[W](t, r, room)
		z, want := filled[W](t, r, n), make([]W, n)
		got, k = Expand(z, y, mask), expand(want, y, mask)
		if got != k || k != min(all, room) || !slices.Equal(z, want) {
			t.Fatalf("Expand of %d, %d true, %d given: %d taken, want %d; %s", n, all, room, got, k, differ(z, want))
		}
	}
	a, b, out, want := filled[W](t, r, n), filled[W](t, r, n), filled[W](t, r, n), make([]W, n)
	mix(want, mask, a, b)
	Mix(out, mask, a, b)
	if !slices.Equal(out, want) {
		t.Fatalf("Mix of %d: %s", n, differ(out, want))
	}
	Mix(b, mask, a, b)
	if !slices.Equal(b, want) {
		t.Fatalf("Mix of %d in place: %s", n, differ(b, want))
	}
}

// TestTransposePast: any alignment gives what Transpose gives, and nothing between rows is touched.
func TestTransposePast(t *testing.T) {
	t.Run("1 byte", testTransposePast[uint8])
	t.Run("4 bytes", testTransposePast[uint32])
	t.Run("8 bytes", testTransposePast[uint64])
}

func testTransposePast[W word](t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	for _, rows := range []int{1, 7, 8, 16, 17, 32, 50} {
		for _, columns := range []int{1, 3, 8, 16, 30, 5000} {
			dstRow, srcRow := (rows+15)&^15+16*r.IntN(2)+r.IntN(2), columns+r.IntN(3)
			src := filled[W](t, r, (rows-1)*srcRow+columns)
			dst := filled[W](t, r, (columns-1)*dstRow+rows)
			want := slices.Clone(dst)
			transpose(want, dstRow, src, srcRow, rows, columns)
			TransposePast(dst, dstRow, src, srcRow, rows, columns)
			if !slices.Equal(dst, want) {
				t.Fatalf("%d rows, %d columns, %d apart: %s", rows, columns, dstRow, differ(dst, want))
			}
		}
	}
}

// TestTakeRows: assembly moves what the twin moves.
func TestTakeRows(t *testing.T) {
	t.Run("2 bytes", testTakeRows[uint16, int64])
	t.Run("4 bytes, int32", testTakeRows[uint32, int32])
	t.Run("4 bytes, int64", testTakeRows[uint32, int64])
	t.Run("8 bytes, int32", testTakeRows[uint64, int32])
	t.Run("8 bytes, int64", testTakeRows[uint64, int64])
	t.Run("2 bytes, uint16", testTakeRows[uint16, uint16])
	t.Run("4 bytes, uint16", testTakeRows[uint32, uint16])
	t.Run("8 bytes, uint16", testTakeRows[uint64, uint16])
}

func testTakeRows[W word, I takeIndex](t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	for _, n := range append(moveLengths[1:], 48, 80) {
		for range 12 {
			p := &Take{
				Rows: 1 + r.IntN(4), N: n, URow: n + r.IntN(3), IndexRow: []int{0, n, n + 1}[r.IntN(3)], Extent: 1 + r.IntN(50),
				Stride: []int{0, 1, n, n + 3}[r.IntN(4)], Step: r.IntN(3), X: r.IntN(3), Ahead: r.IntN(2) * 100, Past: r.IntN(2) == 0,
			}
			if r.IntN(4) == 0 {
				p.URow = (p.URow + 15) &^ 15
			}
			if r.IntN(3) > 0 && unsafe.Sizeof(*new(I)) > 2 {
				p.Wrap = p.Extent
			}
			x := filled[W](t, r, p.X+(p.Extent-1)*p.Stride+(n-1)*p.Step+1)
			idx := atEnds[I](t, r, (p.Rows-1)*p.IndexRow+n)
			for i := range idx {
				idx[i] = I(r.IntN(p.Extent+p.Wrap) - p.Wrap)
			}
			u := filled[W](t, r, (p.Rows-1)*p.URow+n)
			want := slices.Clone(u)
			takeRows(want, x, idx, p)
			TakeRows(u, x, idx, p)
			if !slices.Equal(u, want) {
				t.Fatalf("%+v: %s", p, differ(u, want))
			}
		}
	}
}

// TestTakeRowsOutside: an index that nobody checked reads nothing outside of x.
func TestTakeRowsOutside(t *testing.T) {
	testTakeRowsOutside(t, []int64{9, -10, math.MaxInt64, math.MinInt64, 1 << 32})
	testTakeRowsOutside(t, []uint16{9, 1 << 15, math.MaxUint16})
}

func testTakeRowsOutside[I takeIndex](t *testing.T, outside []I) {
	r := rand.New(rand.NewPCG(5, 4))
	for n := 1; n < 40; n++ {
		x, u, idx := filled[uint32](t, r, 9), filled[uint32](t, r, n), make([]I, n)
		for i := range idx {
			idx[i] = outside[r.IntN(len(outside))]
		}
		func() {
			defer func() { _ = recover() }() // the twin refuses
			TakeRows(u, x, idx, &Take{Rows: 1, N: n, Wrap: 9, Extent: 9, Stride: 1})
		}()
	}
}

// TestInBounds: one index outside, wherever it is, is found; the edges are inside.
func TestInBounds(t *testing.T) {
	t.Run("int32", testInBounds[int32])
	t.Run("int64", testInBounds[int64])
}

func testInBounds[I Index](t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	least := I(math.MinInt32)
	for _, c := range []struct {
		why             string
		wrap, last      I
		inside, outside []I
	}{
		{"wrapped", 10, 9, []I{0, 9, -1, -10}, []I{10, -11, math.MaxInt32, least}},
		{"not wrapped", 0, 9, []I{0, 9}, []I{10, -1, least}},
		{"windows of 4", 10, 6, []I{0, 6, -4, -10}, []I{7, -3, -11}},
		{"no place at all", 3, -1, nil, []I{0, -1, -3, 3}},
		{"the greatest extent", math.MaxInt32, math.MaxInt32 - 1, []I{0, math.MaxInt32 - 1, -math.MaxInt32}, []I{math.MaxInt32, least}},
	} {
		for _, n := range moveLengths {
			if n > 0 && c.inside == nil {
				n = 1
			}
			v := atEnds[I](t, r, n)
			for i := range v {
				if v[i] = c.outside[0]; c.inside != nil {
					v[i] = c.inside[r.IntN(len(c.inside))]
				}
			}
			if c.inside != nil && !InBounds(v, c.wrap, c.last) {
				t.Fatalf("%s: %d indices that are inside are refused", c.why, n)
			}
			for range min(n, 20) {
				at := r.IntN(n)
				old := v[at]
				v[at] = c.outside[r.IntN(len(c.outside))]
				if InBounds(v, c.wrap, c.last) {
					t.Fatalf("%s: %d among %d indices, at %d, passes", c.why, v[at], n, at)
				}
				v[at] = old
			}
		}
	}
}

// TestCountOnes_calls: a mask that takes more than one call of assembly is counted whole.
func TestCountOnes_calls(t *testing.T) {
	mask := bytes.Repeat([]byte{1, 0, 1}, 1<<18)
	for _, n := range []int{1<<18 - 1, 1 << 18, 1<<18 + 1, 1<<18 + 130, len(mask)} {
		if got, want := CountOnes(mask[:n]), bytes.Count(mask[:n], []byte{1}); got != want {
			t.Errorf("CountOnes of %d: %d, want %d", n, got, want)
		}
	}
}
