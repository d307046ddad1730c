package simd

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestRoundOf holds the conversions against Go's, on all lengths up to 100 and one of more than a call, at both ends
// of guarded memory: every value of a byte, and integers of 32 bits that float32 rounds.
func TestRoundOf(t *testing.T) {
	t.Run("uint8", testRound[uint8])
	t.Run("int8", testRound[int8])
	t.Run("uint16", testRound[uint16])
	t.Run("int16", testRound[int16])
	t.Run("int32", testRound[int32])
}

func testRound[S Short](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const longest = most + 37
	memory, results := guarded[float64](t, longest), guarded[float32](t, longest)
	all := unsafe.Slice((*S)(unsafe.Pointer(&memory[0])), longest*8/int(unsafe.Sizeof(*new(S))))
	lengths := []int{256, longest}
	for n := range 101 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for _, x := range [][]S{all[:n], all[len(all)-n:]} {
			for i := range x {
				x[i] = S(r.Uint64()) >> r.IntN(int(8*unsafe.Sizeof(x[i])))
				if n == 256 {
					x[i] = S(i)
				}
			}
			for _, out := range [][]float32{results[:n], results[len(results)-n:]} {
				RoundOf[S]()(out, x)
				for i, v := range x {
					if out[i] != float32(v) {
						t.Fatalf("%d elements, at %d: %v of %d", n, i, out[i], v)
					}
				}
			}
		}
	}
}
