// Probe measures what the machine can do at most, on two threads and huge pages: streams, rows, multiply-adds.
// It is a contender like the others; its cases are the limits, its forms the loops that could be fastest.
package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"github.com/adjoint-go/adjoint/bench/cases"
	"github.com/adjoint-go/adjoint/bench/worker"
)

func main() {
	go second()
	if len(os.Args) > 1 && os.Args[1] == "-scaling" {
		if err := scaling(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "probe:", err)
			os.Exit(1)
		}
		return
	}
	var m memory
	worker.Serve(func(limit string, _ []worker.Array) ([]worker.Run, error) {
		if !supported() {
			return nil, fmt.Errorf("the probe needs AVX2 and FMA")
		}
		if m.a == nil {
			m = memory{pages(cases.Stream), pages(cases.Stream), pages(cases.Stream)}
		}
		return m.forms(cases.SplitLimit(limit)), nil
	})
}

// memory is three operands of the suite's streams; the first holds the table of rows too.
type memory struct{ a, b, c unsafe.Pointer }

func (m memory) forms(kind string, row int) (runs []worker.Run) {
	form := func(f func(thread int)) {
		runs = append(runs, worker.Run{
			Name: fmt.Sprint(len(runs)),
			Do:   func() error { both(f); return nil },
			Outs: func(string) ([]worker.Array, error) { return nil, nil },
		})
	}
	const half = cases.Stream / 2
	at := func(p unsafe.Pointer, thread int) unsafe.Pointer { return unsafe.Add(p, thread*half) }
	switch kind {
	case cases.Read:
		for _, f := range reads {
			form(func(t int) { f(at(m.a, t), half) })
		}
	case cases.Copy:
		for _, f := range copies {
			form(func(t int) { f(at(m.b, t), at(m.a, t), half) })
		}
	case cases.Add:
		for _, f := range adds {
			form(func(t int) { f(at(m.c, t), at(m.a, t), at(m.b, t), half) })
		}
	case cases.Gather, cases.Scatter:
		loops := gathers
		if kind == cases.Scatter {
			loops = scatters
		}
		n := cases.Moved / row
		idx := make([]int64, n+ahead)
		places := cases.Index(1, cases.Rows*1024/row, n)
		for i := range idx {
			idx[i] = places.Place(i)
		}
		for _, f := range loops {
			form(func(t int) { f(unsafe.Add(m.b, t*cases.Moved/2), m.a, &idx[t*n/2], n/2, row) })
		}
	case cases.FMA:
		for _, f := range fmas {
			form(func(int) { f.run(cases.FMARounds / f.lanes) })
		}
	}
	return runs
}

// pages is zeroed memory on huge pages, where the system has them.
func pages(n int) unsafe.Pointer {
	const huge, advice = 2 << 20, 14 // MADV_HUGEPAGE
	const access, kind = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_ANON | syscall.MAP_PRIVATE
	b, err := syscall.Mmap(-1, 0, n+huge, access, kind)
	if err != nil {
		panic(err)
	}
	off := -uintptr(unsafe.Pointer(&b[0])) & (huge - 1)
	b = b[off : off+uintptr(n)]
	syscall.Madvise(b, advice) // a system without them is slower, not wrong
	clear(b)                   // a page that was only read would be the one page of zeros
	return unsafe.Pointer(&b[0])
}
