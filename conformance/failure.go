package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// failure is the error that a line of ref.jsonl expects. What it leaves out is not checked.
type failure struct {
	Kind     string
	Position []int // in the broadcast shape of the index tensors
	Operand  *int  // the number of the index tensor, or of the item of an expression
	Axis     *int  // of the tensor that is indexed
}

// kinds are the errors that each kind of failure may be. Empty is Max and Min of nothing, which have no kind
// of their own.
var kinds = map[string][]error{
	"index":        {tensor.ErrBounds},
	"shape":        {tensor.ErrShape, tensor.ErrRank, index.ErrValue},
	"dtype":        {tensor.ErrDType},
	"axis":         {tensor.ErrAxis},
	"empty":        {tensor.ErrUnsupported},
	"unsupported":  {tensor.ErrUnsupported},
	"stride":       {tensor.ErrStride},
	"overflow":     {tensor.ErrOverflow},
	"noninjective": {tensor.ErrNonInjective},
}

func parseFailure(raw json.RawMessage) (f failure, err error) {
	if err = json.Unmarshal(raw, &f); err == nil && kinds[f.Kind] == nil {
		err = fmt.Errorf("error kind %q is unknown", f.Kind)
	}
	return f, err
}

// String is the failure for a message.
func (f failure) String() string {
	s := f.Kind
	if f.Position != nil {
		s += fmt.Sprintf(" position=%v", f.Position)
	}
	if f.Operand != nil {
		s += fmt.Sprintf(" operand=%d", *f.Operand)
	}
	if f.Axis != nil {
		s += fmt.Sprintf(" axis=%d", *f.Axis)
	}
	return s
}

// check compares an error with what is expected.
func (f failure) check(err error) error {
	if !slices.ContainsFunc(kinds[f.Kind], func(kind error) bool { return errors.Is(err, kind) }) {
		return fmt.Errorf("want %s, got %v", f, err)
	}
	var bad *ops.IndexError
	var wrong *index.Error
	operand, axis, position := -1, -1, []int(nil)
	switch {
	case errors.As(err, &bad):
		operand, axis, position = bad.Operand, bad.Axis, bad.Position
	case errors.As(err, &wrong):
		operand, axis = wrong.Item, wrong.Axis
	}
	switch {
	case f.Operand != nil && *f.Operand != operand, f.Axis != nil && *f.Axis != axis,
		f.Position != nil && !slices.Equal(f.Position, position):
		return fmt.Errorf("want %s, got operand=%d axis=%d position=%v: %v", f, operand, axis, position, err)
	}
	return nil
}
