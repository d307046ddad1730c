// Package cuda computes on NVIDIA GPUs. It needs the driver (libcuda.so.1) and nothing else: no toolkit, no cgo; the
// kernels are PTX inside of the program. All indexing, arg-reductions, sorts, integers, and with them what else has
// no freedom of rounding have the bits of backend/cpu.
//
// [Open] gives the graph.Backend of a device. Nothing is moved between host and device implicitly: a run takes
// feeds that lie on the device ([Backend.Import]), and its results lie there ([Backend.Export] brings them to the
// host). With ADJOINT_PTXSIM=1 in the environment Open gives an interpreter of the kernels instead of a GPU: slow, for
// tests.
package cuda

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/cublas"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// What can be wrong with a device or its driver, for errors.Is.
var (
	ErrNoDriver     = driver.ErrNoDriver     // libcuda.so.1 is not there, or this is not Linux
	ErrDriverTooOld = driver.ErrDriverTooOld // it lacks functions that are needed
	ErrNoDevice     = driver.ErrNoDevice     // no such device
	ErrOutOfMemory  = driver.ErrOutOfMemory  // of the device, or the limit given with Options
	ErrFault        = driver.ErrFault        // a kernel did what it must not: the device's context is lost
	ErrNoCUBLAS     = cublas.ErrNotFound     // it was asked for, and is not there
	ErrClosed       = errors.New("the backend is closed")
)

const family = "cuda"

// Options of OpenWith.
type Options struct {
	// MemoryLimit is the most bytes that the backend takes from the device; 0 is all that there are.
	MemoryLimit int
	// CUBLAS asks for NVIDIA's library for products of matrices of floats. It is faster than the kernels here, on
	// the tensor cores above all, and its sums have other last bits. It is looked for by its names, or where the
	// environment's ADJOINT_CUBLAS says, which asks for it too.
	CUBLAS bool
	// AtomicScatter lets scatters add float32 and float64 by atomic operations, in any order: no sort and no memory
	// for it, but other last bits, which may differ from run to run, and on a GPU zero for what is subnormal in float32.
	AtomicScatter bool

	library *cublas.API // nil: none
}

// Backend is a graph.Backend on one device. It is safe for concurrent use; everything runs on one stream.
type Backend struct {
	ordinal int
	about   Device
	context *driver.Context
	stream  *driver.Stream // of kernels and downloads
	uploads *uploader
	memory  *allocator
	cublas  *cublas.Handle // nil: products of matrices are ours
	domain  tensor.AllocationDomain

	atomicScatter bool // of floats

	functions functions
	mu        sync.Mutex
	execs     []*Exec
	begun     atomic.Uint64 // waits for the stream
	ended     atomic.Uint64 // the last wait that returned
	closed    bool
	gone      atomic.Bool // the context was given back
}

// Device describes a device.
type Device struct {
	Name            string
	Memory          int // bytes
	Major, Minor    int // compute capability
	Multiprocessors int
}

// Devices lists the devices of the machine. Errors: ErrNoDriver, ErrDriverTooOld.
func Devices() ([]Device, error) {
	d, err := open()
	if err != nil {
		return nil, err
	}
	n, err := d.Devices()
	if err != nil {
		return nil, err
	}
	all := make([]Device, n)
	for i := range all {
		dev, err := d.Device(i)
		if err != nil {
			return nil, err
		}
		if all[i], err = describe(dev); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Simulated reports whether Open gives the interpreter.
func Simulated() bool { return os.Getenv("ADJOINT_PTXSIM") == "1" }

func open() (*driver.Driver, error) {
	if Simulated() {
		return driver.New(ptxsim.Open())
	}
	api, err := driver.Load()
	if err != nil {
		return nil, err
	}
	return driver.New(api)
}

func describe(v driver.Device) (d Device, err error) {
	var errs [6]error
	var total uint64
	d.Name, errs[0] = v.Name()
	total, errs[1] = v.TotalMem()
	d.Major, errs[2] = v.Attribute(driver.ComputeMajor)
	d.Minor, errs[3] = v.Attribute(driver.ComputeMinor)
	d.Multiprocessors, errs[4] = v.Attribute(driver.Multiprocessors)
	d.Memory = int(total)
	return d, errors.Join(errs[:]...)
}

// Open is OpenWith without options.
func Open(device int) (*Backend, error) { return OpenWith(device, Options{}) }

// OpenWith makes a backend of a device, by its ordinal. Two calls make two backends: make one, and give it to the
// store, to eager graphs and to Compile alike. Errors: ErrNoDriver, ErrDriverTooOld, ErrNoDevice, ErrNoCUBLAS.
func OpenWith(device int, o Options) (*Backend, error) {
	d, err := open()
	if err == nil {
		o.library, err = findCUBLAS(o.CUBLAS)
	}
	if err == nil {
		var b *Backend
		if b, err = openOn(d, device, o); err == nil {
			return b, nil
		}
	}
	return nil, fmt.Errorf("cuda.Open: %w", err)
}

// openOn is OpenWith on a driver.
func openOn(d *driver.Driver, device int, o Options) (*Backend, error) {
	n, err := d.Devices()
	if err != nil {
		return nil, err
	}
	if device < 0 || device >= n {
		return nil, fmt.Errorf("device %d of %d: %w", device, n, ErrNoDevice)
	}
	v, err := d.Device(device)
	if err != nil {
		return nil, err
	}
	b := &Backend{ordinal: device, domain: tensor.NewAllocationDomain(), atomicScatter: o.AtomicScatter}
	if b.about, err = describe(v); err != nil {
		return nil, err
	}
	if b.about.Major < 7 {
		return nil, fmt.Errorf("device %d, %s, has compute capability %d.%d, 7.0 is needed: %w",
			device, b.about.Name, b.about.Major, b.about.Minor, ErrNoDevice)
	}
	if b.context, err = v.Retain(); err != nil {
		return nil, err
	}
	err = b.enter(func() (err error) {
		if b.stream, err = b.context.NewStream(); err != nil {
			return err
		}
		if b.uploads, err = newUploader(b); err != nil || o.library == nil {
			return err
		}
		b.cublas, err = cublas.New(o.library, b.stream.Handle())
		return err
	})
	if err != nil {
		return nil, errors.Join(err, b.context.Release())
	}
	b.memory = newAllocator(b.takeMemory, b.giveMemory, b.Sync, b.begun.Load, b.ended.Load, o.MemoryLimit)
	b.functions.loaded = map[functionName]*function{}
	b.functions.modules = map[string]*driver.Module{}
	return b, nil
}

// enter runs calls of the driver on one OS thread with the device's context.
func (b *Backend) enter(f func() error) error {
	if err := b.begin(); err != nil {
		return err
	}
	defer b.context.Exit()
	return f()
}

// begin ties the goroutine to an OS thread with the device's context, until b.context.Exit. Error: ErrClosed.
func (b *Backend) begin() error {
	if b.gone.Load() {
		return ErrClosed
	}
	return b.context.Enter()
}

func (b *Backend) takeMemory(size int) (at driver.Ptr, err error) {
	err = b.enter(func() error {
		at, err = b.context.Alloc(uint64(size))
		return err
	})
	return at, err
}

func (b *Backend) giveMemory(at driver.Ptr) error {
	return b.enter(func() error { return b.context.Free(at) })
}

// Name is cuda.
func (*Backend) Name() string { return family }

// Device describes the backend's device.
func (b *Backend) Device() Device { return b.about }

// Placement is the device's memory.
func (b *Backend) Placement() tensor.Placement {
	return tensor.Placement{Kind: tensor.Device, Device: b.ordinal}
}

// Memory counts the device's memory that the backend holds.
func (b *Backend) Memory() MemoryStats { return b.memory.snapshot() }

// Sync waits until everything that was started has ended. Error: ErrFault.
func (b *Backend) Sync() error {
	n := b.begun.Add(1)
	if err := b.enter(b.stream.Sync); err != nil {
		return err
	}
	for old := b.ended.Load(); old < n && !b.ended.CompareAndSwap(old, n); old = b.ended.Load() {
	}
	return nil
}

// Close waits for what is running and gives everything back. Tensors on the device, programs and stores of the backend
// must not be used any more: what would need the device gives ErrClosed. Errors: what was still in use, apart from
// what nobody could reach any more; ErrFault; ErrClosed the second time.
func (b *Backend) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return ErrClosed
	}
	b.closed = true
	execs := b.execs
	b.execs = nil
	b.mu.Unlock()
	errs := []error{b.Sync()}
	for _, x := range execs {
		errs = append(errs, x.drop())
	}
	b.memory.collect()
	errs = append(errs, b.memory.close(), b.enter(func() error {
		b.gone.Store(true)
		var library error
		if b.cublas != nil {
			library = b.cublas.Destroy()
		}
		return errors.Join(library, b.uploads.close(), b.functions.close(), b.stream.Destroy())
	}))
	return errors.Join(append(errs, b.context.Release())...)
}

// Compile makes the kernel of an op. Nothing about the operands is taken on trust. Errors: as those of cpu.Backend.
func (b *Backend) Compile(op graph.Op, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	if err := planning.Valid(op, out, in, used); err != nil {
		return nil, err
	}
	return compile(b, op, out, in, used)
}

// operands is the plan's check of operands; inPlace says which may be the memory of result 0.
func (b *Backend) operands(out, in []graph.Operand, inPlace ...bool) planning.Operands {
	return planning.Operands{Out: cloned(out), In: cloned(in), Over: [][]bool{inPlace}, Reach: b.reach}
}

func cloned(operands []graph.Operand) []graph.Operand {
	r := make([]graph.Operand, len(operands))
	for i, o := range operands {
		r[i] = graph.Operand{DType: o.DType, Layout: tensor.Layout{
			Shape: append([]int{}, o.Shape...), Strides: append([]int{}, o.Strides...), Offset: o.Offset,
		}}
	}
	return r
}

// reach is the error for memory that is not this backend's.
func (b *Backend) reach(s *tensor.Storage) error {
	if s.AllocationDomain() == b.domain {
		return nil
	}
	return tensor.Errorf("", tensor.ErrPlacement, "memory of backend %q, %s, for kernels on %s", s.BackendFamily(),
		s.Placement(), b.Placement())
}

// addressOf is where element 0, …, 0 of a view lies on the device.
func addressOf(v tensor.View) uint64 {
	s := v.Storage()
	return uint64(s.Handle().(*memory).at) + uint64(s.HandleOffset()+v.Layout().Offset*v.DType().Size())
}

// pinned is host memory that the device reaches.
type pinned struct {
	at    unsafe.Pointer
	bytes []byte
}

func (b *Backend) pin(size int) (pinned, error) {
	at, err := b.context.AllocHost(uint64(size))
	if err != nil {
		return pinned{}, err
	}
	return pinned{at, unsafe.Slice((*byte)(at), size)}, nil
}
