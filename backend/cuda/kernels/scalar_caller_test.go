package kernels

import (
	"fmt"
	"strings"

	"github.com/adjoint-go/adjoint/tensor"
)

// assembly is PTX, line by line.
type assembly struct{ strings.Builder }

func (a *assembly) line(format string, args ...any) { fmt.Fprintf(a, format+"\n", args...) }

// caller is a module with a kernel run(out, in…, count) of a thread per element, which calls the function.
func caller(f scalarFunction) string {
	var a assembly
	a.line(".version 6.3\n.target sm_70\n.address_size 64")
	a.WriteString(Functions(f.name))
	a.line(".visible .entry run(.param .u64 p0,")
	var args []string
	for k := range f.in {
		a.line(".param .u64 p%d,", k+1)
		args = append(args, fmt.Sprint("a", k))
	}
	a.line(".param .u32 count)\n{\n.reg .pred %%end;\n.reg .b32 %%i, %%n, %%t;")
	a.line("mov.u32 %%i, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\nmov.u32 %%t, %%tid.x;")
	a.line("mad.lo.s32 %%i, %%i, %%n, %%t;")
	a.line("ld.param.u32 %%n, [count];\nsetp.ge.u32 %%end, %%i, %%n;\n@%%end bra $END;")
	for k, dt := range f.in {
		a.address(k+1, dt)
		a.declare(args[k], dt)
		for part, c := range parts(dt) {
			a.line(".reg %s %%v%d_%d;", c.register, k, part)
			a.line("ld.global.%s %%v%d_%d, [%%p%d+%d];", c.load, k, part, k+1, part*c.size)
			a.line("st.param%s [a%d+%d], %%v%d_%d;", c.register, k, part*c.size, k, part)
		}
	}
	a.declare("r", f.out)
	a.line("call.uni (r), %s, (%s);", f.name, strings.Join(args, ", "))
	a.address(0, f.out)
	for part, c := range parts(f.out) {
		a.line(".reg %s %%r%d;", c.register, part)
		a.line("ld.param%s %%r%d, [r+%d];", c.register, part, part*c.size)
		a.line("st.global.%s [%%p0+%d], %%r%d;", c.store, part*c.size, part)
	}
	a.line("$END:\nret;\n}")
	return a.String()
}

// address leaves in %pK the address of the thread's element of parameter K.
func (a *assembly) address(k int, dt tensor.DType) {
	a.line(".reg .b64 %%p%d, %%o%d;\nld.param.u64 %%p%d, [p%d];", k, k, k, k)
	a.line("mul.wide.u32 %%o%d, %%i, %d;\nadd.s64 %%p%d, %%p%d, %%o%d;", k, dt.Size(), k, k, k)
}

// declare declares an operand or the result of the call.
func (a *assembly) declare(name string, dt tensor.DType) {
	switch {
	case dt.IsComplex():
		a.line(".param .align %d .b8 %s[%d];", dt.Size()/2, name, dt.Size())
	case dt.Size() == 8:
		a.line(".param .b64 %s;", name)
	default:
		a.line(".param .b32 %s;", name)
	}
}

// component is a number as a register holds it and as memory does.
type component struct {
	register, load, store string
	size                  int
}

// parts is one component, of a complex number two.
func parts(dt tensor.DType) []component {
	if dt.IsComplex() {
		c := parts(dt.Real())[0]
		return []component{c, c}
	}
	bits, sign := 8*dt.Size(), "u"
	if dt.IsInteger() && !dt.IsUnsigned() {
		sign = "s"
	}
	return []component{{
		register: fmt.Sprintf(".b%d", max(bits, 32)),
		load:     fmt.Sprint(sign, bits), store: fmt.Sprint("b", bits),
		size: dt.Size(),
	}}
}
