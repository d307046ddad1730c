package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// ArgReducePlan is an arg-reduction compiled for fixed dtypes and layouts:
//
//	dst[…] = index along axis of the extreme of src[…, :, …]
//
// The destination has the source's extents without the axis, in order, and holds one index per line,
// counted from the start of the logical axis whatever the sign of its stride.
//
// Of elements that tie the lowest index wins; −0 and +0 tie. The first NaN of a line wins over everything,
// for maxima and minima alike; a complex element is NaN when either component is. Magnitudes are the modulus
// that neither overflows nor underflows on the way (rounded to the components' type), and of integers the
// unsigned absolute value, so that |MinInt8| is greater than |MaxInt8|.
type ArgReducePlan struct {
	plan
	index tensor.DType
	fn    ops.ArgFn
}

// argKernel is the part of the kernel that knows the element type. Operands have been checked.
type argKernel interface {
	run(x *Exec, dst tensor.Write, src tensor.Read)
}

// CompileArgReduce validates and plans the arg-reduction fn of elements dt laid out as src, along axis, into
// indices of dtype index laid out as dst.
//
// Errors, in the order of plans: ErrDType for a bool or invalid source, ErrUnsupported for an unknown fn or for
// a complex source without Abs; ErrDType for an index other than int32 and int64; ErrStride; ErrAxis for an axis
// outside of the source's rank, so for every axis of rank 0; ErrShape where dst's shape is not src's without the
// axis; ErrUnsupported for an axis of extent 0, which has no index to give, even where there are no lines;
// ErrOverflow, for an axis too long for an int32 index too; ErrNonInjective.
func CompileArgReduce(dt, index tensor.DType, fn ops.ArgFn, src, dst tensor.Layout, axis int) (
	*ArgReducePlan, error) {
	p := &ArgReducePlan{index: index, fn: fn}
	d := draft.ArgReduce("cpu.ArgReduce", dt, index, fn, src, dst, axis)
	d.Kernel = func(out, in []graph.Operand) (graph.Kernel, error) {
		return &argReducer{planning.Operands{Out: out, In: in}, newArgKernel(p, axis)}, nil
	}
	if err := p.compile(d); err != nil {
		return nil, err
	}
	return p, nil
}

// IndexDType is the destination's element type, int32 or int64.
func (p *ArgReducePlan) IndexDType() tensor.DType { return p.index }

// Fn is the arg-reduction.
func (p *ArgReducePlan) Fn() ops.ArgFn { return p.fn }

// Execute writes the indices of src to dst. Errors: those of every plan.
func (p *ArgReducePlan) Execute(x *Exec, dst tensor.Write, src tensor.Read) error {
	return p.execute(x, []tensor.Write{dst}, []tensor.Read{src})
}

// argReducer is an arg-reduction as a kernel of the graph.
type argReducer struct {
	planning.Operands
	argKernel
}

func compileArgReduce(op ops.ArgReduceOp, out, in graph.Operand) (graph.Kernel, error) {
	if out.DType != op.Index {
		return nil, tensor.Errorf("", tensor.ErrDType, "the result has dtype %s, the attribute says %s",
			out.DType, op.Index)
	}
	p, err := CompileArgReduce(in.DType, op.Index, op.Fn, in.Layout, out.Layout, op.Axis)
	if err != nil {
		return nil, err
	}
	return p.kernel, nil
}

func (k *argReducer) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.Check(out, in); err != nil {
		return err
	}
	k.run(x.(*Exec), out[0], in[0])
	return nil
}
