package cpu

import (
	"github.com/adjoint-go/adjoint/backend/internal/draft"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// plan is what the public plans share: a kernel, what it was compiled for, and the discipline of both that the
// package's documentation states.
type plan struct {
	name     string
	dt       tensor.DType
	operands fixed
	kernel   graph.Kernel
	runs     states[planRun]
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
	r := p.runs.get()
	r.out, r.in = append(r.out[:0], out...), r.in[:0]
	for _, some := range in {
		r.in = append(r.in, some...)
	}
	err := p.operands.check(r.out, r.in)
	if err == nil {
		err = p.kernel.Run(x, r.out, r.in)
	}
	clear(r.out)
	clear(r.in)
	p.runs.put(r)
	return draft.Named(p.name, err)
}

// compile holds the draft to the rules, and makes the plan.
func (p *plan) compile(d draft.Plan) error {
	if err := d.Check(); err != nil {
		return err
	}
	f := fixed{out: draft.OperandsOf(d.Out), in: draft.OperandsOf(d.In), inPlace: d.InPlace}
	p.name, p.dt, p.operands = d.Name, f.in[0].DType, f
	k, err := d.Kernel(f.out, f.in)
	p.kernel = k
	return draft.Named(d.Name, err)
}
