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

// run executes a launch, its blocks over the cores. A fault in one of them ends it.
func (l *launch) run() *fault {
	workers := min(runtime.GOMAXPROCS(0), l.blocks, maxWorkers)
	if l.k.fences && l.blocks > 1 {
		l.fences = make([]atomic.Uint32, l.blocks)
	}
	var sum Count
	if workers == 1 {
		sum = l.work()
	} else {
		counts := make([]Count, workers)
		var wg sync.WaitGroup
		for i := range counts {
			wg.Go(func() { counts[i] = l.work() })
		}
		wg.Wait()
		for _, c := range counts {
			sum.plus(c)
		}
	}
	sum.Launches = 1
	record(l.k.name, sum)
	return l.failed.Load()
}

// work runs blocks until there are no more.
func (l *launch) work() Count {
	b := blockFor(l)
	defer func() {
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
	l.f.blocks.Put(b)
	return b.traffic
}
