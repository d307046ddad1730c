package graph

import (
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Trace runs build, whose calls describe a function: in an eager graph too they get no values, and assignments
// among them are errors. first is the Number of the first of them.
func (g *Graph) Trace(build func()) (first int) {
	first = g.calls
	g.tracing++
	defer func() { g.tracing-- }()
	build()
	return first
}

// Captured is what a function traced from call number first on uses beside its arguments: the nodes from before
// that outs are computed from, variables, inputs and constants, in the order in which they were built. Literals and
// small constants that carry no gradient are part of the function.
func Captured(args, outs []*Node, first int) []*Node {
	_, captured := between(args, outs, func(c *Call) bool { return c.id < first || isLeaf(c.Op) })
	return captured
}

// Between is the calls that lead from args to outs, in order. Of what does not depend on args, it has the calls
// that lead from constants.
func Between(args, outs []*Node) []*Call {
	calls, _ := between(args, outs, func(c *Call) bool { return isLeaf(c.Op) })
	return calls
}

// Close makes a function of the calls that lead from args, any nodes, to outs.
//
// Errors: tensor.ErrUnsupported where it uses anything besides args: see Captured; for a node that is nil; that of
// an invalid node.
func Close(name string, args, outs []*Node) (*Func, error) {
	for i, n := range slices.Concat(args, outs) {
		if n == nil {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "function %s: node %d of %d arguments and %d results is nil",
				name, i, len(args), len(outs))
		}
		if err := n.Err(); err != nil {
			return nil, err
		}
	}
	g := New()
	in := make([]*Node, len(args))
	for i, n := range args {
		g.From(n.call, func() { in[i] = g.Placeholder(n.spec) })
	}
	calls, outside := between(args, outs, func(c *Call) bool { return isLeaf(c.Op) })
	if len(outside) > 0 {
		c := outside[0].call
		return nil, &Error{c.Pos(), c.Op.Name(), tensor.Errorf("", tensor.ErrUnsupported,
			"function %s is not closed: pass what it reads as an argument", name)}
	}
	out := replay(g, calls, args, in, outs)
	if err := g.Err(); err != nil {
		return nil, err
	}
	return newFunc(name, in, out)
}

// between walks from outs back to args, to calls that outside names and to constants of the function's own.
func between(args, outs []*Node, outside func(*Call) bool) (calls []*Call, captured []*Node) {
	isArg, seen := map[*Node]bool{}, map[*Call]bool{}
	for _, n := range args {
		isArg[n] = true
	}
	next := slices.Clone(outs)
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		switch c := n.call; {
		case isArg[n] || seen[c]:
		case inner(c):
			seen[c] = true
			calls = append(calls, c)
		case outside(c):
			isArg[n] = true
			captured = append(captured, n)
		default:
			seen[c] = true
			calls, next = append(calls, c), append(next, c.In...)
		}
	}
	byNumber := func(a, b *Call) int { return a.id - b.id }
	slices.SortFunc(calls, byNumber)
	slices.SortStableFunc(captured, func(a, b *Node) int {
		if d := byNumber(a.call, b.call); d != 0 {
			return d
		}
		return a.index - b.index
	})
	return calls, captured
}

// inner reports whether a constant is part of the functions that use it.
func inner(c *Call) bool {
	k, ok := c.Op.(Constant)
	if !ok {
		return false
	}
	spec := k.leaf.spec
	return k.literal.dtype != tensor.Invalid || !spec.DType.IsDifferentiable() && spec.Size()*spec.DType.Size() <= mergeLimit
}

// Flow says which results depend on the arguments that are marked; with differentiable, only through values of
// dtypes that carry a gradient.
func (f *Func) Flow(args []bool, differentiable bool) []bool {
	reached := map[*Node]bool{}
	mark := func(n *Node, is bool) {
		reached[n] = reached[n] || is && (!differentiable || n.spec.DType.IsDifferentiable())
	}
	for i, n := range f.in {
		mark(n, args[i])
	}
	for _, c := range f.calls {
		for _, x := range c.In {
			if reached[x] {
				for _, n := range c.Out {
					mark(n, true)
				}
			}
		}
	}
	return marked(f.out, func(n *Node) bool { return reached[n] })
}

// Needs says which arguments the results that are marked are computed from.
func (f *Func) Needs(outs []bool) []bool {
	var roots []*Node
	for i, n := range f.out {
		if outs[i] {
			roots = append(roots, n)
		}
	}
	reached := map[*Node]bool{}
	for _, c := range Topo(roots) {
		if _, ok := c.Op.(InputLeaf); ok {
			reached[c.Out[0]] = true
		}
	}
	return marked(f.in, func(n *Node) bool { return reached[n] })
}

func marked(nodes []*Node, is func(*Node) bool) []bool {
	r := make([]bool, len(nodes))
	for i, n := range nodes {
		r[i] = is(n)
	}
	return r
}

// Same reports whether results i and j are one node.
func (f *Func) Same(i, j int) bool { return f.out[i] == f.out[j] }

// First is the function of the same arguments that has the first n results alone.
func (f *Func) First(n int) *Func {
	if n == len(f.out) {
		return f
	}
	r, _ := newFunc(f.name, f.in, f.out[:n]) // closed, as f is
	return r
}

// Fallible reports whether a kernel of the function can fail for what the data hold.
func (f *Func) Fallible() bool {
	for _, c := range f.calls {
		if mayFail(c.Op) {
			return true
		}
	}
	return false
}
