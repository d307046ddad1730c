package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// plan is what the public plans share: a kernel, what it was compiled for, and the discipline of both that the
// package's documentation states.
type plan struct {
	name     string
	dt       tensor.DType
	operands planning.Operands
	kernel   graph.Kernel
	runs     planning.States[planRun]
}

// DType is the element type of the source.
func (p *plan) DType() tensor.DType { return p.dt }

// planRun is the operands of one run: what a kernel is called with escapes, so it is kept for the next.
type planRun struct {
	out []tensor.Write
	in  []tensor.Read
}

// caller runs on the caller's goroutine alone: what a nil Exec means.
var caller = Serial()

// execute runs the plan. The kernel checks its operands once more, more leniently about running in place.
func (p *plan) execute(x *Exec, out []tensor.Write, in ...[]tensor.Read) error {
	if x == nil {
		x = caller
	}
	r := p.runs.Get()
	r.out, r.in = append(r.out[:0], out...), r.in[:0]
	for _, some := range in {
		r.in = append(r.in, some...)
	}
	err := p.operands.Check(r.out, r.in)
	if err == nil {
		err = p.kernel.Run(x, r.out, r.in)
	}
	clear(r.out)
	clear(r.in)
	p.runs.Put(r)
	return draft.Named(p.name, err)
}

// compile holds the draft to the rules, and makes the plan.
func (p *plan) compile(d draft.Plan) error {
	if err := d.Check(); err != nil {
		return err
	}
	f := planning.Operands{Out: draft.OperandsOf(d.Out), In: draft.OperandsOf(d.In), Over: [][]bool{d.InPlace}}
	p.name, p.dt, p.operands = d.Name, f.In[0].DType, f
	k, err := d.Kernel(f.Out, f.In)
	p.kernel = k
	return draft.Named(d.Name, err)
}
