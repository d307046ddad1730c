package simd

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// BenchmarkTwins measures every primitive beside its twin on 4096 elements a slice, which the nearest caches
// hold; MB/s counts what is read.
func BenchmarkTwins(b *testing.B) {
	b.Run("float32", benchmarkTwins[float32])
	b.Run("float64", benchmarkTwins[float64])
}

func benchmarkTwins[T Float](b *testing.B) {
	for _, p := range pairs[T]() {
		s := make([][]T, p.twin.slices)
		for i := range s {
			s[i] = make([]T, 4096)
			fillWith(s[i], rand.New(rand.NewPCG(1, 2)), contents[0].at)
		}
		for _, side := range []struct {
			name string
			primitive[T]
		}{{"table", p.table}, {"go", p.twin}} {
			b.Run(side.name+"/"+p.twin.name, func(b *testing.B) {
				b.SetBytes(int64(len(s) * len(s[0]) * int(unsafe.Sizeof(s[0][0]))))
				for range b.N {
					side.run(s, 1)
				}
			})
		}
	}
}
