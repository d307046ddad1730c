package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTile holds tiles against the definition: a chain of fused multiply-adds, for every number of rows, packed
// and strided operands, at the ends of guarded memory.
func TestTile(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testTile(t, fma32) })
	t.Run("float64", func(t *testing.T) { testTile(t, math.FMA) })
}

// fma32 is a·b + c with one rounding: the product is exact in float64, and the sum is rounded to odd there, so
// that rounding it again is no second rounding.
func fma32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	t := s - p
	if lost := (p - (s - t)) + (float64(c) - t); lost != 0 && math.Float64bits(s)&1 == 0 {
		away := (lost > 0) == (s > 0)
		if away {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

func testTile[T Float](t *testing.T, fma func(a, b, c T) T) {
	for _, tile := range everyTile[T](t) {
		t.Run(fmt.Sprint(tile.Rows, "by", tile.Columns), func(t *testing.T) { holdTile(t, tile, fma) })
	}
}

// everyTile is the tiles that this CPU has.
func everyTile[T Float](t *testing.T) (all []*Tile[T]) {
	for columns := 1; columns < 100; columns++ {
		if tile := TileOf[T](columns); tile != nil && !slices.Contains(all, tile) {
			all = append(all, tile)
		}
	}
	if len(all) == 0 {
		t.Skip("no assembly")
	}
	return all
}

func holdTile[T Float](t *testing.T, tile *Tile[T], fma func(a, b, c T) T) {
	const most = 8192
	memory := [3][]T{guarded[T](t, most), guarded[T](t, most), guarded[T](t, most)}
	r := rand.New(rand.NewPCG(3, 4))
	place := func(k, n int) []T {
		m := memory[k]
		for i := range m {
			m[i] = T(r.NormFloat64())
		}
		return m[[]int{0, len(m) - n}[r.IntN(2)]:][:n]
	}
	for _, depth := range []int{1, 2, 3, 7, 64, 100} {
		for rows := 1; rows <= tile.Rows; rows++ {
			for _, way := range [][3]int{
				{1, tile.Apart, tile.Columns}, {depth + 3, 1, tile.Columns + 5}, {2, 15, tile.Columns}, {0, 1, 0},
			} {
				t.Run(fmt.Sprint(depth, rows, way), func(t *testing.T) {
					aRow, aCol, bRow := way[0], way[1], way[2]
					cRow := tile.Columns + r.IntN(3)
					a, b := place(0, (rows-1)*aRow+(depth-1)*aCol+1), place(1, (depth-1)*bRow+tile.Columns)
					c := place(2, (rows-1)*cRow+tile.Columns)
					was := append([]T{}, c...)
					for _, add := range []bool{false, true} {
						tile.Multiply(rows, c, cRow, a, aRow, aCol, b, bRow, depth, add)
						for i, got := range c {
							row, col := i/cRow, i%cRow
							want := was[i]
							if col < tile.Columns {
								var s T
								for k := range depth {
									s = fma(a[row*aRow+k*aCol], b[k*bRow+col], s)
								}
								if add {
									s = was[i] + s
								}
								want = s
							}
							if bitsOf(got) != bitsOf(want) {
								t.Fatalf("add %t: at %d, %d: %v, want %v", add, row, col, got, want)
							}
						}
						copy(was, c)
					}
				})
			}
		}
	}
}

func TestPack(t *testing.T) {
	t.Run("float32", testPack[float32])
	t.Run("float64", testPack[float64])
}

func testPack[T Float](t *testing.T) {
	for _, tile := range everyTile[T](t) {
		t.Run(fmt.Sprint(tile.Rows, "by", tile.Columns), func(t *testing.T) { holdPack(t, tile) })
	}
}

func holdPack[T Float](t *testing.T, tile *Tile[T]) {
	for _, depth := range []int{1, 3, 4, 7, 8, 9, 64, 67} {
		for _, stride := range []int{depth, depth + 5} {
			a := guarded[T](t, tile.Rows*stride)
			a = a[len(a)-(tile.Rows-1)*stride-depth:]
			for i := range a {
				a[i] = T(i + 1)
			}
			dst := guarded[T](t, depth*tile.Apart)
			dst = dst[len(dst)-depth*tile.Apart:]
			tile.Pack(dst, a, stride, depth)
			for i, got := range dst {
				var want T
				if row := i % tile.Apart; row < tile.Rows {
					want = a[row*stride+i/tile.Apart]
				}
				if got != want {
					t.Fatalf("depth %d, stride %d, at %d: %v, want %v", depth, stride, i, got, want)
				}
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	t.Run("float32", testTranspose[float32])
	t.Run("float64", testTranspose[float64])
}

// testTranspose moves NaNs with all their bits, and nothing beside what it is told to.
func testTranspose[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		rows, columns := r.IntN(36), r.IntN(36)
		srcRow, dstRow := columns+r.IntN(4), rows+r.IntN(4)
		src := guarded[T](t, max(0, (rows-1)*srcRow+columns))
		src = src[len(src)-max(0, (rows-1)*srcRow+columns):]
		for i := range src {
			src[i] = payloadNaN[T](r)
		}
		n := max(0, (columns-1)*dstRow+rows)
		dst := guarded[T](t, n)
		dst = dst[len(dst)-n:]
		MovementOf[T]().Transpose(dst, dstRow, src, srcRow, rows, columns)
		for i, got := range dst {
			var want T
			if row := i % max(dstRow, 1); row < rows {
				want = src[row*srcRow+i/dstRow]
			}
			if bitsOf(got) != bitsOf(want) {
				t.Fatalf("%d × %d, strides %d and %d, at %d: %#x, want %#x", rows, columns, srcRow, dstRow, i,
					bitsOf(got), bitsOf(want))
			}
		}
	}
}

func TestTransposeWidths(t *testing.T) {
	t.Run("1", func(t *testing.T) { testTransposeWidth(t, func(i int) uint8 { return uint8(i + 1) }) })
	t.Run("2", func(t *testing.T) { testTransposeWidth(t, func(i int) uint16 { return uint16(i + 1) }) })
	t.Run("4", func(t *testing.T) { testTransposeWidth(t, func(i int) uint32 { return 0x7f800000 + uint32(i+1) }) })
	t.Run("8", func(t *testing.T) { testTransposeWidth(t, func(i int) uint64 { return 0x7ff<<52 + uint64(i+1) }) })
	t.Run("16", func(t *testing.T) { testTransposeWidth(t, func(i int) complex128 { return complex(float64(i+1), 1) }) })
}

// testTransposeWidth moves elements of any width: those of 4 and 8 bytes have the bits of signalling NaNs.
func testTransposeWidth[W comparable](t *testing.T, element func(i int) W) {
	var zero W
	for rows := range 20 {
		for columns := range 20 {
			srcRow, dstRow := columns+rows%3, rows+columns%4
			src, dst := make([]W, rows*srcRow+1), make([]W, columns*dstRow+1)
			for i := range src {
				src[i] = element(i)
			}
			Transpose(dst, dstRow, src, srcRow, rows, columns)
			for i, got := range dst {
				want := zero
				if dstRow > 0 && i < columns*dstRow && i%dstRow < rows {
					want = src[i%dstRow*srcRow+i/dstRow]
				}
				if got != want {
					t.Fatalf("%d × %d, at %d: %v, want %v", rows, columns, i, got, want)
				}
			}
		}
	}
}
