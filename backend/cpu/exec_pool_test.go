package cpu

import (
	"testing"
	"time"
)

// waiting is a body whose chunks do what they are told.
type waiting func(lo int)

func (w waiting) chunk(lo, _ int) { w(lo) }

// TestLateWorker: a worker that comes too late for a region takes part in the next. Regions that the caller did alone
// once kept others off as long as the worker had not seen them.
func TestLateWorker(t *testing.T) {
	x := Threads(2)
	busy, goOn := make(chan int), make(chan int)
	ended := make(chan int)
	go func() { // both threads of this region stay in it
		x.run(2, 1, waiting(func(int) { busy <- 0; <-goOn }))
		close(ended)
	}()
	<-busy
	<-busy
	for range 3 {
		x.run(2, 1, waiting(func(int) {})) // the caller alone
	}
	both := make(chan int)
	time.AfterFunc(time.Millisecond, func() { close(goOn) })
	x.run(2, 1, waiting(func(lo int) { // its chunks meet
		select {
		case both <- lo:
		case <-both:
		case <-time.After(10 * time.Second):
			t.Error("the worker takes no part")
		}
	}))
	<-ended
}
