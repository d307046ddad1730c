package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
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
		LinkNeg: func(out, v, _ []T) { f.Neg(out, v) },
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
	for k, kind := range kinds {
		by, same := operands[k+1], n > 0 && r.IntN(4) == 0
		link := Link[T]{kind, by, same}
		if same {
			link.By, by = Repeated(nil, by[0]), slices.Repeat(by[:1], n)
		}
		functions[kind](want, want, by)
		links = append(links, link)
	}
	out := operands[r.IntN(len(operands))]
	if r.IntN(2) == 0 {
		out = make([]T, n)
	}
	Chain(out, x, links, r.IntN(2) == 0)
	FencePast()
	for i := range want {
		if !sameFloat(out[i], want[i], true) {
			return fmt.Errorf("at %d: %v (%#x), want %v (%#x)", i, out[i], bitsOf(out[i]), want[i], bitsOf(want[i]))
		}
	}
	return nil
}

// TestChainWrongLengths: an operand that is too short is a panic of ours, and nothing is read behind it.
func TestChainWrongLengths(t *testing.T) {
	if !HasChains() {
		t.Skip("no assembly for AVX-512")
	}
	for _, link := range []Link[float32]{{LinkAdd, make([]float32, 3, 3), false}, {LinkAdd, make([]float32, 100), true}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for an operand of %d", len(link.By))
				}
			}()
			Chain(make([]float32, 4), make([]float32, 4), []Link[float32]{link}, false)
		}()
	}
}
