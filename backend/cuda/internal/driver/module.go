package driver

import (
	"bytes"
	"fmt"
	"runtime"
	"unsafe"
)

// Module is a loaded PTX text.
type Module struct {
	d      *Driver
	handle uintptr
	heads  map[string]Header
}

// The options of cuModuleLoadDataEx that ask for the compiler's log.
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitLogBytes     = 8192
)

// Load compiles a PTX text for the device. The error of a text that the compiler refuses carries its log.
func (c *Context) Load(ptx string) (*Module, error) {
	heads, err := Headers(ptx)
	if err != nil {
		return nil, err
	}
	m := &Module{d: c.d, heads: heads}
	image := append([]byte(ptx), 0)
	log := make([]byte, jitLogBytes)
	options := [2]int32{jitErrorLog, jitErrorLogSize}
	values := held(uintptr(unsafe.Pointer(&log[0])), jitLogBytes)
	code := result(c.d.api.ModuleLoadDataEx,
		uintptr(unsafe.Pointer(&m.handle)), uintptr(unsafe.Pointer(&image[0])), uintptr(len(options)),
		uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values[0])))
	runtime.KeepAlive(image)
	if code != 0 {
		e := c.d.failure("ModuleLoadDataEx", code)
		if text, _, _ := bytes.Cut(log, []byte{0}); len(text) > 0 {
			e.Text += ": " + string(bytes.TrimSpace(text))
		}
		return nil, e
	}
	return m, nil
}

// held is a list of values for the driver. The pragma puts what a converted pointer points to on the heap,
// where it stays put; the caller keeps it alive.
//
//go:uintptrescapes
func held(values ...uintptr) []uintptr { return append([]uintptr(nil), values...) }

// Unload gives up the module; no kernel of it may be in flight.
func (m *Module) Unload() error { return m.d.call("ModuleUnload", m.d.api.ModuleUnload, m.handle) }

// Function is a kernel of a module.
type Function struct {
	d      *Driver
	handle uintptr
	head   Header
}

// Function is the kernel of a name.
func (m *Module) Function(name string) (*Function, error) {
	f := &Function{d: m.d, head: m.heads[name]}
	cname := append([]byte(name), 0)
	err := m.d.call("ModuleGetFunction", m.d.api.ModuleGetFunction,
		uintptr(unsafe.Pointer(&f.handle)), m.handle, uintptr(unsafe.Pointer(&cname[0])))
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	return f, nil
}

// ParamSizes are the sizes in bytes of the kernel's parameters, as its text declares them.
func (f *Function) ParamSizes() []int {
	sizes := make([]int, len(f.head.Params))
	for i, p := range f.head.Params {
		sizes[i] = p.Size
	}
	return sizes
}

// Name is the kernel's name.
func (f *Function) Name() string { return f.head.Name }

const maxDynamicShared = 8 // a CUfunction_attribute

// SetMaxShared allows launches with up to n bytes of dynamic shared memory, which is needed above 48 KiB.
func (f *Function) SetMaxShared(n int) error {
	return f.d.call("FuncSetAttribute", f.d.api.FuncSetAttribute, f.handle, maxDynamicShared, uintptr(n))
}

// Dim is the extent of a grid in blocks or of a block in threads.
type Dim struct{ X, Y, Z uint32 }

const maxParams = 8

// Args is the argument list of launches, made once and used again: the driver copies the values during the
// launch.
type Args struct {
	values [maxParams]unsafe.Pointer
	n      int
	call   [11]uintptr
}

// NewArgs is an argument list whose values lie where values point, in the order of the kernel's parameters.
func NewArgs(values ...unsafe.Pointer) *Args {
	a := &Args{n: len(values)}
	copy(a.values[:], values)
	return a
}

// launch calls fn with an argument list inside the object at held, which the pragma puts on the heap and
// keeps alive: the list holds its address.
//
//go:uintptrescapes
func launch(fn uintptr, call []uintptr, held uintptr) int32 { return syscallN(fn, call) }

// Set makes v the place of parameter i in the launches that follow.
func (a *Args) Set(i int, v unsafe.Pointer) { a.values[i] = v }

// Launch queues a kernel with shared bytes of dynamic shared memory. It allocates nothing.
func (s *Stream) Launch(f *Function, grid, block Dim, shared uint32, a *Args) error {
	if a.n != len(f.head.Params) {
		return fmt.Errorf("kernel %s takes %d parameters, not %d", f.head.Name, len(f.head.Params), a.n)
	}
	a.call = [...]uintptr{
		f.handle, uintptr(grid.X), uintptr(grid.Y), uintptr(grid.Z), uintptr(block.X), uintptr(block.Y),
		uintptr(block.Z), uintptr(shared), s.handle, uintptr(unsafe.Pointer(&a.values)), 0,
	}
	if code := launch(s.d.api.LaunchKernel, a.call[:], uintptr(unsafe.Pointer(a))); code != 0 {
		e := s.d.failure("LaunchKernel", code)
		e.Text += " (kernel " + f.head.Name + ")"
		return e
	}
	return nil
}
