package index

import (
	"errors"
	"fmt"

	"github.com/adjoint-go/adjoint/tensor"
)

// The kinds of error that tensor has no name for.
var (
	ErrStep   = errors.New("slice step is zero")
	ErrValue  = errors.New("value does not broadcast to what is indexed") // used by the assignments of ops
	ErrSyntax = errors.New("malformed index expression")
)

// Error says what is wrong with an index expression. Err is its kind:
//
//	tensor.ErrBounds         an integer outside of its axis
//	tensor.ErrRank           more axes indexed than there are; Item is the first that finds no axis
//	tensor.ErrDType          an index array that is neither integer nor bool, a mask that is not bool
//	tensor.ErrShape          a second ellipsis, a mask of other extents, index arrays that do not broadcast
//	tensor.ErrOverflow       a result with more elements than an int counts
//	tensor.ErrDataDependent  a mask whose elements are not known yet
//	ErrStep, ErrValue        a slice step of 0, a value of the wrong shape
//
// or what the resolver of masks returned.
type Error struct {
	Err  error
	Item int    // the number of the item in the expression; −1 where no single one is at fault
	Axis int    // the axis of x concerned; −1 where there is none
	Msg  string // with the numbers, without the item
}

// Error is "item 2: message", or the message alone where no single item is at fault.
func (e *Error) Error() string {
	if e.Item < 0 {
		return e.Msg
	}
	return fmt.Sprintf("item %d: %s", e.Item, e.Msg)
}

// Unwrap is the kind, so errors.Is(err, tensor.ErrBounds) works.
func (e *Error) Unwrap() error { return e.Err }

// fail makes an *Error.
func fail(kind error, item, axis int, format string, args ...any) error {
	return &Error{Err: kind, Item: item, Axis: axis, Msg: fmt.Sprintf(format, args...)}
}

// IsValueError reports whether NumPy calls the error a ValueError: a slice step of 0, or a value that does
// not broadcast. NumPy calls every other error of an expression an IndexError.
func IsValueError(err error) bool { return errors.Is(err, ErrStep) || errors.Is(err, ErrValue) }

// SyntaxError is Parse's error. errors.Is(err, ErrSyntax) holds for it.
type SyntaxError struct {
	Expr string
	Pos  int // byte of Expr at which the mistake begins; len(Expr) where something is missing at the end
	Msg  string
}

// Error names the byte and quotes the expression.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("index.Parse: byte %d of %q: %s", e.Pos, e.Expr, e.Msg)
}

// Unwrap is ErrSyntax.
func (e *SyntaxError) Unwrap() error { return ErrSyntax }

// wholeError is an error of a shape as a whole.
func wholeError(what string, shape []int) error {
	_, err := tensor.CheckedSize(shape)
	if err == nil {
		return nil
	}
	kind := errors.Unwrap(err)
	return fail(kind, -1, -1, "%s: %v", what, err)
}
