package simd

import "unsafe"

// Places pairs rows of a table with rows of u: row r of the table is table[Begin+At[r]:][:Size], that of u is
// u[First+From[r]·Step:][:Size].
type Places struct {
	At, From    []int
	Begin       int
	First, Step int
	Size        int
}

// placeBytes are the kernels that move bytes; nil without assembly.
var placeBytes struct{ gather, set placesKernel[byte] }

// placesKernel is assembly for the rows of Places: row r of the table is at[r] elements of size bytes from its
// begin, row from[r] of u step bytes from the one before.
type placesKernel[K any] func(table, u *K, at, from *int, size, step, rows, bytes int)

// GatherRows is u's rows = the table's.
func GatherRows[E any](u, table []E, p *Places) {
	if placeBytes.gather != nil && walkRows(placeBytes.gather, table, u, p) {
		return
	}
	for r, o := range p.At {
		copy(u[p.First+p.From[r]*p.Step:][:p.Size], table[p.Begin+o:][:p.Size])
	}
}

// SetRows is the table's rows = u's, one after another.
func SetRows[E any](table, u []E, p *Places) {
	if placeBytes.set != nil && walkRows(placeBytes.set, table, u, p) {
		return
	}
	for r, o := range p.At {
		copy(table[p.Begin+o:][:p.Size], u[p.First+p.From[r]*p.Step:][:p.Size])
	}
}

// rowsAtBy does rows by a function of one.
func rowsAtBy[T any](f func(out, a, b []T)) func(table, u []T, p *Places) {
	return func(table, u []T, p *Places) {
		for r, o := range p.At {
			row := table[p.Begin+o:][:p.Size]
			f(row, row, u[p.First+p.From[r]*p.Step:])
		}
	}
}

// walkRows has a kernel do the rows of places, which it checks. It reports false where that is no work for one:
// rows of less than a register, and rows that take a call longer than it should.
func walkRows[E, K any](kernel placesKernel[K], table, u []E, p *Places) bool {
	const call = 1 << 17 // bytes
	size := int(unsafe.Sizeof(*new(E)))
	bytes := p.Size * size
	if bytes < 32 || bytes > call {
		return false
	}
	at, from := p.At, p.From[:len(p.At)]
	for r, o := range at {
		_, _ = table[p.Begin+o:][:p.Size], u[p.First+from[r]*p.Step:][:p.Size]
	}
	for len(at) > 0 {
		n := min(len(at), call/bytes)
		kernel((*K)(unsafe.Pointer(&table[p.Begin:][0])), (*K)(unsafe.Pointer(&u[p.First:][0])), &at[0], &from[0], size,
			p.Step*size, n, bytes)
		at, from = at[n:], from[n:]
	}
	return true
}
