package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// CopyPlan is a copy between any two layouts of one shape, compiled for a dtype and the layouts:
//
//	dst[i…] = src[i…]
//
// All bits are kept, those of NaNs too. A source with strides of 0 is a broadcast.
type CopyPlan struct{ plan }

// CompileCopy plans the copy of elements dt laid out as src into dst.
//
// Errors, in the order of plans: ErrDType; ErrStride; ErrShape where the shapes differ; ErrOverflow;
// ErrNonInjective.
func CompileCopy(dt tensor.DType, src, dst tensor.Layout) (*CopyPlan, error) {
	from, to := draft.Of("source", dt, src), draft.Of("destination", dt, dst)
	p := new(CopyPlan)
	err := p.compile(draft.Plan{
		Name: "cpu.Copy", In: []draft.Operand{from}, Out: []draft.Operand{to},
		DTypes: func() error { return draft.ValidDType(dt) },
		Shapes: func() error { return to.Fits(from.Shape, "that of the source") },
		Kernel: func(out, in []graph.Operand) (graph.Kernel, error) { return compileCopy(out[0], in[0]) },
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Execute copies src to dst. Errors: those of every plan.
func (p *CopyPlan) Execute(x *Exec, dst tensor.Write, src tensor.Read) error {
	return p.execute(x, []tensor.Write{dst}, []tensor.Read{src})
}
