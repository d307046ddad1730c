package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Func is a closed subgraph: a function from nodes to nodes, traced once. It is an attribute of ops that
// apply a function to many values, and can be applied to nodes like a builder.
type Func struct {
	name  string
	in    []*Node
	out   []*Node
	calls []*Call // that lead from in to out, in order
	key   string
}

// NewFunc traces build on arguments of the given specs.
//
// Errors: what the builders said, and tensor.ErrUnsupported where build is nil, for a result that is nil or of
// another graph, and for a function that reads variables or inputs from outside: a Func is closed.
func NewFunc(name string, specs []tensor.Spec, build func(g *Graph, in []*Node) []*Node) (*Func, error) {
	if build == nil {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "function %s has nothing that builds it", name)
	}
	g := New()
	var args []*Node
	for _, s := range specs {
		if err := checkSpecs([]tensor.Spec{s}, 1); err != nil {
			return nil, fmt.Errorf("function %s: %w", name, err)
		}
		args = append(args, g.Placeholder(s))
	}
	outs := build(g, slices.Clone(args))
	if err := g.Err(); err != nil {
		return nil, err
	}
	for i, n := range outs {
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
	return newFunc(name, args, slices.Clone(outs))
}

// newFunc makes a function of the nodes of a graph of its own.
func newFunc(name string, in, out []*Node) (*Func, error) {
	f := &Func{name: name, in: in, out: out, calls: Topo(out)}
	for _, c := range f.calls {
		arg, isInput := c.Op.(InputLeaf)
		_, isVar := c.Op.(VariableLeaf)
		_, isAssign := c.Op.(AssignOp)
		if isVar || isAssign || isInput && (arg.Label != "" || !slices.Contains(in, c.Out[0])) {
			return nil, &Error{c.Pos(), c.Op.Name(), tensor.Errorf("", tensor.ErrUnsupported,
				"function %s is not closed: pass what it reads as an argument", name)}
		}
	}
	sum := sha256.Sum256(f.appendKey(nil))
	f.key = hex.EncodeToString(sum[:])
	return f, nil
}

// Name is the name given to NewFunc.
func (f *Func) Name() string { return f.name }

// String is the name, for printing; Text has the calls.
func (f *Func) String() string { return fmt.Sprintf("%s(%d calls)", f.name, len(f.calls)) }

// Text is the function as a program, one call a line.
func (f *Func) Text() string { return text(f.calls) }

// Key is equal for functions that compute the same by the same calls: a hash of 256 bits of all of them. Barriers
// and custom rules are told apart by their places alone, since they change no value.
func (f *Func) Key() string { return f.key }

// RuleKey is equal for functions of one Key whose derivatives are by the same rules too: it tells barriers and
// custom rules apart, also those of the functions inside.
func (f *Func) RuleKey() string {
	sum := sha256.Sum256(f.appendRules([]byte(f.key)))
	return hex.EncodeToString(sum[:])
}

func (f *Func) appendRules(key []byte) []byte {
	for i, c := range f.calls {
		if _, ok := c.Op.(Aliaser); ok {
			key = fmt.Appendf(key, "%d %q\n", i, c.Op.Key())
		}
		for name, inner := range funcsOf(c.Op) {
			key = append(inner.appendRules(fmt.Appendf(key, "%d %s(", i, name)), ')')
		}
	}
	return key
}

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
	for _, n := range f.in {
		key = append(append(key, n.spec.String()...), ' ')
	}
	for _, c := range f.calls {
		switch op := c.Op.(type) {
		case Constant:
			if bits, small := constantKey(nil, op.view); small {
				key = append(key, bits...)
			} else {
				key = fmt.Appendf(key, "%p %s %s", op.view.Storage(), op.view.Spec(), op.view.Layout())
			}
		case Aliaser: // whatever else it is, its results are operands
			key = append(key, c.Op.Name()...)
			for r := range c.Out {
				key = fmt.Appendf(key, " =%d", op.Alias(r))
			}
		default:
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

// Apply builds the function's calls in g, on args. They keep their lines.
//
// Errors (sticky): tensor.ErrShape, tensor.ErrDType for arguments of other specs; tensor.ErrUnsupported where g or an
// argument is nil.
func (f *Func) Apply(g *Graph, args ...*Node) []*Node {
	if g == nil {
		return repeat(g.Fail(f.name, tensor.Errorf("", tensor.ErrUnsupported, "the graph is nil")), len(f.out))
	}
	if bad := Invalid(f.name, args...); bad != nil {
		return repeat(bad, len(f.out))
	}
	if len(args) != len(f.in) {
		return repeat(g.Fail(f.name, tensor.Errorf("", tensor.ErrShape, "%d arguments, want %d", len(args), len(f.in))), len(f.out))
	}
	for i, a := range args {
		if !a.spec.Equal(f.in[i].spec) {
			kind := tensor.ErrShape
			if a.DType() != f.in[i].DType() {
				kind = tensor.ErrDType
			}
			return repeat(g.Fail(f.name, tensor.Errorf("", kind, "argument %d is %s, want %s", i, a.spec, f.in[i].spec)), len(f.out))
		}
	}
	return replay(g, f.calls, f.in, args, f.out)
}

// replay builds calls in g, with args in place of the nodes in, and gives what stands for out.
func replay(g *Graph, calls []*Call, in, args, out []*Node) []*Node {
	env := map[*Node]*Node{}
	for i, n := range in {
		env[n] = args[i]
	}
	now := func(nodes []*Node) []*Node {
		r := make([]*Node, len(nodes))
		for i, n := range nodes {
			r[i] = env[n]
		}
		return r
	}
	for _, c := range calls {
		var built []*Node
		switch op := c.Op.(type) {
		case InputLeaf: // an argument
			continue
		case Constant:
			g.From(c, func() {
				if op.literal.dtype != tensor.Invalid {
					built = []*Node{g.intern(op.view, op.literal)}
				} else {
					built = []*Node{g.Const(op.view)}
				}
			})
		default:
			g.From(c, func() { built = g.ApplyN(len(c.Out), c.Op, now(c.In)...) })
		}
		for i, n := range c.Out {
			if env[n] == nil { // it may be an argument
				env[n] = built[i]
			}
		}
	}
	return now(out)
}
