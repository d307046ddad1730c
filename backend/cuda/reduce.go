package cuda

import (
	"fmt"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/plan"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// reduceArgs is the mirror of Reduce in reduce.cu.
type reduceArgs struct {
	src, dst            uint64
	init                uint64
	partial, top        uint64
	lines, length       uint64
	piece               uint64
	pieces              uint32
	width               uint32
	nextLine, nextPiece uint64
	kept, line          lineNest
}

// reduce is out[kept…] = fold of x over the other axes. Lines whose neighbours are close in memory are folded by a
// warp or a part of one, others by a thread each. Where there are too few lines to keep the device busy, or a
// line is too long for a warp, pieces are folded first, then their values: twice for LogSumExp, whose maximum
// comes first.
type reduce struct {
	operands          plan.Operands
	args              reduceArgs
	fold, join        *function
	topFold, topJoin  *function // of LogSumExp in pieces
	grid, joinGrid    dim3
	partial, topBytes int // bytes of scratch
	states            plan.States[reduceArgs]
}

// compileReduce makes the kernel.
func compileReduce(b *Backend, op ops.ReduceOp, out, in []graph.Operand) (graph.Kernel, error) {
	name, size, ordered := reduceKernel(op.Fn, in[0].DType)
	l, err := newLines(in[0].Layout, out[0].Layout, op.Axes, !ordered)
	if err != nil {
		return nil, err
	}
	if ordered && l.length <= 8 {
		l.columns = true // a thread has them in a sector or two
	}
	k := &reduce{operands: b.operands(out, in)}
	a := &k.args
	*a = reduceArgs{lines: l.count, length: l.length, kept: l.kept, line: l.line}
	k.cut(b, &l, ordered)
	shape := "rows"
	if l.columns {
		shape = "columns"
	}
	k.partial = int(a.lines) * int(a.pieces) * size
	kernels := []struct {
		to   **function
		name string
		when bool
	}{
		{&k.fold, name + "_" + shape, true},
		{&k.join, name + "_join", a.pieces > 1},
		{&k.topFold, "max_" + in[0].DType.String() + "_" + shape, a.pieces > 1 && op.Fn == ops.ReduceLogSumExp},
		{&k.topJoin, "max_" + in[0].DType.String() + "_top", a.pieces > 1 && op.Fn == ops.ReduceLogSumExp},
	}
	for _, f := range kernels {
		if !f.when {
			continue
		}
		if *f.to, err = b.function("reduce", "reduce_"+f.name); err != nil {
			return nil, err
		}
	}
	if k.topFold != nil {
		k.topBytes = int(a.lines) * size
	}
	return k, nil
}

// cut chooses pieces and grids.
func (k *reduce) cut(b *Backend, l *lines, ordered bool) {
	a := &k.args
	warps := uint64(32 * max(1, b.about.Multiprocessors)) // that keep the device busy
	units := max(1, l.count)
	if l.columns {
		a.width = 1
		a.piece, a.pieces = piecesFor(l.length, 32*warps/units, 2*foldBlock)
		a.nextLine, a.nextPiece = 1, l.count
		k.grid = b.gridFor(units * uint64(a.pieces))
	} else {
		a.width = lanesFor(l.length, ordered)
		a.piece, a.pieces = piecesFor(l.length, warps/units, 16*foldBlock)
		a.nextLine, a.nextPiece = uint64(a.pieces), 1
		k.grid = b.gridFor(units * uint64(a.pieces) * uint64(a.width))
	}
	k.joinGrid = b.gridFor(32 * units)
}

// reduceKernel names the fold of a dtype in reduce.cu, and says how large the values are that it joins and whether
// it follows the tree.
func reduceKernel(fn ops.ReduceFn, dt tensor.DType) (name string, size int, ordered bool) {
	extreme := fn == ops.ReduceMax || fn == ops.ReduceMin
	size = max(4, dt.Size())
	switch {
	case dt == tensor.Bool:
		if fn == ops.ReduceSum || fn == ops.ReduceMax {
			return "max_uint8", size, false
		}
		return "all_bool", size, false
	case dt.IsInteger() && !extreme:
		dt = unsignedOf(dt)
	case !extreme:
		ordered = true
		if dt == tensor.Complex64 && fn == ops.ReduceProd {
			size = 16
		}
	}
	return fmt.Sprintf("%s_%s", reduceNames[fn], dt), size, ordered
}

var reduceNames = [...]string{
	ops.ReduceSum: "sum", ops.ReduceProd: "prod", ops.ReduceMax: "max", ops.ReduceMin: "min",
	ops.ReduceLogSumExp: "logsumexp",
}

// unsignedOf is the unsigned type of an integer's size.
func unsignedOf(dt tensor.DType) tensor.DType {
	switch dt.Size() {
	case 1:
		return tensor.Uint8
	case 2:
		return tensor.Uint16
	case 4:
		return tensor.Uint32
	}
	return tensor.Uint64
}

func (k *reduce) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.args.lines == 0 {
		return nil
	}
	a := k.states.Get()
	*a = k.args
	a.src, a.dst = addressOf(in[0].View()), addressOf(out[0].View())
	if len(in) == 2 {
		a.init = addressOf(in[1].View())
	}
	err := k.launch(x.(*Exec), a)
	k.states.Put(a)
	return err
}

func (k *reduce) launch(x *Exec, a *reduceArgs) error {
	if k.join == nil {
		return x.launch(k.fold, k.grid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(a))
	}
	partial, err := x.scratch(k.partial + k.topBytes)
	if err != nil {
		return err
	}
	defer x.free(partial)
	a.partial, a.top = partial.at(), partial.at()+uint64(k.partial)
	if k.topFold != nil {
		if err := k.twice(x, a, k.topFold, k.topJoin); err != nil {
			return err
		}
	}
	return k.twice(x, a, k.fold, k.join)
}

// twice folds the pieces, then their values.
func (k *reduce) twice(x *Exec, a *reduceArgs, fold, join *function) error {
	if err := x.launch(fold, k.grid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(a)); err != nil {
		return err
	}
	return x.launch(join, k.joinGrid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(a))
}
