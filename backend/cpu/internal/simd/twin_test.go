package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// primitive is a function of a table as the tests call it: on slices of one length and a scalar. What it
// returns is compared beside what it leaves in the slices.
type primitive[T Float] struct {
	name   string
	slices int
	exact  bool // a NaN has the same bits too
	least  int  // the shortest slice
	run    func(s [][]T, v T) []T
}

// pairOf is a primitive in assembly, or whatever the table holds, and in Go.
type pairOf[T Float] struct{ table, twin primitive[T] }

// pairs holds each form of a table against its twin; of most tables there is one.
func pairs[T Float]() []pairOf[T] {
	var all []pairOf[T]
	orders, functions := extremesOf[T](), elementariesOf[T]()
	for form := range max(len(orders), len(functions)) {
		table := primitives(SumsOf[T](), ArithmeticOf[T](), FloatsOf[T](), orders[min(form, len(orders)-1)],
			functions[min(form, len(functions)-1)], ComparesOf[T]())
		twin := primitives(goSums[T](), goArithmetic[T](), goFloats[T](), goExtremes[T](), functions[0], goCompares[T]())
		for j := range table {
			forms := 2 // the first of which is the twin
			switch family, _, _ := strings.Cut(table[j].name, "."); family {
			case "Extremes":
				forms = len(orders)
			case "Elementary":
				forms = len(functions)
			}
			if form > 0 && form < forms {
				twin[j].name += strings.Repeat("'", form-1)
				all = append(all, pairOf[T]{table[j], twin[j]})
			}
		}
	}
	return all
}

func primitives[T Float](s Sums[T], a Arithmetic[T], f Floats[T], e Extremes[T], el Elementary[T],
	c Compares[T]) []primitive[T] {
	row := func(name string, exact bool, f func(out, a, b []T)) primitive[T] {
		return primitive[T]{name: name, slices: 3, exact: exact, run: func(s [][]T, _ T) []T {
			f(s[0], s[1], s[2])
			return nil
		}}
	}
	inPlace := func(name string, f func(out, a, b []T)) primitive[T] {
		return primitive[T]{name: name + "_in_place", slices: 2, run: func(s [][]T, _ T) []T {
			f(s[0], s[0], s[1])
			return nil
		}}
	}
	rows := func(name string, exact bool, f func(acc, a, b, c, d []T)) primitive[T] {
		return primitive[T]{name: name, slices: 5, exact: exact, run: func(s [][]T, _ T) []T {
			f(s[0], s[1], s[2], s[3], s[4])
			return nil
		}}
	}
	kept := func(name string, f func(out, a, b, x []T)) primitive[T] {
		return primitive[T]{name: name, slices: 4, run: func(s [][]T, _ T) []T {
			f(s[0], s[1], s[2], s[3])
			for _, v := range s[0] {
				if v != v && bitsOf(v) != bitsOf(NaN[T]()) {
					return []T{0} // a NaN of another form
				}
			}
			return []T{1}
		}}
	}
	scalar := func(name string, exact bool, f func(out, a []T, v T)) primitive[T] {
		return primitive[T]{name: name, slices: 2, exact: exact, run: func(s [][]T, v T) []T {
			f(s[0], s[1], v)
			return nil
		}}
	}
	unary := func(name string, f func(out, x []T)) primitive[T] {
		return primitive[T]{name: name, slices: 2, exact: true, run: func(s [][]T, _ T) []T {
			f(s[0], s[1])
			return nil
		}}
	}
	unaryInPlace := func(name string, f func(out, x []T)) primitive[T] {
		return primitive[T]{name: name + "_in_place", slices: 1, exact: true, run: func(s [][]T, _ T) []T {
			f(s[0], s[0])
			return nil
		}}
	}
	lines := func(name string, slices, count int, f func(s *Lines[T])) primitive[T] {
		return primitive[T]{name: name, slices: slices, run: func(s [][]T, v T) []T {
			w := Lines[T]{Past: true}
			n := len(s[0]) / count
			for l := range count {
				w.Y[l], w.X[l], w.Hi[l], w.R[l] = s[0][l*n:][:n], s[slices-1][l*n:][:n], v, v/T(l+3)
			}
			f(&w)
			return append(w.Hi[:], w.R[:]...)
		}}
	}
	line := func(name string, f func(x []T) T) primitive[T] {
		return primitive[T]{name: name, slices: 1, exact: true, least: 1, run: func(s [][]T, _ T) []T {
			return []T{f(s[0])}
		}}
	}
	first := func(name string, f func(keys []T, best T) (T, int)) primitive[T] {
		return primitive[T]{name: name, slices: 1, exact: true, run: func(s [][]T, v T) []T {
			if v != v {
				v = 0
			}
			best, at := f(s[0], v)
			return []T{best, T(at)}
		}}
	}
	// over is rows that lie over one another, a step apart, the last or the first of them at the end of n elements,
	// and how many columns they have.
	over := func(n, rows, step int) (s Stack, columns int) {
		s = Stack{0, step, min(rows, n)}
		if step < 0 {
			s.Begin = (1 - s.N) * step
		}
		return s, n - max(0, s.N-1)*max(step, -step)
	}
	stack := func(name string, exact bool, rows, step int, f func(acc, x []T, rows Stack)) primitive[T] {
		return primitive[T]{name: name, slices: 2, exact: exact, run: func(s [][]T, _ T) []T {
			rows, columns := over(len(s[0]), rows, step)
			f(s[0][:columns], s[1], rows)
			return nil
		}}
	}
	update := func(name string, rows, step int, f func(best []T, at []int, keys []T, rows Stack, i int)) primitive[T] {
		return primitive[T]{name: name, slices: 2, exact: true, run: func(s [][]T, v T) []T {
			rows, columns := over(len(s[0]), rows, step)
			at := make([]int, len(s[0])+8) // the last of which are not to be touched
			f(s[0][:columns], at[:columns], s[1], rows, 7)
			var r []T
			for _, i := range at {
				r = append(r, T(i))
			}
			return r
		}}
	}
	compare := func(name string, f func(out []bool, a, b []T)) primitive[T] {
		return primitive[T]{name: name, slices: 2, exact: true, run: func(s [][]T, _ T) []T {
			out := make([]bool, len(s[0])+1) // the last of which is not to be touched
			f(out[:len(s[0])], s[0], s[1])
			r := make([]T, len(out))
			for i, v := range out {
				if v {
					r[i] = 1
				}
				if b := *(*uint8)(unsafe.Pointer(&out[i])); b > 1 {
					r[i] = T(b) // no bool
				}
			}
			return r
		}}
	}
	return []primitive[T]{
		{name: "Sums.Block", slices: 1, run: func(x [][]T, _ T) []T {
			return []T{s.Block(x[0][:min(len(x[0]), BlockSize)])}
		}},
		{name: "Sums.Line", slices: 1, least: 1, run: func(x [][]T, _ T) []T { return []T{s.Line(x[0])} }},
		row("Sums.Row", false, s.Row), rows("Sums.Rows", false, s.Rows),
		row("Arithmetic.Add", false, a.Add), row("Arithmetic.Sub", false, a.Sub), row("Arithmetic.Mul", false, a.Mul),
		inPlace("Arithmetic.Sub", a.Sub),
		row("Floats.Div", false, f.Div), kept("Floats.AddKept", f.AddKept),
		row("Floats.Guard", true, f.Guard), inPlace("Floats.Guard", f.Guard), unary("Floats.Neg", f.Neg),
		lines("Floats.SumLines", 2, LinesAtOnce, f.SumLines), lines("Floats.SumLines_of_a_group", 2, LineGroup, f.SumLines),
		lines("Floats.SumLines_in_place", 1, LinesAtOnce, f.SumLines),
		unary("Floats.Sqrt", f.Sqrt),
		scalar("Floats.DivBy", false, f.DivBy), scalar("Floats.Shift", false, f.Shift),
		row("Floats.Shifts", false, f.Shifts),
		inPlace("Floats.Shifts", f.Shifts),
		line("Extremes.Max", e.Max), line("Extremes.Min", e.Min),
		row("Extremes.MaxRow", true, e.MaxRow), row("Extremes.MinRow", true, e.MinRow),
		inPlace("Extremes.MaxRow", e.MaxRow),
		rows("Extremes.MaxRows", true, e.MaxRows), rows("Extremes.MinRows", true, e.MinRows),
		stack("Extremes.MaxStack", true, 16, 1, e.MaxStack), stack("Extremes.MinStack", true, 37, -1, e.MinStack),
		first("Extremes.FirstMax", e.FirstMax), first("Extremes.FirstMin", e.FirstMin),
		update("Extremes.UpdateMax", 1, 1, e.UpdateMax), update("Extremes.UpdateMin", 1, 1, e.UpdateMin),
		update("Extremes.UpdateMax_down", 37, 1, e.UpdateMax), update("Extremes.UpdateMin_down", 18, 1, e.UpdateMin),
		update("Extremes.UpdateMax_up", 16, -1, e.UpdateMax), update("Extremes.UpdateMin_up", 3, -1, e.UpdateMin),
		compare("Compares.Less", c.Less), compare("Compares.LessEqual", c.LessEqual),
		compare("Compares.Equal", c.Equal), compare("Compares.NotEqual", c.NotEqual),
		unary("Elementary.Exp", el.Exp), unaryInPlace("Elementary.Exp", el.Exp), unary("Elementary.Log", el.Log),
		unary("Elementary.Tanh", el.Tanh), unary("Elementary.Sigmoid", el.Sigmoid),
		{name: "Elementary.ExpSums", slices: 2, run: func(x [][]T, m T) []T {
			sums := make([]T, (len(x[0])+BlockSize-1)/BlockSize)
			el.ExpSums(sums, x[0], x[1], m)
			return sums
		}},
		{name: "Elementary.ExpRows", slices: 4, run: func(x [][]T, _ T) []T {
			el.ExpRows(x[0], x[1], x[2], x[3])
			return nil
		}},
		{name: "Elementary.ExpRows_in_place", slices: 3, run: func(x [][]T, _ T) []T {
			el.ExpRows(x[0], x[1], x[1], x[2])
			return nil
		}},
	}
}

// contents are what slices are filled with.
var contents = []struct {
	name string
	why  string
	at   func(r *rand.Rand) float64
}{
	{"normal", "rounding shows the order of a sum", func(r *rand.Rand) float64 { return r.NormFloat64() }},
	{"wide", "exponents of all sizes, overflow, subnormals", func(r *rand.Rand) float64 {
		return math.Float64frombits(r.Uint64())
	}},
	{"edges", "where functions change course", func(r *rand.Rand) float64 {
		edge := []float64{-104, 89, 0x1p-13, 10, -10, -0x1p-13, 709.79, -745.14, 708, -708, math.MaxFloat32, 0x1p-149, 88.72}
		v := edge[r.IntN(len(edge))]
		return v + v*float64(r.IntN(5)-2)*[]float64{0x1p-24, 0x1p-53, 0x1p-10}[r.IntN(3)]
	}},
	{"tiny", "products, quotients and sums around the least normal float32", func(r *rand.Rand) float64 {
		return math.Ldexp(r.Float64()-0.5, -148+r.IntN(30)+r.IntN(2)*r.IntN(150))
	}},
	{"exponents", "of all results of exp", func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * 1500 }},
	{"few", "ties", func(r *rand.Rand) float64 { return float64(r.IntN(5) - 2) }},
	{"zeros", "signs of zeros", func(r *rand.Rand) float64 { return math.Copysign(0, float64(r.IntN(2))-0.5) }},
	{"negative", "zeros are the greatest", func(r *rand.Rand) float64 {
		return math.Copysign(float64(r.IntN(3)/2), -1) * float64(r.IntN(2))
	}},
	{"infinite", "differences without a value", func(r *rand.Rand) float64 {
		return []float64{math.Inf(-1), math.Inf(-1), math.Inf(1), 1}[r.IntN(4)]
	}},
	{"special", "everything at once", func(r *rand.Rand) float64 {
		return []float64{
			math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, math.NaN(), math.SmallestNonzeroFloat64,
			math.MaxFloat64, math.MaxFloat32, 1, -1, r.NormFloat64(), r.NormFloat64(), r.NormFloat64(),
		}[r.IntN(13)]
	}},
	{"rare_nan", "the first of few NaNs is found", func(r *rand.Rand) float64 {
		if r.IntN(100) == 0 {
			return math.NaN()
		}
		return r.NormFloat64()
	}},
}

// fillWith sets elements; one NaN in two gets a payload and a sign.
func fillWith[T Float](x []T, r *rand.Rand, at func(r *rand.Rand) float64) {
	for i := range x {
		v := T(at(r))
		if v != v && r.IntN(2) == 0 {
			v = payloadNaN[T](r)
		}
		x[i] = v
	}
}

func payloadNaN[T Float](r *rand.Rand) T {
	var v T
	switch p := any(&v).(type) {
	case *float32:
		*p = math.Float32frombits(r.Uint32() | 0x7fc00000)
	case *float64:
		*p = math.Float64frombits(r.Uint64() | 0x7ff8<<48)
	}
	return v
}

func sameFloat[T Float](a, b T, exact bool) bool {
	if !exact && a != a && b != b {
		return true
	}
	return bitsOf(a) == bitsOf(b)
}

func bitsOf[T Float](v T) uint64 {
	if f, ok := any(v).(float32); ok {
		return uint64(math.Float32bits(f))
	}
	return math.Float64bits(float64(v))
}

// TestTwins holds every primitive against its twin in Go, bit by bit: all lengths up to 300 and some that are
// cut in several calls, at both ends of guarded memory and at places that are no multiple of a register.
func TestTwins(t *testing.T) {
	t.Run("float32", testTwins[float32])
	t.Run("float64", testTwins[float64])
}

func testTwins[T Float](t *testing.T) {
	if TileOf[T](1) == nil {
		t.Skip("no assembly: the table holds the twins")
	}
	lengths := []int{511, 1024, 1031, 4095, 4111, 4112, 5000, 8209, 1<<15 + 1, 1<<16 + 77}
	for n := range 301 {
		lengths = append(lengths, n)
	}
	for _, p := range pairs[T]() {
		t.Run(p.twin.name, func(t *testing.T) {
			memory := make([][]T, p.twin.slices)
			for i := range memory {
				memory[i] = guarded[T](t, 1<<16+2048)
			}
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range lengths {
				for _, c := range contents {
					if n < p.twin.least || n > 300 && testing.Short() {
						continue
					}
					if err := compareTwins(p, memory, n, r, c.at); err != nil {
						t.Fatalf("%s, length %d: %v", c.name, n, err)
					}
				}
			}
		})
	}
}

// compareTwins runs both on n elements somewhere in the memory.
func compareTwins[T Float](p pairOf[T], memory [][]T, n int, r *rand.Rand, at func(r *rand.Rand) float64) error {
	got, want := make([][]T, len(memory)), make([][]T, len(memory))
	for i, m := range memory {
		begin := []int{0, len(m) - n, min(r.IntN(16), len(m)-n)}[r.IntN(3)]
		got[i] = m[begin:][:n]
		fillWith(got[i], r, at)
		want[i] = append([]T{}, got[i]...)
	}
	var v [1]T
	fillWith(v[:], r, at)
	got = append(got, p.table.run(got, v[0]))
	want = append(want, p.twin.run(want, v[0]))
	for i := range want {
		for j := range want[i] {
			if !sameFloat(got[i][j], want[i][j], p.twin.exact) {
				return fmt.Errorf("slice %d at %d: %v (%#x), want %v (%#x)", i, j, got[i][j], bitsOf(got[i][j]),
					want[i][j], bitsOf(want[i][j]))
			}
		}
	}
	return nil
}

// FuzzTwins does the same for any content: bytes are elements' bits.
func FuzzTwins(f *testing.F) {
	if TileOf[float32](1) == nil {
		f.Skip("no assembly: the tables hold the twins")
	}
	f.Add([]byte("\x00\x00\xc0\x7f\x00\x00\x80\xff\x00\x00\x00\x80\x00\x00\x00\x00 quite ordinary bytes, of some length"), uint8(0))
	f.Add(make([]byte, 200), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		fuzzTwins(t, pairs[float32](), elementsFrom(data, 4, func(b uint64) float32 {
			return math.Float32frombits(uint32(b))
		}), which)
		fuzzTwins(t, pairs[float64](), elementsFrom(data, 8, math.Float64frombits), which)
	})
}

// elementsFrom makes elements of some bytes each; a NaN is math.NaN, since a signaling one changes
// on its way through a float64.
func elementsFrom[T Float](data []byte, size int, of func(bits uint64) T) []T {
	var x []T
	for ; len(data) >= size; data = data[size:] {
		var b uint64
		for i := range size {
			b |= uint64(data[i]) << (8 * i)
		}
		v := of(b)
		if v != v {
			v = NaN[T]()
		}
		x = append(x, v)
	}
	return x
}

func fuzzTwins[T Float](t *testing.T, all []pairOf[T], data []T, which uint8) {
	p := all[int(which)%len(all)]
	n := len(data) / (p.twin.slices + 1)
	if n < max(1, p.twin.least) {
		return
	}
	memory := make([][]T, p.twin.slices)
	for i := range memory {
		memory[i] = guarded[T](t, n)
	}
	next := 0
	err := compareTwins(p, memory, n, rand.New(rand.NewPCG(0, 0)), func(*rand.Rand) float64 {
		v := data[next%len(data)]
		next++
		return float64(v)
	})
	if err != nil {
		t.Fatalf("%s: %v", p.twin.name, err)
	}
}
