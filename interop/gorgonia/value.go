package adjoint

import (
	"reflect"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// FromValue is the elements of one of gorgonia's values: FromDense of a tensor, and a scalar, such as *F64, as a
// tensor of rank 0 of its own.
//
// Errors: those of FromDense, tensor.ErrDType for any other kind of value.
func FromValue(v gorgonia.Value) (tensor.View, error) {
	switch v := v.(type) {
	case *gtensor.Dense:
		return FromDense(v)
	case gorgonia.Scalar:
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
			return tensor.View{}, tensor.Errorf("adjoint.FromValue", tensor.ErrDType, "the value is a nil %T", v)
		}
		return tensor.NewView(lend(v.Data()), ours[v.Dtype()], tensor.Layout{})
	}
	return tensor.View{}, tensor.Errorf("adjoint.FromValue", tensor.ErrDType, "a value of type %T is neither tensor nor scalar", v)
}

// ToValue is ToDense as one of gorgonia's values: a tensor, or for rank 0 a scalar, such as *F64.
//
// Errors: those of ToDense, tensor.ErrDType for rank 0 of an element type of which gorgonia has no scalars.
func ToValue(v graph.Readable) (gorgonia.Value, error) {
	d, err := ToDense(v)
	if err != nil {
		return nil, err
	}
	return valueOf(d)
}

// toValue is ToValue under gorgonia's name for the elements.
func toValue(v graph.Readable, dt gtensor.Dtype) (gorgonia.Value, error) {
	d, err := ToDenseOf(v, dt)
	if err != nil {
		return nil, err
	}
	return valueOf(d)
}

func valueOf(d *gtensor.Dense) (gorgonia.Value, error) {
	if d.Dims() > 0 {
		return d, nil
	}
	switch x := d.ScalarValue().(type) {
	case float64:
		return gorgonia.NewF64(x), nil
	case float32:
		return gorgonia.NewF32(x), nil
	case int:
		return gorgonia.NewI(x), nil
	case int64:
		return gorgonia.NewI64(x), nil
	case int32:
		return gorgonia.NewI32(x), nil
	case uint8:
		return gorgonia.NewU8(x), nil
	case bool:
		return gorgonia.NewB(x), nil
	}
	return nil, noScalars(d.Dtype())
}

func noScalars(dt gtensor.Dtype) error {
	return tensor.Errorf("", tensor.ErrDType, "gorgonia has no scalars of %v: keep an axis", dt)
}

// hasScalars reports whether rank 0 has a type in gorgonia's graphs.
func hasScalars(dt gtensor.Dtype) bool {
	switch dt {
	case gtensor.Float64, gtensor.Float32, gtensor.Int, gtensor.Int64, gtensor.Int32, gtensor.Uint8, gtensor.Bool:
		return true
	}
	return false
}

// accumulate is dst += src, in place: how a LispMachine's ops hand gradients on. dst is a gradient of a machine's,
// of any layout; src is row-major and has its elements.
func accumulate(dst gorgonia.Value, src tensor.View) error {
	switch d := dst.(type) {
	case *gorgonia.F64:
		*d += gorgonia.F64(span[float64](src.Read())[0])
		return nil
	case *gorgonia.F32:
		*d += gorgonia.F32(span[float32](src.Read())[0])
		return nil
	case *gtensor.Dense:
		if d.Dims() == 0 {
			return accumulateScalar(d, src)
		}
		v, err := FromDense(d)
		if err != nil {
			return err
		}
		if v.DType() != src.DType() || v.Size() != src.Size() {
			return tensor.Errorf("", tensor.ErrShape, "the gradient's memory is %s for a gradient of %s", v.Spec(), src.Spec())
		}
		switch v.DType() {
		case tensor.Float32:
			addTo[float32](v, src)
		case tensor.Float64:
			addTo[float64](v, src)
		case tensor.Complex64:
			addTo[complex64](v, src)
		default:
			addTo[complex128](v, src)
		}
		return nil
	}
	return tensor.Errorf("", tensor.ErrDType, "a gradient of type %T takes no %s", dst, src.Spec())
}

// accumulateScalar is for a tensor of rank 0, whose memory gorgonia does not show.
func accumulateScalar(d *gtensor.Dense, src tensor.View) error {
	switch x := d.ScalarValue().(type) {
	case float64:
		return d.Memset(x + span[float64](src.Read())[0])
	case float32:
		return d.Memset(x + span[float32](src.Read())[0])
	}
	return noScalars(d.Dtype())
}

func addTo[T interface {
	tensor.Element
	float32 | float64 | complex64 | complex128
}](v, src tensor.View) {
	to, from, l := tensor.Elements[T](v.Storage()), span[T](src.Read()), v.Layout()
	if l.IsRowMajor() {
		to = to[l.Offset:]
		for i, x := range from {
			to[i] += x
		}
		return
	}
	i := 0
	for idx := range tensor.Indices(l.Shape) {
		to[l.At(idx)] += from[i]
		i++
	}
}
