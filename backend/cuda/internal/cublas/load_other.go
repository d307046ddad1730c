//go:build !linux

package cublas

import (
	"fmt"
	"runtime"
)

// Load opens the library; there is none to open here.
func Load(string) (*API, error) {
	return nil, fmt.Errorf("%w: the CUDA backend needs Linux, this is %s", ErrNotFound, runtime.GOOS)
}
