package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/internal/fmath"
)

// exponentials is exp(x − m) and log in the type a kernel computes in, a row at a time; m is the greatest
// element of the line. Where m is infinite x − m is the limit of the difference: 0 at an element +∞ of a line
// whose greatest is +∞, −∞ everywhere else. So a line of −∞ has the exponentials 0, and k elements +∞ have
// the exponential 1 beside zeros. A NaN in the line makes m and every difference NaN.
type exponentials[A any] struct {
	terms[A]                // exp(x − m), and m + log Σ
	one      func(x, m A) A // exp(x − m)
	log      func(x A) A
	logs     func(x []A) // x ← log x
}

// terms is what is summed in a fold of two passes, of which the first finds the extreme m of a line.
type terms[A any] struct {
	line    func(x []A, m A) // x ← the term of x
	columns func(x, m []A)   // x ← the term of x, column by column
	total   func(sum, m A) A // the result of a line
}

var (
	exponentials32 = &exponentials[float32]{
		terms[float32]{
			func(x []float32, m float32) { shiftLine(x, m); expRow32(x) },
			func(x, m []float32) { shiftColumns(x, m); expRow32(x) },
			func(sum, m float32) float32 { return m + fmath.Log32(sum) },
		},
		func(x, m float32) float32 { return fmath.Exp32(shifted(x, m)) },
		fmath.Log32,
		logRow32,
	}
	exponentials64 = &exponentials[float64]{
		terms[float64]{
			func(x []float64, m float64) { shiftLine(x, m); expRow64(x) },
			func(x, m []float64) { shiftColumns(x, m); expRow64(x) },
			func(sum, m float64) float64 { return m + fmath.Log(sum) },
		},
		func(x, m float64) float64 { return fmath.Exp(shifted(x, m)) },
		fmath.Log,
		logRow64,
	}
)

func shiftLine[A float](x []A, m A) {
	for i, v := range x {
		x[i] = shifted(v, m)
	}
}

func shiftColumns[A float](x, m []A) {
	m = m[:len(x)]
	for i, v := range x {
		x[i] = shifted(v, m[i])
	}
}

// shifted is x − m. The difference is NaN where x is m and infinite, or where m is NaN.
func shifted[A float](x, m A) A {
	d := x - m
	if d != d {
		return infiniteShift(m)
	}
	return d
}

func infiniteShift[A float](m A) A {
	switch {
	case m > 0:
		return 0
	case m < 0:
		return A(math.Inf(-1))
	}
	return m
}

func expRow32(x []float32) {
	for i, v := range x {
		x[i] = fmath.Exp32(v)
	}
}

func expRow64(x []float64) {
	for i, v := range x {
		x[i] = fmath.Exp(v)
	}
}

func logRow32(x []float32) {
	for i, v := range x {
		x[i] = fmath.Log32(v)
	}
}

func logRow64(x []float64) {
	for i, v := range x {
		x[i] = fmath.Log(v)
	}
}
