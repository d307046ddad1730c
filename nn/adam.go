package nn

import (
	"cmp"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// Adam is algorithm 1 of Kingma and Ba 2015, for gradient g of parameter w in step t = 1, 2, …:
//
//	g ← g + WeightDecay·w
//	m ← β₁·m + (1 − β₁)·g          m = 0 at first
//	v ← β₂·v + (1 − β₂)·g²         v = 0 at first
//	w ← w − rate·m̂/(√v̂ + ε)        m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ)
//
// rate is LR times the schedule's factor. The scalars are computed in float64.
type Adam struct {
	LR          float64 // there is no default: 0 moves nothing
	Beta1       float64 // 0 stands for 0.9
	Beta2       float64 // 0 stands for 0.999
	Epsilon     float64 // 0 stands for 1e-8
	WeightDecay float64 // an L2 penalty; AdamW decays the weights themselves
	ClipNorm    float64 // the greatest norm of all gradients together; 0: any
	Schedule    Schedule
	Name        string // before the names of its variables; "": adam
}

// Step builds a step. Errors (sticky): see Optimizer.
func (o Adam) Step(loss *Node, params ...*graph.Variable) []*Node {
	c := common{"nn.Adam", cmp.Or(o.Name, "adam"), o.LR, o.Schedule, o.ClipNorm}
	return moments{c, o.Beta1, o.Beta2, o.Epsilon, o.WeightDecay, 0}.step(loss, params)
}

// AdamW is Adam with decoupled weight decay, algorithm 2 of Loshchilov and Hutter 2019:
//
//	w ← w − rate·(m̂/(√v̂ + ε) + WeightDecay·w)
//
// with m̂ and v̂ those of Adam without the penalty. The decay is multiplied by the rate as a whole, LR included,
// as in PyTorch and Optax; the paper's λ is LR·WeightDecay here.
type AdamW struct {
	LR          float64 // there is no default: 0 moves nothing
	Beta1       float64 // 0 stands for 0.9
	Beta2       float64 // 0 stands for 0.999
	Epsilon     float64 // 0 stands for 1e-8
	WeightDecay float64
	ClipNorm    float64 // the greatest norm of all gradients together; 0: any
	Schedule    Schedule
	Name        string // before the names of its variables; "": adamw
}

// Step builds a step. Errors (sticky): see Optimizer.
func (o AdamW) Step(loss *Node, params ...*graph.Variable) []*Node {
	c := common{"nn.AdamW", cmp.Or(o.Name, "adamw"), o.LR, o.Schedule, o.ClipNorm}
	return moments{c, o.Beta1, o.Beta2, o.Epsilon, 0, o.WeightDecay}.step(loss, params)
}

// moments is what Adam and AdamW have in common.
type moments struct {
	common
	beta1, beta2, epsilon float64
	penalty, decay        float64
}

func (o moments) step(loss *Node, params []*graph.Variable) []*Node {
	b1, b2, eps := cmp.Or(o.beta1, 0.9), cmp.Or(o.beta2, 0.999), cmp.Or(o.epsilon, 1e-8)
	s, bad := o.begin(loss, params, below1("Beta1", b1), below1("Beta2", b2), atLeast0("Epsilon", eps),
		atLeast0("WeightDecay", o.penalty+o.decay))
	if bad != nil {
		return []*Node{bad}
	}
	// rate·m̂/(√v̂ + ε) is (rate/c₁)·m/(√(v/c₂) + ε).
	c1 := ops.Sub(1, ops.Pow(s.g.Literal(s.number.DType(), b1), s.number))
	c2 := ops.Sub(1, ops.Pow(s.g.Literal(s.number.DType(), b2), s.number))
	first, second := ops.Div(s.rate, c1), ops.Reciprocal(c2)
	for _, p := range s.params {
		g := p.grad
		if o.penalty != 0 {
			g = ops.Add(g, ops.Mul(p.value, o.penalty))
		}
		mv, vv := s.state(p, "m"), s.state(p, "v")
		m := ops.Add(ops.Mul(mv.Read(s.g), b1), ops.Mul(g, 1-b1))
		v := ops.Add(ops.Mul(vv.Read(s.g), b2), ops.Mul(ops.Square(g), 1-b2))
		root := ops.Sqrt(ops.Mul(v, scalarFor(p, second)))
		d := ops.Div(ops.Mul(m, scalarFor(p, first)), ops.Add(root, eps))
		if o.decay != 0 {
			d = ops.Add(d, ops.Mul(p.value, scalarFor(p, ops.Mul(s.rate, o.decay))))
		}
		s.assign(mv, m)
		s.assign(vv, v)
		s.assign(p.v, ops.Sub(p.value, d))
	}
	return s.outputs()
}
