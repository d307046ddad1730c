package nn

import (
	"cmp"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// SGD is stochastic gradient descent with momentum, with gradient g of parameter w:
//
//	g ← g + WeightDecay·w
//	b ← Momentum·b + g              b = 0 at first
//	w ← w − rate·b                  or with Nesterov  w ← w − rate·(g + Momentum·b)
//
// rate is LR times the schedule's factor. Momentum 0 keeps no b. These are the formulas of Sutskever et al.
// 2013 with the rate outside of b, so a schedule acts on the whole step at once.
type SGD struct {
	LR          float64 // there is no default: 0 moves nothing
	Momentum    float64 // 0 ≤ Momentum < 1
	Nesterov    bool
	WeightDecay float64
	ClipNorm    float64  // the greatest norm of all gradients together; 0: any
	Schedule    Schedule // nil: constant
	Name        string   // before the names of its variables; "": sgd
}

// Step builds a step. Errors (sticky): see Optimizer.
func (o SGD) Step(loss *Node, params ...*graph.Variable) []*Node {
	c := common{"nn.SGD", cmp.Or(o.Name, "sgd"), o.LR, o.Schedule, o.ClipNorm}
	s, bad := c.begin(loss, params, below1("Momentum", o.Momentum), atLeast0("WeightDecay", o.WeightDecay))
	if bad != nil {
		return []*Node{bad}
	}
	for _, p := range s.params {
		d := p.grad
		if o.WeightDecay != 0 {
			d = ops.Add(d, ops.Mul(p.value, o.WeightDecay))
		}
		if o.Momentum != 0 {
			b := s.state(p, "momentum")
			next := ops.Add(ops.Mul(b.Read(s.g), o.Momentum), d)
			s.assign(b, next)
			if o.Nesterov {
				d = ops.Add(d, ops.Mul(next, o.Momentum))
			} else {
				d = next
			}
		}
		s.assign(p.v, ops.Sub(p.value, ops.Mul(d, scalarFor(p, s.rate))))
	}
	return s.outputs()
}
