package main

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func read32(p unsafe.Pointer, n int)

//go:noescape
func read64(p unsafe.Pointer, n int)

//go:noescape
func copy32(dst, p unsafe.Pointer, n int)

//go:noescape
func copy64(dst, p unsafe.Pointer, n int)

//go:noescape
func copyPast32(dst, p unsafe.Pointer, n int)

//go:noescape
func copyPast64(dst, p unsafe.Pointer, n int)

//go:noescape
func add32(dst, p, q unsafe.Pointer, n int)

//go:noescape
func add64(dst, p, q unsafe.Pointer, n int)

//go:noescape
func addPast32(dst, p, q unsafe.Pointer, n int)

//go:noescape
func addPast64(dst, p, q unsafe.Pointer, n int)

//go:noescape
func gather(dst, tab unsafe.Pointer, idx *int64, n, w int)

//go:noescape
func gatherPast(dst, tab unsafe.Pointer, idx *int64, n, w int)

//go:noescape
func scatter(src, tab unsafe.Pointer, idx *int64, n, w int)

func fma32(n int)

func fma64(n int)

// The loops to try: the fastest is the limit.
var (
	reads    = []func(p unsafe.Pointer, n int){read32}
	copies   = []func(dst, p unsafe.Pointer, n int){move, copy32, copyPast32}
	adds     = []func(dst, p, q unsafe.Pointer, n int){add32, addPast32}
	gathers  = []func(dst, tab unsafe.Pointer, idx *int64, n, w int){gather, gatherPast}
	scatters = []func(src, tab unsafe.Pointer, idx *int64, n, w int){scatter}
	fmas     = []chains{{fma32, 8}}
)

const ahead = 12 // rows prefetched

// chains do n rounds of multiply-adds in twelve vectors.
type chains struct {
	run   func(n int)
	lanes int
}

func init() {
	if cpu.X86.HasAVX512F {
		reads, fmas = append(reads, read64), append(fmas, chains{fma64, 16})
		copies, adds = append(copies, copy64, copyPast64), append(adds, add64, addPast64)
	}
}

func supported() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

func move(dst, p unsafe.Pointer, n int) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(p), n))
}
