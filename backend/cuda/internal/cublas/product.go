package cublas

import "math"

// Matrix is a matrix in memory: what it takes to the next row and to the next column, in elements.
type Matrix struct {
	Rows, Cols int
	Down, Over int
}

// Product is C = op(A)·op(B) in the library's terms, for each of Batches: column-major matrices, whose columns lie a
// leading dimension apart, and batches, which lie a stride apart, all in elements. A, B and C are addresses.
type Product struct {
	Type                      Type
	TransA, TransB            bool
	M, N, K                   int
	A, B, C                   uint64
	LeadA, LeadB, LeadC       int
	StrideA, StrideB, StrideC int
	Batches                   int
	Swapped                   bool // A is y and B is x
}

// Fit says out = x·y in the library's terms, without addresses and batches. It is false for layouts that the library
// does not take: a matrix must be a run in one direction, and go on in the other. A row-major result is the transposed
// product of the transposed operands.
func Fit(x, y, out Matrix) (p Product, ok bool) {
	if p.LeadC, ok = out.columns(); !ok {
		x, y, out, p.Swapped = y.transposed(), x.transposed(), out.transposed(), true
		if p.LeadC, ok = out.columns(); !ok {
			return p, false
		}
	}
	p.M, p.N, p.K, p.Batches = out.Rows, out.Cols, x.Cols, 1
	if p.LeadA, p.TransA, ok = x.either(); !ok {
		return p, false
	}
	p.LeadB, p.TransB, ok = y.either()
	return p, ok && max(p.M, p.N, p.K) <= math.MaxInt32
}

func (m Matrix) transposed() Matrix { return Matrix{m.Cols, m.Rows, m.Over, m.Down} }

// either is the leading dimension of a matrix that is column-major, or whose transpose is.
func (m Matrix) either() (lead int, trans, ok bool) {
	if lead, ok = m.columns(); ok {
		return lead, false, true
	}
	lead, ok = m.transposed().columns()
	return lead, true, ok
}

// columns is the leading dimension of a column-major matrix: where a direction has one element, its step says nothing.
func (m Matrix) columns() (lead int, ok bool) {
	if m.Rows > 1 && m.Down != 1 {
		return 0, false
	}
	if m.Cols <= 1 {
		return max(1, m.Rows), m.Rows <= math.MaxInt32
	}
	return m.Over, m.Over >= max(1, m.Rows) && m.Over <= math.MaxInt32
}
