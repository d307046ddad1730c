package main

import (
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/adjoint-go/adjoint/bench/worker"
)

// scaling prints what streams of 2¹⁰ to 2²⁶ float32 take: the steps of caches and memory, to hold the suite's
// scaling table against.
func scaling(w io.Writer) error {
	const most = 1 << 26
	a, b := pages(4*most), pages(4*most)
	streams := []struct {
		name  string
		forms []func(n int)
	}{{name: "read"}, {name: "copy"}}
	for _, f := range reads {
		streams[0].forms = append(streams[0].forms, func(n int) {
			both(func(t int) { f(unsafe.Add(a, t*n/2), n/2) })
		})
	}
	for _, f := range copies {
		streams[1].forms = append(streams[1].forms, func(n int) {
			both(func(t int) { f(unsafe.Add(b, t*n/2), unsafe.Add(a, t*n/2), n/2) })
		})
	}
	fmt.Fprintf(w, "%9s", "elements")
	for _, s := range streams {
		fmt.Fprintf(w, " | %10s ms  × ns/elem", s.name)
	}
	fmt.Fprintln(w)
	last := make([]float64, len(streams))
	for n := 1 << 10; n <= most; n *= 2 {
		fmt.Fprintf(w, "%9d", n)
		for i, s := range streams {
			least := 0.0
			for _, f := range s.forms {
				seconds, err := worker.Measure(func() error { f(4 * n); return nil }, 0.05)
				if err != nil {
					return err
				}
				slices.Sort(seconds)
				if t := seconds[len(seconds)/2]; least == 0 || t < least {
					least = t
				}
			}
			growth := "    "
			if last[i] > 0 {
				growth = fmt.Sprintf("%4.1f", least/last[i])
			}
			fmt.Fprintf(w, " | %10.5f %s %7.3f", least*1e3, growth, least*1e9/float64(n))
			last[i] = least
		}
		fmt.Fprintln(w)
	}
	return nil
}
