package cpu

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adjoint-go/adjoint/graph"
)

// Exec runs kernels on a number of threads. Results have the same bits for every number. An Exec is safe for
// concurrent use; its workers poll for more work for some 200 µs, then sleep, and end when it is no longer
// reachable.
type Exec struct {
	threads int
	pool    *pool
}

// Serial runs everything on the caller's goroutine.
func Serial() *Exec { return Threads(1) }

// maxThreads keeps a number that is nonsense from taking all memory.
const maxThreads = 4096

// Threads runs on the caller and n−1 workers; n ≤ 0 means one thread per core that Go may use, and more than
// 4096 are 4096.
func Threads(n int) *Exec {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	n = min(n, maxThreads)
	x := &Exec{threads: n}
	if n > 1 {
		x.pool = newPool(n - 1)
		runtime.AddCleanup(x, func(p *pool) { close(p.stop) }, x.pool)
	}
	return x
}

// NumThreads is the number of threads, the caller's included.
func (x *Exec) NumThreads() int { return x.threads }

// body is the work of a parallel region: chunk does the items lo to hi − 1. Items must not depend on one
// another, nor their results on where the chunks begin.
type body interface{ chunk(lo, hi int) }

// chunksPerThread lets a thread that was late take less than its share.
const chunksPerThread = 4

// run does the items 0 to n − 1 in chunks of at least grain items and returns when all are done. Choose the
// grain so that a chunk takes 3 µs or more: a region costs about a microsecond.
func (x *Exec) run(n, grain int, b body) {
	chunks := min(n/max(grain, 1), x.threads*chunksPerThread)
	if chunks <= 1 || x.threads == 1 {
		if n > 0 {
			b.chunk(0, n)
		}
		return
	}
	x.pool.run(n, chunks, min(chunks, x.threads)-1, b)
}

// pool is a set of workers that wait for jobs.
type pool struct {
	jobs chan *job
	stop chan struct{}
	mu   sync.Mutex
	free []*job
}

// job is one parallel region. Threads claim chunks until there are none; whoever finishes the last one wakes
// the caller. A job is used again only when nobody holds it, since a worker may receive it late.
type job struct {
	body      body
	n, chunks int
	next      atomic.Int64
	left      atomic.Int64
	holders   atomic.Int64
	failed    atomic.Pointer[graph.PanicError]
	done      chan struct{}
}

// queued is how many jobs wait for a worker. A job that the caller did alone stays until the worker comes, and must
// not keep off the next ones meanwhile: a scatter that counts for 5 µs and then writes for 350 would write alone.
const queued = 8

func newPool(workers int) *pool {
	p := &pool{jobs: make(chan *job, queued*workers), stop: make(chan struct{})}
	for range workers {
		go p.work()
	}
	return p
}

func (p *pool) work() {
	for {
		j, ok := poll(p.jobs)
		if !ok {
			select {
			case j = <-p.jobs:
			case <-p.stop:
				return
			}
		}
		if j.claim() {
			j.done <- struct{}{}
		}
		p.drop(j)
	}
}

// To wake a goroutine that sleeps takes 50 to 100 µs, and milliseconds where the system puts its thread behind
// the one that woke it; to be found polling takes a fraction of a microsecond. So who waits polls first.
const (
	patience = 200 * time.Microsecond
	glances  = 256 // between two looks at the clock, about a microsecond
)

// poll waits for c without sleeping, as long as patience lasts; other goroutines may run in between.
func poll[T any](c <-chan T) (v T, ok bool) {
	for began := time.Now(); ; runtime.Gosched() {
		for range glances {
			select {
			case v = <-c:
				return v, true
			default:
			}
		}
		if time.Since(began) > patience {
			return v, false
		}
	}
}

func (p *pool) run(n, chunks, helpers int, b body) {
	j := p.take()
	j.body, j.n, j.chunks = b, n, chunks
	j.next.Store(0)
	j.left.Store(int64(chunks))
	j.holders.Store(int64(helpers) + 1)
	j.failed.Store(nil)
	for range helpers {
		select {
		case p.jobs <- j:
		default: // every worker has much to do for others: the caller does more
			j.holders.Add(-1)
		}
	}
	if !j.claim() {
		if _, ok := poll(j.done); !ok {
			<-j.done
		}
	}
	failed := j.failed.Load()
	p.drop(j)
	if failed != nil {
		panic(failed)
	}
}

// claim does chunks until none are left and reports whether it finished the last one.
func (j *job) claim() (last bool) {
	for {
		c := int(j.next.Add(1)) - 1
		if c >= j.chunks {
			return last
		}
		j.do(c)
		last = j.left.Add(-1) == 0
	}
}

// do runs one chunk; a panic in it becomes the job's failure.
func (j *job) do(c int) {
	defer func() {
		if v := recover(); v != nil {
			j.failed.CompareAndSwap(nil, &graph.PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	each, rest := j.n/j.chunks, j.n%j.chunks // the first rest chunks have one item more
	lo := c*each + min(c, rest)
	hi := lo + each
	if c < rest {
		hi++
	}
	j.body.chunk(lo, hi)
}

func (p *pool) take() *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := len(p.free) - 1; k >= 0 {
		j := p.free[k]
		p.free = p.free[:k]
		return j
	}
	return &job{done: make(chan struct{}, 1)}
}

func (p *pool) drop(j *job) {
	if j.holders.Add(-1) != 0 {
		return
	}
	j.body = nil
	p.mu.Lock()
	p.free = append(p.free, j)
	p.mu.Unlock()
}
