package kernels

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/tensor"
)

var deviceSamples = flag.Int("devicesamples", 1<<12, "random arguments of a scalar function of the shipped PTX")

// TestScalarPTX compares the bits of the shipped PTX with those of backend/cpu: for each function a module of what
// Functions gives and a kernel that calls it.
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
	module, err := d.ctx.Load(caller(f))
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

// caller is a module with a kernel run(out, in…, count).
func caller(f scalarFunction) string {
	var head, body, args strings.Builder
	fmt.Fprint(&head, ".version 6.3\n.target sm_70\n.address_size 64\n", Functions(f.name),
		".visible .entry run(.param .u64 p0, ")
	for k, dt := range f.in {
		fmt.Fprintf(&head, ".param .u64 p%d, ", k+1)
		at := element(&body, k+1, dt)
		fmt.Fprintf(&body, "\t.param %s a%d%s;\n", abi(dt), k, extent(dt))
		for part, c := range parts(dt) {
			r := fmt.Sprintf("%%v%d_%d", k, part)
			fmt.Fprintf(&body, "\t.reg %s %s;\n\tld.global.%s %s, [%s+%d];\n", c.register, r, c.load, r, at, part*c.size)
			fmt.Fprintf(&body, "\tst.param%s [a%d+%d], %s;\n", c.register, k, part*c.size, r)
		}
		fmt.Fprintf(&args, "%sa%d", strings.Repeat(", ", min(k, 1)), k)
	}
	fmt.Fprintf(&head, ".param .u32 count)\n{\n\t.reg .pred %%end;\n\t.reg .b32 %%i, %%n, %%t;\n"+
		"\tmov.u32 %%i, %%ctaid.x;\n\tmov.u32 %%n, %%ntid.x;\n\tmov.u32 %%t, %%tid.x;\n\tmad.lo.s32 %%i, %%i, %%n, %%t;\n"+
		"\tld.param.u32 %%n, [count];\n\tsetp.ge.u32 %%end, %%i, %%n;\n\t@%%end bra $END;\n")
	fmt.Fprintf(&body, "\t.param %s r%s;\n\tcall.uni (r), %s, (%s);\n", abi(f.out), extent(f.out), f.name, args.String())
	at := element(&body, 0, f.out)
	for part, c := range parts(f.out) {
		r := fmt.Sprintf("%%r_%d", part)
		fmt.Fprintf(&body, "\t.reg %s %s;\n\tld.param%s %s, [r+%d];\n", c.register, r, c.register, r, part*c.size)
		fmt.Fprintf(&body, "\tst.global.%s [%s+%d], %s;\n", c.store, at, part*c.size, r)
	}
	return head.String() + body.String() + "$END:\n\tret;\n}\n"
}

// element computes the address of element i of parameter k.
func element(b *strings.Builder, k int, dt tensor.DType) string {
	fmt.Fprintf(b, "\t.reg .b64 %%p%d, %%o%d;\n\tld.param.u64 %%p%d, [p%d];\n", k, k, k, k)
	fmt.Fprintf(b, "\tmul.wide.u32 %%o%d, %%i, %d;\n\tadd.s64 %%p%d, %%p%d, %%o%d;\n", k, dt.Size(), k, k, k)
	return fmt.Sprintf("%%p%d", k)
}

// abi and extent declare an operand or a result of a call.
func abi(dt tensor.DType) string {
	switch {
	case dt.IsComplex():
		return fmt.Sprintf(".align %d .b8", dt.Size()/2)
	case dt.Size() == 8:
		return ".b64"
	}
	return ".b32"
}

func extent(dt tensor.DType) string {
	if dt.IsComplex() {
		return fmt.Sprintf("[%d]", dt.Size())
	}
	return ""
}

// component is a number as a register holds it and memory does.
type component struct {
	register, load, store string
	size                  int
}

func parts(dt tensor.DType) []component {
	if dt.IsComplex() {
		c := parts(dt.Real())[0]
		return []component{c, c}
	}
	bits, sign := 8*dt.Size(), "u"
	if dt.IsInteger() && !dt.IsUnsigned() {
		sign = "s"
	}
	return []component{{fmt.Sprintf(".b%d", max(bits, 32)), fmt.Sprint(sign, bits), fmt.Sprint("b", bits), dt.Size()}}
}
