package control

import (
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// active lets flags of operands grow to those of carries that the loop makes so, and says which results of the body
// are so too.
func active(body *graph.Func, carries int, flags []bool, differentiable bool) (in, out []bool) {
	for in = flags; ; {
		out = body.Flow(in, differentiable)
		grown, grew := or(in[:carries], out[:carries])
		if !grew {
			return in, out
		}
		in = append(grown, in[carries:]...)
	}
}

// JVP is a Scan of carries and tangents.
func (o ScanOp) JVP(c *graph.Call, tan []*Node) []*Node {
	g, n := c.Graph(), o.Carries+o.Xs
	in, out := active(o.Body, o.Carries, differentiable(given(tan), o.Body.In()), true)
	copy(out, in[:o.Carries]) // a carry that has a tangent keeps one, of zeros where the body replaces it
	l := &loop{name: o.Name()}
	l.first = g.Trace(func() {
		x := placeholdersOf(g, o.Body.In())
		outs := o.Body.Apply(g, x...)
		wrt := chosen(x, in)
		t := placeholders(g, wrt)
		tangents := autograd.JVP(chosen(outs, out), wrt, t)
		at, to := spread(t, in), spread(tangents, out)
		l.carry = slices.Concat(x[:o.Carries], chosen(at[:o.Carries], in[:o.Carries]))
		l.next = slices.Concat(outs[:o.Carries], chosen(to[:o.Carries], in[:o.Carries]))
		l.x = slices.Concat(x[o.Carries:n], chosen(at[o.Carries:n], in[o.Carries:n]))
		l.fixed = slices.Concat(x[n:], chosen(at[n:], in[n:]))
		l.y = chosen(to[o.Carries:], out[o.Carries:])
	})
	if bad := firstInvalid(l.outs()); bad != nil {
		return all(bad, len(c.Out))
	}
	l.init = slices.Concat(c.In[:o.Carries], chosen(zeroFill(tan[:o.Carries], c.In), in[:o.Carries]))
	l.xs = slices.Concat(c.In[o.Carries:n], chosen(tan[o.Carries:n], in[o.Carries:n]))
	l.operands = slices.Concat(c.In[n:], chosen(tan[n:], in[n:]))
	final, ys := l.scan(g, ScanOp{Length: o.Length, Reverse: o.Reverse})
	return slices.Concat(spread(final[o.Carries:], in[:o.Carries]), spread(ys, out[o.Carries:]))
}

// Batch is a Scan over batches: each step is the body's batch. Carries that the body makes depend on an example
// have the batch from the start.
func (o ScanOp) Batch(c *graph.Call, in []*Node, batched []bool, size int) []*Node {
	g, n := c.Graph(), o.Carries+o.Xs
	isBatch, out := active(o.Body, o.Carries, batched, false)
	l := &loop{name: o.Name(), asIs: true}
	l.first = g.Trace(func() {
		x := placeholdersOf(g, batchSpecs(o.Body.In(), isBatch, size))
		outs := mapped(o.Body, g, x, isBatch)
		for i := range o.Carries {
			if isBatch[i] && !out[i] {
				outs[i] = batchOf(outs[i], size)
			}
		}
		l.carry, l.x, l.fixed = x[:o.Carries], x[o.Carries:n], x[n:]
		l.next, l.y = outs[:o.Carries], outs[o.Carries:]
	})
	if bad := firstInvalid(l.outs()); bad != nil {
		return all(bad, len(c.Out))
	}
	for i, x := range in {
		switch {
		case i < o.Carries && isBatch[i] && !batched[i]:
			x = batchOf(x, size)
		case i >= o.Carries && i < n && batched[i]:
			x = ops.MoveAxis(x, 0, 1)
		}
		switch {
		case i < o.Carries:
			l.init = append(l.init, x)
		case i < n:
			l.xs = append(l.xs, x)
		default:
			l.operands = append(l.operands, x)
		}
	}
	final, ys := l.scan(g, ScanOp{Length: o.Length, Reverse: o.Reverse, Kept: o.Kept})
	r := slices.Concat(final, ys)
	for i, y := range r {
		switch {
		case i < o.Carries && isBatch[i]:
		case i >= o.Carries && out[i]:
			r[i] = ops.MoveAxis(y, 1, 0)
		default:
			r[i] = batchOf(y, size)
		}
	}
	return r
}

func placeholdersOf(g *graph.Graph, specs []tensor.Spec) []*Node {
	r := make([]*Node, len(specs))
	for i, s := range specs {
		r[i] = g.Placeholder(s)
	}
	return r
}

func batchSpecs(specs []tensor.Spec, batched []bool, size int) []tensor.Spec {
	r := slices.Clone(specs)
	for i := range r {
		if batched[i] {
			r[i] = stacked(r[i], size)
		}
	}
	return r
}

// batchOf is a batch of which all examples are x.
func batchOf(x *Node, size int) *Node {
	return ops.BroadcastTo(x, append([]int{size}, x.Shape()...)...)
}

// mapped applies f to every example of a batch; results that no batched argument reaches have none.
func mapped(f *graph.Func, g *graph.Graph, args []*Node, batched []bool) []*Node {
	if !slices.Contains(batched, true) {
		return f.Apply(g, args...)
	}
	axes := make([]int, len(args))
	for i := range axes {
		if !batched[i] {
			axes[i] = -1
		}
	}
	var plain []*Node
	outs := autograd.Vmap(func(in []*Node) []*Node {
		plain = f.Apply(g, in...)
		return slices.Clone(plain)
	}, args, axes)
	for i, flows := range f.Flow(batched, false) {
		if !flows {
			outs[i] = plain[i]
		}
	}
	return outs
}

func zeroFill(nodes, like []*Node) []*Node {
	r := slices.Clone(nodes)
	for i, n := range r {
		if n == nil {
			r[i] = ops.ZerosLike(like[i])
		}
	}
	return r
}

func firstInvalid(nodes []*Node) *Node {
	for _, n := range nodes {
		if !n.Valid() {
			return n
		}
	}
	return nil
}
