package control

import (
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// WhileOp is state… ← Body(state…, fixed…) as long as Cond(state…, fixed…), a bool of rank 0, is true.
// Operands init…, fixed…; results the state at the end.
type WhileOp struct{ Cond, Body *graph.Func }

// Name is control.While.
func (WhileOp) Name() string { return "control.While" }

// Key is the canonical form of the attributes.
func (o WhileOp) Key() string { return graph.KeyOf(o) }

// Fallible is true: nobody knows whether it ends, so a run that does not can only be stopped.
func (WhileOp) Fallible() bool { return true }

// Infer checks the operands against the functions, and these against each other.
func (o WhileOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Cond == nil || o.Body == nil {
		return nil, noFunction("Cond or Body")
	}
	args, states := o.Body.In(), o.Body.Out()
	if err := checkSame("the arguments of Cond", o.Cond.In(), args); err != nil {
		return nil, err
	}
	if err := checkSame("the results of Cond", o.Cond.Out(), []tensor.Spec{{DType: tensor.Bool}}); err != nil {
		return nil, err
	}
	if err := checkSame("the states that Body returns", states, args[:min(len(states), len(args))]); err != nil {
		return nil, err
	}
	return states, checkOperands(in, args, 0)
}

// While is the loop
//
//	for cond(state) { state = body(state) }
//
// from init; it returns the last state. The state keeps its specs. A loop that never ends stops when the context
// of the run does; in an eager graph there is none. In a batch it goes on until every example is done; those that
// are keep their state, though the body is computed for them too.
//
// It has forward mode, and no reverse: what to keep for that cannot be planned without a bound. WhileN is for that.
//
// Errors (sticky): tensor.ErrDType, tensor.ErrShape for a condition that is no bool of rank 0 and where body does not
// return what it is given; tensor.ErrUnsupported without init, for a function that is nil, and for a gradient; those
// of the functions' builders.
func While(cond func(state []*Node) *Node, body func(state []*Node) []*Node, init ...*Node) []*Node {
	const op = "control.While"
	if bad := checkLoop(op, cond, body, init); bad != nil {
		return all(bad, len(init))
	}
	g := init[0].Graph()
	l := &loop{name: op, init: init}
	l.first = g.Trace(func() {
		l.carry = placeholders(g, init)
		l.pred, l.next = cond(slices.Clone(l.carry)), body(slices.Clone(l.carry))
	})
	bad := checkResults(op, "the condition", g, []*Node{l.pred})
	if bad == nil {
		bad = checkResults(op, "the body", g, l.next)
	}
	if bad == nil {
		err := isPredicate(l.pred.Spec())
		if err == nil {
			err = sameSpecs(l.next, init, "the state returned", "init")
		}
		if err != nil {
			bad = g.Fail(op, err)
		}
	}
	if bad != nil {
		return all(bad, len(init))
	}
	return l.while(g)
}

// WhileN is While of max trips at most: state is returned as it is then. It is a Scan of Cond, which has reverse
// mode too; what it keeps for that is max times what one trip needs, and trips that are left over copy the state.
//
// Errors (sticky): those of While but for gradients, tensor.ErrShape for a negative max.
func WhileN(max int, cond func(state []*Node) *Node, body func(state []*Node) []*Node, init ...*Node) []*Node {
	const op = "control.WhileN"
	bad := checkLoop(op, cond, body, init)
	if bad == nil && max < 0 {
		bad = init[0].Graph().Fail(op, tensor.Errorf("", tensor.ErrShape, "at most %d trips", max))
	}
	if bad != nil {
		return all(bad, len(init))
	}
	final, _ := Scan(func(state, _ []*Node) (next, y []*Node) {
		same := func(in []*Node) []*Node { return in }
		p := cond(slices.Clone(state))
		return Cond(p, body, same, state...), nil
	}, init, nil, Steps(max))
	return final
}

// checkLoop gives the invalid node to return where a loop has no state, an invalid one, or no function.
func checkLoop(op string, cond func([]*Node) *Node, body func([]*Node) []*Node, init []*Node) *Node {
	if bad := graph.Invalid(op, init...); bad != nil {
		return bad
	}
	switch {
	case len(init) == 0:
		return graph.Fail(op, tensor.Errorf("", tensor.ErrUnsupported, "there is no state"))
	case cond == nil:
		return graph.Fail(op, noFunction("the condition"), init...)
	case body == nil:
		return graph.Fail(op, noFunction("the body"), init...)
	}
	return nil
}

// while builds the call.
func (l *loop) while(g *graph.Graph) []*Node {
	init := l.init
	l.asIs = slices.Equal(l.next, l.carry) // then it has nothing to do, for ever or not at all
	unchanged := l.prepare(g)
	c, err := graph.Close("cond", l.args(), []*Node{l.pred})
	if err != nil {
		return all(g.Fail(l.name, err), len(init))
	}
	body, err := graph.Close("body", l.args(), l.next)
	if err != nil {
		return all(g.Fail(l.name, err), len(init))
	}
	out := g.ApplyN(len(l.next), WhileOp{c, body}, slices.Concat(l.init, l.operands)...)
	return merge(out, init, unchanged)
}

// VJP is refused, but where no gradient flows.
func (o WhileOp) VJP(c *graph.Call, ct []*Node, need []bool) []*Node {
	_, out := active(o.Body, len(c.Out), differentiable(need, o.Body.In()), true)
	for i, g := range ct {
		if g != nil && out[i] {
			return c.Unsupported("VJP",
				"the number of trips is not known; control.WhileN, which has a bound, has one", len(c.In))
		}
	}
	return make([]*Node, len(c.In))
}

// JVP is a While of states and tangents.
func (o WhileOp) JVP(c *graph.Call, tan []*Node) []*Node {
	g, n := c.Graph(), len(c.Out)
	in, _ := active(o.Body, n, differentiable(given(tan), o.Body.In()), true)
	l := &loop{name: o.Name()}
	l.first = g.Trace(func() {
		x := placeholdersOf(g, o.Body.In())
		outs := o.Body.Apply(g, x...)
		l.pred = o.Cond.Apply(g, x...)[0]
		wrt := chosen(x, in)
		t := placeholders(g, wrt)
		at := spread(t, in)
		l.carry = slices.Concat(x[:n], chosen(at[:n], in[:n]))
		l.next = slices.Concat(outs, autograd.JVP(chosen(outs, in[:n]), wrt, t))
		l.fixed = slices.Concat(x[n:], chosen(at[n:], in[n:]))
	})
	if bad := firstInvalid(l.outs()); bad != nil {
		return all(bad, n)
	}
	l.init = slices.Concat(c.In[:n], chosen(zeroFill(tan[:n], c.In), in[:n]))
	l.operands = slices.Concat(c.In[n:], chosen(tan[n:], in[n:]))
	return spread(l.while(g)[n:], in[:n])
}

// Batch goes on until every example is done. Where the condition depends on the example, each has its own as one
// more state, and keeps its state once that is false.
func (o WhileOp) Batch(c *graph.Call, in []*Node, batched []bool, size int) []*Node {
	g, n := c.Graph(), len(c.Out)
	isBatch, own := o.batched(batched, n)
	l := &loop{name: o.Name()}
	l.first = g.Trace(func() {
		x := placeholdersOf(g, batchSpecs(o.Body.In(), isBatch, size))
		l.carry, l.fixed, l.operands = x[:n], x[n:], in[n:]
		l.next = mapped(o.Body, g, x, isBatch)
		for i, flows := range o.Body.Flow(isBatch, false) {
			if isBatch[i] && !flows {
				l.next[i] = batchOf(l.next[i], size)
			}
		}
		if !own {
			l.pred = mapped(o.Cond, g, x, isBatch)[0]
			return
		}
		goes := g.Placeholder(tensor.Spec{DType: tensor.Bool, Shape: []int{size}})
		for i, next := range l.next {
			l.next[i] = ops.Where(column(goes, next.Rank()), next, x[i])
		}
		l.pred = ops.Any(goes)
		again := mapped(o.Cond, g, slices.Concat(l.next, l.fixed), isBatch)[0]
		l.carry, l.next = append(slices.Clone(l.carry), goes), append(l.next, again)
	})
	if bad := firstInvalid(l.outs()); bad != nil {
		return all(bad, n)
	}
	for i := range n {
		x := in[i]
		if isBatch[i] && !batched[i] {
			x = batchOf(x, size)
		}
		l.init = append(l.init, x)
	}
	if own {
		l.init = append(l.init, mapped(o.Cond, g, slices.Concat(l.init, in[n:]), isBatch)[0])
	}
	r := l.while(g)[:n]
	for i, y := range r {
		if !isBatch[i] {
			r[i] = batchOf(y, size)
		}
	}
	return r
}

// batched grows the flags of operands to those of states that the loop makes depend on the example: all of them,
// where the condition does. own says whether it does.
func (o WhileOp) batched(flags []bool, states int) (in []bool, own bool) {
	in, _ = active(o.Body, states, flags, false)
	if !o.Cond.Flow(in, false)[0] {
		return in, false
	}
	return append(trues(states), in[states:]...), true
}

// column is a vector under a shape of that rank, for broadcasting along the other axes.
func column(x *Node, rank int) *Node {
	shape := append(slices.Clone(x.Shape()), make([]int, rank-1)...)
	for a := 1; a < rank; a++ {
		shape[a] = 1
	}
	return ops.Reshape(x, shape...)
}
