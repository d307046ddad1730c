package nn

import (
	"sync"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Dropout is x·m/(1 − p), where each element of m is 0 with probability p, else 1: which, key and position
// say. The cotangent is multiplied by the same m/(1 − p). A nil key stands for evaluation: the result is x.
//
// Errors (sticky): tensor.ErrBounds for a p outside of [0, 1), tensor.ErrDType for an x that is no float and
// for what is no key, tensor.ErrUnsupported for a nil x.
func Dropout(x *Node, p float64, key *Node) *Node {
	const name = "nn.Dropout"
	if bad := graph.Invalid(name, x); bad != nil {
		return bad
	}
	if !(p >= 0 && p < 1) {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrBounds, "probability %v, want 0 ≤ p < 1", p), x)
	}
	if !x.DType().IsFloat() {
		return graph.Fail(name, tensor.Errorf("", tensor.ErrDType, "x is %s, want a float", x.DType()), x)
	}
	if key == nil || p == 0 {
		return x
	}
	keep := ops.Bernoulli(key, 1-p, x.Shape()...)
	return ops.Where(keep, ops.Mul(x, 1/(1-p)), 0)
}

// Keys gives random numbers to a program: keys that differ from one another and from run to run, and repeat
// exactly when the store's seed and the number of the run do. That number is a variable, so it is saved with
// the model. A nil *Keys gives nil keys: build the model with it for evaluation.
type Keys struct {
	g    *graph.Graph
	run  *graph.Variable
	base *Node // the key of this run
	used int
}

// NewKeys makes keys for the programs compiled from g. They count runs in the variable name of the store,
// which is made where it does not exist.
//
// Errors (sticky): tensor.ErrDType, tensor.ErrShape where a variable of that name is no counter.
func NewKeys(g *graph.Graph, s *graph.Store, name string) *Keys {
	run := counter(g, "nn.NewKeys", s, name)
	seed := keyOf(s.Seed(), name)
	key := ops.Key(g, uint64(seed[1])<<32|uint64(seed[0]))
	return &Keys{g: g, run: run, base: ops.FoldIn(key, run.Read(g))}
}

// Next is another key: each call of a program's graph gives its own, new in every run.
func (k *Keys) Next() *Node {
	if k == nil {
		return nil
	}
	k.used++
	return ops.FoldIn(k.base, k.used-1)
}

// Advance is the assignment that counts the run. Put it among the outputs of the program, or each run draws
// the same numbers. Nil keys give nil, which does not compile.
func (k *Keys) Advance() *Node {
	if k == nil {
		return nil
	}
	return k.run.Assign(ops.Add(k.run.Read(k.g), 1))
}

// counter finds or makes an int64 scalar variable that starts at 0.
func counter(g *graph.Graph, op string, s *graph.Store, name string) *graph.Variable {
	return stateVariable(g, op, s, name, tensor.Spec{DType: tensor.Int64})
}

var making sync.Mutex

// stateVariable finds a variable or makes it, of zeros. One of another spec is an error of the graph.
func stateVariable(g *graph.Graph, op string, s *graph.Store, name string, spec tensor.Spec) *graph.Variable {
	making.Lock() // programs may be built at the same time
	defer making.Unlock()
	v, ok := s.Lookup(name)
	if !ok {
		return s.New(name, Zeros, spec.DType, spec.Shape...)
	}
	if !v.Spec().Equal(spec) {
		kind := tensor.ErrShape
		if v.Spec().DType != spec.DType {
			kind = tensor.ErrDType
		}
		g.Fail(op, tensor.Errorf("", kind, "variable %q is %s, want %s", name, v.Spec(), spec))
	}
	return v
}
