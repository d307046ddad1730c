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

// offer asks a helper for its part of a launch; it is taken back where the launch ends before a helper wakes.
type offer = atomic.Pointer[launch]

// helpers take offers: goroutines beside those who wait, started with the first launch that is worth it.
var (
	helpers = make(chan *offer)
	started sync.Once
)

func startHelpers() {
	for range min(runtime.GOMAXPROCS(0), maxWorkers) - 1 {
		go func() {
			for o := range helpers {
				if l := o.Swap(nil); l != nil {
					l.work(false)
					l.workers.Done()
				}
			}
		}()
	}
}

// worthHelp is how many instructions of lanes must be left for helpers to be asked: they take longer to wake than what
// is less.
const worthHelp = 1 << 17

// run executes a launch, its blocks over the cores. A fault in one of them ends it.
func (l *launch) run() *fault {
	l.next.Store(0)
	l.failed.Store(nil)
	l.sum = Count{Launches: 1}
	if l.k.fences && l.blocks > 1 && len(l.fences) < l.blocks {
		l.fences = make([]atomic.Uint32, l.blocks)
	}
	l.work(true)
	for _, o := range l.offers {
		if o.Swap(nil) != nil {
			l.workers.Done()
		}
	}
	l.offers = l.offers[:0]
	l.workers.Wait()
	record(l.k.name, l.sum)
	return l.failed.Load()
}

// ask looks for up to n helpers.
func (l *launch) ask(n int) {
	started.Do(startHelpers)
	for range n {
		o := new(offer)
		o.Store(l)
		l.workers.Add(1)
		select {
		case helpers <- o:
			l.offers = append(l.offers, o)
		default: // all are busy with other launches
			l.workers.Done()
			return
		}
	}
}

// work runs blocks until there are no more. Who begins a launch asks for help once its first block tells what the
// others will take.
func (l *launch) work(begins bool) {
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
		if begins {
			begins = false
			if left := l.blocks - 1; b.traffic.Threads*int64(left) > worthHelp {
				l.ask(min(runtime.GOMAXPROCS(0), left+1, maxWorkers) - 1)
			}
		}
	}
	whole = true
}
