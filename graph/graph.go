package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// Graph is what builders add to. It is not safe for concurrent building; programs compiled from it are safe
// for concurrent runs.
type Graph struct {
	backend  Backend // nil: built for compiling
	err      error
	calls    int
	all      []*Call // of a graph for compiling, for printing
	origin   *Call   // set while a rule of this call builds
	tracing  int     // how many functions are being traced: what is added has no value
	literals map[literal]*Node
	inputs   map[string]*Node
	reads    map[*Variable]*Node
}

// New is a graph for compiling: its nodes have no values until a program runs.
func New() *Graph { return &Graph{} }

// Eager is a graph that evaluates each node as it is added, on b, so that Node.Value is there at once: the
// same ops, rules and gradients as in a compiled graph. A value lives as long as
// a node that needs it.
func Eager(b Backend) *Graph { return &Graph{backend: b} }

// Err is the first error of any builder, with the user's file and line; nil if there was none.
func (g *Graph) Err() error { return g.err }

// ClearErr forgets the error, so that an interactive user can go on; invalid nodes stay invalid.
func (g *Graph) ClearErr() { g.err = nil }

// NumCalls is the number of calls that were added so far: the Number of the next one.
func (g *Graph) NumCalls() int { return g.calls }

// Backend is where an eager graph evaluates; nil in a graph for compiling.
func (g *Graph) Backend() Backend { return g.backend }

// Fail records an error of a builder, unless there is an earlier one, and returns an invalid node. op is the
// builder's name as the user knows it.
func (g *Graph) Fail(op string, err error) *Node {
	if g == nil {
		return &Node{err: &Error{userPosition().String(), op, err}}
	}
	if g.err == nil {
		pos := ""
		if g.origin != nil {
			pos = g.origin.Pos()
		} else {
			pos = userPosition().String()
		}
		g.err = &Error{pos, op, err}
	}
	return &Node{graph: g}
}

// Fail is Graph.Fail on the graph of the first operand that has one.
func Fail(op string, err error, in ...*Node) *Node { return graphOf(in).Fail(op, err) }

func graphOf(in []*Node) *Graph {
	for _, n := range in {
		if n != nil && n.graph != nil {
			return n.graph
		}
	}
	return nil
}

// Invalid is for the first lines of a builder: where an operand is nil or invalid it returns an invalid node
// to give back, having recorded a nil operand as an error of op; else nil.
func Invalid(op string, in ...*Node) *Node {
	for i, n := range in {
		if n == nil {
			return Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "operand %d is nil", i), in...)
		}
	}
	for _, n := range in {
		if n.call == nil {
			return n
		}
	}
	return nil
}

// Apply adds a call of an op with one result to the graph of its operands.
func Apply(op Op, in ...*Node) *Node { return ApplyN(1, op, in...)[0] }

// ApplyN adds a call of an op with n results to the graph of its operands.
func ApplyN(n int, op Op, in ...*Node) []*Node { return graphOf(in).ApplyN(n, op, in...) }

// Apply adds a call of an op with one result: for ops without operands.
func (g *Graph) Apply(op Op, in ...*Node) *Node { return g.ApplyN(1, op, in...)[0] }

// ApplyN adds a call of an op with n results. n is known to the builder even when the op cannot infer.
func (g *Graph) ApplyN(n int, op Op, in ...*Node) []*Node {
	if bad := Invalid(op.Name(), in...); bad != nil {
		return repeat(bad, n)
	}
	if g == nil {
		err := tensor.Errorf("", tensor.ErrUnsupported, "an op without operands is applied to a graph: Graph.Apply")
		return repeat(g.Fail(op.Name(), err), n)
	}
	specs := make([]tensor.Spec, len(in))
	for i, x := range in {
		if x.graph != g {
			return repeat(g.Fail(op.Name(), fmt.Errorf("operand %d belongs to another graph", i)), n)
		}
		specs[i] = x.spec
	}
	out, err := op.Infer(specs)
	if err == nil {
		err = checkSpecs(out, n)
	}
	if err != nil {
		return repeat(g.Fail(op.Name(), err), n)
	}
	c := g.newCall(op, in, out)
	if g.backend != nil && g.tracing == 0 {
		if err := g.evaluate(c); err != nil {
			return repeat(g.Fail(op.Name(), err), n)
		}
	}
	return c.Out
}

func (g *Graph) newCall(op Op, in []*Node, out []tensor.Spec) *Call {
	c := &Call{Op: op, In: slices.Clone(in), graph: g, id: g.calls}
	g.calls++
	if g.origin != nil {
		c.pos = g.origin.pos
	} else {
		c.pos = userPosition()
	}
	nodes := make([]Node, len(out))
	c.Out = make([]*Node, len(out))
	for i, s := range out {
		nodes[i] = Node{call: c, index: i, spec: s, graph: g}
		c.Out[i] = &nodes[i]
	}
	if g.backend == nil && (g.tracing == 0 || outlasts(op)) {
		g.all = append(g.all, c)
	}
	return c
}

// outlasts reports whether a call that a traced function adds is one of the graph itself.
func outlasts(op Op) bool {
	if in, ok := op.(InputLeaf); ok {
		return in.Label != ""
	}
	return isLeaf(op)
}

func checkSpecs(specs []tensor.Spec, n int) error {
	if len(specs) != n {
		return fmt.Errorf("infers %d results where its builder expects %d", len(specs), n)
	}
	for _, s := range specs {
		if !s.DType.Valid() {
			return tensor.Errorf("", tensor.ErrDType, "the result would have dtype %s", s.DType)
		}
		if _, err := tensor.CheckedSize(s.Shape); err != nil {
			return err
		}
	}
	return nil
}

// From runs build so that every call it adds carries the position of c, the forward call whose rule or pass
// builds.
func (g *Graph) From(c *Call, build func()) {
	old := g.origin
	g.origin = c
	defer func() { g.origin = old }()
	build()
}

// Error is what a graph or a program reports: where the user built the call, which op, and the cause.
type Error struct {
	Pos string // file:line
	Op  string
	Err error
}

// Error is "train.go:42: ops.Add: shapes [32 10] and [5] do not broadcast".
func (e *Error) Error() string {
	msg := e.Err.Error()
	if t, ok := errors.AsType[*tensor.Error](e.Err); ok && t == e.Err && t.Msg != "" {
		msg = t.Msg
	}
	return e.Pos + ": " + e.Op + ": " + msg
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }
