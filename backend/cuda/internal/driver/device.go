package driver

import (
	"bytes"
	"fmt"
	"runtime"
	"unsafe"
)

// Driver is an initialised API.
type Driver struct {
	api     API
	version int
}

// New initialises the driver behind api.
func New(api *API) (*Driver, error) {
	d := &Driver{api: *api}
	if err := d.call("Init", d.api.Init, 0); err != nil {
		return nil, err
	}
	var version int32
	if err := d.call("DriverGetVersion", d.api.DriverGetVersion, uintptr(unsafe.Pointer(&version))); err != nil {
		return nil, err
	}
	if d.version = int(version); d.version < minVersion {
		return nil, fmt.Errorf("%w: it offers CUDA %d.%d, %d.%d is needed", ErrDriverTooOld,
			version/1000, version%1000/10, minVersion/1000, minVersion%1000/10)
	}
	return d, nil
}

// call calls fn and turns its result into an error. The pragma keeps every argument that is a converted
// pointer on the heap and alive: without it a local whose address is passed stays on the goroutine's stack,
// which may move while the driver writes to it.
//
//go:uintptrescapes
func (d *Driver) call(name string, fn uintptr, args ...uintptr) error {
	if code := syscallN(fn, args); code != 0 {
		return d.failure(name, code)
	}
	return nil
}

// quick is call for what a program does in its steady state: a list of any length would be made on the heap. What is
// beyond the function's own arguments is 0.
//
//go:uintptrescapes
func (d *Driver) quick(name string, fn, arg0, arg1, arg2, arg3 uintptr) error {
	args := [...]uintptr{arg0, arg1, arg2, arg3}
	if code := syscallN(fn, args[:]); code != 0 {
		return d.failure(name, code)
	}
	return nil
}

// result is call for one who looks at the code. The pragma is call's.
//
//go:uintptrescapes
func result(fn uintptr, args ...uintptr) int32 { return syscallN(fn, args) }

func (d *Driver) failure(name string, code int32) *Error {
	e := &Error{Code: code, Call: name}
	for _, fn := range [...]uintptr{d.api.GetErrorName, d.api.GetErrorString} {
		var text *byte
		if result(fn, uintptr(code), uintptr(unsafe.Pointer(&text))) == 0 && text != nil {
			if e.Text != "" {
				e.Text += ": "
			}
			e.Text += goString(text)
		}
	}
	return e
}

func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// Version is the newest CUDA that the driver offers, as 1000·major + 10·minor.
func (d *Driver) Version() int { return d.version }

// Devices counts the devices.
func (d *Driver) Devices() (int, error) {
	var n int32
	err := d.call("DeviceGetCount", d.api.DeviceGetCount, uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

// Device is one device of the machine.
type Device struct {
	d  *Driver
	id int32
}

// Device is the device of an ordinal.
func (d *Driver) Device(ordinal int) (Device, error) {
	v := Device{d: d}
	err := d.call("DeviceGet", d.api.DeviceGet, uintptr(unsafe.Pointer(&v.id)), uintptr(ordinal))
	return v, err
}

// Name is what its maker calls it.
func (v Device) Name() (string, error) {
	buf := make([]byte, 256)
	err := v.d.call("DeviceGetName", v.d.api.DeviceGetName,
		uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), uintptr(v.id))
	name, _, _ := bytes.Cut(buf, []byte{0})
	return string(name), err
}

// TotalMem is its memory in bytes.
func (v Device) TotalMem() (uint64, error) {
	var n uint64
	err := v.d.call("DeviceTotalMem", v.d.api.DeviceTotalMem, uintptr(unsafe.Pointer(&n)), uintptr(v.id))
	return n, err
}

// An Attribute is a CUdevice_attribute.
type Attribute int32

// The attributes that the backend asks for.
const (
	MaxThreadsPerBlock     Attribute = 1
	MaxGridX               Attribute = 5
	MaxGridY               Attribute = 6
	MaxGridZ               Attribute = 7
	MaxSharedPerBlock      Attribute = 8
	WarpSize               Attribute = 10
	Multiprocessors        Attribute = 16
	ComputeMajor           Attribute = 75
	ComputeMinor           Attribute = 76
	MaxSharedPerBlockOptin Attribute = 97
)

// Attribute is one number about the device.
func (v Device) Attribute(a Attribute) (int, error) {
	var n int32
	err := v.d.call("DeviceGetAttribute", v.d.api.DeviceGetAttribute,
		uintptr(unsafe.Pointer(&n)), uintptr(a), uintptr(v.id))
	return int(n), err
}

// Context is a device's primary context, held until Release.
type Context struct {
	d      *Driver
	handle uintptr
	dev    Device
}

// Retain takes hold of the device's primary context.
func (v Device) Retain() (*Context, error) {
	c := &Context{d: v.d, dev: v}
	err := v.d.call("DevicePrimaryCtxRetain", v.d.api.DevicePrimaryCtxRetain,
		uintptr(unsafe.Pointer(&c.handle)), uintptr(v.id))
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Release lets go of the context; the last one to do so ends it, and a sticky fault with it.
func (c *Context) Release() error {
	return c.d.call("DevicePrimaryCtxRelease", c.d.api.DevicePrimaryCtxRelease, uintptr(c.dev.id))
}

// Enter makes c the current context of this goroutine's OS thread, to which it ties the goroutine until
// Exit.
func (c *Context) Enter() error {
	runtime.LockOSThread()
	if err := c.d.quick("CtxSetCurrent", c.d.api.CtxSetCurrent, c.handle, 0, 0, 0); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	return nil
}

// Exit ends what a successful Enter began.
func (c *Context) Exit() { runtime.UnlockOSThread() }
