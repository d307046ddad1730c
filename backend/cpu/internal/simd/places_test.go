package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// randomPlaces names some rows of a table of count rows, some of them several times, and skips rows of u.
func randomPlaces(r *rand.Rand, count, size, gap int) *Places {
	p := &Places{Begin: r.IntN(3), First: r.IntN(3), Size: size, Step: size + gap}
	if r.IntN(3) == 0 {
		p.Step = 0 // u is one row
	}
	p.Stride = size + r.IntN(3)
	for i := range r.IntN(40) {
		if r.IntN(4) > 0 {
			p.At, p.From = append(p.At, uint32(r.IntN(count))), append(p.From, uint32(i))
		}
	}
	return p
}

// reach is the elements that tables and u need, to the last.
func (p *Places) reach() (table, u int) {
	for r := range p.At {
		table, u = max(table, p.table(r)+p.Size), max(u, p.u(r)+p.Size)
	}
	return table, u
}

func TestPlaces(t *testing.T) {
	t.Run("float32", testPlaces[float32])
	t.Run("float64", testPlaces[float64])
	t.Run("uint8", func(t *testing.T) { testMoves(t, func(r *rand.Rand) uint8 { return uint8(r.Uint32()) }) })
	t.Run("uint16", func(t *testing.T) { testMoves(t, func(r *rand.Rand) uint16 { return uint16(r.Uint32()) }) })
	t.Run("complex128", func(t *testing.T) { testMoves(t, func(r *rand.Rand) complex128 { return complex(r.Float64(), 1) }) })
}

func placeSizes(f func(size int)) {
	for size := range 140 {
		f(size)
	}
	for _, size := range []int{255, 256, 257, 1000, 5000, 40000} {
		f(size)
	}
}

// atEnds is n elements at one end of guarded memory.
func atEnds[E any](t *testing.T, r *rand.Rand, n int) []E {
	m := guarded[E](t, n)
	return m[[]int{0, len(m) - n}[r.IntN(2)]:][:n]
}

func testPlaces[T Float](t *testing.T) {
	type combine = func(table, u []T, p *Places)
	for _, c := range []struct {
		name        string
		table, twin combine
		exact       bool
	}{
		{"add", SumsOf[T]().AddAt, goSums[T]().AddAt, false},
		{"mul", ArithmeticOf[T]().MulAt, goArithmetic[T]().MulAt, false},
		{"max", ExtremesOf[T]().MaxAt, goExtremes[T]().MaxAt, true},
		{"min", ExtremesOf[T]().MinAt, goExtremes[T]().MinAt, true},
	} {
		r := rand.New(rand.NewPCG(7, 9))
		placeSizes(func(size int) {
			p := randomPlaces(r, 9, size, r.IntN(2))
			tables, us := p.reach()
			table, u := atEnds[T](t, r, tables), atEnds[T](t, r, us)
			fillWith(table, r, contents[len(contents)-2].at)
			fillWith(u, r, contents[len(contents)-2].at)
			want := slices.Clone(table)
			c.table(table, u, p)
			c.twin(want, u, p)
			for i := range want {
				if !sameFloat(table[i], want[i], c.exact) {
					t.Fatalf("%s, rows of %d, at %d: %v, want %v", c.name, size, i, table[i], want[i])
				}
			}
		})
	}
	testMoves(t, func(r *rand.Rand) T { return T(r.NormFloat64()) })
}

func testMoves[E comparable](t *testing.T, random func(r *rand.Rand) E) {
	r := rand.New(rand.NewPCG(8, 10))
	placeSizes(func(size int) {
		p := randomPlaces(r, 9, size, r.IntN(2))
		tables, us := p.reach()
		table, u := atEnds[E](t, r, tables), atEnds[E](t, r, us)
		for _, s := range [][]E{table, u} {
			for i := range s {
				s[i] = random(r)
			}
		}
		p.Past = r.IntN(2) == 0
		wantTable, wantU := slices.Clone(table), slices.Clone(u)
		SetRows(table, u, p)
		FencePast()
		for k := range p.At {
			i, j := p.table(k), p.u(k)
			copy(wantTable[i:i+size], u[j:j+size])
		}
		if !slices.Equal(table, wantTable) {
			t.Fatalf("SetRows of %d: %s", size, differ(table, wantTable))
		}
		GatherRows(u, table, p)
		for k := range p.At {
			i, j := p.table(k), p.u(k)
			copy(wantU[j:j+size], table[i:i+size])
		}
		if !slices.Equal(u, wantU) {
			t.Fatalf("GatherRows of %d: %s", size, differ(u, wantU))
		}
	})
}

func differ[E comparable](got, want []E) string {
	for i := range want {
		if got[i] != want[i] {
			return fmt.Sprintf("at %d: %v, want %v", i, got[i], want[i])
		}
	}
	return ""
}

// TestPlacesOutside: assembly is not called with what Go would refuse.
func TestPlacesOutside(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Places
	}{
		{"a row of the table that ends outside", Places{At: []uint32{0, 61}, From: []uint32{0, 1}, Stride: 1, Step: 40, Size: 40}},
		{"a table that begins before itself",
			Places{At: []uint32{0}, From: []uint32{0}, Begin: -1, Stride: 1, Step: 40, Size: 40}},
		{"a row of the table before it", Places{At: []uint32{1}, From: []uint32{0}, Stride: -1, Step: 40, Size: 40}},
		{"a row of u that ends outside", Places{At: []uint32{0}, From: []uint32{2}, Stride: 1, Step: 40, Size: 40}},
		{"more of the table than of u", Places{At: []uint32{0, 1}, From: []uint32{0}, Stride: 1, Step: 40, Size: 40}},
	} {
		for _, f := range []func(table, u []float32, p *Places){
			SumsOf[float32]().AddAt, SetRows[float32], func(table, u []float32, p *Places) { GatherRows(u, table, p) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", c.name)
					}
				}()
				f(make([]float32, 100), make([]float32, 100), &c.p)
			}()
		}
	}
}

// TestRowsPast: rows that are whole cache lines go past the caches in both directions.
func TestRowsPast(t *testing.T) {
	const rows, size = 300, 32
	r := rand.New(rand.NewPCG(9, 1))
	aligned := func(n int) []float32 {
		x := make([]float32, n+cacheLine/4)
		x = x[-uintptr(unsafe.Pointer(&x[0]))&(cacheLine-1)/4:][:n]
		for i := range x {
			x[i] = r.Float32()
		}
		return x
	}
	table, u := aligned(rows*size), aligned(rows*size)
	p := &Places{Stride: size, Step: size, Size: size, Past: true}
	for i := range rows {
		p.At, p.From = append(p.At, uint32(r.IntN(rows))), append(p.From, uint32(i))
	}
	if !wholeLines(unsafe.Pointer(&u[0]), 4, p.First, p.Step, p.Size) {
		t.Fatal("rows are no cache lines")
	}
	GatherRows(u, table, p)
	FencePast()
	for i, at := range p.At {
		if got, want := u[i*size:][:size], table[at*size:][:size]; !slices.Equal(got, want) {
			t.Fatalf("row %d: %v, want %v", i, got, want)
		}
	}
	for i := range u {
		u[i] = r.Float32()
	}
	SetRows(table, u, p)
	FencePast()
	last := map[uint32]int{}
	for i, at := range p.At {
		last[at] = i
	}
	for at, i := range last {
		if got, want := table[at*size:][:size], u[i*size:][:size]; !slices.Equal(got, want) {
			t.Fatalf("set row %d: %v, want %v", at, got, want)
		}
	}
}
