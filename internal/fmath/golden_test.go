package fmath

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"testing"
)

// goldenCount is the number of pseudo-random arguments of a function; the special ones come before them.
const goldenCount = 1 << 13

// TestGolden holds the promise of the package: the same bits on every CPU. Each function's results, over
// special and pseudo-random arguments, are hashed (FNV-1a, 64 bits) and compared with what was found on
// amd64. Run it elsewhere with, for example,
//
//	GOARCH=arm64 go test -run Golden -exec qemu-aarch64-static .
//
// A deliberate change of a function changes its constant: the failure prints the new one. The accuracy
// tests say whether the change is good, and the run on a second CPU whether it keeps the promise.
func TestGolden(t *testing.T) {
	seen := map[string]bool{}
	check := func(name string, results func(put func(...float64))) {
		h := fnv.New64a()
		var buf [8]byte
		results(func(values ...float64) {
			for _, v := range values {
				if v != v && !same(nan, v) {
					t.Fatalf("%s: NaN with bits %#x", name, math.Float64bits(v))
				}
				binary.LittleEndian.PutUint64(buf[:], math.Float64bits(v))
				h.Write(buf[:])
			}
		})
		seen[name] = true
		if got := h.Sum64(); got != golden[name] {
			t.Errorf("on %s: %q: %#016x,", runtime.GOARCH, name, got)
		}
	}
	args := append([]float64{}, specials...)
	s := splitMix(6)
	for range goldenCount {
		args = append(args, s.argument())
	}
	pairs := make([][2]float64, 0, len(args)+len(specials)*len(specials))
	for _, x := range specials {
		for _, y := range specials {
			pairs = append(pairs, [2]float64{x, y})
		}
	}
	for range goldenCount {
		pairs = append(pairs, [2]float64{s.argument(), s.argument()})
	}
	for _, u := range unary {
		check(u.name, func(put func(...float64)) {
			for _, x := range args {
				put(u.f(x))
			}
		})
		check(u.name+"32", func(put func(...float64)) {
			for _, x := range args {
				put(wide(u.f32(float32(x))), wide(u.f32(math.Float32frombits(uint32(math.Float64bits(x)>>20)))))
			}
		})
	}
	for _, b := range binaryFuncs {
		check(b.name, func(put func(...float64)) {
			for _, p := range pairs {
				put(b.f(p[0], p[1]))
			}
		})
		check(b.name+"32", func(put func(...float64)) {
			for _, p := range pairs {
				put(wide(b.f32(float32(p[0]), float32(p[1]))))
			}
		})
	}
	for _, c := range complexUnary {
		check(c.name, func(put func(...float64)) {
			for _, p := range pairs {
				z := c.f(complex(p[0], p[1]))
				put(real(z), imag(z))
			}
		})
	}
	check("CPow", func(put func(...float64)) {
		for i, p := range pairs {
			q := pairs[(i*7+1)%len(pairs)]
			z := CPow(complex(p[0], p[1]), complex(q[0], q[1]))
			put(real(z), imag(z))
		}
	})
	for name := range golden {
		if !seen[name] {
			t.Error(fmt.Sprintf("golden %q belongs to no function", name))
		}
	}
}

// wide keeps the value of x, and the bits of a NaN that has float32's default ones.
func wide(x float32) float64 {
	if math.Float32bits(x) == 0x7fc00000 {
		return nan
	}
	return float64(x)
}
