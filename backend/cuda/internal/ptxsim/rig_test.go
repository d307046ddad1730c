package ptxsim

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// rig is a simulated device with one module, used through package driver as the backend uses it.
type rig struct {
	t   testing.TB
	ctx *driver.Context
	s   *driver.Stream
	m   *driver.Module
}

func open(t testing.TB, ptx string) *rig {
	t.Helper()
	d := must(driver.New(Open()))(t)
	r := &rig{t: t, ctx: must(must(d.Device(0))(t).Retain())(t)}
	check(t, r.ctx.Enter())
	t.Cleanup(func() {
		r.ctx.Exit()
		check(t, r.ctx.Release())
	})
	r.s = must(r.ctx.NewStream())(t)
	r.m = must(r.ctx.Load(ptx))(t)
	return r
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// upload is a device copy of s.
func upload[T any](r *rig, s []T) driver.Ptr {
	r.t.Helper()
	n := uint64(len(s)) * uint64(unsafe.Sizeof(s[0]))
	p := must(r.ctx.Alloc(n))(r.t)
	check(r.t, r.s.CopyIn(p, unsafe.Pointer(&s[0]), n))
	return p
}

func download[T any](r *rig, p driver.Ptr, n int) []T {
	r.t.Helper()
	s := make([]T, n)
	check(r.t, r.s.CopyOut(unsafe.Pointer(&s[0]), p, uint64(n)*uint64(unsafe.Sizeof(s[0]))))
	return s
}

// launch queues a kernel; its parameters are 8-byte values, or 4-byte ones where they are uint32.
func (r *rig) launch(name string, grid, block uint32, values ...any) {
	r.t.Helper()
	check(r.t, r.try(name, grid, block, 0, values...))
}

func (r *rig) try(name string, grid, block, shared uint32, values ...any) error {
	r.t.Helper()
	f := must(r.m.Function(name))(r.t)
	list := make([]unsafe.Pointer, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case driver.Ptr:
			list[i] = unsafe.Pointer(&v)
		case uint32:
			list[i] = unsafe.Pointer(&v)
		case uint64:
			list[i] = unsafe.Pointer(&v)
		default:
			r.t.Fatalf("a parameter of type %T", v)
		}
	}
	return r.s.Launch(f, driver.Dim{X: grid, Y: 1, Z: 1}, driver.Dim{X: block, Y: 1, Z: 1}, shared,
		driver.NewArgs(list...))
}

// kernelText is a module with one kernel, k, of n pointers in %rd0 … and the thread's index in %r0.
func kernelText(n int, body string) string {
	var b strings.Builder
	b.WriteString(".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry k(\n")
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "\t.param .u64 k_param_%d", i)
	}
	b.WriteString("\n)\n{\n\t.reg .pred %p<16>;\n\t.reg .b16 %rs<16>;\n\t.reg .b32 %r<32>;\n\t.reg .f32 %f<16>;\n" +
		"\t.reg .b64 %rd<32>;\n\t.reg .f64 %fd<16>;\n")
	for i := range n {
		fmt.Fprintf(&b, "\tld.param.u64 %%rd%d, [k_param_%d];\n", i, i)
	}
	b.WriteString("\tmov.u32 %r0, %tid.x;\n" + body + "\n\tret;\n}\n")
	return b.String()
}
