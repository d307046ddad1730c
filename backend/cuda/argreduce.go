package cuda

import (
	"unsafe"

	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// argReduceArgs is the mirror of ArgReduce in argreduce.cu.
type argReduceArgs struct {
	linesArgs
	wide uint32
	_    uint32
}

// argReduce is the index along an axis of x's extreme. Lines are worked on as those of a reduction, and the
// best of each piece is kept with its place.
type argReduce struct {
	operands planning.Operands
	args     argReduceArgs
	lineLaunch
	states planning.States[argReduceArgs]
}

// bestBytes is the size of a Best, whatever its key.
const bestBytes = 16

// compileArgReduce makes the kernel.
func compileArgReduce(b *Backend, op ops.ArgReduceOp, out, in []graph.Operand) (graph.Kernel, error) {
	l, err := newLines(in[0].Layout, out[0].Layout, []int{op.Axis}, false)
	if err != nil {
		return nil, err
	}
	name, key := argKernel(op.Fn, in[0].DType)
	k := &argReduce{operands: b.operands(out, in)}
	k.lineLaunch = b.cut(&k.args.linesArgs, &l, false, bestBytes)
	if op.Index == tensor.Int64 {
		k.args.wide = 1
	}
	if k.fold, err = b.function("argreduce", "argreduce_"+name+"_"+l.shape()); err != nil || k.args.pieces == 1 {
		return k, err
	}
	k.join, err = b.function("argreduce", "argreduce_join_"+key.String())
	return k, err
}

// argKernel names the search of a dtype in argreduce.cu, and says which keys it compares.
func argKernel(fn ops.ArgFn, dt tensor.DType) (name string, key tensor.DType) {
	abs := fn == ops.ArgMaxAbsFn || fn == ops.ArgMinAbsFn
	name = "max"
	if fn == ops.ArgMinFn || fn == ops.ArgMinAbsFn {
		name = "min"
	}
	unsigned := dt.IsInteger() && (abs || dt == unsignedOf(dt))
	if abs && dt != unsignedOf(dt) {
		name += "abs"
	}
	wide := dt.Size() == 8 && dt != tensor.Complex64 || dt == tensor.Complex128
	switch {
	case unsigned && wide:
		key = tensor.Uint64
	case unsigned:
		key = tensor.Uint32
	case wide:
		key = tensor.Int64
	default:
		key = tensor.Int32
	}
	return name + "_" + dt.String(), key
}

func (k *argReduce) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.operands.Check(out, in); err != nil {
		return err
	}
	if k.args.lines == 0 {
		return nil
	}
	a := k.states.Get()
	*a = k.args
	a.src, a.dst = addressOf(in[0].View()), addressOf(out[0].View())
	err := k.launch(x.(*Exec), a)
	k.states.Put(a)
	return err
}

func (k *argReduce) launch(x *Exec, a *argReduceArgs) error {
	if k.bytes == 0 {
		return x.launch(k.fold, k.grid, dim3{foldThreads, 1, 1}, 0, unsafe.Pointer(a))
	}
	partial, err := x.scratch(k.bytes)
	if err != nil {
		return err
	}
	defer x.free(partial)
	a.partial = partial.at()
	return k.twice(x, k.fold, k.join, unsafe.Pointer(a))
}
