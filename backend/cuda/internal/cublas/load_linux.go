package cublas

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Load opens the library at a path, or where path is empty by its names.
func Load(path string) (*API, error) {
	names := Names
	if path != "" {
		names = []string{path}
	}
	var first error
	for _, name := range names {
		api, err := loadFrom(name)
		if err == nil {
			return api, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func loadFrom(path string) (*API, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNotFound, err)
	}
	var fn [5]uintptr
	for i, name := range [...]string{"Create_v2", "Destroy_v2", "SetStream_v2", "SetMathMode", "GemmStridedBatchedEx"} {
		if fn[i], err = purego.Dlsym(lib, "cublas"+name); err != nil {
			return nil, fmt.Errorf("%w: %s has no cublas%s", ErrNotFound, path, name)
		}
	}
	return &API{
		Create:      func(h *uintptr) int32 { return call(fn[0], uintptr(unsafe.Pointer(h))) },
		Destroy:     func(h uintptr) int32 { return call(fn[1], h) },
		SetStream:   func(h, stream uintptr) int32 { return call(fn[2], h, stream) },
		SetMathMode: func(h uintptr, mode int32) int32 { return call(fn[3], h, uintptr(mode)) },
		Gemm:        func(args *GemmArgs) int32 { return call(fn[4], args[:]...) },
	}, nil
}

// call keeps what a converted pointer points to in place and alive.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) int32 {
	code, _, _ := purego.SyscallN(fn, args...)
	return int32(code)
}
