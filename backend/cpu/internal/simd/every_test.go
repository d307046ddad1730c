package simd

import (
	"math"
	"runtime"
	"sync"
	"testing"
)

// TestEveryFloat32 holds the elementary functions of float32 that round a product and a sum at once against their
// twins, on every argument between the bounds: the proof that no result is changed by it.
func TestEveryFloat32(t *testing.T) {
	if testing.Short() || len(elementary32) < 3 {
		t.Skip("takes a quarter of a minute, and is of the widest assembly")
	}
	wide, twin := elementary32[2], elementary32[0]
	for _, row := range []struct {
		name      string
		got, want func(out, x []float32)
		low, high float32 // sizes of arguments
		signs     []uint32
		why       string
	}{
		{"exp", wide.Exp, twin.Exp, 0x1p-30, 104, []uint32{0, 1 << 31}, "smaller ones give 1"},
		{"sigmoid", wide.Sigmoid, twin.Sigmoid, 0x1p-30, 104, []uint32{0, 1 << 31}, "smaller ones give 1/2"},
		{"tanh", wide.Tanh, twin.Tanh, 0x1p-14, 11, []uint32{0, 1 << 31}, "smaller ones have no sums"},
		{"log", wide.Log, twin.Log, 0, math.MaxFloat32, []uint32{0}, "all that have a logarithm"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, sign := range row.signs {
				everyFloat(sign|math.Float32bits(row.low), sign|math.Float32bits(row.high), func(x, got, want []float32) {
					row.got(got, x)
					row.want(want, x)
					for i := range x {
						if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
							t.Errorf("of %x: %x, want %x", x[i], got[i], want[i])
						}
					}
				})
			}
		})
	}
}

// everyFloat calls f with all floats whose bits are from low to high, a piece at a time, and room for two results.
func everyFloat(low, high uint32, f func(x, a, b []float32)) {
	const piece = 4096
	var wait sync.WaitGroup
	threads := uint64(runtime.GOMAXPROCS(0))
	for k := range threads {
		wait.Go(func() {
			x, a, b := make([]float32, piece), make([]float32, piece), make([]float32, piece)
			for at := uint64(low) + k*piece; at <= uint64(high); at += threads * piece {
				for i := range x {
					x[i] = math.Float32frombits(uint32(min(at+uint64(i), uint64(high))))
				}
				f(x, a, b)
			}
		})
	}
	wait.Wait()
}
