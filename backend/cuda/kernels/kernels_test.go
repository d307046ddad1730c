package kernels

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// TestGenerated compiles the sources again: what is committed is what they give, byte for byte.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for 20 s")
	}
	needClang(t)
	dir := t.TempDir()
	if out, err := exec.Command("./generate.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(made) == 0 || len(made) != len(kept) {
		t.Fatalf("%d sources, %d embedded texts", len(made), len(kept))
	}
	for _, path := range made {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := files.ReadFile(filepath.Base(path)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its source gives (%v): go generate", filepath.Base(path), err)
		}
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
