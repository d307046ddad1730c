package ptxsim

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// Limits of a device of compute capability 7.0.
const (
	maxThreads = 1024
	maxShared  = 48 << 10 // without asking for more
	maxOptin   = 96 << 10
)

// reversed makes blocks begin in the opposite order: nothing may depend on it.
var reversed = os.Getenv("ADJOINT_PTXSIM_ORDER") == "reversed"

// helpers are goroutines that run blocks beside a stream's own, started with the first launch of several blocks.
var (
	helpers     = make(chan *launch)
	startHelper = sync.OnceFunc(func() {
		for range min(runtime.GOMAXPROCS(0), maxWorkers) - 1 {
			go func() {
				for l := range helpers {
					l.work()
					l.workers.Done()
				}
			}()
		}
	})
)

// run executes a launch, its blocks over the cores. A fault in one of them ends it.
func (l *launch) run() *fault {
	l.next.Store(0)
	l.failed.Store(nil)
	l.sum = Count{Launches: 1}
	if l.k.fences && l.blocks > 1 && len(l.fences) < l.blocks {
		l.fences = make([]atomic.Uint32, l.blocks)
	}
	if l.blocks > 1 {
		startHelper()
		for range min(runtime.GOMAXPROCS(0), l.blocks, maxWorkers) - 1 {
			l.workers.Add(1)
			select {
			case helpers <- l:
			default: // all are busy with other streams
				l.workers.Done()
			}
		}
	}
	l.work()
	l.workers.Wait()
	record(l.k.name, l.sum)
	return l.failed.Load()
}

// work runs blocks until there are no more.
func (l *launch) work() {
	b := blockFor(l)
	whole := false
	defer func() {
		l.mu.Lock()
		l.sum.plus(b.traffic)
		l.mu.Unlock()
		if whole {
			l.f.blocks.Put(b)
			return
		}
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			l.failed.CompareAndSwap(nil, &f)
		}
	}()
	for l.failed.Load() == nil {
		i := int(l.next.Add(1)) - 1
		if i >= l.blocks {
			break
		}
		if reversed {
			i = l.blocks - 1 - i
		}
		b.begin(i)
		b.run()
	}
	whole = true
}
