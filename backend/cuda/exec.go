package cuda

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// Exec is one run's use of the stream: a graph.AsyncExec. It serves one goroutine.
type Exec struct {
	b       *Backend
	word    *block     // the fault word, on the device
	address driver.Ptr // of it, as the first parameter of every kernel
	host    pinned     // its copy
	args    *driver.Args
	step    int
	last    *function // for the message of a device fault
	started []fallible
	sound   int // of those, the first that are known to have found nothing
}

// fallible is a launch that may find something wrong in the data.
type fallible struct {
	step int
	k    finder
	in   []tensor.Read
}

// finder makes the error of what a kernel found: rank is its place among all that the kernel looked at. read copies
// memory of the device, as it was then.
type finder interface {
	found(rank uint64, in []tensor.Read, read func(at uint64, to []byte) error) error
}

const (
	noFault     = ^uint64(0)
	rankBits    = 48
	mostStarted = 1<<16 - 2 // the launch number of all ones is that of no fault
)

type dim3 [3]uint32

// Exec gives a run its own fault word.
func (b *Backend) Exec() graph.Exec {
	b.mu.Lock()
	if k := len(b.execs) - 1; k >= 0 {
		x := b.execs[k]
		b.execs = b.execs[:k]
		b.mu.Unlock()
		return x
	}
	b.mu.Unlock()
	return &Exec{b: b}
}

// ready makes what an Exec needs, in its first launch, where an error can be told.
func (x *Exec) ready() error {
	if x.word != nil {
		return nil
	}
	word, err := x.b.memory.alloc(8)
	if err != nil {
		return err
	}
	x.address = word.at
	err = x.b.enter(func() (err error) {
		if x.host, err = x.b.pin(8); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(x.host.bytes, noFault)
		return x.b.stream.Fill(x.address, 0xff, 8)
	})
	if err != nil {
		x.b.memory.release(word)
		return err
	}
	x.word, x.args = word, driver.NewArgs(unsafe.Pointer(&x.address), nil)
	return nil
}

// At says which step of a program the kernels that follow are.
func (x *Exec) At(step int) { x.step = step }

// Close ends the use of the Exec. What was started and not waited for, since something else went wrong, is waited for:
// the next run must not find its fault.
func (x *Exec) Close() {
	if len(x.started) > 0 {
		x.Wait()
	}
	x.last = nil
	x.b.mu.Lock()
	x.b.execs = append(x.b.execs, x)
	x.b.mu.Unlock()
}

// drop gives back what ready took.
func (x *Exec) drop() error {
	if x.word == nil {
		return nil
	}
	x.b.memory.release(x.word)
	return x.b.enter(func() error { return x.b.context.FreeHost(x.host.at) })
}

func (x *Exec) forget() {
	clear(x.started)
	x.started = x.started[:0]
	x.step, x.sound = 0, 0
}

// launch starts a kernel: its parameters are the fault word's address and the struct that args points to.
func (x *Exec) launch(f *function, grid, block dim3, shared int, args unsafe.Pointer) error {
	if err := x.ready(); err != nil {
		return err
	}
	if err := x.b.begin(); err != nil {
		return err
	}
	defer x.b.context.Exit()
	x.last = f
	x.args.Set(1, args)
	g, t := driver.Dim{X: grid[0], Y: grid[1], Z: grid[2]}, driver.Dim{X: block[0], Y: block[1], Z: block[2]}
	return x.b.stream.Launch(f.kernel, g, t, uint32(shared), x.args)
}

// fallible is the number of a launch that may find faults, in the bits above the rank.
func (x *Exec) fallible(k finder, in []tensor.Read) (uint64, error) {
	if len(x.started) == mostStarted {
		step := x.step
		if _, err := x.Wait(); err != nil {
			return 0, err
		}
		x.step = step
	}
	x.started = append(x.started, fallible{x.step, k, in})
	return uint64(len(x.started)-1) << rankBits, nil
}

// Wait returns when everything that was started has ended: the first thing that kernels found wrong, and its step.
func (x *Exec) Wait() (step int, err error) {
	defer x.forget()
	if len(x.started) == 0 || x.word == nil { // or all that could fail had nothing to look at
		return -1, x.faulted(x.b.Sync())
	}
	word, err := x.fault()
	if err != nil || word == noFault {
		return -1, err
	}
	f := x.started[word>>rankBits]
	found := f.k.found(word&(1<<rankBits-1), f.in, x.b.read)
	if err := x.b.enter(func() error { return x.b.stream.Fill(x.address, 0xff, 8) }); err != nil {
		return -1, err
	}
	return f.step, found
}

// fault is the fault word, once all work has ended.
func (x *Exec) fault() (uint64, error) {
	err := x.b.enter(func() error { return x.b.stream.CopyOut(x.host.at, x.address, 8) })
	if err == nil {
		err = x.b.Sync()
	}
	return binary.LittleEndian.Uint64(x.host.bytes), x.faulted(err)
}

// settled waits for the checks of the run, before work that does not look at the fault word. Where one has found
// something it is false: such work must be left out, and Wait has the error.
func (x *Exec) settled() (bool, error) {
	if x.sound == len(x.started) {
		return true, nil
	}
	word, err := x.fault()
	if err != nil || word != noFault {
		return false, err
	}
	x.sound = len(x.started)
	return true, nil
}

// faulted adds what is known of the kernel to the error of a lost context.
func (x *Exec) faulted(err error) error {
	if err == nil || x.last == nil {
		return err
	}
	return fmt.Errorf("in %s of step %d or before it: %w", x.last.name, x.step, err)
}

// read copies memory of the device once all work has ended.
func (b *Backend) read(at uint64, to []byte) error {
	if len(to) == 0 {
		return nil
	}
	err := b.enter(func() error {
		return b.stream.CopyOut(unsafe.Pointer(unsafe.SliceData(to)), driver.Ptr(at), uint64(len(to)))
	})
	if err != nil {
		return err
	}
	return b.Sync()
}

// scratch is memory of the device for a while.
type scratch struct{ block *block }

func (s scratch) at() uint64 { return uint64(s.block.at) }

// scratch takes memory that kernels work with.
func (x *Exec) scratch(bytes int) (scratch, error) {
	blk, err := x.b.memory.alloc(bytes)
	return scratch{blk}, err
}

// free gives scratch back: kernels that were started before still find it, what is started later may get it.
func (x *Exec) free(s scratch) {
	if s.block != nil {
		x.b.memory.release(s.block)
	}
}
