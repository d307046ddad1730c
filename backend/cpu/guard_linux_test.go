package cpu

import (
	"os"
	"syscall"
	"testing"
)

// guarded is memory between two pages that nothing may touch: a kernel that leaves it dies at once.
type guarded struct{ data []byte }

// newGuarded maps at least n bytes.
func newGuarded(t testing.TB, n int) *guarded {
	t.Helper()
	page := os.Getpagesize()
	inner := (n + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, p := range [][]byte{all[:page], all[page+inner:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return &guarded{all[page : page+inner : page+inner]}
}

// front and back are n bytes beside the page before, or the page behind.
func (g *guarded) front(n int) []byte { return g.data[:n:n] }

func (g *guarded) back(n int) []byte { return g.data[len(g.data)-n:] }
