package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDivisors holds quotients against division, where their last correction matters and where they must not be used.
func TestDivisors(t *testing.T) {
	if !HasSoftLines() {
		t.Skip("there is no assembly")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	below := math.Nextafter32(1, 0)
	for _, row := range []struct {
		why string
		e   func() float32
		s   func() float32
	}{
		{"what softmax has", rng.Float32, func() float32 { return 1 + 4096*rng.Float32() }},
		{"every mantissa of a divisor next to the power of two above", rng.Float32,
			func() float32 { return math.Nextafter32(2, 0) - float32(rng.IntN(64))*0x1p-23 }},
		{"quotients next to a midpoint of two floats", func() float32 { return below - float32(rng.IntN(1<<10))*0x1p-24 },
			func() float32 { return 1 + float32(rng.IntN(1<<10))*0x1p-23 }},
		{"exact quotients", func() float32 { return float32(rng.IntN(1<<12)) * 0x1p-14 },
			func() float32 { return float32(int(1) << rng.IntN(32)) }},
		{"the bound of what quotients take, and what is below", func() float32 { return rng.Float32() * 0x1p-63 },
			func() float32 { return 1 + rng.Float32()*(1<<31) }},
		{"subnormal dividends and quotients", func() float32 { return rng.Float32() * 0x1p-120 },
			func() float32 { return 1 + rng.Float32()*(1<<31) }},
		{"zeros and ones", func() float32 { return float32(rng.IntN(2)) }, func() float32 { return 1 + 99*rng.Float32() }},
		{"NaN", func() float32 { return []float32{NaN[float32](), 0.5}[rng.IntN(2)] }, func() float32 { return 3 }},
		{"the greatest divisor", rng.Float32, func() float32 { return 1 << 32 }},
	} {
		for n := range 100 {
			n += 1000 * (n / 99)
			e, s, out, want := guarded[float32](t, n), make([]float32, n), guarded[float32](t, n), make([]float32, n)
			e, out = e[len(e)-n:], out[len(out)-n:]
			for i := range e {
				e[i], s[i] = row.e(), row.s()
			}
			divRow(want, e, s)
			var d Divisors
			if !d.Of(s) {
				t.Fatalf("%s: the divisors are refused", row.why)
			}
			d.Divide(out, e, n%2 == 0)
			FencePast()
			for i := range out {
				if bitsOf(out[i]) != bitsOf(want[i]) {
					t.Fatalf("%s: %x / %x is %x, want %x", row.why, e[i], s[i], out[i], want[i])
				}
			}
		}
	}
	for _, bad := range []float32{0, 0x1.fffffep-1, math.Nextafter32(1<<32, 1<<33), -1, NaN[float32](), float32(math.Inf(1))} {
		if new(Divisors).Of([]float32{2, bad}) {
			t.Errorf("%v is taken for a divisor that has a proof", bad)
		}
	}
}

// TestSoftLine holds lines in pairs of steps against their parts.
func TestSoftLine(t *testing.T) {
	if !HasSoftLines() {
		t.Skip("there is no assembly")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	e, f := elementary32[0], goFloats[float32]()
	for _, row := range []struct {
		n         int
		log, past bool
		why       string
	}{
		{BlockSize, false, false, "one block"}, {3 * BlockSize, false, true, "some"},
		{most/8 + BlockSize, false, false, "more than a call does"},
		{most + BlockSize, false, true, "more than the search for the ends does"},
		{BlockSize, true, false, "logarithms"}, {3 * BlockSize, true, true, "logarithms past the caches"},
	} {
		n := row.n
		l := SoftLine{Log: row.log}
		results, wants := [3][]float32{}, [3][]float32{}
		for k := range 3 {
			x, y, sums := ending(t, n), ending(t, n), ending(t, n/BlockSize)
			for i := range x {
				x[i] = float32(k) + 39*rng.Float32()
			}
			m, ok := Soft(x)
			if want := slices.Max(x); !ok || m != want {
				t.Fatalf("%s: the greatest is %v, %v, want %v", row.why, m, ok, want)
			}
			results[k], wants[k] = ending(t, n), make([]float32, n)
			l.X, l.Y, l.Sums, l.M, l.Past, l.Next = x, y, sums, m, row.past, x
			l.Do()
			wantSums := make([]float32, len(sums))
			e.ExpSums(wantSums, wants[k], x, m)
			total := sumLine(wants[k])
			if row.log {
				f.Shift(wants[k], x, m)
			}
			if !slices.Equal(y, wants[k]) || !slices.Equal(sums, wantSums) {
				t.Fatalf("%s: line %d has other terms or sums", row.why, k)
			}
			l.Before, l.Result, l.Sum = y, results[k], total
			if row.log {
				f.Shift(wants[k], wants[k], total)
			} else {
				f.DivBy(wants[k], wants[k], total)
			}
		}
		l.Finish()
		FencePast()
		for k := range 3 {
			if !slices.Equal(results[k], wants[k]) {
				t.Errorf("%s: line %d has other results", row.why, k)
			}
		}
	}
}

// TestSoftColumns holds panels in pairs of steps against their parts, between guarded pages.
func TestSoftColumns(t *testing.T) {
	if !HasSoftLines() {
		t.Skip("there is no assembly")
	}
	for _, row := range []struct {
		rows, columns, step int
		kept, past, log     bool
		why                 string
	}{
		{1, 16, 16, true, false, false, "one row"}, {8, 16, 16, true, true, false, "each lane once"},
		{100, 48, 64, true, true, false, "rows apart, past the caches"}, {17, 32, 33, true, true, false, "rows that are not aligned"},
		{31, 32, -48, true, false, true, "rows backwards, logarithms"}, {128, 16, 32, true, true, true, "logarithms past the caches"},
		{40, 1024, 1024, true, false, false, "more than a call does"}, {40, 1024, 1024, false, false, true, "sums alone"},
		{20, 32, 0, true, false, false, "the same row again and again"},
	} {
		for _, lanes := range []int{1, 8} {
			testSoftColumns(t, row.why, row.rows, row.columns, row.step, lanes, SoftColumns{Log: row.log, Past: row.past}, row.kept)
		}
	}
}

func testSoftColumns(t *testing.T, why string, rows, n, step, lanes int, c SoftColumns, kept bool) {
	rng := rand.New(rand.NewPCG(11, 12))
	e, f := elementary32[0], goFloats[float32]()
	size, first := (rows-1)*max(step, -step)+n, 0
	if step < 0 {
		first = (rows - 1) * -step
	}
	var wants, results [3][]float32
	keep := make([]float32, n)
	if kept {
		keep = ending(t, rows*n)
	}
	c.Keep, c.Step, c.At, c.Ahead, c.ToStep = keep, step, first, 99, n+16
	for k := range wants {
		x, m, acc, want := ending(t, size), make([]float32, n), ending(t, lanes*n), make([]float32, lanes*n)
		for i := range x {
			x[i] = float32(k) + 39*rng.Float32()
		}
		low := make([]float32, n)
		SpanRows(low, m, x, first, step, rows)
		for i := range m {
			l, h := x[first+i], x[first+i]
			for j := range rows {
				l, h = min(l, x[first+j*step+i]), max(h, x[first+j*step+i])
			}
			if l != low[i] || h != m[i] || !SoftRows(low, m) {
				t.Fatalf("%s: the ends of column %d are %v and %v, want %v and %v", why, i, low[i], m[i], l, h)
			}
		}
		results[k], wants[k] = ending(t, (rows-1)*c.ToStep+n), make([]float32, rows*n)
		c.X, c.Lanes = x, acc
		c.Tops(m)
		c.Do(rows)
		s, y := make([]float32, n), make([]float32, n)
		for j := range rows {
			row := wants[k][j*n:][:n]
			e.ExpRows(want[j%lanes*n:][:n], row, x[first+j*step:][:n], m)
			addRow(s, s, row)
			if c.Log {
				f.Shifts(row, x[first+j*step:][:n], m)
			}
		}
		if kept && !slices.Equal(keep, wants[k]) || !slices.Equal(acc, want) {
			t.Fatalf("%s, %d lanes: panel %d has other terms or sums", why, lanes, k)
		}
		c.Ends(s)
		for j := range rows {
			row := wants[k][j*n:][:n]
			if c.Log {
				f.Shifts(y, row, s)
			} else {
				f.Div(y, row, s)
			}
			copy(row, y)
		}
		if kept {
			c.Result = results[k]
		}
	}
	if !kept {
		return
	}
	c.X = nil
	c.Do(rows)
	FencePast()
	for k := range wants {
		for j := range rows {
			if !slices.Equal(results[k][j*c.ToStep:][:n], wants[k][j*n:][:n]) {
				t.Fatalf("%s, %d lanes: panel %d, row %d has other results", why, lanes, k, j)
			}
			if gap := results[k][min(j*c.ToStep+n, len(results[k])):]; len(gap) > 0 && slices.Max(gap[:16]) != 0 {
				t.Fatalf("%s: what is between rows was written", why)
			}
		}
	}
}

// TestSoftRows has ends that a SoftColumns cannot do.
func TestSoftRows(t *testing.T) {
	inf, nan := float32(math.Inf(1)), NaN[float32]()
	for _, c := range []struct {
		why       string
		low, high float32
		want      bool
	}{
		{"as far apart as is taken", -softSpan, 0, true}, {"farther", -softSpan - 1, 0, false}, {"−∞", -inf, 0, false},
		{"+∞", 0, inf, false}, {"nothing but +∞", inf, inf, false}, {"nothing but −∞", -inf, -inf, false}, {"NaN", nan, nan, false},
	} {
		if got := SoftRows([]float32{1, c.low}, []float32{2, c.high}); got != c.want {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

// ending is guarded memory of n elements that ends with its pages.
func ending(t *testing.T, n int) []float32 {
	x := guarded[float32](t, n)
	return x[len(x)-n:]
}

func TestSoft(t *testing.T) {
	if !HasSoftLines() {
		t.Skip("there is no assembly")
	}
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		why  string
		n    int
		at   []int
		v    []float32
		want bool
	}{
		{"equal elements", 128, nil, nil, true},
		{"as far apart as is taken", 256, []int{255}, []float32{-softSpan}, true},
		{"farther apart", 256, []int{77}, []float32{-softSpan - 1}, false},
		{"no whole blocks", 130, nil, nil, false},
		{"no elements", 0, nil, nil, false},
		{"−∞", 128, []int{0}, []float32{-inf}, false},
		{"+∞", 128, []int{127}, []float32{inf}, false},
		{"nothing but NaN", 128, upTo(128), slices.Repeat([]float32{NaN[float32]()}, 128), false},
		{"nothing but +∞", 128, upTo(128), slices.Repeat([]float32{inf}, 128), false},
	} {
		x := make([]float32, c.n)
		for k, i := range c.at {
			x[i] = c.v[k]
		}
		if _, ok := Soft(x); ok != c.want {
			t.Errorf("%s: %v, want %v", c.why, ok, c.want)
		}
	}
}

func upTo(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i
	}
	return r
}
