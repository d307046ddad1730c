package main

import (
	"io"
	"unsafe"

	"github.com/adjoint-go/adjoint/bench/worker"
)

// scaling prints what streams of float32 take: the steps of caches and memory, to hold the suite's scaling table
// against.
func scaling(w io.Writer) error {
	a, b := pages(4*worker.Most), pages(4*worker.Most)
	var read, copied []func(thread, half int)
	for _, f := range reads {
		read = append(read, func(t, half int) { f(unsafe.Add(a, t*half), half) })
	}
	for _, f := range copies {
		copied = append(copied, func(t, half int) { f(unsafe.Add(b, t*half), unsafe.Add(a, t*half), half) })
	}
	return worker.Scale(w, worker.Scaled{Name: "read", Seconds: fastest(read)},
		worker.Scaled{Name: "copy", Seconds: fastest(copied)})
}

// fastest is the time of the fastest of several loops over float32, half of them a thread.
func fastest(loops []func(thread, half int)) func(n int) (float64, error) {
	return func(n int) (least float64, err error) {
		for _, f := range loops {
			t, err := worker.Median(func() error {
				both(func(thread int) { f(thread, 2*n) })
				return nil
			}, 0.05)
			if err != nil {
				return 0, err
			}
			if least == 0 || t < least {
				least = t
			}
		}
		return least, nil
	}
}
