package graph

import "github.com/adjoint-go/adjoint/tensor"

// Composite is an Aliaser whose operands end with what calls made of the others, its results: one op, Whole, would
// make the same bits of the first operands alone. The rules are those of the calls; a backend that is a Composer may
// have a kernel for the op.
type Composite interface {
	Aliaser
	Whole() (op Op, operands int)
}

// Composer is a Backend with kernels for ops that stand for many calls.
type Composer interface {
	Backend
	// Composes says whether Compile makes the kernel of an op on operands of these specs, in any layout.
	Composes(op Op, in []tensor.Spec) bool
}

// compose puts one call for many where the backend has a kernel for it and nobody needs what those make on the way.
// The gradient of a product of all elements does; then the calls stay, and the results are theirs.
func (m *module) compose() {
	b, ok := m.backend.(Composer)
	if !ok {
		return
	}
	var composed []*Call
	for _, c := range m.calls {
		op, ok := c.Op.(Composite)
		if !ok {
			continue
		}
		whole, n := op.Whole()
		if !b.Composes(whole, specsOf(c.In[:n])) {
			continue
		}
		r := &Call{Op: whole, In: c.In[:n], graph: c.graph, pos: c.pos, id: c.id}
		for i, out := range c.Out {
			r.Out = append(r.Out, &Node{call: r, index: i, spec: out.spec, graph: c.graph})
			m.same[out] = r.Out[i]
		}
		composed = append(composed, c)
	}
	m.reach()
	m.keepNeeded(composed)
}

// keepNeeded takes composed calls back of which some parts are computed nevertheless.
func (m *module) keepNeeded(composed []*Call) {
	needed := map[*Call]bool{}
	for _, c := range m.calls {
		needed[c] = true
	}
	for _, c := range composed {
		op := c.Op.(Composite)
		_, n := op.Whole()
		outside := map[*Node]bool{}
		for _, x := range c.In[:n] {
			outside[m.node(x)] = true
		}
		m.stats.Composed++
		for _, part := range topo(c.In[n:], m.node, func(x *Node) bool { return outside[x] }) {
			if needed[part] && !isLeaf(part.Op) {
				for i, out := range c.Out {
					m.same[out] = c.In[op.Alias(i)]
				}
				m.stats.Composed--
				break
			}
		}
	}
	m.reach()
}
