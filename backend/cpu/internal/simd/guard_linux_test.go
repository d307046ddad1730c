package simd

import (
	"syscall"
	"testing"
	"unsafe"
)

// guarded is memory for n elements between two pages that may not be touched.
func guarded[T any](t testing.TB, n int) []T {
	page := syscall.Getpagesize()
	size := (n*int(unsafe.Sizeof(*new(T))) + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, guard := range [][]byte{all[:page], all[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	mid := all[page : page+size]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mid))), size/int(unsafe.Sizeof(*new(T))))
}
