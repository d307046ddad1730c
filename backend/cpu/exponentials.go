package cpu

import (
	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/internal/fmath"
)

// exponentials is exp(x − m) and log in the type a kernel computes in, a row at a time; m is the greatest
// element of the line. Where m is infinite x − m is the limit of the difference: 0 at an element +∞ of a line
// whose greatest is +∞, −∞ everywhere else. So a line of −∞ has the exponentials 0, and k elements +∞ have
// the exponential 1 beside zeros. A NaN in the line makes m and every difference NaN.
type exponentials[A any] struct {
	shift  func(out, x []A, m A) // x − m
	shifts func(out, x, m []A)   // x − m, column by column
	exp    func(out, x []A)
	logs   func(out, x []A)
	one    func(x, m A) A // exp(x − m)
	log    func(x A) A
}

var (
	exponentials32 = newExponentials(fmath.Exp32, fmath.Log32)
	exponentials64 = newExponentials(fmath.Exp, fmath.Log)
)

func newExponentials[A float](exp, log func(A) A) *exponentials[A] {
	f, e := simd.FloatsOf[A](), simd.ElementaryOf[A]()
	return &exponentials[A]{
		shift: f.Shift, shifts: f.Shifts, exp: e.Exp, logs: e.Log,
		one: func(x, m A) A { return exp(simd.Shifted(x, m)) }, log: log,
	}
}

// line is x ← exp(x − m).
func (e *exponentials[A]) line(x []A, m A) {
	e.shift(x, x, m)
	e.exp(x, x)
}

// columns is x ← exp(x − m), column by column.
func (e *exponentials[A]) columns(x, m []A) {
	e.shifts(x, x, m)
	e.exp(x, x)
}
