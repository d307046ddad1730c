package tensor

import (
	"errors"
	"fmt"
)

// The kinds of error. Every error of this module that has one of these causes wraps it, so errors.Is tells
// the kind and the message tells the operand, the shapes and the values.
var (
	ErrDType         = errors.New("wrong dtype")
	ErrRank          = errors.New("wrong rank")
	ErrShape         = errors.New("wrong shape")
	ErrStride        = errors.New("wrong strides")
	ErrAxis          = errors.New("wrong axis")
	ErrBounds        = errors.New("out of bounds")
	ErrOverflow      = errors.New("integer overflow")
	ErrNotContiguous = errors.New("not contiguous")
	ErrNonInjective  = errors.New("layout reaches an element twice")
	ErrOverlap       = errors.New("operands overlap")
	ErrPlanMismatch  = errors.New("operand differs from the plan")
	ErrPlacement     = errors.New("wrong placement")
	ErrForeignDomain = errors.New("foreign allocation domain")
	ErrUnsupported   = errors.ErrUnsupported
	ErrDataDependent = errors.New("shape depends on data")
)

// Error says which operation failed, how, and why: Err is one of the sentinels above, Msg names the operand,
// the shapes, the dtypes or the index concerned.
type Error struct {
	Op  string // "tensor.Slice", "ops.Gather"…; empty where the caller adds it
	Err error
	Msg string
}

// Error is "op: message", or the message alone where the operation is named by the caller.
func (e *Error) Error() string {
	msg := e.Msg
	if msg == "" {
		msg = e.Err.Error()
	}
	if e.Op == "" {
		return msg
	}
	return e.Op + ": " + msg
}

// Unwrap is the kind, so errors.Is(err, tensor.ErrShape) works.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an *Error of a kind with a formatted message.
func Errorf(op string, kind error, format string, args ...any) error {
	return &Error{Op: op, Err: kind, Msg: fmt.Sprintf(format, args...)}
}
