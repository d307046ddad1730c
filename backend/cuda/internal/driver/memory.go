package driver

import "unsafe"

// MemInfo is the device's free and total memory in bytes.
func (c *Context) MemInfo() (free, total uint64, err error) {
	var n [2]uint64
	err = c.d.call("MemGetInfo", c.d.api.MemGetInfo, uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&n[1])))
	return n[0], n[1], err
}

// Alloc takes n bytes of device memory, aligned to 256; n is at least 1.
func (c *Context) Alloc(n uint64) (Ptr, error) {
	var p Ptr
	err := c.d.call("MemAlloc", c.d.api.MemAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n))
	return p, err
}

// Free gives back what Alloc took, after all work that was queued on the device.
func (c *Context) Free(p Ptr) error { return c.d.call("MemFree", c.d.api.MemFree, uintptr(p)) }

// AllocHost takes n bytes of page-locked host memory, which copies reach without the driver's own staging.
// It is not Go's memory: it stays where it is until FreeHost.
func (c *Context) AllocHost(n uint64) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := c.d.call("MemAllocHost", c.d.api.MemAllocHost, uintptr(unsafe.Pointer(&p)), uintptr(n))
	return p, err
}

// FreeHost gives back what AllocHost took; no copy may be in flight.
func (c *Context) FreeHost(p unsafe.Pointer) error {
	return c.d.call("MemFreeHost", c.d.api.MemFreeHost, uintptr(p))
}

// CopyIn queues a copy of n bytes from host memory. From page-locked memory it is read when the copy's turn
// comes; other memory has been read when CopyIn returns.
func (s *Stream) CopyIn(dst Ptr, src unsafe.Pointer, n uint64) error {
	return s.d.quick("MemcpyHtoDAsync", s.d.api.MemcpyHtoDAsync, uintptr(dst), uintptr(src), uintptr(n), s.handle)
}

// CopyOut queues a copy of n bytes to host memory. Page-locked memory has them after a synchronisation; for
// other memory CopyOut waits for the stream.
func (s *Stream) CopyOut(dst unsafe.Pointer, src Ptr, n uint64) error {
	return s.d.quick("MemcpyDtoHAsync", s.d.api.MemcpyDtoHAsync, uintptr(dst), uintptr(src), uintptr(n), s.handle)
}

// Copy queues a copy of n bytes within the device; the two ranges do not overlap.
func (s *Stream) Copy(dst, src Ptr, n uint64) error {
	return s.d.quick("MemcpyDtoDAsync", s.d.api.MemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(n), s.handle)
}

// Fill queues the writing of n bytes of value b.
func (s *Stream) Fill(dst Ptr, b byte, n uint64) error {
	return s.d.quick("MemsetD8Async", s.d.api.MemsetD8Async, uintptr(dst), uintptr(b), uintptr(n), s.handle)
}
