package tensor

import "math"

// Float64s is the elements in row-major order, each converted to float64: exact for every dtype but int64
// and uint64, which round beyond 2^53. A bool is 0 or 1. It is for tests and for looking at values.
//
// Errors: ErrDType for complex elements, ErrPlacement for device memory.
func (r Read) Float64s() ([]float64, error) {
	if r.DType().IsComplex() {
		return nil, Errorf("tensor.Float64s", ErrDType, "%s elements are not real", r.DType())
	}
	if _, err := r.view.storage.Bytes(); err != nil {
		return nil, err
	}
	at, out := floatsAt(r.view), make([]float64, 0, r.Size())
	for idx := range Indices(r.Shape()) {
		out = append(out, at(r.view.layout.At(idx)))
	}
	return out, nil
}

// floatsAt reads one real element at an offset of host storage.
func floatsAt(v View) func(offset int) float64 {
	s := v.storage
	switch v.dtype {
	case Bool:
		e := Elements[bool](s)
		return func(o int) float64 {
			if e[o] {
				return 1
			}
			return 0
		}
	case Int8:
		return numbers[int8](s)
	case Int16:
		return numbers[int16](s)
	case Int32:
		return numbers[int32](s)
	case Int64:
		return numbers[int64](s)
	case Uint8:
		return numbers[uint8](s)
	case Uint16:
		return numbers[uint16](s)
	case Uint32:
		return numbers[uint32](s)
	case Uint64:
		return numbers[uint64](s)
	case Float16:
		return halves[F16](s)
	case BFloat16:
		return halves[BF16](s)
	case Float32:
		return numbers[float32](s)
	}
	return numbers[float64](s)
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func numbers[T interface {
	Element
	integer | float32 | float64
}](s *Storage) func(int) float64 {
	e := Elements[T](s)
	return func(o int) float64 { return float64(e[o]) }
}

func halves[T interface {
	Element
	Float32() float32
}](s *Storage) func(int) float64 {
	e := Elements[T](s)
	return func(o int) float64 { return float64(e[o].Float32()) }
}

// FromFloat64s is a new row-major tensor of any dtype with the values of data, each rounded once. Integers
// truncate toward zero, as Go's conversion does; a bool is data ≠ 0, true for NaN; a complex gets the
// imaginary part 0.
//
// Errors: ErrShape where the shape has not len(data) elements, ErrOverflow for a value (NaN included) that
// an integer dtype cannot hold, ErrDType for an invalid dtype.
func FromFloat64s(dt DType, data []float64, shape ...int) (*Tensor, error) {
	n, err := CheckedSize(shape)
	if err != nil {
		return nil, err
	}
	if n != len(data) {
		return nil, Errorf("tensor.FromFloat64s", ErrShape, "%d values for shape %v with %d elements",
			len(data), shape, n)
	}
	t, err := New(dt, shape...)
	if err != nil {
		return nil, err
	}
	s := t.storage
	switch dt {
	case Bool:
		put(s, data, func(f float64) bool { return f != 0 })
	case Int8:
		err = putInts[int8](s, data, dt)
	case Int16:
		err = putInts[int16](s, data, dt)
	case Int32:
		err = putInts[int32](s, data, dt)
	case Int64:
		err = putInts[int64](s, data, dt)
	case Uint8:
		err = putInts[uint8](s, data, dt)
	case Uint16:
		err = putInts[uint16](s, data, dt)
	case Uint32:
		err = putInts[uint32](s, data, dt)
	case Uint64:
		err = putInts[uint64](s, data, dt)
	case Float16:
		put(s, data, ToF16From64)
	case BFloat16:
		put(s, data, ToBF16From64)
	case Float32:
		put(s, data, func(f float64) float32 { return float32(f) })
	case Float64:
		put(s, data, func(f float64) float64 { return f })
	case Complex64:
		put(s, data, func(f float64) complex64 { return complex(float32(f), 0) })
	case Complex128:
		put(s, data, func(f float64) complex128 { return complex(f, 0) })
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

func put[T Element](s *Storage, data []float64, to func(float64) T) {
	out := Elements[T](s)
	for i, f := range data {
		out[i] = to(f)
	}
}

func putInts[T interface {
	Element
	integer
}](s *Storage, data []float64, dt DType) error {
	bits := 8 * dt.Size()
	lo, hi := -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) // lo ≤ value < hi
	if dt.IsUnsigned() {
		lo, hi = 0, math.Ldexp(1, bits)
	}
	out := Elements[T](s)
	for i, f := range data {
		whole := math.Trunc(f)
		if !(whole >= lo && whole < hi) {
			return Errorf("tensor.FromFloat64s", ErrOverflow, "value %v at position %d does not fit %s",
				f, i, dt)
		}
		out[i] = T(whole)
	}
	return nil
}
