package tensor

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// TestAdviseHuge: memory that was touched before is moved to huge pages, those at the ends of a buffer too, and holds
// what it held.
func TestAdviseHuge(t *testing.T) {
	if m := touched(t); syscall.Madvise(m, syscall.MADV_HUGEPAGE) != nil || syscall.Madvise(m, collapse) != nil {
		t.Skip("the system moves nothing to huge pages")
	}
	m := touched(t)
	before, want := hugeKB(t, m), bytes.Clone(m)
	b := m[hugePage/2:][:2*hugePage]
	if adviseHuge(b[:hugeSize-1]); hugeKB(t, m) != before {
		t.Error("a small buffer is moved")
	}
	adviseHuge(b)
	if got := hugeKB(t, m); got != 3*hugePage>>10 {
		t.Errorf("%d kB are on huge pages, want those of 3", got)
	}
	if !bytes.Equal(m, want) {
		t.Error("the memory holds something else")
	}
}

// touched is four huge pages' worth of memory that begins where one may, and is on small ones.
func touched(t *testing.T) []byte {
	m, err := syscall.Mmap(-1, 0, 6*hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	m = m[int(-uintptr(unsafe.Pointer(&m[0]))&(hugePage-1)):][:4*hugePage]
	for i := range m {
		m[i] = byte(i>>12 + 1)
	}
	return m
}

// hugeKB is how much of memory is on huge pages.
func hugeKB(t *testing.T, m []byte) (sum int) {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	from, inside := uint64(uintptr(unsafe.Pointer(&m[0]))), false
	for line := range strings.Lines(string(text)) {
		var lo, hi uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &lo, &hi); n == 2 {
			inside = lo < from+uint64(len(m)) && hi > from
		}
		var kb int
		if n, _ := fmt.Sscanf(line, "AnonHugePages: %d kB", &kb); n == 1 && inside {
			sum += kb
		}
	}
	return sum
}
