package cuda

import (
	"errors"
	"runtime"
	"sync"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/tensor"
)

// memory is the handle of a storage: its block goes back when the storage is no longer reachable.
type memory struct {
	at    driver.Ptr
	block *block
}

// Allocate gives memory of the device, whatever it held before. Error: ErrOutOfMemory.
func (b *Backend) Allocate(size int) (*tensor.Storage, error) {
	blk, err := b.memory.alloc(size)
	if err != nil {
		return nil, err
	}
	m := &memory{blk.at, blk}
	runtime.AddCleanup(m, b.memory.release, blk)
	return tensor.ForeignStorage(size, b.Placement(), family, b.domain, m, nil), nil
}

// Import copies elements that host code can read to the device, under the same layout; elements on the device stay
// where they are. The copy may be under way when Import returns: kernels that are started later wait for it.
// Errors: tensor.ErrPlacement for memory of another device, ErrOutOfMemory.
func (b *Backend) Import(r tensor.Read) (tensor.View, error) {
	if r.Storage().AllocationDomain() == b.domain {
		return r.View(), nil
	}
	from, err := r.Storage().Bytes()
	if err != nil {
		return tensor.View{}, err
	}
	to, err := b.Allocate(len(from))
	if err != nil {
		return tensor.View{}, err
	}
	if err := b.uploads.copy(to.Handle().(*memory).block, from); err != nil {
		return tensor.View{}, err
	}
	return tensor.NewView(to, r.DType(), r.Layout())
}

// Export copies elements on the device to the host, after everything that was started has ended, under the same
// layout; elements that host code can read stay where they are. Errors: tensor.ErrPlacement for memory that is
// not this backend's, ErrFault.
func (b *Backend) Export(v tensor.View) (tensor.View, error) {
	s := v.Storage()
	if s.AllocationDomain() != b.domain {
		_, err := s.Bytes()
		return v, err
	}
	host := tensor.NewStorage(s.Size())
	to, err := host.Bytes()
	if err != nil {
		return tensor.View{}, err
	}
	if err := b.read(uint64(s.Handle().(*memory).at)+uint64(s.HandleOffset()), to); err != nil {
		return tensor.View{}, err
	}
	runtime.KeepAlive(s)
	return tensor.NewView(host, v.DType(), v.Layout())
}

// uploader copies host memory to the device on a stream of its own, through page-locked memory in slots that take
// turns: the copy into a slot, its way to the device and the kernels' work overlap.
type uploader struct {
	b      *Backend
	stream *driver.Stream
	mu     sync.Mutex
	turn   int
	slots  [4]slot
	behind *driver.Event // in the stream of kernels
}

// slot is page-locked memory; sent is reached when the device has its last content.
type slot struct {
	pinned
	sent *driver.Event
	used bool
}

const slotBytes = 4 << 20

func newUploader(b *Backend) (*uploader, error) {
	u := &uploader{b: b}
	var err error
	if u.stream, err = b.context.NewStream(); err != nil {
		return nil, err
	}
	if u.behind, err = b.context.NewEvent(false); err != nil {
		return nil, err
	}
	for i := range u.slots {
		if u.slots[i].sent, err = b.context.NewEvent(false); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// copy starts the copy of host bytes to a block, in front of everything that is started later.
func (u *uploader) copy(to *block, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.b.enter(func() error {
		if u.b.memory.busy(to) { // by what was started before the block was given back
			if err := errors.Join(u.b.stream.Record(u.behind), u.stream.Wait(u.behind)); err != nil {
				return err
			}
		}
		var err error
		for at := 0; at < len(from) && err == nil; at += slotBytes {
			err = u.send(to.at+driver.Ptr(at), from[at:min(at+slotBytes, len(from))])
		}
		if err == nil {
			err = u.b.stream.Wait(u.slots[u.turn].sent)
		}
		if err != nil { // the block may be another's next, and pieces may be on their way to it
			err = errors.Join(err, u.stream.Sync())
		}
		return err
	})
}

// send copies a piece through the slot whose turn it is.
func (u *uploader) send(to driver.Ptr, from []byte) error {
	u.turn = (u.turn + 1) % len(u.slots)
	s := &u.slots[u.turn]
	if s.bytes == nil {
		var err error
		if s.pinned, err = u.b.pin(slotBytes); err != nil {
			return err
		}
	}
	if s.used {
		if err := s.sent.Sync(); err != nil {
			return err
		}
	}
	copy(s.bytes, from)
	s.used = true
	return errors.Join(u.stream.CopyIn(to, s.at, uint64(len(from))), u.stream.Record(s.sent))
}

func (u *uploader) close() error {
	errs := []error{u.stream.Sync()}
	for _, s := range u.slots {
		errs = append(errs, s.sent.Destroy())
		if s.bytes != nil {
			errs = append(errs, u.b.context.FreeHost(s.at))
		}
	}
	return errors.Join(append(errs, u.behind.Destroy(), u.stream.Destroy())...)
}
