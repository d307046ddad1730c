package graph

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// KeyOf is the canonical form of an op's attributes: every field in order, floats by their bits, so two ops
// that print alike but differ have different keys. Fields may be booleans, numbers, strings, element types,
// *Func, and structs and slices of those; anything else is a fault of the op and panics when it is first
// applied.
func KeyOf(op any) string {
	return string(appendKey(nil, reflect.ValueOf(op)))
}

// keyer is an attribute that knows its canonical form.
type keyer interface{ Key() string }

func appendKey(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.AppendUint(append(b, 'f'), math.Float64bits(v.Float()), 16)
	case reflect.Complex64, reflect.Complex128:
		c := v.Complex()
		b = strconv.AppendUint(append(b, 'c'), math.Float64bits(real(c)), 16)
		return strconv.AppendUint(append(b, ','), math.Float64bits(imag(c)), 16)
	case reflect.String:
		return strconv.AppendQuote(b, v.String())
	case reflect.Slice, reflect.Array:
		b = append(b, '[')
		for i := range v.Len() {
			b = append(appendKey(b, v.Index(i)), ' ')
		}
		return append(b, ']')
	case reflect.Struct:
		b = append(b, '{')
		for i := range v.NumField() {
			b = append(appendKey(b, v.Field(i)), ' ')
		}
		return append(b, '}')
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, "nil"...)
		}
		if k, ok := v.Interface().(keyer); ok {
			return strconv.AppendQuote(b, k.Key())
		}
	}
	panic(fmt.Sprintf("graph.KeyOf: attribute of type %s", v.Type()))
}
