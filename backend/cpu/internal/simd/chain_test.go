package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// linksOf is the functions of the tables that links stand for: out may be v.
func linksOf[T Float]() map[LinkKind]func(out, v, m []T) {
	a, f, e := ArithmeticOf[T](), FloatsOf[T](), ExtremesOf[T]()
	exchanged := func(f func(out, a, b []T)) func(out, a, b []T) {
		return func(out, v, m []T) { f(out, m, v) }
	}
	return map[LinkKind]func(out, v, m []T){
		LinkAdd: a.Add, LinkAddTo: exchanged(a.Add), LinkMul: a.Mul, LinkMulInto: exchanged(a.Mul),
		LinkSub: a.Sub, LinkSubFrom: exchanged(a.Sub), LinkDiv: f.Div, LinkDivInto: exchanged(f.Div),
		LinkMax: e.MaxRow, LinkMin: e.MinRow, LinkGuard: f.Guard, LinkGuardBy: exchanged(f.Guard),
		LinkNeg: func(out, v, _ []T) { f.Neg(out, v) }, LinkSqrt: func(out, v, _ []T) { f.Sqrt(out, v) },
		LinkLoad:  func(out, _, m []T) { copy(out, m) },
		LinkStore: func(_, v, m []T) { copy(m, v) }, LinkStorePast: func(_, v, m []T) { copy(m, v) },
	}
}

// TestChain holds chains against their links one by one, every bit of a NaN included: each kind alone, and
// random ones, on all lengths up to 300 and some that are cut in calls, at both ends of guarded memory.
func TestChain(t *testing.T) {
	if !HasChains() {
		t.Skip("no assembly for AVX-512")
	}
	t.Run("float32", testChain[float32])
	t.Run("float64", testChain[float64])
}

func testChain[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	most := 1 << 14
	memory := make([][]T, 7)
	for i := range memory {
		memory[i] = guarded[T](t, most)
	}
	lengths := []int{4095, 4096, 4097, 9001, most}
	for n := range 301 {
		lengths = append(lengths, n)
	}
	for round, n := range lengths {
		for _, c := range contents {
			kinds := []LinkKind{LinkKind(round % int(LinkNeg+1))}
			for range round % 6 {
				kinds = append(kinds, LinkKind(r.IntN(int(LinkNeg+1))))
			}
			if err := compareChain(memory, kinds, n, r, c.at); err != nil {
				t.Fatalf("%s, kinds %v, length %d: %v", c.name, kinds, n, err)
			}
		}
	}
}

// compareChain applies links of some kinds to n elements somewhere in the memory; the result is new, or where an
// operand is.
func compareChain[T Float](memory [][]T, kinds []LinkKind, n int, r *rand.Rand, at func(*rand.Rand) float64) error {
	var operands [][]T
	for _, m := range memory[:len(kinds)+1] {
		begin := []int{0, len(m) - n, min(r.IntN(16), len(m)-n)}[r.IntN(3)]
		fillWith(m[begin:][:n], r, at)
		operands = append(operands, m[begin:][:n])
	}
	x, functions := operands[0], linksOf[T]()
	want := slices.Clone(x)
	var links []Link[T]
	var again [8]bool
	var stored [8][]T
	for k, kind := range kinds {
		link := Link[T]{kind, operands[k+1], LinkAlong}
		stores := kind == LinkStore || kind == LinkStorePast
		if n > 0 && !stores && r.IntN(3) == 0 { // one element again and again, at the end of the guarded memory
			m := memory[k+1]
			link.By, link.Walk = m[len(m)-RepeatedBytes/int(unsafe.Sizeof(x[0])):], LinkAgain
			for _, same := range [][]T{link.By, operands[k+1]} {
				for i := range same {
					same[i] = x[0]
				}
			}
			again[k+1] = true
		}
		if stores {
			stored[k+1] = slices.Clone(want)
		} else {
			functions[kind](want, want, operands[k+1])
		}
		links = append(links, link)
	}
	place := r.IntN(len(operands))
	out := operands[place]
	if again[place] || stored[place] != nil || r.IntN(2) == 0 {
		out = make([]T, n)
	}
	tiny := r.IntN(2) == 0 // as if there had been such numbers: the bits are the same
	Chain(out, x, links, r.IntN(2) == 0, &tiny)
	for k, l := range links {
		if l.Kind != kinds[k] && l.Kind != LinkStore {
			return fmt.Errorf("link %d is of kind %d now, it was %d", k, l.Kind, kinds[k])
		}
	}
	FencePast()
	if err := sameElements(out, want); err != nil {
		return err
	}
	for k, values := range stored {
		if values == nil {
			continue
		}
		if err := sameElements(operands[k], values); err != nil {
			return fmt.Errorf("what link %d stores: %w", k-1, err)
		}
	}
	return nil
}

func sameElements[T Float](got, want []T) error {
	for i := range want {
		if !sameFloat(got[i], want[i], true) {
			return fmt.Errorf("at %d: %v (%#x), want %v (%#x)", i, got[i], bitsOf(got[i]), want[i], bitsOf(want[i]))
		}
	}
	return nil
}

// TestChainBlocks: what a link stores for its block alone is what later links of the block read: (x² + m) · x².
func TestChainBlocks(t *testing.T) {
	if !HasChains() {
		t.Skip("no assembly for AVX-512")
	}
	r := rand.New(rand.NewPCG(5, 6))
	blocks := [2][]float64{make([]float64, RepeatedBytes/8), make([]float64, RepeatedBytes/8)}
	for n := range 5000 {
		if n > 300 && n%700 != 0 {
			continue
		}
		x, m, out, want := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], m[i] = r.NormFloat64(), r.NormFloat64()
			square := x[i] * x[i]
			want[i] = float64(square+m[i]) * square
		}
		links := []Link[float64]{
			{LinkStore, blocks[0], LinkAgain}, {LinkMul, blocks[0], LinkAgain}, {LinkStore, blocks[1], LinkAgain},
			{LinkLoad, m, LinkAlong}, {LinkAddTo, blocks[1], LinkAgain}, {LinkMul, blocks[1], LinkAgain},
		}
		Chain(out, x, links, false, new(bool))
		if err := sameElements(out, want); err != nil {
			t.Fatalf("length %d: %v", n, err)
		}
	}
}

// TestChainTiny: whether numbers below the normal ones were met is told, of operands and of results.
func TestChainTiny(t *testing.T) {
	if !HasChains() {
		t.Skip("no assembly for AVX-512")
	}
	const least = 0x1p-149
	for _, row := range []struct {
		name string
		x, m float32
		kind LinkKind
		want bool
	}{
		{"normal", 1.5, 0.9, LinkMul, false}, {"zero", 0, 0.9, LinkMul, false}, {"NaN", float32(math.NaN()), 1, LinkMul, false},
		{"operand", 4 * least, 0.9, LinkMul, true}, {"made normal", 8 * least, 0x1p100, LinkMul, true},
		{"by", 0.9, 4 * least, LinkMulInto, true}, {"product", 0x1.23456p-70, 0x1.23456p-70, LinkMul, true},
		{"quotient", 0x1.8p-100, 0x1.4p40, LinkDiv, true}, {"root", 3 * least, 1, LinkSqrt, true},
	} {
		x, m := make([]float32, 77), make([]float32, 77)
		for i := range x {
			x[i], m[i] = 1, 1
		}
		x[70], m[70] = row.x, row.m
		for _, before := range []bool{false, true} {
			tiny := before
			Chain(x, x, []Link[float32]{{row.kind, m, LinkAlong}}, false, &tiny)
			if tiny != row.want {
				t.Errorf("%s: %v, want %v, after %v", row.name, tiny, row.want, before)
			}
			x[70] = row.x
		}
	}
}

// TestChainWrongLengths: an operand that is too short is a panic of ours, and nothing is read behind it.
func TestChainWrongLengths(t *testing.T) {
	if !HasChains() {
		t.Skip("no assembly for AVX-512")
	}
	for _, link := range []Link[float32]{
		{LinkAdd, make([]float32, 3, 3), LinkAlong}, {LinkAdd, make([]float32, RepeatedBytes/4-1), LinkAgain},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			Chain(make([]float32, 4), make([]float32, 4), []Link[float32]{link}, false, new(bool))
		}()
	}
}
