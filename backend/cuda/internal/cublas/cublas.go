// Package cublas is the part of NVIDIA's matrix library that the backend uses, reached without cgo: the product of
// batches of matrices in any of their layouts. The library is opened by its name when it is asked for; nothing of it
// is needed otherwise.
package cublas

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// ErrNotFound: the library is not there, or is none.
var ErrNotFound = errors.New("cuBLAS was not found")

// API holds the library's functions. A test fills it with functions of its own.
type API struct {
	Create      func(handle *uintptr) int32
	Destroy     func(handle uintptr) int32
	SetStream   func(handle, stream uintptr) int32
	SetMathMode func(handle uintptr, mode int32) int32
	Gemm        func(args *GemmArgs) int32 // cublasGemmStridedBatchedEx
}

// GemmArgs are the arguments of cublasGemmStridedBatchedEx, in its order.
type GemmArgs [23]uintptr

// Names are what the library is called, the newest first.
var Names = []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"}

// Error is a call that did not succeed; Code is a cublasStatus_t.
type Error struct {
	Call string
	Code int32
}

var statuses = map[int32]string{
	1: "not initialised", 3: "out of memory", 7: "invalid value", 8: "architecture not supported",
	11: "mapping error", 13: "execution failed", 14: "internal error", 15: "not supported", 16: "licence error",
}

func (e *Error) Error() string {
	text, known := statuses[e.Code]
	if !known {
		text = "unknown status"
	}
	return fmt.Sprintf("cublas%s: status %d: %s", e.Call, e.Code, text)
}

func failure(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return &Error{call, code}
}

// Type is an element type; products of half floats are summed in float32.
type Type int

// The element types, which are cudaDataType_t.
const (
	Float32  Type = 0
	Float64  Type = 1
	Float16  Type = 2
	BFloat16 Type = 14
)

const (
	compute32       = 68 // CUBLAS_COMPUTE_32F
	compute64       = 70
	defaultGemm     = -1
	fullReduction   = 16 // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION: partial sums of half floats stay float32
	transposeNot    = 0
	transposeMatrix = 1
)

// Handle is the library at work on one stream. It is safe for concurrent use, each call with the device's context
// current.
type Handle struct {
	api       *API
	mu        sync.Mutex
	handle    uintptr
	args      GemmArgs
	one, zero scalars
}

// scalars are a number in the types that the factors of a product have: they are read where they lie during the call.
type scalars struct {
	single float32
	double float64
}

// New makes a handle whose work goes to a stream.
func New(api *API, stream uintptr) (*Handle, error) {
	h := &Handle{api: api, one: scalars{1, 1}}
	if err := failure("Create", api.Create(&h.handle)); err != nil {
		return nil, err
	}
	err := failure("SetStream", api.SetStream(h.handle, stream))
	if err == nil {
		err = failure("SetMathMode", api.SetMathMode(h.handle, fullReduction))
	}
	if err != nil {
		return nil, errors.Join(err, h.Destroy())
	}
	return h, nil
}

// Destroy gives up the handle; work already queued is still done.
func (h *Handle) Destroy() error { return failure("Destroy", h.api.Destroy(h.handle)) }

// Gemm queues out = x·y. It allocates nothing.
func (h *Handle) Gemm(p Product) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, zero, compute := unsafe.Pointer(&h.one.single), unsafe.Pointer(&h.zero.single), uintptr(compute32)
	if p.Type == Float64 {
		one, zero, compute = unsafe.Pointer(&h.one.double), unsafe.Pointer(&h.zero.double), compute64
	}
	h.args = GemmArgs{
		h.handle, transposed(p.TransA), transposed(p.TransB), uintptr(p.M), uintptr(p.N), uintptr(p.K), uintptr(one),
		uintptr(p.A), uintptr(p.Type), uintptr(p.LeadA), uintptr(p.StrideA),
		uintptr(p.B), uintptr(p.Type), uintptr(p.LeadB), uintptr(p.StrideB), uintptr(zero),
		uintptr(p.C), uintptr(p.Type), uintptr(p.LeadC), uintptr(p.StrideC),
		uintptr(p.Batches), compute, wordOf(defaultGemm),
	}
	code := h.api.Gemm(&h.args)
	runtime.KeepAlive(h)
	return failure("GemmStridedBatchedEx", code)
}

func transposed(t bool) uintptr {
	if t {
		return transposeMatrix
	}
	return transposeNot
}

// wordOf is a signed argument.
func wordOf(v int) uintptr { return uintptr(v) }
