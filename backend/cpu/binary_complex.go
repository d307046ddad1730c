package cpu

import (
	"math"

	"github.com/adjoint-go/adjoint/internal/fmath"
	"github.com/adjoint-go/adjoint/ops"
)

// complexBinary computes in complex128, so complex64 rounds once. Complex numbers have no order.
func complexBinary(fn ops.BinaryFn) func(out, a, b []complex128) {
	switch fn {
	case ops.BinaryAdd:
		return addComplexTile
	case ops.BinarySub:
		return subComplexTile
	case ops.BinaryMul:
		return mulComplexTile
	case ops.BinaryDiv:
		return divComplexTile
	case ops.BinaryPow:
		return powComplexTile
	case ops.BinaryGuard:
		return guardComplexTile
	}
	return nil
}

func addComplexTile(out, a, b []complex128) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] + b[i]
	}
}

func subComplexTile(out, a, b []complex128) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] - b[i]
	}
}

func mulComplexTile(out, a, b []complex128) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = product(a[i], b[i])
	}
}

func divComplexTile(out, a, b []complex128) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = quotient(a[i], b[i])
	}
}

func powComplexTile(out, a, b []complex128) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = fmath.CPow(a[i], b[i])
	}
}

// guardComplexTile is 0 where both components of a are 0 and one of b is not finite, else b.
func guardComplexTile(out, a, b []complex128) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		v := b[i]
		if a[i] == 0 && !isFinite(v) {
			v = 0
		}
		out[i] = v
	}
}

// quotient is n/m by Smith's method (Communications of the ACM 5, 1962), every product rounded by itself.
// Where that gives NaN for operands that have none, the limits of C's Annex G.5.1 stand: a zero divisor and
// an infinite dividend give infinity, an infinite divisor gives zero.
func quotient(n, m complex128) complex128 {
	a, b, c, d := real(n), imag(n), real(m), imag(m)
	var re, im float64
	if math.Abs(c) >= math.Abs(d) {
		r := d / c
		den := c + float64(d*r)
		re, im = (a+float64(b*r))/den, (b-float64(a*r))/den
	} else {
		r := c / d
		den := float64(c*r) + d
		re, im = (float64(a*r)+b)/den, (float64(b*r)-a)/den
	}
	if re == re || im == im || n != n || m != m {
		return complex(re, im)
	}
	switch {
	case m == 0:
		inf := math.Copysign(math.Inf(1), c)
		return complex(float64(inf*a), float64(inf*b))
	case isInf(n) && isFinite(m): // in both components, else one of the result were not NaN
		a, b = math.Copysign(1, a), math.Copysign(1, b)
		inf := math.Inf(1)
		return complex(float64(inf*(float64(a*c)+float64(b*d))), float64(inf*(float64(b*c)-float64(a*d))))
	case isInf(m) && isFinite(n): // likewise
		c, d = math.Copysign(1, c), math.Copysign(1, d)
		return complex(float64(0*(float64(a*c)+float64(b*d))), float64(0*(float64(b*c)-float64(a*d))))
	}
	return complex(re, im)
}

// product is a·b by its definition, every product rounded by itself.
func product(a, b complex128) complex128 {
	re := float64(real(a)*real(b)) - float64(imag(a)*imag(b))
	im := float64(real(a)*imag(b)) + float64(imag(a)*real(b))
	return complex(re, im)
}
