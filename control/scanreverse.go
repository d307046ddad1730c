package control

import (
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
)

// VJP is a Scan in the other direction. Its body is the reverse of the body; what that reads of the forward pass
// comes stacked from a ScanOp that has kept it, and stands for c in a program. Cotangents of fixed operands add up
// in carries. Integers have none.
func (o ScanOp) VJP(c *graph.Call, ct []*Node, need []bool) []*Node {
	r := &reverse{op: o, c: c, ct: ct, need: differentiable(need, o.Body.In())}
	if !slices.Contains(r.need, true) {
		return make([]*Node, len(c.In))
	}
	g := c.Graph()
	r.loop = &loop{name: o.Name()}
	r.loop.first = g.Trace(func() { r.trace(g) })
	if bad := firstInvalid(r.loop.outs()); bad != nil {
		return all(bad, len(c.In))
	}
	r.cut()
	r.stack(g)
	if bad := firstInvalid(r.loop.xs); bad != nil {
		return all(bad, len(c.In))
	}
	return r.scan(g)
}

// reverse is the reverse of a scan in the making.
type reverse struct {
	op   ScanOp
	c    *graph.Call
	ct   []*Node // of the results
	need []bool  // operands whose cotangent is wanted

	in, out []bool  // arguments that a cotangent is had for; results of the body that one comes from
	args    []*Node // the body's arguments in the trace, and its results
	outs    []*Node
	middle  int // the number of the first call of the reverse

	loop *loop
	kept []*Node // nodes of the forward pass that the reverse reads, in order
}

// trace builds the body and its reverse, and what the loop of the reverse carries.
func (r *reverse) trace(g *graph.Graph) {
	o, l, n := r.op, r.loop, r.op.Carries+r.op.Xs
	var flows []bool
	r.in, flows = active(o.Body, o.Carries, r.need, true)
	r.out = slices.Concat(r.in[:o.Carries], given(r.ct[o.Carries:]))
	for i := o.Carries; i < len(flows); i++ {
		r.out[i] = r.out[i] && flows[i]
	}
	r.args = placeholdersOf(g, o.Body.In())
	r.outs = o.Body.Apply(g, r.args...)
	r.middle = g.NumCalls()
	from, wrt := chosen(r.outs, r.out), chosen(r.args, r.in)
	ct := placeholders(g, from)
	grads := spread(autograd.VJP(from, ct, wrt), r.in)
	cts := spread(ct, r.out)
	sums := placeholders(g, chosen(r.args[n:], r.in[n:]))
	l.carry = slices.Concat(chosen(cts[:o.Carries], r.in[:o.Carries]), sums)
	l.next = chosen(grads[:o.Carries], r.in[:o.Carries])
	for k, grad := range chosen(grads[n:], r.in[n:]) {
		l.next = append(l.next, ops.Add(sums[k], grad))
	}
	l.x = chosen(cts[o.Carries:], r.out[o.Carries:])
	l.y = chosen(grads[o.Carries:n], r.in[o.Carries:n])
	l.fixed, l.operands = r.args[n:], r.c.In[n:]
}

// cut finds where the reverse reads the forward pass. It computes again what only views what is kept and what
// does not change, and what it was told to by a barrier.
func (r *reverse) cut() {
	l, n := r.loop, r.op.Carries+r.op.Xs
	begin := slices.Concat(l.carry, l.x)
	backward, varying, free := map[*Node]bool{}, map[*Node]bool{}, map[*Node]bool{}
	for _, x := range begin {
		backward[x], free[x] = true, true
	}
	for _, x := range r.args[:n] {
		varying[x] = true
	}
	for _, x := range r.args[n:] {
		free[x] = true
	}
	for _, c := range graph.Between(slices.Concat(begin, r.args), l.outs()) {
		_, back := c.Op.(graph.BarrierOp)
		back, vary := back && c.Number() >= r.middle, false
		for _, x := range c.In {
			back, vary = back || backward[x], vary || varying[x]
		}
		for _, x := range c.Out {
			backward[x], varying[x] = backward[x] || back, varying[x] || vary
		}
	}
	seen := map[*Node]bool{}
	var visit func(x *Node)
	visit = func(x *Node) {
		if seen[x] || free[x] {
			return
		}
		seen[x] = true
		if backward[x] || x.Call().Number() >= r.loop.first && !varying[x] || isWideView(x) && varying[x] {
			for _, y := range x.Call().In {
				visit(y)
			}
		} else if varying[x] {
			r.kept = append(r.kept, x)
		}
	}
	for _, x := range l.outs() {
		visit(x)
	}
	slices.SortStableFunc(r.kept, func(a, b *Node) int { return a.Call().Number() - b.Call().Number() })
}

// isWideView reports whether a node is a view that is no smaller than what it views, which is then what to keep.
func isWideView(x *Node) bool {
	c := x.Call()
	_, ok := c.Op.(graph.Viewer)
	return ok && c.In[0].Size() <= x.Size()
}

// stack gives each node that is kept as slices of something: an operand of the scan, a result that it has, or one
// that the scan is given besides.
func (r *reverse) stack(g *graph.Graph) {
	o, l := r.op, r.loop
	l.xs = chosen(r.ct[o.Carries:], r.out[o.Carries:])
	from := map[*Node]*Node{}
	for i := range o.Xs {
		from[r.args[o.Carries+i]] = r.c.In[o.Carries+i]
	}
	for i := o.Carries; i < len(r.outs); i++ {
		if from[r.outs[i]] == nil {
			from[r.outs[i]] = r.c.Out[i]
		}
	}
	var missing []*Node
	for _, x := range r.kept {
		if from[x] == nil {
			missing = append(missing, x)
		}
	}
	if len(missing) > 0 {
		f, err := graph.Close(l.name, r.args, slices.Concat(r.outs, missing))
		if err != nil {
			l.xs = []*Node{g.Fail(l.name, err)}
			return
		}
		o.Body, o.Kept = f, o.Kept+len(missing)
		out := g.ApplyN(len(r.outs)+len(missing), o, r.c.In...)
		for k, x := range missing {
			from[x] = out[len(r.outs)+k]
		}
	}
	for _, x := range r.kept {
		l.x, l.xs = append(l.x, x), append(l.xs, from[x])
	}
}

// scan runs the reverse and hands out the cotangents.
func (r *reverse) scan(g *graph.Graph) []*Node {
	o, l, n := r.op, r.loop, r.op.Carries+r.op.Xs
	l.init = slices.Concat(
		chosen(zeroFill(r.ct[:o.Carries], r.c.Out), r.in[:o.Carries]),
		chosen(zeroFill(make([]*Node, len(r.c.In)-n), r.c.In[n:]), r.in[n:]))
	final, ys := l.scan(g, ScanOp{Length: o.Length, Reverse: !o.Reverse})
	carries := len(chosen(r.args[:o.Carries], r.in[:o.Carries]))
	grads := slices.Concat(spread(final[:carries], r.in[:o.Carries]), spread(ys, r.in[o.Carries:n]),
		spread(final[carries:], r.in[n:]))
	for i, want := range r.need {
		if !want {
			grads[i] = nil
		}
	}
	return grads
}
