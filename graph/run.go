package graph

import (
	"fmt"
	"runtime/debug"

	"github.com/adjoint-go/adjoint/tensor"
)

// PanicError is a panic in a kernel, a fault of the backend, as an error of the run.
type PanicError struct {
	Value any
	Stack []byte
}

// Error says what was panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("kernel panic: %v", e.Value) }

// runKernel turns a panic into an error.
func runKernel(k Kernel, x Exec, out []tensor.Write, in []tensor.Read) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if e, ok := v.(*PanicError); ok { // a worker's, with the worker's stack
				err = e
				return
			}
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return k.Run(x, out, in)
}
