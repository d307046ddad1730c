package simd

import "github.com/adjoint-go/adjoint/internal/fmath"

// Elementary is functions of internal/fmath, out = f(x), element by element.
type Elementary[T Float] struct {
	Exp, Log, Tanh, Sigmoid func(out, x []T)
}

var (
	elementary32 = goElementary32
	elementary64 = goElementary64

	goElementary32 = Elementary[float32]{expRow32, logRow32, tanhRow32, sigmoidRow32}
	goElementary64 = Elementary[float64]{expRow64, logRow64, tanhRow64, sigmoidRow64}
)

// ElementaryOf is the table of a type.
func ElementaryOf[T Float]() Elementary[T] {
	if e, ok := any(&elementary32).(*Elementary[T]); ok {
		return *e
	}
	return *any(&elementary64).(*Elementary[T])
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
