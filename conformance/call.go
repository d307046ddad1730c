package conformance

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// node is a graph.Node.
type node = graph.Node

// op maps a case to nodes: the results, in the order of the case. What it cannot express it reports by
// call.missing.
type op func(c *call) []*node

// call is one use of an op: its attributes and operands.
type call struct {
	name  string
	g     *graph.Graph
	attrs attributes
	in    []*node // nil where omitted
	views []tensor.View
	outs  int             // how many results the case expects
	read  map[string]bool // the attributes that the op looked at
	err   error           // the first mistake
}

// apply builds an op of a table on the first n inputs, for a case with so many results.
//
// Errors: ErrNotBuilt for an op that the table lacks, and for an attribute that the op does not look at.
func apply(table map[string]op, name string, attrs attributes, in *inputs, n, results int) ([]*node, error) {
	build := table[name]
	if build == nil {
		return nil, &notBuilt{name}
	}
	c := &call{
		name: name, g: in.g, attrs: attrs, in: in.nodes[:n], views: in.views[:n], outs: results,
		read: map[string]bool{},
	}
	outs := build(c)
	if c.err != nil {
		return nil, c.err
	}
	for a := range attrs {
		if !c.read[a] && in.g.Err() == nil {
			return nil, &notBuilt{fmt.Sprintf("%s with attribute %s", name, a)}
		}
	}
	return outs, nil
}

// runOp checks what a line's op gives against what it lists.
func (r *record) runOp(h *harness, table map[string]op, name string,
	tolerances func(want []*tensor.Tensor) ([]tolerance, error)) error {
	feeds, err := decodeAll(r.Inputs)
	if err != nil {
		return err
	}
	p := probe{what: "value", feeds: feeds}
	if p.want, err = r.expected(); err != nil {
		return err
	}
	if p.tol, err = tolerances(p.want); err != nil {
		return err
	}
	p.nodes = func(in *inputs) ([]*node, error) {
		return apply(table, name, r.Attrs, in, len(feeds), len(p.want))
	}
	return h.check(p)
}

// nearness is a line's one tolerance, for each result.
func (r *record) nearness(want []*tensor.Tensor) ([]tolerance, error) {
	var tol struct{ Rtol, Atol float64 }
	err := json.Unmarshal(r.Tolerance, &tol)
	return repeated(tolerance{rtol: tol.Rtol, atol: tol.Atol}, want), err
}

func (c *call) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// missing reports a variant of the op that cannot be expressed.
func (c *call) missing(variant string) []*node {
	if c.err == nil {
		c.err = &notBuilt{c.name + " " + variant}
	}
	return nil
}

// has reports whether an attribute is given and not null.
func (c *call) has(name string) bool {
	c.read[name] = true
	raw, ok := c.attrs[name]
	return ok && string(raw) != "null"
}

// hint marks attributes that promise something and change nothing.
func (c *call) hint(names ...string) {
	for _, n := range names {
		c.read[n] = true
	}
}

// attr is an attribute that must be there.
func attr[T any](c *call, name string) (v T) {
	if !c.has(name) {
		c.fail("attribute %s is not given", name)
		return v
	}
	return attrOr(c, name, v)
}

// attrOr is an attribute, or what it defaults to.
func attrOr[T any](c *call, name string, def T) T {
	if !c.has(name) {
		return def
	}
	var v T
	if err := json.Unmarshal(c.attrs[name], &v); err != nil {
		c.fail("attribute %s: %w", name, err)
	}
	return v
}

// flag is an attribute that is true or false, or 1 or 0.
func (c *call) flag(name string, def bool) bool {
	if !c.has(name) {
		return def
	}
	switch s := string(c.attrs[name]); s {
	case "true", "1":
		return true
	case "false", "0":
		return false
	default:
		c.fail("attribute %s is %s, want a truth value", name, s)
		return def
	}
}

// given reports whether operand i is there.
func (c *call) given(i int) bool { return i < len(c.in) && c.in[i] != nil }

// x is operand i.
func (c *call) x(i int) *node {
	if !c.given(i) {
		c.fail("operand %d of %d is not given", i, len(c.in))
		return c.g.Fail(c.name, tensor.Errorf("", tensor.ErrUnsupported, "operand %d is not given", i))
	}
	return c.in[i]
}

// literal is operand i as a constant, for what must be known when the graph is built.
func (c *call) literal(i int) *node {
	c.x(i)
	if c.err != nil {
		return c.in[i]
	}
	return c.g.Const(c.views[i])
}

// mask is operand i as a constant, numbers as whether they are not 0.
func (c *call) mask(i int) *node {
	x := c.literal(i)
	if c.err != nil || x.DType() == tensor.Bool {
		return x
	}
	f, err := c.views[i].Read().Float64s()
	if err != nil {
		c.fail("operand %d: %w", i, err)
		return x
	}
	m, err := tensor.FromFloat64s(tensor.Bool, f, x.Shape()...)
	if err != nil {
		c.fail("operand %d: %w", i, err)
		return x
	}
	return c.g.Const(m)
}

// ints are the elements of operand i, an integer tensor whose values are attributes in disguise.
func (c *call) ints(i int) []int {
	c.x(i)
	if c.err != nil {
		return nil
	}
	f, err := c.views[i].Read().Float64s()
	if err != nil {
		c.fail("operand %d: %w", i, err)
	}
	out := make([]int, len(f))
	for k, v := range f {
		if out[k] = int(v); float64(out[k]) != v {
			c.fail("element %d of operand %d is %g, want an int", k, i, v)
		}
	}
	return out
}

// int is ints of one element.
func (c *call) int(i int) int {
	v := c.ints(i)
	if len(v) != 1 {
		c.fail("operand %d has %d elements, want one", i, len(v))
		return 0
	}
	return v[0]
}

func one(n *node) []*node { return []*node{n} }

// axis counts a negative axis from the end.
func axis(a, rank int) int {
	if a < 0 {
		return a + rank
	}
	return a
}

// axesBut is every axis but one.
func axesBut(rank, but int) []int {
	out := []int{}
	for a := range rank {
		if a != but {
			out = append(out, a)
		}
	}
	return out
}

// with is a shape with one extent replaced.
func with(shape []int, a, extent int) []int {
	s := slices.Clone(shape)
	s[a] = extent
	return s
}
