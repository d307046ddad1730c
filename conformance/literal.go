package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/adjoint-go/adjoint/tensor"
)

// literal is a tensor as a file writes it, flat in row-major order.
type literal struct {
	DType    string
	Shape    []int
	Data     []json.RawMessage
	Name     string
	Requires bool `json:"requires_grad"`
}

// decode is the exact tensor that the literal writes: all 64 bits of an integer, the sign of a zero and of a
// NaN, halves from their exact values.
//
// Errors: tensor.ErrDType, tensor.ErrShape, and an error for an element that the dtype cannot hold.
func (l *literal) decode() (*tensor.Tensor, error) {
	dt, err := tensor.ParseDType(l.DType)
	if err != nil {
		return nil, err
	}
	switch dt {
	case tensor.Bool:
		return elements(l, parseBool)
	case tensor.Int8:
		return elements(l, parseSigned[int8])
	case tensor.Int16:
		return elements(l, parseSigned[int16])
	case tensor.Int32:
		return elements(l, parseSigned[int32])
	case tensor.Int64:
		return elements(l, parseSigned[int64])
	case tensor.Uint8:
		return elements(l, parseUnsigned[uint8])
	case tensor.Uint16:
		return elements(l, parseUnsigned[uint16])
	case tensor.Uint32:
		return elements(l, parseUnsigned[uint32])
	case tensor.Uint64:
		return elements(l, parseUnsigned[uint64])
	case tensor.Float16:
		return elements(l, parseF16)
	case tensor.BFloat16:
		return elements(l, parseBF16)
	case tensor.Float32:
		return elements(l, parseFloat32)
	case tensor.Float64:
		return elements(l, parseFloat64)
	case tensor.Complex64:
		return elements(l, parseComplex64)
	}
	return elements(l, parseComplex128)
}

func elements[T tensor.Element](l *literal, parse func(json.RawMessage) (T, error)) (*tensor.Tensor, error) {
	data := make([]T, len(l.Data))
	for i, raw := range l.Data {
		v, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("element %d of %s%v: %w", i, l.DType, l.Shape, err)
		}
		data[i] = v
	}
	return tensor.FromSlice(data, l.Shape...)
}

func parseBool(raw json.RawMessage) (v bool, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

func parseSigned[T int8 | int16 | int32 | int64](raw json.RawMessage) (T, error) {
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if err == nil && int64(T(v)) != v {
		err = strconv.ErrRange
	}
	return T(v), err
}

func parseUnsigned[T uint8 | uint16 | uint32 | uint64](raw json.RawMessage) (T, error) {
	v, err := strconv.ParseUint(string(raw), 10, 64)
	if err == nil && uint64(T(v)) != v {
		err = strconv.ErrRange
	}
	return T(v), err
}

var specials = map[string]float64{
	`"NaN"`: math.NaN(), `"-NaN"`: math.Copysign(math.NaN(), -1), `"Inf"`: math.Inf(1), `"-Inf"`: math.Inf(-1),
}

func parseFloat(raw json.RawMessage, bits int) (float64, error) {
	if v, ok := specials[string(raw)]; ok {
		return v, nil
	}
	return strconv.ParseFloat(string(raw), bits)
}

func parseFloat64(raw json.RawMessage) (float64, error) { return parseFloat(raw, 64) }

func parseFloat32(raw json.RawMessage) (float32, error) {
	v, err := parseFloat(raw, 32)
	return float32(v), err
}

func parseF16(raw json.RawMessage) (tensor.F16, error) {
	v, err := parseFloat(raw, 64)
	h := tensor.ToF16From64(v)
	return h, exactHalf(err, v, h.Float32())
}

func parseBF16(raw json.RawMessage) (tensor.BF16, error) {
	v, err := parseFloat(raw, 64)
	b := tensor.ToBF16From64(v)
	return b, exactHalf(err, v, b.Float32())
}

// exactHalf: a half is written as its exact value, so rounding one means that the file is not what it says.
func exactHalf(err error, v float64, h float32) error {
	if err == nil && float64(h) != v && v == v {
		err = fmt.Errorf("%g is no half float", v)
	}
	return err
}

func parseComplex64(raw json.RawMessage) (complex64, error) {
	re, im, err := parsePair(raw, 32)
	return complex(float32(re), float32(im)), err
}

func parseComplex128(raw json.RawMessage) (complex128, error) {
	re, im, err := parsePair(raw, 64)
	return complex(re, im), err
}

func parsePair(raw json.RawMessage, bits int) (re, im float64, err error) {
	var pair [2]json.RawMessage
	if err = json.Unmarshal(raw, &pair); err != nil {
		return 0, 0, err
	}
	if re, err = parseFloat(pair[0], bits); err != nil {
		return 0, 0, err
	}
	im, err = parseFloat(pair[1], bits)
	return re, im, err
}
