package ptxsim

import (
	"sync"
	"time"
)

// stream does its tasks in order, as late as it may: when somebody waits for them, who then does them, or when the queue
// is full. So what the host changes too early is seen changed, and no goroutine has to be woken for a short kernel.
type stream struct {
	c       *context
	mu      sync.Mutex
	moved   sync.Cond
	queue   []task
	head    int  // the first of queue that is not done
	ended   int  // tasks that are done
	busy    bool // somebody does the first one
	capture *graph
}

// mostQueued is how many tasks wait until one who brings another must do some.
const mostQueued = 1 << 10

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
	on        *stream // where what is waited for was recorded
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
	s.moved.L = &s.mu
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
	for len(s.queue)-s.head >= mostQueued {
		s.step()
	}
	s.queue = append(s.queue, t)
}

// step does the first task, or waits until somebody else has done it. s.mu is held, but not meanwhile.
func (s *stream) step() {
	if s.busy {
		s.moved.Wait()
		return
	}
	t := s.queue[s.head]
	s.busy = true
	s.mu.Unlock()
	if s.c.fault.Load() == nil {
		t.do(s.c)
	}
	s.mu.Lock()
	s.busy = false
	s.ended++
	if s.head++; s.head == len(s.queue) {
		clear(s.queue)
		s.queue, s.head = s.queue[:0], 0
	}
	s.moved.Broadcast()
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
		t.e.waitFor(t.on, t.recording)
	}
}

func fill(s []byte, v byte) {
	for i := range s {
		s[i] = v
	}
}

// wait does all that has been queued.
func (s *stream) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for end := s.ended + len(s.queue) - s.head; s.ended < end; {
		s.step()
	}
}

func (s *stream) capturing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capture != nil
}

// event counts how often it was recorded and how many of those records a stream has reached.
type event struct {
	mu       sync.Mutex
	on       *stream // of the last record
	recorded int
	reached  int
	at       time.Time
}

func (e *event) record(s *stream) {
	e.mu.Lock()
	e.on = s
	e.recorded++
	n := e.recorded
	e.mu.Unlock()
	s.push(task{kind: taskReach, e: e, recording: n})
}

func (e *event) reach(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reached, e.at = max(e.reached, n), time.Now()
}

// has reports whether the n-th record has been reached.
func (e *event) has(n int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reached >= n
}

// last is how often the event has been recorded, and where the last time.
func (e *event) last() (on *stream, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.on, e.recorded
}

// done reports whether the last record has been reached. Where it has not, a task is done: time passes.
func (e *event) done() bool {
	s, n := e.last()
	if e.has(n) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.head < len(s.queue) {
		s.step()
	}
	return false
}

// waitFor does what stands before the n-th record in its stream, unless a fault ends the context.
func (e *event) waitFor(s *stream, n int) {
	if s == nil { // it was never recorded
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for !e.has(n) && s.c.fault.Load() == nil && s.head < len(s.queue) {
		s.step()
	}
}
