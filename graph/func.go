package graph

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Func is a closed subgraph: a function from nodes to nodes, traced once. It is an attribute of ops that
// apply a function to many values, and can be applied to nodes like a builder.
type Func struct {
	name string
	in   []*Node
	out  []*Node
	key  string
}

// NewFunc traces build on arguments of the given specs.
//
// Errors: what the builders said, and tensor.ErrUnsupported for a result that is nil or of another graph, and
// for a function that reads variables or inputs from outside: a Func is closed.
func NewFunc(name string, specs []tensor.Spec, build func(g *Graph, in []*Node) []*Node) (*Func, error) {
	g := New()
	f := &Func{name: name}
	for _, s := range specs {
		if err := checkSpecs([]tensor.Spec{s}, 1); err != nil {
			return nil, fmt.Errorf("function %s: %w", name, err)
		}
		f.in = append(f.in, g.Placeholder(s))
	}
	f.out = slices.Clone(build(g, slices.Clone(f.in)))
	if err := g.Err(); err != nil {
		return nil, err
	}
	for i, n := range f.out {
		if n == nil {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "function %s: result %d is nil", name, i)
		}
		if err := n.Err(); err != nil {
			return nil, err
		}
		if n.graph != g {
			return nil, tensor.Errorf("", tensor.ErrUnsupported, "function %s: result %d belongs to another graph", name, i)
		}
	}
	for _, c := range Topo(f.out) {
		in, isInput := c.Op.(InputLeaf)
		_, isVar := c.Op.(VariableLeaf)
		_, isAssign := c.Op.(AssignOp)
		if isVar || isAssign || isInput && in.Label != "" {
			return nil, &Error{c.Pos(), c.Op.Name(), tensor.Errorf("", tensor.ErrUnsupported,
				"function %s is not closed: pass what it reads as an argument", name)}
		}
	}
	f.key = string(f.appendKey(nil))
	return f, nil
}

// Name is the name given to NewFunc.
func (f *Func) Name() string { return f.name }

// Key is equal for functions that are built of the same calls.
func (f *Func) Key() string { return f.key }

// In lists the specs of the arguments.
func (f *Func) In() []tensor.Spec { return specsOf(f.in) }

// Out lists the specs of the results.
func (f *Func) Out() []tensor.Spec { return specsOf(f.out) }

func specsOf(nodes []*Node) []tensor.Spec {
	r := make([]tensor.Spec, len(nodes))
	for i, n := range nodes {
		r[i] = n.spec
	}
	return r
}

func (f *Func) appendKey(key []byte) []byte {
	ids := map[*Node]int{}
	for i, n := range f.in {
		ids[n] = i
	}
	for _, c := range Topo(f.out) {
		if k, ok := c.Op.(Constant); ok {
			if bits, small := constantKey(nil, k.view); small {
				key = append(key, bits...)
			} else {
				key = fmt.Appendf(key, "%p", k.view.Storage())
			}
		} else {
			key = append(append(append(key, c.Op.Name()...), ' '), c.Op.Key()...)
		}
		for _, x := range c.In {
			key = fmt.Appendf(key, " %d", ids[x])
		}
		key = append(key, '\n')
		for _, n := range c.Out {
			if _, ok := ids[n]; !ok {
				ids[n] = len(ids)
			}
		}
	}
	for _, n := range f.out {
		key = fmt.Appendf(key, "-> %d\n", ids[n])
	}
	return key
}

// Apply builds the function's calls in g, on args.
//
// Errors (sticky): tensor.ErrShape, tensor.ErrDType for arguments of other specs.
func (f *Func) Apply(g *Graph, args ...*Node) []*Node {
	if bad := Invalid(f.name, args...); bad != nil {
		return repeat(bad, len(f.out))
	}
	if len(args) != len(f.in) {
		return repeat(g.Fail(f.name, tensor.Errorf("", tensor.ErrShape, "%d arguments, want %d", len(args), len(f.in))), len(f.out))
	}
	env := map[*Node]*Node{}
	for i, a := range args {
		if !a.spec.Equal(f.in[i].spec) {
			kind := tensor.ErrShape
			if a.DType() != f.in[i].DType() {
				kind = tensor.ErrDType
			}
			return repeat(g.Fail(f.name, tensor.Errorf("", kind, "argument %d is %s, want %s", i, a.spec, f.in[i].spec)), len(f.out))
		}
		env[f.in[i]] = a
	}
	for _, c := range Topo(f.out) {
		if _, done := env[c.Out[0]]; done {
			continue
		}
		var out []*Node
		if k, ok := c.Op.(Constant); ok {
			out = []*Node{g.Const(k.view)}
		} else {
			in := make([]*Node, len(c.In))
			for i, x := range c.In {
				in[i] = env[x]
			}
			out = g.ApplyN(len(c.Out), c.Op, in...)
		}
		for i, n := range c.Out {
			env[n] = out[i]
		}
	}
	outs := make([]*Node, len(f.out))
	for i, n := range f.out {
		outs[i] = env[n]
	}
	return outs
}
