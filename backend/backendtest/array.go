package backendtest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/adjoint-go/adjoint/tensor"
)

// element is one element by its bits: of the whole, or for a complex of its two components.
type element struct{ re, im uint64 }

// array is a value of the reference: elements in row-major order.
type array struct {
	tensor.Spec
	at []element
}

func newArray(dt tensor.DType, shape ...int) array {
	return array{tensor.Spec{DType: dt, Shape: shape}, make([]element, tensor.Size(shape))}
}

// arrayOf reads a tensor or a view of host memory through its layout.
func arrayOf(r tensor.Read) (array, error) {
	mem, err := r.Storage().Bytes()
	if err != nil {
		return array{}, err
	}
	a, n, l := newArray(r.DType(), r.Shape()...), 0, r.Layout()
	for idx := range tensor.Indices(r.Shape()) {
		a.at[n] = load(r.DType(), mem, l.At(idx))
		n++
	}
	return a, nil
}

// load reads element o of memory that holds dt.
func load(dt tensor.DType, mem []byte, o int) element {
	size := dt.Size()
	b := mem[o*size : (o+1)*size]
	if dt.IsComplex() {
		return element{word(b[:size/2]), word(b[size/2:])}
	}
	return element{word(b), 0}
}

// store writes element o of memory that holds dt.
func store(dt tensor.DType, mem []byte, o int, e element) {
	size := dt.Size()
	b := mem[o*size : (o+1)*size]
	if dt.IsComplex() {
		putWord(b[:size/2], e.re)
		putWord(b[size/2:], e.im)
		return
	}
	putWord(b, e.re)
}

func word(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

func putWord(b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.NativeEndian.PutUint16(b, uint16(v))
	case 4:
		binary.NativeEndian.PutUint32(b, uint32(v))
	default:
		binary.NativeEndian.PutUint64(b, v)
	}
}

// tensor is the array as an owned row-major tensor.
func (a array) tensor() *tensor.Tensor {
	t := tensor.Must(tensor.New(a.DType, a.Shape...))
	mem := tensor.Must(t.Storage().Bytes())
	for o, e := range a.at {
		store(a.DType, mem, o, e)
	}
	return t
}

// elem is the element at a logical index.
func (a array) elem(idx []int) element { return a.at[a.pos(idx)] }

// pos is the row-major position of a logical index.
func (a array) pos(idx []int) int {
	o := 0
	for k, i := range idx {
		o = o*a.Shape[k] + i
	}
	return o
}

// each calls f with every logical index of a shape, in row-major order.
func each(shape []int, f func(idx []int)) {
	for idx := range tensor.Indices(shape) {
		f(idx)
	}
}

// floatOf is a real floating-point element, or the part of a complex one that bits are of, exactly.
func floatOf(dt tensor.DType, bits uint64) float64 {
	switch dt {
	case tensor.Float16:
		return float64(tensor.F16(bits).Float32())
	case tensor.BFloat16:
		return float64(tensor.BF16(bits).Float32())
	case tensor.Float32, tensor.Complex64:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// floatBits rounds once.
func floatBits(dt tensor.DType, f float64) uint64 {
	switch dt {
	case tensor.Float16:
		return uint64(tensor.ToF16From64(f))
	case tensor.BFloat16:
		return uint64(tensor.ToBF16From64(f))
	case tensor.Float32, tensor.Complex64:
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

func fromFloat(dt tensor.DType, f float64) element { return element{floatBits(dt, f), 0} }

func complexOf(dt tensor.DType, e element) complex128 {
	return complex(floatOf(dt, e.re), floatOf(dt, e.im))
}

func fromComplex(dt tensor.DType, c complex128) element {
	return element{floatBits(dt, real(c)), floatBits(dt, imag(c))}
}

// intOf is an integer or a bool, sign-extended; a uint64 shows as the int64 of the same bits.
func intOf(dt tensor.DType, e element) int64 {
	shift := 64 - 8*dt.Size()
	if dt.IsUnsigned() || dt == tensor.Bool {
		return int64(e.re << shift >> shift)
	}
	return int64(e.re<<shift) >> shift
}

// fromInt keeps the low bits: what does not fit wraps.
func fromInt(dt tensor.DType, v int64) element {
	shift := 64 - 8*dt.Size()
	return element{uint64(v) << shift >> shift, 0}
}

func fromBool(b bool) element {
	if b {
		return element{1, 0}
	}
	return element{}
}

// number is an element for a small number of any dtype: truncated for integers, ≠ 0 for bool.
func number(dt tensor.DType, c complex128) element {
	switch {
	case dt == tensor.Bool:
		return fromBool(c != 0)
	case dt.IsInteger():
		return fromInt(dt, int64(real(c)))
	case dt.IsComplex():
		return fromComplex(dt, c)
	}
	return fromFloat(dt, real(c))
}

// isNaN tells whether a component is NaN.
func isNaN(dt tensor.DType, e element) bool {
	if dt.IsComplex() {
		return math.IsNaN(floatOf(dt, e.re)) || math.IsNaN(floatOf(dt, e.im))
	}
	return dt.IsFloat() && math.IsNaN(floatOf(dt, e.re))
}

// format shows an element and, where that could deceive, its bits.
func format(dt tensor.DType, e element) string {
	switch {
	case dt == tensor.Bool:
		return fmt.Sprint(e.re != 0)
	case dt == tensor.Uint64:
		return fmt.Sprint(e.re)
	case dt.IsInteger():
		return fmt.Sprint(intOf(dt, e))
	case dt.IsComplex():
		return fmt.Sprintf("%v (%x, %x)", complexOf(dt, e), e.re, e.im)
	}
	return fmt.Sprintf("%v (%x)", floatOf(dt, e.re), e.re)
}
