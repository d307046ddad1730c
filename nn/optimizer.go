package nn

import (
	"math"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Optimizer builds a step of training.
//
// Step returns the loss, a scalar, and the assignments that lower it: the outputs of a program, one run of
// which is one step. It moves params, or where there are none given every float variable that the loss reads.
// What the optimizer remembers lies in the parameters' stores, in variables that are named after the optimizer
// and the parameter and made where they do not exist: several programs with equal optimizers share it. Half
// floats are updated in float32 and rounded once; their moments are float32.
//
// Errors (sticky): those of autograd.Grad; tensor.ErrDType for a parameter
// that is no float; tensor.ErrUnsupported for a nil one and where there is none; tensor.ErrBounds for a setting
// out of its range; tensor.ErrDType, tensor.ErrShape where a variable of a name it needs has another spec.
type Optimizer interface {
	Step(loss *Node, params ...*graph.Variable) []*Node
}

// Trainable is the float variables that a node reads, in the order in which it was built from them.
func Trainable(n *Node) []*graph.Variable {
	if !n.Valid() {
		return nil
	}
	var vars []*graph.Variable
	for _, c := range graph.Topo([]*Node{n}) {
		if leaf, ok := c.Op.(graph.VariableLeaf); ok && leaf.Var.Spec().DType.IsFloat() {
			vars = append(vars, leaf.Var)
		}
	}
	return vars
}

// common is what every optimizer is told.
type common struct {
	op       string // for messages
	prefix   string // of the names of its variables
	lr       float64
	schedule Schedule
	clip     float64 // 0: no clipping
}

// param is a parameter, its value and its gradient, both in the dtype that is computed in.
type param struct {
	v           *graph.Variable
	value, grad *Node
}

// step is a step that is being built. What is assigned is kept until the end: in an eager graph assignments
// happen at once, and everything reads the values before the step.
type step struct {
	common
	g      *graph.Graph
	loss   *Node
	params []param
	rate   *Node // float64 scalar
	number *Node // of this step, from 1, float64 scalar
	vars   []*graph.Variable
	values []*Node
}

// begin differentiates the loss. settings are the numbers that must be in range, for messages.
func (c common) begin(loss *Node, params []*graph.Variable, settings ...setting) (*step, *Node) {
	if bad := graph.Invalid(c.op, loss); bad != nil {
		return nil, bad
	}
	settings = append(settings, atLeast0("LR", c.lr), atLeast0("ClipNorm", c.clip))
	for _, s := range settings {
		if !s.ok {
			err := tensor.Errorf("", tensor.ErrBounds, "%s is %v, want %s", s.name, s.value, s.want)
			return nil, graph.Fail(c.op, err, loss)
		}
	}
	if len(params) == 0 {
		params = Trainable(loss)
	}
	if len(params) == 0 {
		err := tensor.Errorf("", tensor.ErrUnsupported, "the loss reads no float variable")
		return nil, graph.Fail(c.op, err, loss)
	}
	s := &step{common: c, g: loss.Graph(), loss: loss}
	reads := make([]*Node, len(params))
	for i, v := range params {
		if v == nil {
			return nil, s.g.Fail(c.op, tensor.Errorf("", tensor.ErrUnsupported, "parameter %d is nil", i))
		}
		if dt := v.Spec().DType; !dt.IsFloat() {
			err := tensor.Errorf("", tensor.ErrDType, "parameter %q is %s, want a float", v.Name(), dt)
			return nil, s.g.Fail(c.op, err)
		}
		reads[i] = v.Read(s.g)
	}
	for i, grad := range autograd.Grad(loss, reads...) {
		wide := computed(params[i].Spec().DType)
		s.params = append(s.params, param{params[i], ops.Cast(reads[i], wide), ops.Cast(grad, wide)})
	}
	s.count(params[0].Store())
	s.clipNorm()
	return s, nil
}

// computed is the dtype that a parameter is updated in.
func computed(dt tensor.DType) tensor.DType {
	if dt.IsHalf() {
		return tensor.Float32
	}
	return dt
}

// count numbers the step and finds its learning rate.
func (s *step) count(store *graph.Store) {
	v := counter(s.g, s.op, store, s.prefix+"/step")
	done := v.Read(s.g)
	next := ops.Add(done, 1)
	s.number = ops.Cast(next, tensor.Float64)
	s.rate = s.g.Literal(tensor.Float64, s.lr)
	if s.schedule != nil {
		s.rate = ops.Mul(s.schedule(done), s.rate)
	}
	s.assign(v, next)
}

// clipNorm multiplies every gradient by clip/max(norm, clip), where norm is that of all gradients together. It
// is computed in float64: the squares of gradients that have exploded are beyond float32.
func (s *step) clipNorm() {
	if s.clip == 0 {
		return
	}
	squares := s.g.Literal(tensor.Float64, 0)
	for _, p := range s.params {
		squares = ops.Add(squares, ops.Sum(ops.Square(ops.Cast(p.grad, tensor.Float64))))
	}
	factor := ops.Div(s.clip, ops.Maximum(ops.Sqrt(squares), s.clip))
	for i, p := range s.params {
		s.params[i].grad = ops.Mul(p.grad, scalarFor(p, factor))
	}
}

// scalarFor is a float64 scalar in the dtype that p is computed in.
func scalarFor(p param, scalar *Node) *Node { return ops.Cast(scalar, p.value.DType()) }

// state is what the optimizer remembers of a parameter under a name: zeros at first.
func (s *step) state(p param, name string) *graph.Variable {
	spec := tensor.Spec{DType: computed(p.v.Spec().DType), Shape: p.v.Spec().Shape}
	return stateVariable(s.g, s.op, p.v.Store(), s.prefix+"/"+p.v.Name()+"/"+name, spec)
}

func (s *step) assign(v *graph.Variable, value *Node) {
	s.vars, s.values = append(s.vars, v), append(s.values, ops.Cast(value, v.Spec().DType))
}

// outputs is the loss and the assignments, or one invalid node: an eager graph must not assign half of them.
func (s *step) outputs() []*Node {
	if err := s.g.Err(); err != nil {
		return []*Node{s.g.Fail(s.op, err)}
	}
	outs := []*Node{s.loss}
	for i, v := range s.vars {
		outs = append(outs, v.Assign(s.values[i]))
	}
	return outs
}

// setting is a number that must be in a range.
type setting struct {
	name  string
	value float64
	ok    bool
	want  string
}

func atLeast0(name string, v float64) setting {
	return setting{name, v, v >= 0 && !math.IsInf(v, 1), "a finite number from 0 up"}
}

func below1(name string, v float64) setting {
	return setting{name, v, v >= 0 && v < 1, "0 ≤ " + name + " < 1"}
}
