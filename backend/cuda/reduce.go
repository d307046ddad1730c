package cuda

import (
	"fmt"
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// reduceArgs is the mirror of Reduce in reduce.cu.
type reduceArgs struct {
	linesArgs
	init, top uint64
}

// reduce is out[kept…] = fold of x over the other axes. Lines whose neighbours are close in memory are
// folded by a warp or a part of one, others by a thread each. Where there are too few lines to keep the
// device busy, or a line is too long for a warp, pieces are folded first, then their values: twice for
// LogSumExp, whose maximum comes first.
type reduce struct {
	operands planning.Operands
	args     reduceArgs
	lineLaunch
	topFold, topJoin *function // of LogSumExp in pieces
	topAt            int       // where maxima lie in scratch
	states           planning.States[reduceArgs]
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
	k.lineLaunch = b.cut(&k.args.linesArgs, &l, ordered, size)
	if k.fold, err = b.function("reduce", "reduce_"+name+"_"+l.shape()); err != nil || k.args.pieces == 1 {
		return k, err
	}
	if k.join, err = b.function("reduce", "reduce_"+name+"_join"); err != nil || op.Fn != ops.ReduceLogSumExp {
		return k, err
	}
	top := "reduce_max_" + in[0].DType.String()
	if k.topFold, err = b.function("reduce", top+"_"+l.shape()); err != nil {
		return nil, err
	}
	k.topAt = k.bytes
	k.bytes += int(l.count) * size
	k.topJoin, err = b.function("reduce", top+"_top")
	return k, err
}

// reduceKernel names the fold of a dtype in reduce.cu, and says how large the values are that it joins and
// whether it follows the tree.
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
	init := uint64(0)
	if len(in) == 2 {
		init = addressOf(in[1].View())
	}
	return k.start(x.(*Exec), addressOf(in[0].View()), addressOf(out[0].View()), init)
}

// start folds what lies at one address to another; init is that of the init element, or 0.
func (k *reduce) start(x *Exec, src, dst, init uint64) error {
	if k.args.lines == 0 {
		return nil
	}
	a := k.states.Get()
	*a = k.args
	a.src, a.dst, a.init = src, dst, init
	a.pair(k.operands.In[0].DType.Size())
	err := k.launch(x, a)
	k.states.Put(a)
	return err
}

func (k *reduce) launch(x *Exec, a *reduceArgs) error {
	if k.bytes == 0 {
		return x.launch(k.fold, k.grid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(a))
	}
	partial, err := x.scratch(k.bytes)
	if err != nil {
		return err
	}
	defer x.free(partial)
	a.partial, a.top = partial.at(), partial.at()+uint64(k.topAt)
	if k.topFold != nil {
		if err := k.twice(x, k.topFold, k.topJoin, unsafe.Pointer(a)); err != nil {
			return err
		}
	}
	return k.twice(x, k.fold, k.join, unsafe.Pointer(a))
}
