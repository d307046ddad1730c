package driver

import (
	"errors"
	"fmt"
)

// The kinds of failure that a caller treats differently; errors.Is tells them.
var (
	ErrNoDriver     = errors.New("no CUDA driver")
	ErrDriverTooOld = errors.New("the CUDA driver is too old")
	ErrNoDevice     = errors.New("no CUDA device")
	ErrOutOfMemory  = errors.New("out of device memory")
	ErrFault        = errors.New("a kernel faulted; its context is lost")
)

// Error is a driver call that did not succeed. Code is a CUresult; Text the driver's name and description of
// it, and for a module the compiler's log.
type Error struct {
	Code int32
	Call string
	Text string
}

// The results that the package itself looks at; the names are CUDA's without CUDA_ERROR_.
const (
	codeOutOfMemory    = 2
	codeOldDriver      = 35
	codeNoDevice       = 100
	codeBadDevice      = 101
	codeBadPTXVersion  = 222
	codeNotReady       = 600
	codeFirstFault     = 700 // ILLEGAL_ADDRESS
	codeTimeout        = 702
	codeAssert         = 710
	codeStackFault     = 714 // and 715 to 719: bad instruction, alignment, address space, program counter, failure
	codeLaunchFailed   = 719
	codeDriverMismatch = 803
)

func (e *Error) Error() string {
	return fmt.Sprintf("cu%s: CUDA error %d: %s", e.Call, e.Code, e.Text)
}

// Is reports whether target is the kind of e.
func (e *Error) Is(target error) bool {
	switch c := e.Code; {
	case c == codeOutOfMemory:
		return target == ErrOutOfMemory
	case c == codeOldDriver || c == codeBadPTXVersion || c == codeDriverMismatch:
		return target == ErrDriverTooOld
	case c == codeNoDevice || c == codeBadDevice:
		return target == ErrNoDevice
	case c == codeFirstFault || c == codeTimeout || c == codeAssert || c >= codeStackFault && c <= codeLaunchFailed:
		return target == ErrFault
	}
	return false
}
