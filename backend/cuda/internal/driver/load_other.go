//go:build !linux

package driver

import (
	"fmt"
	"runtime"
)

// Load opens the system's driver; there is none to open here.
func Load() (*API, error) {
	return nil, fmt.Errorf("%w: the CUDA backend needs Linux, this is %s", ErrNoDriver, runtime.GOOS)
}

// syscallN has nothing to call: no API is ever loaded on this system.
func syscallN(uintptr, []uintptr) int32 { return codeNoDevice }
