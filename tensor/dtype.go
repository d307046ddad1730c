// Package tensor holds what kernels read and write: element types, layouts, storage, owned tensors, views,
// and the borrowed forms Read and Write. It knows nothing of graphs or backends.
//
// The default order of an owned tensor is row-major: the last axis varies fastest. Column-major tensors are
// made on request. Strides and offsets count elements, never bytes, and strides may be negative or zero.
package tensor

import (
	"fmt"
	"strings"
)

// DType is the type of a tensor's elements. The zero value is Invalid.
type DType uint8

// The fifteen element types.
const (
	Invalid DType = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
)

// DTypes lists every valid element type, in the order of the constants.
var DTypes = [15]DType{
	Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64,
	Float16, BFloat16, Float32, Float64, Complex64, Complex128,
}

var dtypes = [16]struct {
	name string
	size int
}{
	{"invalid", 0}, {"bool", 1}, {"int8", 1}, {"int16", 2}, {"int32", 4}, {"int64", 8},
	{"uint8", 1}, {"uint16", 2}, {"uint32", 4}, {"uint64", 8},
	{"float16", 2}, {"bfloat16", 2}, {"float32", 4}, {"float64", 8}, {"complex64", 8}, {"complex128", 16},
}

// String is the lower-case name, as NumPy spells it.
func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// Size is the number of bytes of one element; 0 for Invalid.
func (d DType) Size() int {
	if int(d) < len(dtypes) {
		return dtypes[d].size
	}
	return 0
}

// Valid reports whether d is one of DTypes.
func (d DType) Valid() bool { return d > Invalid && d <= Complex128 }

// IsInteger reports whether d is a signed or unsigned integer type; Bool is not.
func (d DType) IsInteger() bool { return d >= Int8 && d <= Uint64 }

// IsUnsigned reports whether d is an unsigned integer type.
func (d DType) IsUnsigned() bool { return d >= Uint8 && d <= Uint64 }

// IsFloat reports whether d is a real floating-point type.
func (d DType) IsFloat() bool { return d >= Float16 && d <= Float64 }

// IsHalf reports whether d is one of the two 16-bit floating-point types.
func (d DType) IsHalf() bool { return d == Float16 || d == BFloat16 }

// IsComplex reports whether d is a complex type.
func (d DType) IsComplex() bool { return d == Complex64 || d == Complex128 }

// IsDifferentiable reports whether tensors of d carry gradients: the floating-point and complex types do.
func (d DType) IsDifferentiable() bool { return d >= Float16 && d <= Complex128 }

// Real is the type of a component of a complex type, and d itself for every other type.
func (d DType) Real() DType {
	switch d {
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return d
}

// ParseDType is the inverse of String. Errors: ErrDType for any other name.
func ParseDType(name string) (DType, error) {
	for _, d := range DTypes {
		if d.String() == name {
			return d, nil
		}
	}
	return Invalid, Errorf("tensor.ParseDType", ErrDType, "no dtype %q, want one of %s", name, dtypeNames())
}

func dtypeNames() string {
	names := make([]string, len(DTypes))
	for i, d := range DTypes {
		names[i] = d.String()
	}
	return strings.Join(names, ", ")
}

// Element is the set of Go types that tensors hold. F16 and BF16 hold the bits of Float16 and BFloat16. Go's int,
// whose width is that of the machine, is none of them: write int64.
type Element interface {
	bool | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 |
		F16 | BF16 | float32 | float64 | complex64 | complex128
}

// DTypeFor is the element type whose Go type is T.
func DTypeFor[T Element]() DType {
	var z T
	switch any(z).(type) {
	case bool:
		return Bool
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case F16:
		return Float16
	case BF16:
		return BFloat16
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	}
	return Complex128
}

// Spec is what is known of a tensor before it has a value: its element type and its shape.
type Spec struct {
	DType DType
	Shape []int
}

// String is for messages: float32[2 3].
func (s Spec) String() string { return s.DType.String() + fmt.Sprint(s.Shape) }

// Equal reports whether both element type and shape agree.
func (s Spec) Equal(t Spec) bool { return s.DType == t.DType && EqualShapes(s.Shape, t.Shape) }

// Rank is the number of axes.
func (s Spec) Rank() int { return len(s.Shape) }

// Size is the number of elements.
func (s Spec) Size() int { return Size(s.Shape) }
