package fmath

import "testing"

// benchmark runs f over 4096 arguments in [lo, hi): the unit of "ns/op" is one element.
func benchmark[F float32 | float64](b *testing.B, f func(F) F, lo, hi float64) {
	s := splitMix(7)
	var x [4096]F
	for i := range x {
		x[i] = F(s.uniform(lo, hi))
	}
	var sum F
	for i := 0; b.Loop(); i++ {
		sum += f(x[i&4095])
	}
	sink = float64(sum)
}

var sink float64

func BenchmarkExp32(b *testing.B)     { benchmark(b, Exp32, -10, 10) }
func BenchmarkLog32(b *testing.B)     { benchmark(b, Log32, 0, 10) }
func BenchmarkTanh32(b *testing.B)    { benchmark(b, Tanh32, -5, 5) }
func BenchmarkSigmoid32(b *testing.B) { benchmark(b, Sigmoid32, -10, 10) }
func BenchmarkErf32(b *testing.B)     { benchmark(b, Erf32, -3, 3) }
func BenchmarkExp(b *testing.B)       { benchmark(b, Exp, -10, 10) }
func BenchmarkLog(b *testing.B)       { benchmark(b, Log, 0, 10) }
func BenchmarkSin(b *testing.B)       { benchmark(b, Sin, -10, 10) }
func BenchmarkTanh(b *testing.B)      { benchmark(b, Tanh, -5, 5) }
func BenchmarkSigmoid(b *testing.B)   { benchmark(b, Sigmoid, -10, 10) }
func BenchmarkPow(b *testing.B) {
	benchmark(b, func(x float64) float64 { return Pow(x, 1.7) }, 0, 10)
}
