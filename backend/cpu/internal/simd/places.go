package simd

import (
	"math"
	"unsafe"
)

// Places pairs rows of a table with rows of u: row r of the table is table[Begin+At[r]·Stride:][:Size], that of u
// is u[First+From[r]·Step:][:Size].
type Places struct {
	At, From      []uint32
	Begin, Stride int
	First, Step   int
	Size          int
	Past          bool // what is only written, the table or u, is so large that it is better written past the caches
}

func (p *Places) table(r int) int { return p.Begin + int(p.At[r])*p.Stride }
func (p *Places) u(r int) int     { return p.First + int(p.From[r])*p.Step }

// placeBytes are the kernels that move bytes; nil without assembly.
var placeBytes struct{ gather, gatherPast, set, setPast placesKernel[byte] }

// placesKernel is assembly for the rows of Places: row r of the table is at[r]·stride bytes from its begin, row
// from[r] of u step bytes from the one before. The rows ahead are prefetched.
type placesKernel[K any] func(table, u *K, at, from *uint32, stride, step, rows, bytes, ahead int)

// GatherRows is u's rows = the table's. Where they are Past, FencePast is to follow.
func GatherRows[E any](u, table []E, p *Places) {
	kernel := placeBytes.gather
	if p.Past && wholeLines(unsafe.Pointer(unsafe.SliceData(u)), int(unsafe.Sizeof(*new(E))), p.First, p.Step, p.Size) {
		kernel = placeBytes.gatherPast
	}
	if kernel != nil && walkRows(kernel, table, u, p) {
		return
	}
	for r := range p.At {
		copy(u[p.u(r):][:p.Size], table[p.table(r):][:p.Size])
	}
}

// SetRows is the table's rows = u's, one after another. Where they are Past, FencePast is to follow.
func SetRows[E any](table, u []E, p *Places) {
	kernel := placeBytes.set
	if p.Past && wholeLines(unsafe.Pointer(unsafe.SliceData(table)), int(unsafe.Sizeof(*new(E))), p.Begin, p.Stride, p.Size) {
		kernel = placeBytes.setPast
	}
	if kernel != nil && walkRows(kernel, table, u, p) {
		return
	}
	for r := range p.At {
		copy(table[p.table(r):][:p.Size], u[p.u(r):][:p.Size])
	}
}

// wholeLines reports whether rows of n elements of size bytes, step apart, are cache lines.
func wholeLines(first unsafe.Pointer, size, begin, step, n int) bool {
	return (int(uintptr(first))+begin*size|step*size|n*size)%cacheLine == 0
}

// rowsAtBy does rows by a function of one.
func rowsAtBy[T any](f func(out, a, b []T)) func(table, u []T, p *Places) {
	return func(table, u []T, p *Places) {
		for r := range p.At {
			row := table[p.table(r):][:p.Size]
			f(row, row, u[p.u(r):])
		}
	}
}

// fetchedAhead is how many bytes before its turn a row is prefetched, fetchedRows in how many rows at most: some
// 100 ns at 10 GB/s, and rows of 64 bytes.
const (
	fetchedAhead = 8 << 10
	fetchedRows  = 12
)

// walkRows has a kernel do the rows of places, which it checks. It reports false where that is no work for one:
// rows of less than a register, rows that take a call longer than it should, and steps that are no sizes of rows.
func walkRows[E, K any](kernel placesKernel[K], table, u []E, p *Places) bool {
	const call = 1 << 17 // bytes
	size := int(unsafe.Sizeof(*new(E)))
	bytes := p.Size * size
	if bytes < 32 || bytes > call || uint(p.Stride) > math.MaxInt32 || uint(p.Step) > math.MaxInt32 {
		return false
	}
	at, from := p.At, p.From[:len(p.At)]
	if len(at) > 0 {
		_ = table[p.Begin:][int(greatest(at))*p.Stride:][:p.Size]
		_ = u[p.First:][int(greatest(from))*p.Step:][:p.Size]
	}
	ahead := min(fetchedRows, fetchedAhead/bytes)
	for len(at) > 0 {
		n := min(len(at), call/bytes)
		kernel((*K)(unsafe.Pointer(&table[p.Begin:][0])), (*K)(unsafe.Pointer(&u[p.First:][0])), &at[0], &from[0],
			p.Stride*size, p.Step*size, n, bytes, ahead)
		at, from = at[n:], from[n:]
	}
	return true
}
