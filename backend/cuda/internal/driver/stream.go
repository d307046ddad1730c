package driver

import (
	"time"
	"unsafe"
)

// Stream is a queue of work that the device does in order.
type Stream struct {
	d      *Driver
	handle uintptr
}

const nonBlocking = 1 // a stream that does not wait for the legacy default stream

// NewStream makes a stream.
func (c *Context) NewStream() (*Stream, error) {
	s := &Stream{d: c.d}
	if err := c.d.call("StreamCreate", c.d.api.StreamCreate, uintptr(unsafe.Pointer(&s.handle)), nonBlocking); err != nil {
		return nil, err
	}
	return s, nil
}

// Destroy gives up the stream; work already queued is still done.
func (s *Stream) Destroy() error { return s.d.call("StreamDestroy", s.d.api.StreamDestroy, s.handle) }

// Sync waits until everything queued has been done.
func (s *Stream) Sync() error {
	return s.d.quick("StreamSynchronize", s.d.api.StreamSynchronize, s.handle, 0, 0, 0)
}

// Wait makes what is queued on s from now on wait for e.
func (s *Stream) Wait(e *Event) error {
	return s.d.quick("StreamWaitEvent", s.d.api.StreamWaitEvent, s.handle, e.handle, 0, 0)
}

// Event marks a place in a stream.
type Event struct {
	d      *Driver
	handle uintptr
}

const disableTiming = 2

// NewEvent makes an event; only one that is timed can be asked for Since.
func (c *Context) NewEvent(timed bool) (*Event, error) {
	e := &Event{d: c.d}
	flags := uintptr(disableTiming)
	if timed {
		flags = 0
	}
	if err := c.d.call("EventCreate", c.d.api.EventCreate, uintptr(unsafe.Pointer(&e.handle)), flags); err != nil {
		return nil, err
	}
	return e, nil
}

// Destroy gives up the event.
func (e *Event) Destroy() error { return e.d.call("EventDestroy", e.d.api.EventDestroy, e.handle) }

// Record puts e behind everything queued on s.
func (s *Stream) Record(e *Event) error {
	return s.d.quick("EventRecord", s.d.api.EventRecord, e.handle, s.handle, 0, 0)
}

// Done reports whether the stream has reached e, without waiting.
func (e *Event) Done() (bool, error) {
	args := [...]uintptr{e.handle}
	switch code := syscallN(e.d.api.EventQuery, args[:]); code {
	case 0:
		return true, nil
	case codeNotReady:
		return false, nil
	default:
		return false, e.d.failure("EventQuery", code)
	}
}

// Sync waits until the stream has reached e.
func (e *Event) Sync() error {
	return e.d.quick("EventSynchronize", e.d.api.EventSynchronize, e.handle, 0, 0, 0)
}

// Since is the device's time from start to e, both timed and reached.
func (e *Event) Since(start *Event) (time.Duration, error) {
	var ms float32
	err := e.d.call("EventElapsedTime", e.d.api.EventElapsedTime, uintptr(unsafe.Pointer(&ms)), start.handle, e.handle)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Graph is a captured sequence of work, ready to be launched as one.
type Graph struct {
	d      *Driver
	handle uintptr
}

const threadLocalCapture = 1 // other threads may go on allocating meanwhile

// BeginCapture makes what is queued on s from now on part of a graph instead of being done.
func (s *Stream) BeginCapture() error {
	return s.d.call("StreamBeginCapture", s.d.api.StreamBeginCapture, s.handle, threadLocalCapture)
}

// EndCapture is the graph of what was queued since BeginCapture.
func (s *Stream) EndCapture() (*Graph, error) {
	var captured uintptr
	err := s.d.call("StreamEndCapture", s.d.api.StreamEndCapture, s.handle, uintptr(unsafe.Pointer(&captured)))
	if err != nil {
		return nil, err
	}
	g := &Graph{d: s.d}
	err = s.d.call("GraphInstantiateWithFlags", s.d.api.GraphInstantiateWithFlags,
		uintptr(unsafe.Pointer(&g.handle)), captured, 0)
	if end := s.d.call("GraphDestroy", s.d.api.GraphDestroy, captured); err == nil {
		err = end
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// LaunchGraph queues the whole of g.
func (s *Stream) LaunchGraph(g *Graph) error {
	return s.d.quick("GraphLaunch", s.d.api.GraphLaunch, g.handle, s.handle, 0, 0)
}

// Destroy gives up the graph.
func (g *Graph) Destroy() error {
	return g.d.call("GraphExecDestroy", g.d.api.GraphExecDestroy, g.handle)
}
