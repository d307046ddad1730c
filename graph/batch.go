package graph

// Batch builds what nodes are for every example of a batch, by the Batch rules of the calls that lead to them.
// env holds, for each node that differs from example to example, the node that carries its size examples at
// axis 0; it gains those of the calls in between. A result that depends on none of them, and so is the same
// for all examples, is nil.
func Batch(outs []*Node, env map[*Node]*Node, size int) []*Node {
	for _, c := range Topo(outs) {
		if _, given := env[c.Out[0]]; !given {
			batchCall(c, env, size)
		}
	}
	r := make([]*Node, len(outs))
	for i, o := range outs {
		r[i] = env[o]
	}
	return r
}

// batchCall puts the batched results of a call into env, if any operand has one.
func batchCall(c *Call, env map[*Node]*Node, size int) {
	in, batched, any := make([]*Node, len(c.In)), make([]bool, len(c.In)), false
	for i, x := range c.In {
		in[i] = x
		if v := env[x]; v != nil {
			in[i], batched[i], any = v, true, true
		}
	}
	if !any {
		return
	}
	c.graph.From(c, func() {
		for i, o := range c.Op.Batch(c, in, batched, size) {
			env[c.Out[i]] = o
		}
	})
}
