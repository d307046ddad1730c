package simd

import "math"

// Arithmetic is the operations on two operands that all numbers have, out = a ∘ b, element by element.
type Arithmetic[T Number] struct {
	Add, Sub, Mul func(out, a, b []T)
	// MulAt multiplies the table's rows by u's, one after another.
	MulAt func(table, u []T, p *Places)
}

// Floats is what only floats have.
type Floats[T Float] struct {
	// Div is out = a / b, DivBy is out = a / s.
	Div   func(out, a, b []T)
	DivBy func(out, a []T, s T)
	// Shift is out = a − m as a step of a sum of exponentials, m being the greatest element of a line: where the
	// difference is NaN it is its limit. That is 0 at an element +∞ of a line whose greatest is +∞, and −∞ at an
	// element of a line of −∞. It stays NaN where m is. Shifts takes an m for each element.
	Shift  func(out, a []T, m T)
	Shifts func(out, a, m []T)
	// AddKept is b = b + x, then out = a + b, where a NaN has the bits of math.NaN. out may be x.
	AddKept func(out, a, b, x []T)
	// Guard is out = b, but 0 where a is 0 and b is not finite. Neg is out = −a,
	// Sqrt is out = √a, correctly rounded.
	Guard func(out, a, b []T)
	Neg   func(out, a []T)
	Sqrt  func(out, a []T)
	// SumLines continues the cumulative sums of lines.
	SumLines func(s *Lines[T])
}

var (
	arithmetic32 = goArithmetic[float32]()
	arithmetic64 = goArithmetic[float64]()
	floats32     = goFloats[float32]()
	floats64     = goFloats[float64]()
)

// ArithmeticOf is the table of a type.
func ArithmeticOf[T Number]() Arithmetic[T] {
	switch a := any(&arithmetic32).(type) {
	case *Arithmetic[T]:
		return *a
	}
	switch a := any(&arithmetic64).(type) {
	case *Arithmetic[T]:
		return *a
	}
	return goArithmetic[T]()
}

// FloatsOf is the table of a type.
func FloatsOf[T Float]() Floats[T] {
	if f, ok := any(&floats32).(*Floats[T]); ok {
		return *f
	}
	return *any(&floats64).(*Floats[T])
}

func goArithmetic[T Number]() Arithmetic[T] {
	return Arithmetic[T]{addRow[T], subRow[T], mulRow[T], rowsAtBy(mulRow[T])}
}

func goFloats[T Float]() Floats[T] {
	return Floats[T]{divRow[T], divBy[T], shift[T], shifts[T], addKept[T], guard[T], neg[T], sqrt[T], sumLines[T]}
}

func subRow[T Number](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] - b[i]
	}
}

func addKept[T Float](out, a, b, x []T) {
	n := len(out)
	a, b, x = a[:n], b[:n], x[:n]
	for i := range out {
		kept := b[i] + x[i]
		v := a[i] + kept
		if v != v {
			v = NaN[T]()
		}
		b[i], out[i] = kept, v
	}
}

func guard[T Float](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		v := b[i]
		if a[i] == 0 && v-v != 0 {
			v = 0
		}
		out[i] = v
	}
}

func neg[T Float](out, a []T) {
	a = a[:len(out)]
	for i := range out {
		out[i] = -a[i]
	}
}

// sqrt: the root of a float32 rounds from float64 as if at once.
func sqrt[T Float](out, a []T) {
	a = a[:len(out)]
	for i := range out {
		out[i] = T(math.Sqrt(float64(a[i])))
	}
}

func mulRow[T Number](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] * b[i]
	}
}

func divRow[T Float](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] / b[i]
	}
}

func divBy[T Float](out, a []T, s T) {
	a = a[:len(out)]
	for i := range out {
		out[i] = a[i] / s
	}
}

func shift[T Float](out, a []T, m T) {
	a = a[:len(out)]
	for i := range out {
		out[i] = Shifted(a[i], m)
	}
}

func shifts[T Float](out, a, m []T) {
	a, m = a[:len(out)], m[:len(out)]
	for i := range out {
		out[i] = Shifted(a[i], m[i])
	}
}

// Shifted is one element of Shift.
func Shifted[T Float](x, m T) T {
	d := x - m
	if d != d {
		return infiniteShift(m)
	}
	return d
}

func infiniteShift[T Float](m T) T {
	switch {
	case m > 0:
		return 0
	case m < 0:
		return T(math.Inf(-1))
	}
	return m
}
