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
	terms[A]                       // exp(x − m), and m + log Σ
	shift    func(out, x []A, m A) // x − m
	shifts   func(out, x, m []A)   // x − m, column by column
	logs     func(out, x []A)
	one      func(x, m A) A // exp(x − m)
	log      func(x A) A
}

// terms is what is summed in a fold of two passes, of which the first finds the extreme m of a line.
type terms[A any] struct {
	line    func(x []A, m A) // x ← the term of x
	columns func(x, m []A)   // x ← the term of x, column by column
	total   func(sum, m A) A // the result of a line
	// Where they are not nil: out = terms of x, beside the sums of its blocks, or added to acc.
	sums func(sums, out, x []A, m A)
	rows func(acc, out, x, m []A)
}

var (
	exponentials32 = newExponentials(fmath.Exp32, fmath.Log32)
	exponentials64 = newExponentials(fmath.Exp, fmath.Log)
)

func newExponentials[A float](exp, log func(A) A) *exponentials[A] {
	f, e := simd.FloatsOf[A](), simd.ElementaryOf[A]()
	return &exponentials[A]{
		terms: terms[A]{
			line:    func(x []A, m A) { f.Shift(x, x, m); e.Exp(x, x) },
			columns: func(x, m []A) { f.Shifts(x, x, m); e.Exp(x, x) },
			total:   func(sum, m A) A { return m + log(sum) },
			sums:    e.ExpSums, rows: e.ExpRows,
		},
		shift: f.Shift, shifts: f.Shifts, logs: e.Log,
		one: func(x, m A) A { return exp(simd.Shifted(x, m)) }, log: log,
	}
}
