package ops

import "github.com/adjoint-go/adjoint/tensor"

// accept is a set of kinds of element types that an op takes.
type accept uint8

const (
	acceptBool accept = 1 << iota
	acceptInt
	acceptFloat
	acceptComplex

	acceptReal    = acceptInt | acceptFloat
	acceptAnalog  = acceptFloat | acceptComplex
	acceptNumber  = acceptReal | acceptComplex
	acceptOrdered = acceptBool | acceptReal
	acceptAny     = acceptBool | acceptNumber
	acceptBits    = acceptBool | acceptInt
)

// kind is the one kind that dt belongs to.
func kind(dt tensor.DType) accept {
	switch {
	case dt == tensor.Bool:
		return acceptBool
	case dt.IsInteger():
		return acceptInt
	case dt.IsFloat():
		return acceptFloat
	case dt.IsComplex():
		return acceptComplex
	}
	return 0
}

// check refuses the dtype of an operand that is not taken. Errors: tensor.ErrUnsupported for a complex
// operand of an op that has no meaning there, an order for example, else tensor.ErrDType.
func (a accept) check(operand int, dt tensor.DType) error {
	k := kind(dt)
	switch {
	case a&k != 0:
		return nil
	case k == acceptComplex:
		return tensor.Errorf("", tensor.ErrUnsupported,
			"operand %d is %s, for which it is not defined", operand, dt)
	case a&acceptFloat != 0:
		return tensor.Errorf("", tensor.ErrDType, "operand %d is %s, want %s: cast it first", operand, dt, a)
	}
	return tensor.Errorf("", tensor.ErrDType, "operand %d is %s, want %s", operand, dt, a)
}

// String names the kinds.
func (a accept) String() string {
	var s string
	for i, name := range [...]string{"a bool", "an integer", "a float", "a complex"} {
		if a>>i&1 == 0 {
			continue
		}
		if s != "" {
			s += " or "
		}
		s += name
	}
	return s
}

// arity refuses a wrong number of operands: it is a mistake only of those who apply an op by hand.
func arity(in []tensor.Spec, n int) error {
	if len(in) != n {
		return tensor.Errorf("", tensor.ErrUnsupported, "%d operands, want %d", len(in), n)
	}
	return nil
}

// atLeast is arity for an op whose index operands follow n others.
func atLeast(in []tensor.Spec, n int) error {
	if len(in) < n {
		return tensor.Errorf("", tensor.ErrUnsupported, "%d operands, want %d and those of the indices", len(in), n)
	}
	return nil
}

// sameDTypes refuses operands of different dtypes: nothing is promoted.
func sameDTypes(in ...tensor.Spec) error {
	for i, s := range in {
		if s.DType != in[0].DType {
			return tensor.Errorf("", tensor.ErrDType,
				"operand 0 is %s, operand %d is %s; cast one of them", in[0].DType, i, s.DType)
		}
	}
	return nil
}

// sameShapes refuses operands of different shapes.
func sameShapes(in ...tensor.Spec) error {
	for i, s := range in {
		if !tensor.EqualShapes(s.Shape, in[0].Shape) {
			return tensor.Errorf("", tensor.ErrShape,
				"operand 0 has shape %v, operand %d has shape %v", in[0].Shape, i, s.Shape)
		}
	}
	return nil
}

// one is the specs of an op with one result.
func one(dt tensor.DType, shape []int) []tensor.Spec {
	return []tensor.Spec{{DType: dt, Shape: shape}}
}
