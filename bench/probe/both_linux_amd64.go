package main

import (
	"sync/atomic"
	"time"
)

// The second thread waits for work spinning, since a wake-up would be measured too, and sleeps when there was
// none for a while.
var (
	work        func(thread int)
	asked, done atomic.Int64
	asleep      atomic.Bool
	wake        = make(chan struct{}, 1)
)

const spin = 2 * time.Millisecond

// second is the second thread: it does each work that is asked for.
func second() {
	for n := int64(1); ; n++ {
		for began := time.Now(); asked.Load() < n; {
			if time.Since(began) < spin {
				continue
			}
			asleep.Store(true)
			if asked.Load() < n {
				<-wake
			}
			asleep.Store(false)
		}
		work(1)
		done.Store(n)
	}
}

// both runs f on two threads.
func both(f func(thread int)) {
	work = f
	n := asked.Add(1)
	if asleep.Load() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	f(0)
	for done.Load() < n {
	}
}
