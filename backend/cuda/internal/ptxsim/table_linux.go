package ptxsim

import (
	"errors"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// Open is the simulator's table of functions, the same at every call: like the driver, it is one a process.
func Open() *driver.API { return table() }

// here is the current context of the calling thread.
func here() *context {
	device.Lock()
	defer device.Unlock()
	if device.current[syscall.Gettid()] != contextHandle {
		return nil
	}
	return device.context
}

// in runs f in the current context, unless a fault has ended it.
func in(f func(c *context) int32) int32 {
	c := here()
	if c == nil {
		return invalidContext
	}
	if code := c.code(); code != success {
		return code
	}
	return f(c)
}

// on is in with the object of a handle.
func on[T any](h uintptr, f func(c *context, v *T) int32) int32 {
	return in(func(c *context) int32 {
		v := object[T](c, h)
		if v == nil {
			return invalidHandle
		}
		return f(c, v)
	})
}

// table makes the callbacks once: a process can have only about 2000.
var table = sync.OnceValue(func() *driver.API {
	api := new(driver.API)
	deviceCalls(api)
	memoryCalls(api)
	streamCalls(api)
	moduleCalls(api)
	graphCalls(api)
	return api
})

// The calls of a program's steady state stay in Go: a callback by way of C allocates and takes microseconds,
// which would hide what the backend itself does. The others go the whole way, as to a real driver.

// pointer is argument i as a pointer.
func pointer(args driver.Words, i int) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&args[i]))
}

func deviceCalls(api *driver.API) {
	cb := purego.NewCallback
	api.Init = cb(func(uint32) int32 { return success })
	api.DriverGetVersion = cb(func(v *int32) int32 { *v = 12040; return success })
	api.DeviceGetCount = cb(func(v *int32) int32 { *v = 1; return success })
	api.DeviceGet = cb(func(v *int32, i int32) int32 {
		if i != 0 {
			return noDevice
		}
		*v = 0
		return success
	})
	api.DeviceGetName = cb(func(p *byte, n int32, _ int32) int32 {
		buf := unsafe.Slice(p, n)
		clear(buf)
		copy(buf[:n-1], "ptxsim")
		return success
	})
	api.DeviceTotalMem = cb(func(v *uint64, _ int32) int32 {
		device.Lock()
		defer device.Unlock()
		*v = device.memory
		return success
	})
	api.DeviceGetAttribute = cb(func(v *int32, a int32, _ int32) int32 {
		n, ok := map[driver.Attribute]int32{
			driver.MaxThreadsPerBlock: maxThreads, driver.MaxGridX: 1<<31 - 1, driver.MaxGridY: 65535,
			driver.MaxGridZ: 65535, driver.MaxSharedPerBlock: maxShared, driver.WarpSize: 32,
			driver.Multiprocessors: 4, driver.ComputeMajor: 7, driver.ComputeMinor: 0,
			driver.MaxSharedPerBlockOptin: maxOptin,
		}[driver.Attribute(a)]
		if !ok {
			return invalidValue
		}
		*v = n
		return success
	})
	api.DevicePrimaryCtxRetain = cb(func(v *uintptr, _ int32) int32 {
		retain()
		*v = contextHandle
		return success
	})
	api.DevicePrimaryCtxRelease = cb(func(int32) int32 { return release() })
	api.CtxSetCurrent = driver.GoCall(func(args driver.Words) int32 {
		device.Lock()
		defer device.Unlock()
		device.current[syscall.Gettid()] = args[0]
		return success
	})
	api.GetErrorName = cb(func(code int32, p **byte) int32 {
		name, ok := errorNames[code]
		if !ok {
			return invalidValue
		}
		*p = cString(name)
		return success
	})
	api.GetErrorString = cb(func(code int32, p **byte) int32 {
		*p = explain(code, held().detail(code))
		return success
	})
}

func memoryCalls(api *driver.API) {
	cb := purego.NewCallback
	api.MemGetInfo = cb(func(free, total *uint64) int32 {
		return in(func(c *context) int32 {
			device.Lock()
			defer device.Unlock()
			*free, *total = device.memory-min(c.heap.used, device.memory), device.memory
			return success
		})
	})
	api.MemAlloc = cb(func(p *uint64, n uint64) int32 {
		return in(func(c *context) int32 { return c.alloc(p, n) })
	})
	api.MemFree = cb(func(p uint64) int32 { return in(func(c *context) int32 { return c.free(p) }) })
	api.MemAllocHost = cb(func(p *unsafe.Pointer, n uint64) int32 {
		return in(func(c *context) int32 {
			mem := make([]byte, max(n, 4096))
			c.mu.Lock()
			defer c.mu.Unlock()
			*p = unsafe.Pointer(&mem[0])
			c.host[uintptr(*p)] = mem
			return success
		})
	})
	api.MemFreeHost = cb(func(p uintptr) int32 {
		return in(func(c *context) int32 {
			c.finish()
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.host[p] == nil {
				return invalidValue
			}
			delete(c.host, p)
			return success
		})
	})
	api.MemcpyHtoDAsync = driver.GoCall(func(args driver.Words) int32 {
		return on(args[3], func(c *context, s *stream) int32 {
			return c.copyIn(s, uint64(args[0]), pointer(args, 1), uint64(args[2]))
		})
	})
	api.MemcpyDtoHAsync = driver.GoCall(func(args driver.Words) int32 {
		return on(args[3], func(c *context, s *stream) int32 {
			return c.copyOut(s, pointer(args, 0), uint64(args[1]), uint64(args[2]))
		})
	})
	api.MemcpyDtoDAsync = driver.GoCall(func(args driver.Words) int32 {
		return on(args[3], func(c *context, s *stream) int32 {
			return c.copyWithin(s, uint64(args[0]), uint64(args[1]), uint64(args[2]))
		})
	})
	api.MemsetD8Async = driver.GoCall(func(args driver.Words) int32 {
		return on(args[3], func(c *context, s *stream) int32 {
			return c.fill(s, uint64(args[0]), byte(args[1]), uint64(args[2]))
		})
	})
}

func streamCalls(api *driver.API) {
	cb := purego.NewCallback
	api.StreamCreate = cb(func(p *uintptr, _ uint32) int32 {
		return in(func(c *context) int32 { *p = c.handle(newStream(c)); return success })
	})
	api.StreamDestroy = cb(func(h uintptr) int32 {
		return on(h, func(c *context, s *stream) int32 { s.wait(); c.forget(h); return c.code() })
	})
	api.StreamSynchronize = driver.GoCall(func(args driver.Words) int32 {
		return on(args[0], func(c *context, s *stream) int32 {
			if s.capturing() {
				return captureUnsupported
			}
			s.wait()
			return c.code()
		})
	})
	api.StreamWaitEvent = driver.GoCall(func(args driver.Words) int32 {
		return on(args[0], func(c *context, s *stream) int32 {
			e := object[event](c, args[1])
			if e == nil {
				return invalidHandle
			}
			if s.capturing() {
				return captureUnsupported
			}
			t := task{kind: taskWait, e: e}
			t.on, t.recording = e.last()
			s.push(t)
			return c.code()
		})
	})
	eventCalls(api)
}

func eventCalls(api *driver.API) {
	cb := purego.NewCallback
	api.EventCreate = cb(func(p *uintptr, _ uint32) int32 {
		return in(func(c *context) int32 { *p = c.handle(new(event)); return success })
	})
	api.EventRecord = driver.GoCall(func(args driver.Words) int32 {
		return on(args[0], func(c *context, e *event) int32 {
			s := object[stream](c, args[1])
			if s == nil {
				return invalidHandle
			}
			if s.capturing() {
				return captureUnsupported
			}
			e.record(s)
			return c.code()
		})
	})
	api.EventQuery = driver.GoCall(func(args driver.Words) int32 {
		return on(args[0], func(c *context, e *event) int32 {
			if !e.done() {
				return notReady
			}
			return c.code()
		})
	})
	api.EventSynchronize = driver.GoCall(func(args driver.Words) int32 {
		return on(args[0], func(c *context, e *event) int32 { e.waitFor(e.last()); return c.code() })
	})
	api.EventElapsedTime = cb(func(ms *float32, h, eh uintptr) int32 {
		return on(h, func(c *context, start *event) int32 {
			end := object[event](c, eh)
			if end == nil {
				return invalidHandle
			}
			if !start.done() || !end.done() {
				return notReady
			}
			*ms = float32(end.at.Sub(start.at).Seconds() * 1000)
			return c.code()
		})
	})
	api.EventDestroy = cb(func(h uintptr) int32 {
		return on(h, func(c *context, _ *event) int32 { c.forget(h); return success })
	})
}

const jitErrorLog, jitErrorLogSize = 5, 6 // options of cuModuleLoadDataEx

func moduleCalls(api *driver.API) {
	cb := purego.NewCallback
	api.ModuleLoadDataEx = cb(func(p *uintptr, image *byte, n uint32, options *int32, values *uintptr) int32 {
		return in(func(c *context) int32 {
			program, err := parse(goString(image))
			var m *loaded
			if err == nil {
				m, err = c.load(program)
			}
			if err != nil {
				report(err, unsafe.Slice(options, n), unsafe.Slice(values, n))
				return invalidPTX
			}
			*p = c.handle(m)
			return success
		})
	})
	api.ModuleUnload = cb(func(h uintptr) int32 {
		return on(h, func(c *context, m *loaded) int32 { c.unload(m); c.forget(h); return success })
	})
	api.ModuleGetFunction = cb(func(p *uintptr, h uintptr, name *byte) int32 {
		return on(h, func(c *context, m *loaded) int32 {
			f, err := m.function(goString(name))
			if errors.Is(err, errNoKernel) {
				return notFound
			}
			if err != nil {
				c.refused.Store(new(err.Error()))
				return invalidPTX
			}
			*p = c.handle(f)
			return success
		})
	})
	api.FuncSetAttribute = cb(func(h uintptr, attribute, v int32) int32 {
		return on(h, func(_ *context, f *kernelOf) int32 {
			if attribute != 8 || v < 0 || int(v) > maxOptin-f.k.shared {
				return invalidValue
			}
			f.maxShared = int(v)
			return success
		})
	})
	api.LaunchKernel = driver.GoCall(func(args driver.Words) int32 {
		return on(args[0], func(c *context, f *kernelOf) int32 { return c.queue(f, args) })
	})
}

// queue is the rest of cuLaunchKernel.
func (c *context) queue(f *kernelOf, args driver.Words) int32 {
	s := object[stream](c, args[8])
	if s == nil {
		return invalidHandle
	}
	grid := [3]uint32{uint32(args[1]), uint32(args[2]), uint32(args[3])}
	block := [3]uint32{uint32(args[4]), uint32(args[5]), uint32(args[6])}
	shared := uint32(args[7])
	if !f.launchable(grid, block, shared) {
		return invalidValue
	}
	l := f.launch(c, grid, block, shared)
	values := unsafe.Slice((*unsafe.Pointer)(pointer(args, 9)), len(f.k.head.Params))
	for i, q := range f.k.head.Params {
		copy(l.params[q.Offset:q.Offset+q.Size], unsafe.Slice((*byte)(values[i]), q.Size))
	}
	s.push(task{kind: taskLaunch, launch: l})
	return success
}

// report writes the compiler's log where the options ask for it.
func report(err error, options []int32, values []uintptr) {
	var log unsafe.Pointer
	var size uintptr
	for i, o := range options {
		switch o {
		case jitErrorLog:
			log = *(*unsafe.Pointer)(unsafe.Pointer(&values[i]))
		case jitErrorLogSize:
			size = values[i]
		}
	}
	if log != nil && size > 0 {
		buf := unsafe.Slice((*byte)(log), size)
		n := copy(buf[:size-1], err.Error())
		buf[n] = 0
	}
}

func graphCalls(api *driver.API) {
	cb := purego.NewCallback
	api.StreamBeginCapture = cb(func(h uintptr, _ uint32) int32 {
		return on(h, func(_ *context, s *stream) int32 {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.capture != nil {
				return invalidValue
			}
			s.capture = &graph{}
			return success
		})
	})
	api.StreamEndCapture = cb(func(h uintptr, p *uintptr) int32 {
		return on(h, func(c *context, s *stream) int32 {
			s.mu.Lock()
			g := s.capture
			s.capture = nil
			s.mu.Unlock()
			if g == nil {
				return invalidValue
			}
			*p = c.handle(g)
			return success
		})
	})
	api.GraphInstantiateWithFlags = cb(func(p *uintptr, h uintptr, _ uint64) int32 {
		return on(h, func(c *context, g *graph) int32 { *p = c.handle(&graph{g.tasks}); return success })
	})
	api.GraphLaunch = cb(func(h, sh uintptr) int32 {
		return on(h, func(c *context, g *graph) int32 {
			s := object[stream](c, sh)
			if s == nil {
				return invalidHandle
			}
			for _, task := range g.tasks {
				s.push(task)
			}
			return c.code()
		})
	})
	destroy := cb(func(h uintptr) int32 {
		return on(h, func(c *context, _ *graph) int32 { c.forget(h); return success })
	})
	api.GraphExecDestroy, api.GraphDestroy = destroy, destroy
}
