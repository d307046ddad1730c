package simd

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestGather holds pieces against the definition, at the ends of guarded memory: masked lanes may lie beyond it.
func TestGather(t *testing.T) {
	t.Run("float32", testGather[float32])
	t.Run("float64", testGather[float64])
}

func testGather[T Float](t *testing.T) {
	held := false
	for _, tile := range everyTile[T](t) {
		if tile.HasPieces() {
			held = true
			t.Run(fmt.Sprint(tile.Rows, "by", tile.Columns), func(t *testing.T) { holdGather(t, tile) })
		}
	}
	if !held {
		t.Skip("no assembly for pieces")
	}
}

func holdGather[T Float](t *testing.T, tile *Tile[T]) {
	rng := rand.New(rand.NewPCG(7, 8))
	lanes, full := tile.Lanes(), uint16(1<<tile.Lanes()-1)
	masks := []uint16{0, 1, full, full &^ 1, 1 << (lanes - 1), full >> 1}
	src, dst := guarded[T](t, 2048), guarded[T](t, 2048)
	for i := range src {
		src[i] = payloadNaN[T](rng)
	}
	for round := range 400 {
		rows, srcRow, pieces := 1+rng.IntN(5), rng.IntN(40), 1+rng.IntN(6)
		dstRow := pieces*lanes + rng.IntN(3)
		from := rng.IntN(100) - 50
		reach := len(src) - (rows-1)*srcRow // a row may begin before this
		var p Pieces
		p.Reset()
		var list []Piece
		for k := range pieces {
			q := Piece{To: int32(k * lanes), Of: masks[rng.IntN(len(masks))], More: masks[rng.IntN(len(masks))], Into: masks[1+rng.IntN(len(masks)-1)]}
			// The first or the last lane of a mask lies at an end of memory, half of the time each.
			at := func(mask uint16) int {
				if mask == 0 {
					return rng.IntN(1<<40) - 1<<39
				}
				lo, hi := -bits.TrailingZeros16(mask), reach-bits.Len16(mask)
				return []int{lo, hi, lo + rng.IntN(hi-lo+1)}[rng.IntN(3)] - from
			}
			q.At, q.Rest = at(q.Of), at(q.More)
			p.Add(q)
			list = append(list, q)
		}
		n := (rows-1)*dstRow + len(list)*lanes
		out := dst[len(dst)-n:]
		want := make([]T, n)
		for i := range out {
			out[i] = T(i)
			want[i] = T(i)
		}
		for row := range rows {
			for _, q := range list {
				for l := range lanes {
					if q.Into>>l&1 == 0 {
						continue
					}
					var v T
					if q.Of>>l&1 == 1 {
						v = src[from+q.At+l+row*srcRow]
					}
					if q.More>>l&1 == 1 {
						v = src[from+q.Rest+l+row*srcRow]
					}
					want[int(q.To)+l+row*dstRow] = v
				}
			}
		}
		tile.Gather(out, dstRow, src, from, srcRow, rows, &p)
		for i := range out {
			if bitsOf(out[i]) != bitsOf(want[i]) {
				t.Fatalf("round %d, %d rows of %+v: at %d %#x, want %#x", round, rows, list, i, bitsOf(out[i]), bitsOf(want[i]))
			}
		}
	}
}

// TestPanels: panels one below the other are the tiles that they are made of, at the ends of guarded memory.
func TestPanels(t *testing.T) {
	t.Run("float32", testPanels[float32])
	t.Run("float64", testPanels[float64])
}

func testPanels[T Float](t *testing.T) {
	for _, tile := range everyTile[T](t) {
		t.Run(fmt.Sprint(tile.Rows, "by", tile.Columns), func(t *testing.T) { holdPanels(t, tile) })
	}
}

func holdPanels[T Float](t *testing.T, tile *Tile[T]) {
	rng := rand.New(rand.NewPCG(9, 10))
	drawn := func(n int) []T {
		s := guarded[T](t, n)
		s = s[len(s)-n:]
		for i := range s {
			s[i] = T(rng.NormFloat64())
		}
		return s
	}
	for _, c := range []struct {
		rows, depth int
		why         string
	}{
		{1, 3, "a part of a panel"},
		{tile.Rows, 1, "one panel"},
		{tile.Rows + 1, 5, "a whole and a part"},
		{5 * tile.Rows, 4, "whole ones"},
		{3*tile.Rows - 1, panelsOfCall, "more than a call does"},
	} {
		panel := c.depth * tile.Apart
		last := (c.rows-1)%tile.Rows + 1
		a := drawn((c.rows-1)/tile.Rows*panel + (c.depth-1)*tile.Apart + last)
		b, cRow := drawn(c.depth*tile.Columns), tile.Columns+3
		got := drawn((c.rows-1)*cRow + tile.Columns)
		want := append([]T{}, got...)
		for _, add := range []bool{false, true} {
			for i := range c.rows {
				row := a[i/tile.Rows*panel+i%tile.Rows:]
				tile.Multiply(1, want[i*cRow:], cRow, row, 0, tile.Apart, b, tile.Columns, c.depth, add)
			}
			tile.Panels(c.rows, got, cRow, a, b, c.depth, add)
			for i := range got {
				if bitsOf(got[i]) != bitsOf(want[i]) {
					t.Fatalf("%s, add %t: at %d: %v, want %v", c.why, add, i, got[i], want[i])
				}
			}
		}
	}
}
