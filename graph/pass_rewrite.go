package graph

// rewrite replaces calls by cheaper ones that their ops know. The new calls belong to the module alone; they
// stand where the old ones stood, with their lines.
func (m *module) rewrite() {
	for _, c := range m.calls {
		op, ok := c.Op.(Rewriter)
		if !ok {
			continue
		}
		cheaper, in := op.Rewrite(c, m.node)
		if cheaper == nil {
			continue
		}
		r := &Call{Op: cheaper, In: in, graph: c.graph, pos: c.pos, id: c.id}
		r.Out = []*Node{{call: r, spec: c.Out[0].spec, graph: c.graph}}
		m.same[c.Out[0]] = r.Out[0]
		m.stats.Rewritten++
	}
	m.reach()
}
