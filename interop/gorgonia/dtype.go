package adjoint

import (
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/tensor"
)

// theirs is gorgonia's element type for one of ours.
var theirs = map[tensor.DType]gtensor.Dtype{
	tensor.Bool: gtensor.Bool,
	tensor.Int8: gtensor.Int8, tensor.Int16: gtensor.Int16,
	tensor.Int32: gtensor.Int32, tensor.Int64: gtensor.Int64,
	tensor.Uint8: gtensor.Uint8, tensor.Uint16: gtensor.Uint16,
	tensor.Uint32: gtensor.Uint32, tensor.Uint64: gtensor.Uint64,
	tensor.Float32: gtensor.Float32, tensor.Float64: gtensor.Float64,
	tensor.Complex64: gtensor.Complex64, tensor.Complex128: gtensor.Complex128,
}

// ours is the inverse of theirs, with Go's int and uint, which have 64 bits on every machine that this module builds for.
var ours = func() map[gtensor.Dtype]tensor.DType {
	m := map[gtensor.Dtype]tensor.DType{gtensor.Int: tensor.Int64, gtensor.Uint: tensor.Uint64}
	for a, b := range theirs {
		m[b] = a
	}
	return m
}()

func dtypeOf(dt gtensor.Dtype) (tensor.DType, error) {
	if d, ok := ours[dt]; ok {
		return d, nil
	}
	name := "an unset type"
	if dt.Type != nil {
		name = dt.String()
	}
	return tensor.Invalid, tensor.Errorf("", tensor.ErrDType, "elements are %s, which is no element type here", name)
}

func dtypeFor(dt tensor.DType) (gtensor.Dtype, error) {
	if d, ok := theirs[dt]; ok {
		return d, nil
	}
	return gtensor.Dtype{}, tensor.Errorf("", tensor.ErrDType, "gorgonia has no tensors of %s", dt)
}
