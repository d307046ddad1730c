package kernels

import (
	"math/bits"
	"math/rand/v2"
	"os/exec"
	"testing"
	"unsafe"
)

// needClang skips a test on a machine without the compiler of the kernels.
func needClang(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("clang++-19"); err != nil {
		t.Skip("clang++-19 is not installed")
	}
}

// TestDivisor is kernel.h's quotient in Go, on both sides of every multiple that can be wrong.
func TestDivisor(t *testing.T) {
	if size := unsafe.Sizeof(Divisor{}); size != 12 {
		t.Errorf("a Divisor has %d bytes, kernel.h's has 12", size)
	}
	quotient := func(by Divisor, n uint32) uint32 {
		hi, _ := bits.Mul32(n, by.M)
		return (hi + n) >> by.S
	}
	rng := rand.New(rand.NewPCG(1, 2))
	divisors := []uint32{1, 2, 3, 5, 7, 641, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1<<31 - 1, 1 << 31}
	for range 2000 {
		divisors = append(divisors, 1+rng.Uint32()>>(1+rng.IntN(31)))
	}
	for _, d := range divisors {
		by := NewDivisor(d)
		for range 200 {
			multiple := rng.Uint32N(1<<31/d+1) * d
			for _, n := range []uint32{0, multiple - 1, multiple, multiple + 1, 1<<31 - 1} {
				if n < 1<<31 && quotient(by, n) != n/d {
					t.Fatalf("%d / %d is %d, want %d", n, d, quotient(by, n), n/d)
				}
			}
		}
	}
}
