package kernels

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
)

var deviceSamples = flag.Int("devicesamples", 1<<12, "random arguments of a function of the shipped PTX")

// TestScalarPTX compares the bits of the shipped PTX with those of backend/cpu, for each function in a kernel
// of its own.
func TestScalarPTX(t *testing.T) {
	d := openDevice(t)
	n := *deviceSamples
	if testing.Short() {
		n = 64
	}
	for _, f := range scalarFunctions() {
		t.Run(f.name, func(t *testing.T) { checkScalar(t, f, n, d.call) })
	}
	t.Run("randombits_uint32", func(t *testing.T) { checkRandomBits(t, n, d.call) })
}

// device is a GPU, or the interpreter where there is none.
type device struct {
	ctx    *driver.Context
	stream *driver.Stream
}

// openDevice takes the calling goroutine's thread for the device.
func openDevice(t *testing.T) *device {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "linux" {
		t.Skip("neither a driver nor the interpreter outside of Linux")
	}
	api, err := driver.Load()
	name := "a GPU"
	if err != nil {
		api, name = ptxsim.Open(), "ptxsim"
	}
	t.Log("device:", name)
	drv, err := driver.New(api)
	must(err)
	first, err := drv.Device(0)
	must(err)
	ctx, err := first.Retain()
	must(err)
	t.Cleanup(func() { _ = ctx.Release() })
	must(ctx.Enter())
	stream, err := ctx.NewStream()
	ctx.Exit()
	must(err)
	t.Cleanup(func() { _ = stream.Destroy() })
	return &device{ctx, stream}
}

// call runs a kernel of a thread per element that calls the function.
func (d *device) call(f scalarFunction, n int, in ...[]byte) ([]byte, error) {
	if err := d.ctx.Enter(); err != nil {
		return nil, err
	}
	defer d.ctx.Exit()
	text, err := caller(f)
	if err != nil {
		return nil, err
	}
	module, err := d.ctx.Load(text)
	if err != nil {
		return nil, err
	}
	defer module.Unload()
	kernel, err := module.Function("run")
	if err != nil {
		return nil, err
	}
	result := make([]byte, n*f.out.Size())
	pointers := make([]driver.Ptr, 1+len(in))
	args := []unsafe.Pointer{}
	for k, b := range append([][]byte{result}, in...) {
		if pointers[k], err = d.ctx.Alloc(uint64(len(b))); err != nil {
			return nil, err
		}
		defer d.ctx.Free(pointers[k])
		args = append(args, unsafe.Pointer(&pointers[k]))
		if k > 0 {
			if err := d.stream.CopyIn(pointers[k], unsafe.Pointer(&b[0]), uint64(len(b))); err != nil {
				return nil, err
			}
		}
	}
	count := uint32(n)
	args = append(args, unsafe.Pointer(&count))
	grid, block := driver.Dim{X: (count + 127) / 128, Y: 1, Z: 1}, driver.Dim{X: 128, Y: 1, Z: 1}
	if err := d.stream.Launch(kernel, grid, block, 0, driver.NewArgs(args...)); err != nil {
		return nil, err
	}
	if err := d.stream.CopyOut(unsafe.Pointer(&result[0]), pointers[0], uint64(len(result))); err != nil {
		return nil, err
	}
	if err := d.stream.Sync(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, ptxsim.Fault())
	}
	runtime.KeepAlive(in)
	return result, nil
}
