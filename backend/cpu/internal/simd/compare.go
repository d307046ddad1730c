package simd

import "unsafe"

// Compares is the comparisons of numbers, element by element. NaN is unequal to everything, and in no order.
type Compares[T Number] struct {
	Less, LessEqual, Equal, NotEqual func(out []bool, a, b []T)
}

var (
	compares32 = goCompares[float32]()
	compares64 = goCompares[float64]()
)

// ComparesOf is the table of a type.
func ComparesOf[T Number]() Compares[T] {
	switch c := any(&compares32).(type) {
	case *Compares[T]:
		return *c
	}
	switch c := any(&compares64).(type) {
	case *Compares[T]:
		return *c
	}
	return goCompares[T]()
}

func goCompares[T Number]() Compares[T] {
	return Compares[T]{less[T], lessEqual[T], Equal[T], NotEqual[T]}
}

func less[T Number](out []bool, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] < b[i]
	}
}

func lessEqual[T Number](out []bool, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] <= b[i]
	}
}

// Equal is out = (a = b) of any elements.
func Equal[T comparable](out []bool, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] == b[i]
	}
}

// NotEqual is out = (a ≠ b) of any elements.
func NotEqual[T comparable](out []bool, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] != b[i]
	}
}

// compareBy does whole registers by assembly and leaves the rest to the Go code.
func compareBy[T Float](kernel func(out *bool, a, b *T, n int), rest func(out []bool, a, b []T)) func(out []bool, a, b []T) {
	lanes := 32 / int(unsafe.Sizeof(*new(T)))
	return func(out []bool, a, b []T) {
		for a, b = a[:len(out)], b[:len(out)]; len(out) >= lanes; {
			n := min(len(out), most) &^ (lanes - 1)
			kernel(&out[0], &a[0], &b[0], n)
			out, a, b = out[n:], a[n:], b[n:]
		}
		rest(out, a, b)
	}
}
