// Package driver is the part of CUDA's driver interface that the backend uses, reached without cgo:
// libcuda.so.1 is opened by purego on first use, so a program that imports the backend builds everywhere and
// needs no toolkit.
//
// Every function is one address in an [API]. A simulator stands in for the driver by filling the same table
// with addresses of its own, so the whole Go call path runs unchanged.
//
// CUDA's current context belongs to an OS thread. A sequence of calls is therefore enclosed in
// [Context.Enter] and [Context.Exit]; every method of Context, Stream, Event, Module and Graph but these two
// needs it.
package driver

// API holds the driver's entry points. A field is named for its function without the cu, and is loaded as
// that function unless its tag names a later version of it.
type API struct {
	Init                      uintptr
	DriverGetVersion          uintptr
	DeviceGetCount            uintptr
	DeviceGet                 uintptr
	DeviceGetName             uintptr
	DeviceTotalMem            uintptr `symbol:"cuDeviceTotalMem_v2"`
	DeviceGetAttribute        uintptr
	DevicePrimaryCtxRetain    uintptr
	DevicePrimaryCtxRelease   uintptr `symbol:"cuDevicePrimaryCtxRelease_v2"`
	CtxSetCurrent             uintptr
	MemGetInfo                uintptr `symbol:"cuMemGetInfo_v2"`
	MemAlloc                  uintptr `symbol:"cuMemAlloc_v2"`
	MemFree                   uintptr `symbol:"cuMemFree_v2"`
	MemAllocHost              uintptr `symbol:"cuMemAllocHost_v2"`
	MemFreeHost               uintptr
	MemcpyHtoDAsync           uintptr `symbol:"cuMemcpyHtoDAsync_v2"`
	MemcpyDtoHAsync           uintptr `symbol:"cuMemcpyDtoHAsync_v2"`
	MemcpyDtoDAsync           uintptr `symbol:"cuMemcpyDtoDAsync_v2"`
	MemsetD8Async             uintptr
	StreamCreate              uintptr
	StreamDestroy             uintptr `symbol:"cuStreamDestroy_v2"`
	StreamSynchronize         uintptr
	StreamWaitEvent           uintptr
	StreamBeginCapture        uintptr `symbol:"cuStreamBeginCapture_v2"`
	StreamEndCapture          uintptr
	EventCreate               uintptr
	EventRecord               uintptr
	EventQuery                uintptr
	EventSynchronize          uintptr
	EventElapsedTime          uintptr
	EventDestroy              uintptr `symbol:"cuEventDestroy_v2"`
	ModuleLoadDataEx          uintptr
	ModuleUnload              uintptr
	ModuleGetFunction         uintptr
	FuncSetAttribute          uintptr
	LaunchKernel              uintptr
	GraphInstantiateWithFlags uintptr
	GraphLaunch               uintptr
	GraphExecDestroy          uintptr
	GraphDestroy              uintptr
	GetErrorName              uintptr
	GetErrorString            uintptr
}

// goCalls are the functions of a simulator that are called without leaving Go. An API names the i-th by the
// address i + 1, at which no function of a library lies.
var goCalls []func(args Words) int32

// Words are the arguments of a call. They are passed by value, so that a list of them stays on its stack.
type Words [11]uintptr

// maxGoCalls is below the first page that a process can have mapped.
const maxGoCalls = 1 << 10

// GoCall is an address for an API by which f is called. It is for a simulator's initialisation: nothing may
// be called meanwhile.
func GoCall(f func(args Words) int32) uintptr {
	if len(goCalls) == maxGoCalls {
		panic("driver: too many functions of a simulator")
	}
	goCalls = append(goCalls, f)
	return uintptr(len(goCalls))
}

// A Ptr is an address in device memory.
type Ptr uint64

// minVersion is the oldest driver that can be used: CUDA 11.4, the first with cuGraphInstantiateWithFlags.
const minVersion = 11040
