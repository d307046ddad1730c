package control

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// placeholders stand for nodes in a function.
func placeholders(g *graph.Graph, like []*Node) []*Node {
	r := make([]*Node, len(like))
	for i, n := range like {
		r[i] = g.Placeholder(n.Spec())
	}
	return r
}

// steps are placeholders for what one step sees of nodes: them without axis 0.
func steps(g *graph.Graph, xs []*Node) []*Node {
	r := make([]*Node, len(xs))
	for i, n := range xs {
		r[i] = g.Placeholder(tensor.Spec{DType: n.DType(), Shape: n.Shape()[1:]})
	}
	return r
}

// checkResults finds what a function of the user's may not return: a node that is nil, invalid or of another
// graph. It gives the invalid node to return.
func checkResults(op, what string, g *graph.Graph, nodes []*Node) *Node {
	for i, n := range nodes {
		switch {
		case n == nil:
			return g.Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "result %d of %s is nil", i, what))
		case !n.Valid():
			if g.Err() == nil { // the error is another graph's
				return g.Fail(op, n.Err())
			}
			return n
		case n.Graph() != g:
			return g.Fail(op, fmt.Errorf("result %d of %s belongs to another graph", i, what))
		}
	}
	return nil
}

// noFunction is the error for a function of the user's that is nil.
func noFunction(what string) error {
	return tensor.Errorf("", tensor.ErrUnsupported, "%s is nil: it has to be a function", what)
}

// sameSpecs compares what a function returned with what is wanted, one by one; of names the two for the message.
func sameSpecs(got, want []*Node, gotName, wantName string) error {
	if len(got) != len(want) {
		return tensor.Errorf("", tensor.ErrShape, "%d of %s, %d of %s", len(got), gotName, len(want), wantName)
	}
	for i, n := range got {
		if n.Spec().Equal(want[i].Spec()) {
			continue
		}
		kind := tensor.ErrShape
		if n.DType() != want[i].DType() {
			kind = tensor.ErrDType
		}
		return tensor.Errorf("", kind, "%d of %s is %s, of %s %s", i, gotName, n.Spec(), wantName, want[i].Spec())
	}
	return nil
}

// isPredicate is the error for a condition that is no bool of rank 0.
func isPredicate(s tensor.Spec) error {
	if s.DType != tensor.Bool {
		return tensor.Errorf("", tensor.ErrDType, "the condition is %s, want a bool of rank 0", s)
	}
	if len(s.Shape) != 0 {
		return tensor.Errorf("", tensor.ErrShape,
			"the condition is %s, want a bool of rank 0; ops.Any and ops.All make one", s)
	}
	return nil
}

// checkSame compares the specs of two functions of an op, or of a function's results with its arguments, one by one.
func checkSame(what string, got, want []tensor.Spec) error {
	if !slices.EqualFunc(got, want, tensor.Spec.Equal) {
		return tensor.Errorf("", tensor.ErrUnsupported, "%s are %v, want %v", what, got, want)
	}
	return nil
}

// checkOperands compares specs of operands, from number first on, with those of a function's arguments.
func checkOperands(in, want []tensor.Spec, first int) error {
	if len(in) != len(want) {
		return tensor.Errorf("", tensor.ErrUnsupported, "%d operands, want %d", first+len(in), first+len(want))
	}
	for i, s := range in {
		if !s.Equal(want[i]) {
			kind := tensor.ErrShape
			if s.DType != want[i].DType {
				kind = tensor.ErrDType
			}
			return tensor.Errorf("", kind, "operand %d is %s, want %s", first+i, s, want[i])
		}
	}
	return nil
}

// all is a node n times.
func all(n *Node, times int) []*Node { return slices.Repeat([]*Node{n}, times) }

// count is how many results a function has, given invalid nodes; 1 where it does not bear them.
func count(f func() int) (n int) {
	defer func() {
		if recover() != nil {
			n = 1
		}
	}()
	return f()
}

func trues(n int) []bool { return slices.Repeat([]bool{true}, n) }

// chosen are the nodes whose flag is set.
func chosen(nodes []*Node, flags []bool) []*Node {
	var r []*Node
	for i, n := range nodes {
		if flags[i] {
			r = append(r, n)
		}
	}
	return r
}

// spread puts nodes where the flags are set, nil elsewhere.
func spread(nodes []*Node, flags []bool) []*Node {
	r := make([]*Node, len(flags))
	k := 0
	for i, set := range flags {
		if set {
			r[i] = nodes[k]
			k++
		}
	}
	return r
}

// differentiable clears the flags of specs that carry no gradient.
func differentiable(flags []bool, specs []tensor.Spec) []bool {
	r := slices.Clone(flags)
	for i, s := range specs {
		r[i] = r[i] && s.DType.IsDifferentiable()
	}
	return r
}

func given(nodes []*Node) []bool {
	r := make([]bool, len(nodes))
	for i, n := range nodes {
		r[i] = n != nil
	}
	return r
}

func or(a, b []bool) (r []bool, grew bool) {
	r = slices.Clone(a)
	for i := range r {
		grew = grew || b[i] && !a[i]
		r[i] = a[i] || b[i]
	}
	return r, grew
}
