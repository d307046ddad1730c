package ptxsim

import (
	"sync"
	"time"
)

// stream does its tasks in order, on a goroutine of its own.
type stream struct {
	c       *context
	mu      sync.Mutex
	changed sync.Cond
	queue   []task
	head    int  // the first of queue that is not done
	running bool // the goroutine has been started
	closed  bool
	capture *graph
}

// task is one piece of a stream's work: a launch, a copy, a fill, or the reaching of or waiting for an event's record.
type task struct {
	kind      taskKind
	value     byte
	again     bool // of a graph: its launch is run as often as the graph is
	launch    *launch
	dst, src  []byte
	dstMarks  []byte // what is written and what is not
	srcMarks  []byte
	e         *event
	recording int
}

type taskKind uint8

const (
	taskLaunch taskKind = iota
	taskCopyIn
	taskCopyOut
	taskCopy
	taskFill
	taskReach
	taskWait
)

// graph is a captured list of tasks.
type graph struct{ tasks []task }

func newStream(c *context) *stream {
	s := &stream{c: c}
	s.changed.L = &s.mu
	return s
}

// push queues a task, or captures it.
func (s *stream) push(t task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.capture != nil {
		t.again = true
		s.capture.tasks = append(s.capture.tasks, t)
		return
	}
	s.queue = append(s.queue, t)
	if !s.running {
		s.running = true
		go s.work()
	}
	s.changed.Broadcast()
}

// work does the tasks until the stream is closed and has none.
func (s *stream) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if s.head == len(s.queue) {
			clear(s.queue)
			s.queue, s.head = s.queue[:0], 0
			if s.closed {
				return
			}
			s.changed.Broadcast()
			s.changed.Wait()
			continue
		}
		t := s.queue[s.head]
		s.mu.Unlock()
		if s.c.fault.Load() == nil {
			t.do(s.c)
		}
		s.mu.Lock()
		s.head++
	}
}

func (t *task) do(c *context) {
	switch t.kind {
	case taskLaunch:
		c.run(t.launch, t.again)
	case taskCopyIn:
		copy(t.dst, t.src)
		fill(t.dstMarks, 1)
	case taskCopyOut:
		copy(t.dst, t.src)
		for i, w := range t.srcMarks {
			if w == 0 {
				t.dst[i] = poison
			}
		}
	case taskCopy:
		copy(t.dst, t.src)
		copy(t.dstMarks, t.srcMarks)
	case taskFill:
		fill(t.dst, t.value)
		fill(t.dstMarks, 1)
	case taskReach:
		t.e.reach(t.recording)
	case taskWait:
		t.e.waitFor(c, t.recording)
	}
}

func fill(s []byte, v byte) {
	for i := range s {
		s[i] = v
	}
}

// wait waits until all tasks are done.
func (s *stream) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.head < len(s.queue) {
		s.changed.Wait()
	}
}

// close ends the goroutine when the tasks are done.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}

func (s *stream) capturing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capture != nil
}

// event counts how often it was recorded and how many of those records a stream has reached.
type event struct {
	mu       sync.Mutex
	moved    sync.Cond
	recorded int
	reached  int
	at       time.Time
}

func newEvent() *event {
	e := &event{}
	e.moved.L = &e.mu
	return e
}

func (e *event) record(s *stream) {
	e.mu.Lock()
	e.recorded++
	n := e.recorded
	e.mu.Unlock()
	s.push(task{kind: taskReach, e: e, recording: n})
}

func (e *event) reach(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reached, e.at = max(e.reached, n), time.Now()
	e.moved.Broadcast()
}

func (e *event) done() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reached >= e.recorded
}

// last is how often the event has been recorded.
func (e *event) last() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.recorded
}

// waitFor waits for the n-th record, or for a fault, after which it will never be reached.
func (e *event) waitFor(c *context, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.reached < n && c.fault.Load() == nil {
		e.moved.Wait()
	}
}
