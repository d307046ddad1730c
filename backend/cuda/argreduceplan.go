package cuda

import (
	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// ArgReducePlan is an arg-reduction compiled for fixed dtypes and layouts, as cpu.ArgReducePlan, with the same bits:
//
//	dst[…] = index along axis of the extreme of src[…, :, …]
type ArgReducePlan struct {
	b      *Backend
	name   string
	kernel graph.Kernel
}

// CompileArgReduce validates and plans the arg-reduction fn of elements dt laid out as src, along axis, into indices
// of dtype index laid out as dst. Errors: those of cpu.CompileArgReduce, in the same order; then
// tensor.ErrUnsupported for layouts of more than 16 axes that cannot be joined.
func (b *Backend) CompileArgReduce(dt, index tensor.DType, fn ops.ArgFn, src, dst tensor.Layout, axis int) (
	*ArgReducePlan, error) {
	d := draft.ArgReduce("cuda.ArgReduce", dt, index, fn, src, dst, axis)
	if err := d.Check(); err != nil {
		return nil, err
	}
	k, err := compileArgReduce(b, ops.ArgReduceOp{Fn: fn, Axis: axis, Index: index},
		draft.OperandsOf(d.Out), draft.OperandsOf(d.In))
	if err != nil {
		return nil, draft.Named(d.Name, err)
	}
	return &ArgReducePlan{b, d.Name, k}, nil
}

// Execute writes the indices of src to dst, both on the device, and waits until they are there. Errors:
// tensor.ErrDType, tensor.ErrPlanMismatch, tensor.ErrPlacement and tensor.ErrOverlap before the first write; ErrFault.
func (p *ArgReducePlan) Execute(dst tensor.Write, src tensor.Read) error {
	return draft.Named(p.name, graph.RunKernel(p.b, p.kernel, []tensor.Write{dst}, []tensor.Read{src}))
}
