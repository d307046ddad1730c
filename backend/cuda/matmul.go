package cuda

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// matmulArgs is the mirror of MatMul in matmul.cu.
type matmulArgs struct {
	x, y, out, partial     uint64
	batches, m, n, k       uint64
	tilesM, tilesN, blocks uint64
	xRow, xCol, yRow, yCol int64
	outRow, outCol         int64
	xDown, yDown           uint32
	batch                  lineNest[[3]int64]
}

// matmul is out[b…, i, j] = Σₖ x[b…, i, k]·y[b…, k, j]: a block of threads a tile of the result, or, where
// there are too few tiles to keep the device busy, a tile of the sums over 256 k, which are added in order
// by a second kernel.
type matmul struct {
	operands       planning.Operands
	args           matmulArgs
	fn, join       *function
	grid, joinGrid dim3
	bytes          int // of the sums of blocks of k
	states         planning.States[matmulArgs]
}

const (
	matmulDepth    = 256      // of k: DEPTH of matmul.cu
	matmulPartials = 64 << 20 // bytes of sums at most
)

// compileMatMul makes the kernel.
func compileMatMul(b *Backend, out, in []graph.Operand) (graph.Kernel, error) {
	if k := compileProduct(b, out, in); k != nil {
		return k, nil
	}
	x, y, to := in[0], in[1], out[0]
	r := x.Rank()
	batch, err := newLineNest[[3]int64](batchOf(x), batchOf(y), batchOf(to))
	if err != nil {
		return nil, err
	}
	k := &matmul{operands: b.operands(out, in)}
	k.args = matmulArgs{
		batches: uint64(batchOf(x).Size()),
		m:       uint64(x.Shape[r-2]), n: uint64(y.Shape[r-1]), k: uint64(x.Shape[r-1]),
		xRow: int64(x.Strides[r-2]), xCol: int64(x.Strides[r-1]),
		yRow: int64(y.Strides[r-2]), yCol: int64(y.Strides[r-1]),
		outRow: int64(to.Strides[r-2]), outCol: int64(to.Strides[r-1]), batch: batch,
	}
	a := &k.args
	a.blocks = max(1, (a.k+matmulDepth-1)/matmulDepth)
	a.xDown, a.yDown = down(a.xRow, a.xCol), down(a.yRow, a.yCol)
	dt := x.DType
	if dt.IsInteger() {
		dt = unsignedOf(dt)
	}
	size := k.divide(b, dt)
	if k.fn, err = b.function("matmul", "matmul_"+dt.String()+"_"+size); err != nil || k.bytes == 0 {
		return k, err
	}
	k.join, err = b.function("matmul", "matmul_"+dt.String()+"_join")
	return k, err
}

func batchOf(o graph.Operand) tensor.Layout {
	r := o.Rank()
	return tensor.Layout{Shape: o.Shape[:r-2], Strides: o.Strides[:r-2]}
}

// down reports whether neighbours in memory are those of a column.
func down(row, col int64) uint32 {
	if row, col = planning.Magnitude(row), planning.Magnitude(col); row > 0 && (row < col || col == 0) {
		return 1
	}
	return 0
}

// divide chooses tiles, and whether blocks of k are summed apart.
func (k *matmul) divide(b *Backend, dt tensor.DType) (size string) {
	a := &k.args
	busy := uint64(lineTuning.tiles * b.about.Multiprocessors) // blocks of threads
	tiles := func(m, n uint64) uint64 {
		a.tilesM, a.tilesN = (a.m+m-1)/m, (a.n+n-1)/n
		return a.batches * a.tilesM * a.tilesN
	}
	work := uint64(0)
	if dt.IsFloat() {
		size = "large"
		if work = tiles(128, 64); dt == tensor.Float64 {
			work = tiles(64, 64)
		}
	}
	if size == "" || work < busy {
		size, work = "small", tiles(32, 32)
	}
	accumulator := max(4, dt.Size())
	if dt == tensor.Complex64 {
		accumulator = 16
	}
	bytes := a.batches * a.blocks * a.m * a.n * uint64(accumulator)
	if work < busy && a.blocks > 1 && bytes <= matmulPartials {
		k.bytes = int(bytes)
		work *= a.blocks
	}
	k.grid = dim3{uint32(max(1, min(work, 1<<30))), 1, 1}
	k.joinGrid = b.gridFor(a.batches * a.m * a.n)
	return size
}

func (k *matmul) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.args.batches == 0 || k.args.m == 0 || k.args.n == 0 {
		return nil
	}
	a := k.states.Get()
	*a = k.args
	a.x, a.y, a.out = addressOf(in[0].View()), addressOf(in[1].View()), addressOf(out[0].View())
	err := k.launch(x.(*Exec), a)
	k.states.Put(a)
	return err
}

func (k *matmul) launch(x *Exec, a *matmulArgs) error {
	block := dim3{foldThreads, 1, 1}
	if k.bytes == 0 {
		return x.launch(k.fn, k.grid, block, 0, unsafe.Pointer(a))
	}
	partial, err := x.scratch(k.bytes)
	if err != nil {
		return err
	}
	defer x.free(partial)
	a.partial = partial.at()
	if err := x.launch(k.fn, k.grid, block, 0, unsafe.Pointer(a)); err != nil {
		return err
	}
	return x.launch(k.join, k.joinGrid, block, 0, unsafe.Pointer(a))
}
