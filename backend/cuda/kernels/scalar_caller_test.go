package kernels

import (
	"fmt"
	"strings"
	"sync"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptx"
	"github.com/adjoint-go/adjoint/tensor"
)

var scalars = sync.OnceValue(func() *ptx.Library { return ptx.NewLibrary(Text("scalar")) })

// caller is a module with a kernel run(out, in…, count) of a thread per element, which applies the function as
// fused kernels do.
func caller(f scalarFunction) (string, error) {
	var params strings.Builder
	for k := range len(f.in) + 1 {
		fmt.Fprintf(&params, ".param .u64 p%d, ", k)
	}
	k := ptx.NewKernel(scalars(), "run", params.String()+".param .u32 count")
	i, n, t, end := k.Register("b32"), k.Register("b32"), k.Register("b32"), k.Register("pred")
	k.Emit("mov.u32 %s, %%ctaid.x", i)
	k.Emit("mov.u32 %s, %%ntid.x", n)
	k.Emit("mov.u32 %s, %%tid.x", t)
	k.Emit("mad.lo.s32 %s, %s, %s, %s", i, i, n, t)
	k.Emit("ld.param.u32 %s, [count]", n)
	k.Emit("setp.ge.u32 %s, %s, %s", end, i, n)
	k.Emit("@%s bra $END", end)
	address := func(param int, dt tensor.DType) string {
		base, offset := k.Register("b64"), k.Register("b64")
		k.Emit("ld.param.u64 %s, [p%d]", base, param)
		k.Emit("mul.wide.u32 %s, %s, %d", offset, i, dt.Size())
		k.Emit("add.s64 %s, %s, %s", base, base, offset)
		return base
	}
	var args []ptx.Value
	for a, dt := range f.in {
		v := k.Value(words(dt))
		k.Load(v, address(a+1, dt))
		args = append(args, v)
	}
	bits, _ := words(f.out)
	v, err := k.Call(f.name, bits, args...)
	if err != nil {
		return "", err
	}
	k.Store(address(0, f.out), v)
	k.Emit("$END:")
	k.Emit("ret")
	return k.Text()
}

// words is how an element lies in registers: how many bits each has, and how many there are.
func words(dt tensor.DType) (bits, count int) {
	if dt.IsComplex() {
		return 4 * dt.Size(), 2
	}
	return 8 * dt.Size(), 1
}
