package ptxsim

import (
	"sync"
	"unsafe"
)

// device is the one simulated device of the process.
var device = struct {
	sync.Mutex
	memory  uint64
	context *context
	current map[int]uintptr // the context of each OS thread
}{memory: 8 << 30, current: map[int]uintptr{}}

const contextHandle = 1

// SetMemory sets how much memory the device has, 8 GiB at first.
func SetMemory(bytes uint64) {
	device.Lock()
	defer device.Unlock()
	device.memory = bytes
}

// Undefine marks device memory as never written, as fresh memory is. An allocator that gives a piece of
// memory to a new owner calls it, so that what the old owner left there is not taken for the new one's.
func Undefine(p, n uint64) {
	if c := held(); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, written := c.heap.span(p, n)
		clear(written)
	}
}

// Fault is the text of the fault that the device's context ended with, empty where there was none.
func Fault() string {
	if c := held(); c != nil {
		if f := c.fault.Load(); f != nil {
			return f.text
		}
	}
	return ""
}

// Check compiles every kernel of a PTX text and tells what the simulator cannot run.
func Check(ptx string) error {
	p, err := parse(ptx)
	if err != nil {
		return err
	}
	for name := range p.heads {
		if _, err := p.kernel(name); err != nil {
			return err
		}
	}
	return nil
}

func held() *context {
	device.Lock()
	defer device.Unlock()
	return device.context
}

func retain() {
	device.Lock()
	defer device.Unlock()
	if device.context == nil {
		device.context = newContext()
	}
	device.context.holders++
}

// release ends the context with its last holder.
func release() int32 {
	c := held()
	if c == nil {
		return invalidContext
	}
	c.finish()
	device.Lock()
	defer device.Unlock()
	if c.holders--; c.holders == 0 {
		device.context = nil
	}
	return success
}

// copyIn queues a copy from the host. Page-locked memory is read when its turn comes, other memory now.
func (c *context) copyIn(s *stream, dst uint64, src unsafe.Pointer, n uint64) int32 {
	bytes, written := c.span(dst, n)
	if bytes == nil {
		return invalidValue
	}
	from := unsafe.Slice((*byte)(src), n)
	if !c.pinned(uintptr(src), uintptr(n)) {
		if s.capturing() {
			return captureUnsupported
		}
		from = append([]byte(nil), from...)
	}
	s.push(task{kind: taskCopyIn, dst: bytes, dstMarks: written, src: from})
	return c.code()
}

// fill queues the writing of n bytes of one value.
func (c *context) fill(s *stream, dst uint64, v byte, n uint64) int32 {
	bytes, written := c.span(dst, n)
	if bytes == nil {
		return invalidValue
	}
	s.push(task{kind: taskFill, dst: bytes, dstMarks: written, value: v})
	return c.code()
}

func (c *context) span(p, n uint64) (bytes, written []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.span(p, n)
}

// poison is what the host sees of memory that nobody wrote.
const poison = 0xa5

// copyOut queues a copy to page-locked memory; for other memory it waits until it is done.
func (c *context) copyOut(s *stream, dst unsafe.Pointer, src, n uint64) int32 {
	bytes, written := c.span(src, n)
	if bytes == nil {
		return invalidValue
	}
	t := task{kind: taskCopyOut, dst: unsafe.Slice((*byte)(dst), n), src: bytes, srcMarks: written}
	if c.pinned(uintptr(dst), uintptr(n)) {
		s.push(t)
		return c.code()
	}
	if s.capturing() {
		return captureUnsupported
	}
	s.wait()
	if code := c.code(); code != success {
		return code
	}
	t.do(c)
	return success
}

func (c *context) copyWithin(s *stream, dst, src, n uint64) int32 {
	from, known := c.span(src, n)
	to, written := c.span(dst, n)
	if from == nil || to == nil {
		return invalidValue
	}
	s.push(task{kind: taskCopy, dst: to, dstMarks: written, src: from, srcMarks: known})
	return c.code()
}

func (c *context) alloc(p *uint64, n uint64) int32 {
	device.Lock()
	limit := device.memory
	device.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if n == 0 {
		return invalidValue
	}
	if n > limit || c.heap.used > limit-n {
		return outOfMemory
	}
	*p = c.heap.add(n).base
	return c.code()
}

func (c *context) free(p uint64) int32 {
	c.finish()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heap.drop(p) {
		return invalidValue
	}
	return c.code()
}

// explain is the description of a result, with the fault's own words where there was one.
func explain(code int32, detail string) *byte {
	text := map[int32]string{
		invalidValue: "invalid argument", outOfMemory: "out of memory", noDevice: "invalid device ordinal",
		invalidContext: "no context is current on this thread", invalidPTX: "a PTX compilation failed",
		invalidHandle: "invalid resource handle", notFound: "named symbol not found", notReady: "device not ready",
		captureUnsupported: "operation not permitted when stream is capturing",
		codeAddress:        "an illegal memory access was encountered",
		codeMisaligned:     "misaligned address", codeFailed: "unspecified launch failure",
	}[code]
	if text == "" {
		text = "unrecognized error code"
	}
	if detail != "" {
		text += " (ptxsim: " + detail + ")"
	}
	return cString(text)
}

var errorNames = map[int32]string{
	success: "CUDA_SUCCESS", invalidValue: "CUDA_ERROR_INVALID_VALUE", outOfMemory: "CUDA_ERROR_OUT_OF_MEMORY",
	noDevice: "CUDA_ERROR_INVALID_DEVICE", invalidContext: "CUDA_ERROR_INVALID_CONTEXT",
	invalidPTX: "CUDA_ERROR_INVALID_PTX", invalidHandle: "CUDA_ERROR_INVALID_HANDLE",
	notFound: "CUDA_ERROR_NOT_FOUND", notReady: "CUDA_ERROR_NOT_READY",
	captureUnsupported: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", codeAddress: "CUDA_ERROR_ILLEGAL_ADDRESS",
	codeMisaligned: "CUDA_ERROR_MISALIGNED_ADDRESS", codeFailed: "CUDA_ERROR_LAUNCH_FAILED",
}

var (
	cStrings   = map[string]*byte{}
	cStringsMu sync.Mutex
)

// cString is a text ended by a zero, kept for good: the caller may hold it as long as it likes.
func cString(s string) *byte {
	cStringsMu.Lock()
	defer cStringsMu.Unlock()
	p := cStrings[s]
	if p == nil {
		p = &append([]byte(s), 0)[0]
		cStrings[s] = p
	}
	return p
}

func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
