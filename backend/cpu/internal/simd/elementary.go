package simd

import "github.com/adjoint-go/adjoint/internal/fmath"

// Elementary is functions of internal/fmath, out = f(x), element by element, and what sums of exponentials are
// made of. A difference x − m is as Floats.Shift has it.
type Elementary[T Float] struct {
	Exp, Log, Tanh, Sigmoid func(out, x []T)
	// ExpSums is out = exp(x − m), element by element, and sums[i] = Block(out[i·BlockSize:]); the last block may be
	// shorter. ExpRows takes an m for each element, and is acc = acc + out too.
	ExpSums func(sums, out, x []T, m T)
	ExpRows func(acc, out, x, m []T)
}

// The forms that this CPU has, the fastest last.
var (
	elementary32 = []Elementary[float32]{
		elementaryBy(expRow32, logRow32, tanhRow32, sigmoidRow32, goFloats[float32](), goSums[float32]()),
	}
	elementary64 = []Elementary[float64]{
		elementaryBy(expRow64, logRow64, tanhRow64, sigmoidRow64, goFloats[float64](), goSums[float64]()),
	}
)

// ElementaryOf is the table of a type.
func ElementaryOf[T Float]() Elementary[T] {
	all := elementariesOf[T]()
	return all[len(all)-1]
}

func elementariesOf[T Float]() []Elementary[T] {
	if e, ok := any(elementary32).([]Elementary[T]); ok {
		return e
	}
	return any(elementary64).([]Elementary[T])
}

// elementaryBy makes sums of exponentials of steps, block by block: what one step leaves the next finds in cache.
func elementaryBy[T Float](exp, log, tanh, sigmoid func(out, x []T), f Floats[T], s Sums[T]) Elementary[T] {
	return Elementary[T]{
		Exp: exp, Log: log, Tanh: tanh, Sigmoid: sigmoid,
		ExpSums: func(sums, out, x []T, m T) {
			for i := 0; len(out) > 0; i++ {
				n := min(BlockSize, len(out))
				f.Shift(out[:n], x, m)
				exp(out[:n], out)
				sums[i] = s.Block(out[:n])
				out, x = out[n:], x[n:]
			}
		},
		ExpRows: func(acc, out, x, m []T) {
			f.Shifts(out, x, m)
			exp(out, out)
			s.Row(acc[:len(out)], acc, out)
		},
	}
}

// A function value called for each element would cost as much as these do, so each has a loop.

func expRow32(out, x []float32) {
	x = x[:len(out)]
	for i := range out {
		out[i] = fmath.Exp32(x[i])
	}
}

func logRow32(out, x []float32) {
	x = x[:len(out)]
	for i := range out {
		out[i] = fmath.Log32(x[i])
	}
}

func tanhRow32(out, x []float32) {
	x = x[:len(out)]
	for i := range out {
		out[i] = fmath.Tanh32(x[i])
	}
}

func sigmoidRow32(out, x []float32) {
	x = x[:len(out)]
	for i := range out {
		out[i] = fmath.Sigmoid32(x[i])
	}
}

func expRow64(out, x []float64) {
	x = x[:len(out)]
	for i := range out {
		out[i] = fmath.Exp(x[i])
	}
}

func logRow64(out, x []float64) {
	x = x[:len(out)]
	for i := range out {
		out[i] = fmath.Log(x[i])
	}
}

func tanhRow64(out, x []float64) {
	x = x[:len(out)]
	for i := range out {
		out[i] = fmath.Tanh(x[i])
	}
}

func sigmoidRow64(out, x []float64) {
	x = x[:len(out)]
	for i := range out {
		out[i] = fmath.Sigmoid(x[i])
	}
}
