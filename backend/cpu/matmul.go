package cpu

import (
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu/internal/simd"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// matmul is out[b…, i, j] = Σₖ x[b…, i, k]·y[b…, k, j].
//
// The order of every sum is fixed by the extents: k is cut in blocks of 256; in a block the products, each
// rounded by itself, are added one after another to 0, and the sums of the blocks are added in order. Halves
// are multiplied and added in float32 and complex64 in complex128, rounded once; integers wrap; for bool it
// is the or of ands. Floats, and halves in float32, are multiplied by gemm instead where the CPU has fused
// multiply-adds.
//
// It is bound by arithmetic. The inner loop adds 8 rows of y, each times a scalar of x, to a row of the
// result: 8 products and 8 sums for 9 loads and a store, independent from column to column, and rows of y are
// used where they lie if they are contiguous. Measured on one core, 2.9 GHz Xeon: 10 GFLOP/s of float32.
type matmul[E tensor.Element, A summable] struct {
	operands planning.Operands
	rows     rowsOf[E, A]
	mac      mac[A]
	add      func(out, a, b []A)
	batch    nest // operand 0 the result, 1 and 2 the matrices
	m, k, n  int
	first    int    // the operand whose elements are the scalars: 0, or 1 where the product is transposed
	x, y, c  matrix // x holds the scalars, y the rows
	width    int    // columns of a strip

	states planning.States[matmulRun[E, A]]
	spare  planning.States[matmulScratch[A]]
}

// matrix is the distances between neighbouring rows and columns.
type matrix struct{ row, col int }

// mac is the multiply-accumulate of a type. Row r of y is y[at + r·stride:].
type mac[A any] struct {
	eight func(c, y []A, at, stride int, x *[8]A) // c ← c + x₀·y₀ + … + x₇·y₇, from the left
	one   func(c, y []A, x A)                     // c ← c + x·y
}

const (
	matmulBlock = 256 // of k
	matmulStrip = 512 // bytes of columns
)

func compileMatMul(_ ops.MatMulOp, out, x, y graph.Operand) (graph.Kernel, error) {
	if err := validMatMul(out, x, y); err != nil {
		return nil, err
	}
	switch x.DType {
	case tensor.Bool:
		return newMatMul(out, x, y, boolCounts, macOf[uint64]()), nil
	case tensor.Int8:
		return newMatMul(out, x, y, sameRows[int8](), macOf[int8]()), nil
	case tensor.Int16:
		return newMatMul(out, x, y, sameRows[int16](), macOf[int16]()), nil
	case tensor.Int32:
		return newMatMul(out, x, y, sameRows[int32](), macOf[int32]()), nil
	case tensor.Int64:
		return newMatMul(out, x, y, sameRows[int64](), macOf[int64]()), nil
	case tensor.Uint8:
		return newMatMul(out, x, y, sameRows[uint8](), macOf[uint8]()), nil
	case tensor.Uint16:
		return newMatMul(out, x, y, sameRows[uint16](), macOf[uint16]()), nil
	case tensor.Uint32:
		return newMatMul(out, x, y, sameRows[uint32](), macOf[uint32]()), nil
	case tensor.Uint64:
		return newMatMul(out, x, y, sameRows[uint64](), macOf[uint64]()), nil
	case tensor.Float16:
		return newFloatMatMul(out, x, y, float16Rows), nil
	case tensor.BFloat16:
		return newFloatMatMul(out, x, y, bfloat16Rows), nil
	case tensor.Float32:
		return newFloatMatMul(out, x, y, sameRows[float32]()), nil
	case tensor.Float64:
		return newFloatMatMul(out, x, y, sameRows[float64]()), nil
	case tensor.Complex64:
		return newMatMul(out, x, y, complex64Rows, macComplex), nil
	}
	return newMatMul(out, x, y, sameRows[complex128](), macComplex), nil
}

// newFloatMatMul takes tiles of fused multiply-adds where the CPU has them. Without k there is nothing to fuse.
func newFloatMatMul[E tensor.Element, A float](out, x, y graph.Operand, rows rowsOf[E, A]) graph.Kernel {
	if simd.TileOf[A](1) != nil && x.Shape[x.Rank()-1] > 0 {
		return newGemm(out, x, y, rows)
	}
	return newMatMul(out, x, y, rows, macOf[A]())
}

// validMatMul makes the errors: ErrDType, ErrRank, ErrShape.
func validMatMul(out, x, y graph.Operand) error {
	r := x.Rank()
	switch {
	case !x.DType.Valid() || y.DType != x.DType || out.DType != x.DType:
		return tensor.Errorf("", tensor.ErrDType, "matrix product of %s and %s to %s",
			x.DType, y.DType, out.DType)
	case r < 2 || y.Rank() != r:
		return tensor.Errorf("", tensor.ErrRank, "matrix product of shapes %v and %v: want the same rank, 2 or more",
			x.Shape, y.Shape)
	case x.Shape[r-1] != y.Shape[r-2] || !slices.Equal(x.Shape[:r-2], y.Shape[:r-2]):
		return tensor.Errorf("", tensor.ErrShape, "matrix product of shapes %v and %v", x.Shape, y.Shape)
	}
	if want := append(slices.Clone(x.Shape[:r-1]), y.Shape[r-1]); !slices.Equal(out.Shape, want) {
		return tensor.Errorf("", tensor.ErrShape, "the result has shape %v, want %v", out.Shape, want)
	}
	return nil
}

func newMatMul[E tensor.Element, A summable](out, x, y graph.Operand, rows rowsOf[E, A],
	mac mac[A]) graph.Kernel {
	r := x.Rank()
	p := &matmul[E, A]{
		operands: planning.Operands{Out: []graph.Operand{out}, In: []graph.Operand{x, y}}, rows: rows, mac: mac,
		add:   simd.SumsOf[A]().Row,
		batch: newNest(batchOf(out), batchOf(x), batchOf(y)),
		m:     x.Shape[r-2], k: x.Shape[r-1], n: y.Shape[r-1],
		x: matrixOf(x), y: matrixOf(y), c: matrixOf(out),
		width: matmulStrip / sizeOf[A](),
	}
	if p.n < 8 && p.m > p.n { // short rows: compute the transposed product, whose rows are long
		p.first = 1
		p.m, p.n = p.n, p.m
		p.x, p.y, p.c = p.y.transposed(), p.x.transposed(), p.c.transposed()
	}
	return p
}

func batchOf(o graph.Operand) tensor.Layout {
	r := o.Rank()
	return tensor.Layout{Shape: o.Shape[:r-2], Strides: o.Strides[:r-2], Offset: o.Offset}
}

func matrixOf(o graph.Operand) matrix {
	r := o.Rank()
	return matrix{o.Strides[r-2], o.Strides[r-1]}
}

func (m matrix) transposed() matrix { return matrix{m.col, m.row} }

func macOf[A number]() mac[A] { return mac[A]{macEight[A], macOne[A]} }

var macComplex = mac[complex128]{macComplexEight, macComplexOne}

func macEight[A number](c, y []A, at, stride int, x *[8]A) {
	n := len(c)
	y0, y1, y2, y3 := y[at:][:n], y[at+stride:][:n], y[at+2*stride:][:n], y[at+3*stride:][:n]
	at += 4 * stride
	y4, y5, y6, y7 := y[at:][:n], y[at+stride:][:n], y[at+2*stride:][:n], y[at+3*stride:][:n]
	x0, x1, x2, x3, x4, x5, x6, x7 := x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
	for j, v := range c {
		v = v + A(x0*y0[j]) + A(x1*y1[j]) + A(x2*y2[j]) + A(x3*y3[j])
		c[j] = v + A(x4*y4[j]) + A(x5*y5[j]) + A(x6*y6[j]) + A(x7*y7[j])
	}
}

func macOne[A number](c, y []A, x A) {
	y = y[:len(c)]
	for j, v := range c {
		c[j] = v + A(x*y[j])
	}
}

func macComplexEight(c, y []complex128, at, stride int, x *[8]complex128) {
	for r, v := range x {
		macComplexOne(c, y[at+r*stride:], v)
	}
}

func macComplexOne(c, y []complex128, x complex128) {
	y = y[:len(c)]
	for j, v := range c {
		c[j] = v + product(x, y[j])
	}
}
