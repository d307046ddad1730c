package cpu

import "github.com/adjoint-go/adjoint/tensor"

// loadAs converts stored elements of dt to the type C that is computed with; nil where they are the same.
// Unsigned types also stand for any element of their width, where it is moved and not looked at.
func loadAs[C tensor.Element](dt tensor.DType) func(to []C, from *tensor.Storage, at int) {
	c := tensor.DTypeFor[C]()
	if c == dt || c.IsUnsigned() && c.Size() == dt.Size() {
		return nil
	}
	var load any
	switch c {
	case tensor.Int64:
		load = loadInteger(dt)
	case tensor.Float32:
		load = loadHalf(dt)
	case tensor.Float64:
		load = loadReal(dt)
	case tensor.Complex128:
		load = loader(func(to []complex128, from []complex64) {
			for i, v := range from {
				to[i] = complex128(v)
			}
		})
	}
	return load.(func([]C, *tensor.Storage, int))
}

// loader reads the elements of a storage from at on, as many as to has.
func loader[C, S tensor.Element](by func(to []C, from []S)) func([]C, *tensor.Storage, int) {
	return func(to []C, from *tensor.Storage, at int) {
		by(to, tensor.Elements[S](from)[at:at+len(to)])
	}
}

func loadInteger(dt tensor.DType) any {
	switch dt {
	case tensor.Bool, tensor.Uint8:
		return loader(convert[int64, uint8])
	case tensor.Int8:
		return loader(convert[int64, int8])
	case tensor.Int16:
		return loader(convert[int64, int16])
	case tensor.Uint16:
		return loader(convert[int64, uint16])
	case tensor.Int32:
		return loader(convert[int64, int32])
	}
	return loader(convert[int64, uint32])
}

// convert is Go's conversion: it wraps to an integer and rounds to a float.
func convert[D, S number](to []D, from []S) {
	from = from[:len(to)]
	for i := range to {
		to[i] = D(from[i])
	}
}

// loadHalf has a loop per format: a method called through a type parameter is a call per element.
func loadHalf(dt tensor.DType) any {
	if dt == tensor.BFloat16 {
		return loader(func(to []float32, from []tensor.BF16) {
			for i, v := range from {
				to[i] = v.Float32()
			}
		})
	}
	return loader(func(to []float32, from []tensor.F16) {
		for i, v := range from {
			to[i] = v.Float32()
		}
	})
}

// loadReal is the real part of complex elements.
func loadReal(dt tensor.DType) any {
	if dt == tensor.Complex64 {
		return loader(func(to []float64, from []complex64) {
			for i, v := range from {
				to[i] = float64(real(v))
			}
		})
	}
	return loader(func(to []float64, from []complex128) {
		for i, v := range from {
			to[i] = real(v)
		}
	})
}

// storeAs rounds the elements that were computed to the stored dtype; nil where they are the same.
func storeAs[R tensor.Element](dt tensor.DType) func(to *tensor.Storage, at int, from []R) {
	r := tensor.DTypeFor[R]()
	if r == dt || r.IsUnsigned() && r.Size() == dt.Size() {
		return nil
	}
	var store any
	switch dt {
	case tensor.Float16:
		store = storer(roundF16)
	case tensor.BFloat16:
		store = storer(roundBF16)
	case tensor.Complex64:
		store = storer(func(to []complex64, from []complex128) {
			for i, v := range from {
				to[i] = complex64(v)
			}
		})
	case tensor.Float32: // a modulus of complex64
		store = storer(convert[float32, float64])
	}
	return store.(func(*tensor.Storage, int, []R))
}

func storer[D, R tensor.Element](by func(to []D, from []R)) func(*tensor.Storage, int, []R) {
	return func(to *tensor.Storage, at int, from []R) {
		by(tensor.Elements[D](to)[at:at+len(from)], from)
	}
}

func roundF16(to []tensor.F16, from []float32) {
	for i, v := range from {
		to[i] = tensor.ToF16(v)
	}
}

func roundBF16(to []tensor.BF16, from []float32) {
	for i, v := range from {
		to[i] = tensor.ToBF16(v)
	}
}
