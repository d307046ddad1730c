package cuda

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// lineScanArgs is the mirror of Scan in scan.cu.
type lineScanArgs struct {
	y, x, a, at   uint64
	lines, length uint64
	step          [4]int64
	first, along  int64
	exclusive     uint32
	beside        uint32
	kept          lineNest[[4]int64]
	partial       uint64
	piece, pieces uint64
}

// scan is h at each element along an axis. A line's elements are met one after another, by one lane; where
// neighbours of a line are close in memory a warp moves some lines through the block's memory. What has the
// same bits in every order is scanned in pieces where lines are few: their values, what has come to pass
// before each, and then the elements.
type scan struct {
	operands    planning.Operands
	args        lineScanArgs
	indices     bool
	fn          *function
	grid, block dim3
	shared      int
	offsets     *function // of pieces
	apply       *function
	bytes       int // of their values
	states      planning.States[lineScanArgs]
}

// compileScan makes the kernel. It may run in place, unless it is exclusive. Of Max and Min the indices are
// written where they are wanted.
func compileScan(b *Backend, op ops.ScanOp, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	k := &scan{indices: len(out) == 2 && used[1]}
	if !k.indices {
		out = out[:1]
	}
	over := make([]bool, len(in))
	for i := range over {
		over[i] = !op.Exclusive
	}
	k.operands = b.operands(out, in, over...)
	a := &k.args
	a.length, a.along = uint64(in[0].Shape[op.Axis]), 1
	if op.Exclusive {
		a.exclusive = 1
	}
	if op.Reverse {
		a.first, a.along = int64(a.length)-1, -1
	}
	// The operands y, x, a and at; what there is not has the layout of y.
	var kept [4]tensor.Layout
	for i, l := range [4]tensor.Layout{out[0].Layout, in[len(in)-1].Layout, in[0].Layout, out[len(out)-1].Layout} {
		kept[i], _ = planning.Split(l, []int{op.Axis})
		a.step[i] = a.along * int64(l.Strides[op.Axis])
	}
	var err error
	kept = [4]tensor.Layout(planning.ByStride(kept[:]...))
	if a.kept, err = newLineNest[[4]int64](kept[:]...); err != nil {
		return nil, err
	}
	a.lines = uint64(kept[0].Size())
	name := "scan_" + scanKernel(op.Fn, in[0].DType) + "_"
	if anyOrder(op.Fn, in[0].DType) && k.cut(b) {
		return k, k.inPieces(b, name)
	}
	shape := k.divide(b, max(4, in[0].DType.Size())*len(in))
	k.fn, err = b.function("scan", name+shape)
	return k, err
}

// anyOrder reports whether a scan has the same bits in every order.
func anyOrder(fn ops.ScanFn, dt tensor.DType) bool {
	switch fn {
	case ops.ScanMax, ops.ScanMin:
		return true
	case ops.ScanAffine, ops.ScanLogSumExp:
		return false
	}
	return dt == tensor.Bool || dt.IsInteger()
}

const (
	leastPiece  = 1024 // elements
	passedBytes = 16   // of what has come to pass over a piece, whatever its type
)

// cut makes pieces where there are fewer lines than keep the device busy, of some length.
func (k *scan) cut(b *Backend) bool {
	a := &k.args
	met := a.length - uint64(a.exclusive)
	warps := uint64(lineTuning.warps * b.about.Multiprocessors)
	if a.length < 2*leastPiece || a.lines >= warps {
		return false
	}
	var pieces uint32
	a.piece, pieces = piecesFor(met, warps/max(1, a.lines), leastPiece)
	a.pieces = uint64(pieces)
	k.bytes = int(a.lines) * int(pieces) * passedBytes
	k.grid, k.block = b.gridFor(32*a.lines*a.pieces), dim3{foldThreads, 1, 1}
	return true
}

// inPieces finds the kernels of pieces.
func (k *scan) inPieces(b *Backend, name string) (err error) {
	if k.fn, err = b.function("scan", name+"fold"); err != nil {
		return err
	}
	if k.offsets, err = b.function("scan", name+"offsets"); err != nil {
		return err
	}
	k.apply, err = b.function("scan", name+"apply")
	return err
}

// divide chooses who scans a line; size is the bytes of an element of every operand.
func (k *scan) divide(b *Backend, size int) (shape string) {
	a := &k.args
	beside := uint64(0)
	if a.kept.axes > 0 {
		beside = uint64(planning.Magnitude(a.kept.axis[0].step[0]))
	}
	if beside > 0 && beside < uint64(planning.Magnitude(a.step[0])) {
		k.grid, k.block = b.gridFor(a.lines), dim3{foldThreads, 1, 1}
		return "columns"
	}
	const room = 1024 + 32 // elements that a warp moves at a time, and a gap a line
	a.beside = 32
	for a.beside > 1 && a.lines < uint64(a.beside)*uint64(lineTuning.scans*b.about.Multiprocessors) {
		a.beside /= 2
	}
	if k.indices {
		size += 8
	}
	warps := min(foldThreads/32, sharedBytes/(room*size))
	k.shared = warps * room * size
	k.block = dim3{uint32(32 * warps), 1, 1}
	k.grid = b.gridFor((a.lines + uint64(a.beside) - 1) / uint64(a.beside) * foldThreads / uint64(warps))
	return "rows"
}

// scanKernel names the scan of a dtype in scan.cu.
func scanKernel(fn ops.ScanFn, dt tensor.DType) string {
	extreme := fn == ops.ScanMax || fn == ops.ScanMin
	switch {
	case dt == tensor.Bool && (fn == ops.ScanSum || fn == ops.ScanMax):
		return "max_uint8"
	case dt == tensor.Bool && fn != ops.ScanAffine:
		return "min_bool"
	case dt.IsInteger() && !extreme:
		dt = unsignedOf(dt)
	}
	return scanNames[fn] + "_" + dt.String()
}

var scanNames = [...]string{
	ops.ScanSum: "sum", ops.ScanProd: "prod", ops.ScanMax: "max", ops.ScanMin: "min",
	ops.ScanLogSumExp: "logsumexp", ops.ScanAffine: "affine",
}

func (k *scan) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	out = out[:min(len(out), len(k.operands.Out))] // a result that is not wanted may be anything
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.args.length == 0 || k.args.lines == 0 {
		return nil
	}
	a := k.states.Get()
	*a = k.args
	a.y, a.x, a.a = addressOf(out[0].View()), addressOf(in[len(in)-1].View()), addressOf(in[0].View())
	if k.indices {
		a.at = addressOf(out[1].View())
	}
	if a.first > 0 { // the elements of a line that is met from its end
		for i, p := range [4]*uint64{&a.y, &a.x, &a.a, &a.at} {
			size := out[0].DType().Size()
			if i == 3 {
				size = 8
			}
			if *p != 0 {
				*p -= uint64(a.first * a.step[i] * int64(size))
			}
		}
	}
	err := k.launch(x.(*Exec), a)
	k.states.Put(a)
	return err
}

func (k *scan) launch(x *Exec, a *lineScanArgs) error {
	if k.offsets == nil {
		return x.launch(k.fn, k.grid, k.block, k.shared, unsafe.Pointer(a))
	}
	values, err := x.scratch(k.bytes)
	if err != nil {
		return err
	}
	defer x.free(values)
	a.partial = values.at()
	for _, f := range [3]*function{k.fn, k.offsets, k.apply} {
		if err := x.launch(f, k.grid, k.block, 0, unsafe.Pointer(a)); err != nil {
			return err
		}
	}
	return nil
}
