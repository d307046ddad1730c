package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// compileNorm makes the kernel of out[kept…] = (Σ|x|ᵖ)^(1/p) over axes, with the bits of ops.Norm, which is a
// composition: each step is rounded as there, and sums go by the same tree. It is a reduction of magnitudes:
// of one pass for p = 0, 1 and ±∞, else of two, the first of which finds the extreme that scales the powers.
// Squares are bound by memory like a sum, twice; other powers by the power, some 40 ns an element.
func compileNorm(p float64, axes []int, out, in graph.Operand) (graph.Kernel, error) {
	switch in.DType {
	case tensor.Float16:
		return newNorm(p, axes, out, in, magnitudes(loadFloat16), storeFloat16), nil
	case tensor.BFloat16:
		return newNorm(p, axes, out, in, magnitudes(loadBFloat16), storeBFloat16), nil
	case tensor.Float32:
		return newNorm(p, axes, out, in, magnitudes(loadSame[float32]), storeSame[float32]), nil
	case tensor.Float64:
		return newNorm(p, axes, out, in, magnitudes(loadSame[float64]), storeSame[float64]), nil
	case tensor.Complex64:
		if p == 2 {
			return newComplexNorm[complex64, float32](axes, out, in), nil
		}
		return newNorm(p, axes, out, in, loadModulus64, storeSame[float32]), nil
	case tensor.Complex128:
		if p == 2 {
			return newComplexNorm[complex128, float64](axes, out, in), nil
		}
		return newNorm(p, axes, out, in, loadModulus128, storeSame[float64]), nil
	}
	return nil, tensor.Errorf("", tensor.ErrDType, "a norm does not take %s", in.DType)
}

// magnitudes loads |x|.
func magnitudes[E tensor.Element, A float](load func(dst []A, src []E, at, step int)) func([]A, []E, int, int) {
	return func(dst []A, src []E, at, step int) {
		load(dst, src, at, step)
		absFloats(dst, dst)
	}
}

// newNorm is a norm of elements E with results R, computed in A. load gives magnitudes.
func newNorm[E, R tensor.Element, A float](p float64, axes []int, out, in graph.Operand,
	load func(dst []A, src []E, at, step int), store func(dst []R, at, step int, src []A)) graph.Kernel {
	least, greatest := minOf(A(math.Inf(1))), maxOf[A](0)
	how := reduction[A]{fold: sumOf[A](false), quiet: quietNaN[A]}
	switch {
	case p == 0:
		load = occupied(load)
	case p == 1:
	case math.IsInf(p, 1):
		how.fold = greatest
	case math.IsInf(p, -1):
		how.fold = least
	default:
		how.terms, how.top = newPowers[A](p), greatest
		if p < 0 {
			how.top = least
		}
	}
	k := newReducer(ops.ReduceOp{Axes: axes}, out, []graph.Operand{in}, rowsOf[E, A]{load: load}, how)
	k.store = func(dst *tensor.Storage, at, step int, values []A) {
		store(tensor.Elements[R](dst), at, step, values)
	}
	return k
}

// occupied loads 1 for what is not 0.
func occupied[E tensor.Element, A float](load func(dst []A, src []E, at, step int)) func([]A, []E, int, int) {
	return func(dst []A, src []E, at, step int) {
		load(dst, src, at, step)
		for i, v := range dst {
			if v != 0 {
				dst[i] = 1
			}
		}
	}
}

// scaling keeps sums of powers of magnitudes in range: where the extreme of a line is beyond these bounds, its
// magnitudes are divided by it.
type scaling[A float] struct{ least, greatest A }

func newScaling[A float](p float64) scaling[A] {
	exponents := 1022.0
	if sizeOf[A]() == 4 {
		exponents = 126
	}
	room := min(exponents/(2*math.Abs(p)), exponents) // the other half is for their number
	return scaling[A]{A(math.Exp2(-room)), A(math.Exp2(room))}
}

// of is the scale of a line whose extreme is m.
func (s scaling[A]) of(m A) A {
	if s.least <= m && m <= s.greatest || m == 0 || m-m != 0 {
		return 1
	}
	return m
}

// powers is the terms (|x|/s)ᵖ and the result s·(Σ)^(1/p). Where all terms are those of zeros, and for a negative
// p where one is, the norm is 0.
type powers[A float] struct {
	scaling[A]
	zero              A // 0ᵖ
	exponent, inverse float64
}

func newPowers[A float](p float64) *terms[A] {
	w := &powers[A]{newScaling[A](p), A(math.Pow(0, p)), float64(A(p)), float64(A(1 / p))}
	if p == 2 {
		return &terms[A]{line: w.squares, columns: w.squareColumns, total: w.root}
	}
	return &terms[A]{line: w.line, columns: w.columns, total: w.total}
}

func (w *powers[A]) line(x []A, m A) {
	s := w.of(m)
	for i, v := range x {
		x[i] = w.term(v, s)
	}
}

func (w *powers[A]) columns(x, m []A) {
	for i, v := range x {
		x[i] = w.term(v, w.of(m[i]))
	}
}

func (w *powers[A]) term(v, s A) A {
	if v == 0 {
		return w.zero
	}
	return A(fmath.Pow(float64(v/s), w.exponent))
}

func (w *powers[A]) total(sum, m A) A {
	if sum == w.zero {
		return 0
	}
	return w.of(m) * A(fmath.Pow(float64(sum), w.inverse))
}

func (w *powers[A]) squares(x []A, m A) {
	s := w.of(m)
	for i, v := range x {
		q := v / s
		x[i] = q * q
	}
}

func (w *powers[A]) squareColumns(x, m []A) {
	m = m[:len(x)]
	for i, v := range x {
		q := v / w.of(m[i])
		x[i] = q * q
	}
}

func (w *powers[A]) root(sum, m A) A { return w.of(m) * A(math.Sqrt(float64(sum))) }

// newComplexNorm is the norm of order 2 of complex elements Z with components A. The terms are
// (re/s)² + (im/s)², not squares of moduli, so it computes in Z: extremes and sums are real parts.
func newComplexNorm[Z complex64 | complex128, A float](axes []int, out, in graph.Operand) graph.Kernel {
	w := &complexSquares[Z, A]{newScaling[A](2)}
	top := &fold[Z]{
		anyOrder: true, join: greaterModulus[Z, A], block: greatestModulus[Z, A],
		row: greaterModuli[Z, A], rows: greatestModuli[Z, A],
	}
	how := reduction[Z]{fold: sumOf[Z](false), top: top, terms: &terms[Z]{line: w.line, columns: w.columns, total: w.total}}
	k := newReducer(ops.ReduceOp{Axes: axes}, out, []graph.Operand{in}, sameRows[Z](), how)
	k.store = func(dst *tensor.Storage, at, step int, values []Z) {
		y := tensor.Elements[A](dst)
		for _, v := range values {
			y[at] = quieted(realPart[Z, A](v))
			at += step
		}
	}
	return k
}

type complexSquares[Z complex64 | complex128, A float] struct{ scaling[A] }

func realPart[Z complex64 | complex128, A float](z Z) A { return A(real(complex128(z))) }

func fromReal[Z complex64 | complex128, A float](v A) Z { return Z(complex(float64(v), 0)) }

func (w *complexSquares[Z, A]) line(x []Z, m Z) {
	s := w.of(realPart[Z, A](m))
	for i, z := range x {
		x[i] = squaredModulus(z, s)
	}
}

func (w *complexSquares[Z, A]) columns(x, m []Z) {
	for i, z := range x {
		x[i] = squaredModulus(z, w.of(realPart[Z, A](m[i])))
	}
}

func (w *complexSquares[Z, A]) total(sum, m Z) Z {
	root := A(math.Sqrt(float64(realPart[Z, A](sum))))
	return fromReal[Z](w.of(realPart[Z, A](m)) * root)
}

func squaredModulus[Z complex64 | complex128, A float](z Z, s A) Z {
	v := complex128(z)
	re, im := A(real(v))/s, A(imag(v))/s
	return fromReal[Z](A(re*re) + A(im*im))
}

// greaterModulus is the greater of a, a modulus found before, and |b|, as a real part. |b| is b where that was
// found before too.
func greaterModulus[Z complex64 | complex128, A float](a, b Z) Z {
	return fromReal[Z](max(realPart[Z, A](a), A(absComplex(complex128(b)))))
}

func greatestModulus[Z complex64 | complex128, A float](x []Z) Z {
	var most Z
	for _, v := range x {
		most = greaterModulus[Z, A](most, v)
	}
	return most
}

func greaterModuli[Z complex64 | complex128, A float](out, a, b []Z) {
	for i, v := range a {
		out[i] = greaterModulus[Z, A](v, b[i])
	}
}

func greatestModuli[Z complex64 | complex128, A float](acc, a, b, c, d []Z) {
	for _, x := range [...][]Z{a, b, c, d} {
		greaterModuli[Z, A](acc, acc, x)
	}
}
