package graph

import (
	"fmt"
	"slices"

	"github.com/adjoint-go/adjoint/tensor"
)

// module is a graph on its way to a program: the calls that the outputs need, in an order in which operands
// come first, with what the passes found out about their nodes.
type module struct {
	backend Backend
	calls   []*Call
	outputs []*Node // results and effects, as the user gave them
	same    map[*Node]*Node
	folded  map[*Node]tensor.View
	rank    map[*Call]int // the place in the order of a call that took another's
	stats   Stats
	passes  bool // whether the graph may be changed
}

// node follows the replacements that passes made.
func (m *module) node(n *Node) *Node {
	for {
		r, ok := m.same[n]
		if !ok {
			return n
		}
		n = r
	}
}

// known is the value of a node that is constant.
func (m *module) known(n *Node) (tensor.View, bool) {
	n = m.node(n)
	if v, ok := m.folded[n]; ok {
		return v, true
	}
	if c, ok := n.call.Op.(Constant); ok {
		v, err := m.backend.Import(c.view.Read())
		return v, err == nil
	}
	return tensor.View{}, false
}

func newModule(b Backend, outputs []*Node) (*module, error) {
	if b == nil {
		return nil, fmt.Errorf("graph.Compile: the backend is nil")
	}
	for i, n := range outputs {
		if err := n.Err(); err != nil {
			return nil, err
		}
		if g := n.graph; g.err != nil {
			return nil, g.err
		}
		if n.graph != outputs[0].graph {
			return nil, &Error{n.call.Pos(), "graph.Compile", fmt.Errorf("output %d belongs to another graph", i)}
		}
	}
	m := &module{backend: b, outputs: outputs, same: map[*Node]*Node{}, folded: map[*Node]tensor.View{}, rank: map[*Call]int{}}
	m.reach()
	return m, nil
}

// reach is dead code elimination: it keeps the calls that the outputs need.
func (m *module) reach() {
	m.calls = topo(m.outputs, m.node, func(n *Node) bool { _, ok := m.folded[n]; return ok })
	if len(m.rank) == 0 {
		return
	}
	place := func(c *Call) int {
		if r, ok := m.rank[c]; ok {
			return r
		}
		return c.id
	}
	slices.SortStableFunc(m.calls, func(a, b *Call) int { return place(a) - place(b) })
}

// Topo is the calls that outs need in the order in which they were built, so operands come first. Reverse
// rules build in an order that uses each value soon, which keeps few of them alive.
func Topo(outs []*Node) []*Call {
	return topo(outs, func(n *Node) *Node { return n }, func(*Node) bool { return false })
}

func topo(outs []*Node, follow func(*Node) *Node, stop func(*Node) bool) []*Call {
	var order []*Call
	seen := map[*Call]bool{}
	visit := func(nodes []*Node) {
		for _, n := range nodes {
			if n = follow(n); !stop(n) && !seen[n.call] {
				seen[n.call] = true
				order = append(order, n.call)
			}
		}
	}
	visit(outs)
	for i := 0; i < len(order); i++ {
		visit(order[i].In)
	}
	slices.SortFunc(order, func(a, b *Call) int { return a.id - b.id })
	return order
}
