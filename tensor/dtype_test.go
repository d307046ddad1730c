package tensor_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/tensor"
)

func TestDType(t *testing.T) {
	const integer, unsigned, float, half, complexes, diff = 1, 2, 4, 8, 16, 32
	rows := []struct {
		dt    tensor.DType
		name  string
		size  int
		kinds int
		real  tensor.DType
	}{
		{tensor.Bool, "bool", 1, 0, tensor.Bool},
		{tensor.Int8, "int8", 1, integer, tensor.Int8},
		{tensor.Int16, "int16", 2, integer, tensor.Int16},
		{tensor.Int32, "int32", 4, integer, tensor.Int32},
		{tensor.Int64, "int64", 8, integer, tensor.Int64},
		{tensor.Uint8, "uint8", 1, integer | unsigned, tensor.Uint8},
		{tensor.Uint16, "uint16", 2, integer | unsigned, tensor.Uint16},
		{tensor.Uint32, "uint32", 4, integer | unsigned, tensor.Uint32},
		{tensor.Uint64, "uint64", 8, integer | unsigned, tensor.Uint64},
		{tensor.Float16, "float16", 2, float | half | diff, tensor.Float16},
		{tensor.BFloat16, "bfloat16", 2, float | half | diff, tensor.BFloat16},
		{tensor.Float32, "float32", 4, float | diff, tensor.Float32},
		{tensor.Float64, "float64", 8, float | diff, tensor.Float64},
		{tensor.Complex64, "complex64", 8, complexes | diff, tensor.Float32},
		{tensor.Complex128, "complex128", 16, complexes | diff, tensor.Float64},
	}
	if len(rows) != len(tensor.DTypes) {
		t.Fatalf("%d rows for %d dtypes", len(rows), len(tensor.DTypes))
	}
	for i, row := range rows {
		d := row.dt
		kinds := 0
		is := []bool{d.IsInteger(), d.IsUnsigned(), d.IsFloat(), d.IsHalf(), d.IsComplex(), d.IsDifferentiable()}
		for k, is := range is {
			if is {
				kinds |= 1 << k
			}
		}
		if d != tensor.DTypes[i] || d.String() != row.name || d.Size() != row.size || kinds != row.kinds ||
			d.Real() != row.real || !d.Valid() {
			t.Errorf("%s: size %d kinds %b real %s valid %t, want %+v", d, d.Size(), kinds, d.Real(),
				d.Valid(), row)
		}
		if got, err := tensor.ParseDType(row.name); got != d || err != nil {
			t.Errorf("ParseDType(%q) = %s, %v", row.name, got, err)
		}
	}
	for _, d := range []tensor.DType{tensor.Invalid, tensor.Complex128 + 1, 255} {
		if d.Valid() || d.Size() != 0 {
			t.Errorf("%s is valid or has a size", d)
		}
	}
	if got := tensor.DType(99).String(); got != "dtype(99)" {
		t.Errorf("an unknown dtype prints %q", got)
	}
	for _, name := range []string{"", "invalid", "Float32", "float", "dtype(3)"} {
		if _, err := tensor.ParseDType(name); !errors.Is(err, tensor.ErrDType) {
			t.Errorf("ParseDType(%q): %v, want ErrDType", name, err)
		}
	}
}

func testDTypeFor[T tensor.Element](t *testing.T, want tensor.DType) {
	var z T
	if got := tensor.DTypeFor[T](); got != want || int(unsafe.Sizeof(z)) != want.Size() {
		t.Errorf("DTypeFor[%T] = %s, %d bytes in Go; want %s", z, got, unsafe.Sizeof(z), want)
	}
}

func TestDTypeFor(t *testing.T) {
	testDTypeFor[bool](t, tensor.Bool)
	testDTypeFor[int8](t, tensor.Int8)
	testDTypeFor[int16](t, tensor.Int16)
	testDTypeFor[int32](t, tensor.Int32)
	testDTypeFor[int64](t, tensor.Int64)
	testDTypeFor[uint8](t, tensor.Uint8)
	testDTypeFor[uint16](t, tensor.Uint16)
	testDTypeFor[uint32](t, tensor.Uint32)
	testDTypeFor[uint64](t, tensor.Uint64)
	testDTypeFor[tensor.F16](t, tensor.Float16)
	testDTypeFor[tensor.BF16](t, tensor.BFloat16)
	testDTypeFor[float32](t, tensor.Float32)
	testDTypeFor[float64](t, tensor.Float64)
	testDTypeFor[complex64](t, tensor.Complex64)
	testDTypeFor[complex128](t, tensor.Complex128)
}

func TestSpec(t *testing.T) {
	s := tensor.Spec{DType: tensor.Float32, Shape: []int{2, 3}}
	if s.String() != "float32[2 3]" || s.Rank() != 2 || s.Size() != 6 {
		t.Errorf("%s rank %d size %d", s, s.Rank(), s.Size())
	}
	scalar := tensor.Spec{DType: tensor.Bool}
	if scalar.String() != "bool[]" || scalar.Rank() != 0 || scalar.Size() != 1 {
		t.Errorf("%s rank %d size %d", scalar, scalar.Rank(), scalar.Size())
	}
	for _, row := range []struct {
		name string
		o    tensor.Spec
		want bool
	}{
		{"same", tensor.Spec{DType: tensor.Float32, Shape: []int{2, 3}}, true},
		{"other dtype", tensor.Spec{DType: tensor.Float64, Shape: []int{2, 3}}, false},
		{"other order", tensor.Spec{DType: tensor.Float32, Shape: []int{3, 2}}, false},
		{"other rank", tensor.Spec{DType: tensor.Float32, Shape: []int{2, 3, 1}}, false},
	} {
		if got := s.Equal(row.o); got != row.want {
			t.Errorf("%s: Equal = %t", row.name, got)
		}
	}
	if !scalar.Equal(tensor.Spec{DType: tensor.Bool, Shape: []int{}}) {
		t.Error("a nil shape and an empty one are both rank 0")
	}
}

// sentinels is every kind of error that the package exports.
var sentinels = map[string]error{
	"ErrDType": tensor.ErrDType, "ErrRank": tensor.ErrRank, "ErrShape": tensor.ErrShape,
	"ErrStride": tensor.ErrStride, "ErrAxis": tensor.ErrAxis, "ErrBounds": tensor.ErrBounds,
	"ErrOverflow": tensor.ErrOverflow, "ErrNotContiguous": tensor.ErrNotContiguous,
	"ErrNonInjective": tensor.ErrNonInjective, "ErrOverlap": tensor.ErrOverlap,
	"ErrPlanMismatch": tensor.ErrPlanMismatch, "ErrPlacement": tensor.ErrPlacement,
	"ErrForeignDomain": tensor.ErrForeignDomain, "ErrUnsupported": tensor.ErrUnsupported,
	"ErrDataDependent": tensor.ErrDataDependent,
}

func TestErrors(t *testing.T) {
	for name, kind := range sentinels {
		err := fmt.Errorf("outer: %w", tensor.Errorf("ops.X", kind, "shape %v", []int{2}))
		var e *tensor.Error
		if !errors.As(err, &e) || e.Op != "ops.X" || err.Error() != "outer: ops.X: shape [2]" {
			t.Errorf("%s: %v", name, err)
		}
		for other, o := range sentinels {
			if errors.Is(err, o) != (name == other) {
				t.Errorf("an error of kind %s is %s: %t", name, other, errors.Is(err, o))
			}
		}
	}
	if !errors.Is(tensor.ErrUnsupported, errors.ErrUnsupported) {
		t.Error("ErrUnsupported is not the standard library's")
	}
	for want, e := range map[string]*tensor.Error{
		"wrong shape":        {Err: tensor.ErrShape},
		"ops.X: wrong shape": {Op: "ops.X", Err: tensor.ErrShape},
		"message":            {Err: tensor.ErrShape, Msg: "message"},
		"EOF":                {Err: io.EOF},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e, want)
		}
	}
}

// wantKind checks that an error is an *Error of a kind.
func wantKind(t *testing.T, name string, err, kind error) {
	t.Helper()
	var e *tensor.Error
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Errorf("%s: error %v (%T), want kind %q", name, err, err, kind)
	}
}
