package control

import (
	"context"
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// CondOp is Then(x…) where the predicate is true, else Otherwise(x…). Operands the predicate, a bool of rank 0,
// and x…. Only the function that was chosen is run.
type CondOp struct{ Then, Otherwise *graph.Func }

// Name is control.Cond.
func (CondOp) Name() string { return "control.Cond" }

// Key is the canonical form of the attributes.
func (o CondOp) Key() string { return graph.KeyOf(o) }

// Fallible reports whether one of the functions can fail.
func (o CondOp) Fallible() bool { return o.Then.Fallible() || o.Otherwise.Fallible() }

// Infer checks the operands against the functions, and these against each other.
func (o CondOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) {
	if o.Then == nil || o.Otherwise == nil {
		return nil, noFunction("Then or Otherwise")
	}
	if err := checkSame("the arguments of Otherwise", o.Otherwise.In(), o.Then.In()); err != nil {
		return nil, err
	}
	if err := checkSame("the results of Otherwise", o.Otherwise.Out(), o.Then.Out()); err != nil {
		return nil, err
	}
	if len(in) == 0 {
		return nil, tensor.Errorf("", tensor.ErrUnsupported, "0 operands, want %d", 1+len(o.Then.In()))
	}
	if err := isPredicate(in[0]); err != nil {
		return nil, err
	}
	return o.Then.Out(), checkOperands(in[1:], o.Then.In(), 1)
}

// Cond is then(in…) where pred, a bool of rank 0, is true, else otherwise(in…). Both give results of the same
// specs; only the one that is chosen is run. Gradients flow through that one, computed once more.
//
// In a batch whose predicates differ both are run, each if any example chooses it, and every example takes its
// own; an error that one of them finds in an example that does not choose it is an error all the same.
//
// Errors (sticky): tensor.ErrDType, tensor.ErrShape for a pred that is no bool of rank 0 and for results of
// different specs; tensor.ErrUnsupported for a function that is nil; those of the functions' builders.
func Cond(pred *Node, then, otherwise func(in []*Node) []*Node, in ...*Node) []*Node {
	const op = "control.Cond"
	bad := graph.Invalid(op, append([]*Node{pred}, in...)...)
	if bad == nil {
		err := isPredicate(pred.Spec())
		switch {
		case err != nil:
		case then == nil:
			err = noFunction("then")
		case otherwise == nil:
			err = noFunction("otherwise")
		}
		if err != nil {
			bad = pred.Graph().Fail(op, err)
		}
	}
	if bad != nil {
		return all(bad, count(func() int { return len(then(all(bad, len(in)))) }))
	}
	g := pred.Graph()
	var args, yes, no []*Node
	first := g.Trace(func() {
		args = placeholders(g, in)
		yes, no = then(slices.Clone(args)), otherwise(slices.Clone(args))
	})
	if bad = checkResults(op, "then", g, yes); bad == nil {
		bad = checkResults(op, "otherwise", g, no)
	}
	if bad == nil {
		if err := sameSpecs(no, yes, "the results of otherwise", "the results of then"); err != nil {
			bad = g.Fail(op, err)
		}
	}
	if bad != nil {
		return all(bad, len(yes))
	}
	return cond(g, pred, args, in, yes, no, first)
}

// cond builds the call of two functions that were traced from the same arguments.
func cond(g *graph.Graph, pred *Node, args, in, yes, no []*Node, first int) []*Node {
	captured := graph.Captured(args, slices.Concat(yes, no), first)
	args, in = slices.Concat(args, captured), slices.Concat(in, captured)
	then, err := graph.Close("then", args, yes)
	if err != nil {
		return all(g.Fail(CondOp{}.Name(), err), len(yes))
	}
	otherwise, err := graph.Close("otherwise", args, no)
	if err != nil {
		return all(g.Fail(CondOp{}.Name(), err), len(yes))
	}
	return g.ApplyN(len(yes), CondOp{then, otherwise}, append([]*Node{pred}, in...)...)
}

// flows says which results depend on marked arguments in one function at least.
func (o CondOp) flows(in []bool, differentiable bool) []bool {
	r, _ := or(o.Then.Flow(in, differentiable), o.Otherwise.Flow(in, differentiable))
	return r
}

// VJP is a Cond of the functions' reverses, each of which computes its function again.
func (o CondOp) VJP(c *graph.Call, ct []*Node, need []bool) []*Node {
	g := c.Graph()
	want := differentiable(need[1:], o.Then.In())
	flow := o.flows(want, true)
	from := given(ct)
	for i := range from {
		from[i] = from[i] && flow[i]
	}
	if !slices.Contains(from, true) {
		return make([]*Node, len(c.In))
	}
	var args, yes, no []*Node
	first := g.Trace(func() {
		x, t := placeholdersOf(g, o.Then.In()), placeholders(g, chosen(c.Out, from))
		args = slices.Concat(x, t)
		pull := func(f *graph.Func) []*Node {
			return autograd.VJP(chosen(f.Apply(g, x...), from), t, chosen(x, want))
		}
		yes, no = pull(o.Then), pull(o.Otherwise)
	})
	if bad := firstInvalid(slices.Concat(yes, no)); bad != nil {
		return all(bad, len(c.In))
	}
	grads := cond(g, c.In[0], args, slices.Concat(c.In[1:], chosen(ct, from)), yes, no, first)
	return append([]*Node{nil}, spread(grads, want)...)
}

// JVP is a Cond of the functions' forward modes.
func (o CondOp) JVP(c *graph.Call, tan []*Node) []*Node {
	g := c.Graph()
	from := differentiable(given(tan[1:]), o.Then.In())
	to := o.flows(from, true)
	if !slices.Contains(to, true) {
		return make([]*Node, len(c.Out))
	}
	var args, yes, no []*Node
	first := g.Trace(func() {
		x, t := placeholdersOf(g, o.Then.In()), placeholders(g, chosen(tan[1:], from))
		args = slices.Concat(x, t)
		push := func(f *graph.Func) []*Node {
			return autograd.JVP(chosen(f.Apply(g, x...), to), chosen(x, from), t)
		}
		yes, no = push(o.Then), push(o.Otherwise)
	})
	if bad := firstInvalid(slices.Concat(yes, no)); bad != nil {
		return all(bad, len(c.Out))
	}
	tangents := cond(g, c.In[0], args, slices.Concat(c.In[1:], chosen(tan[1:], from)), yes, no, first)
	return spread(tangents, to)
}

// Batch is a Cond of the functions' batches, where all examples share the predicate; else each function is run if
// any example chooses it, and every example takes its own.
func (o CondOp) Batch(c *graph.Call, in []*Node, batched []bool, size int) []*Node {
	g := c.Graph()
	run := func(pred *Node, then, otherwise func(x []*Node) []*Node) []*Node {
		var args, yes, no []*Node
		first := g.Trace(func() {
			args = placeholders(g, in[1:])
			yes, no = then(args), otherwise(args)
		})
		if bad := firstInvalid(slices.Concat(yes, no)); bad != nil {
			return all(bad, len(c.Out))
		}
		return cond(g, pred, args, in[1:], yes, no, first)
	}
	batch := func(f *graph.Func) func([]*Node) []*Node {
		return func(x []*Node) []*Node {
			outs := mapped(f, g, x, batched[1:])
			for i, flows := range f.Flow(batched[1:], false) {
				if !flows {
					outs[i] = batchOf(outs[i], size)
				}
			}
			return outs
		}
	}
	if !batched[0] {
		return run(in[0], batch(o.Then), batch(o.Otherwise))
	}
	nothing := func([]*Node) []*Node {
		r := make([]*Node, len(c.Out))
		for i, s := range o.Then.Out() {
			r[i] = ops.Zeros(g, s.DType, append([]int{size}, s.Shape...)...)
		}
		return r
	}
	yes := run(ops.Any(in[0]), batch(o.Then), nothing)
	no := run(ops.Any(ops.Not(in[0])), batch(o.Otherwise), nothing)
	r := make([]*Node, len(c.Out))
	for i, n := range c.Out {
		r[i] = ops.Where(column(in[0], 1+n.Rank()), yes[i], no[i])
	}
	return r
}

// Control compiles both functions.
func (o CondOp) Control(b graph.Backend, out, in []graph.Operand, used []bool) (graph.Kernel, error) {
	p, err := newPlan(o, out, in, used)
	if err != nil {
		return nil, err
	}
	k := &condKernel{plan: p, backend: b}
	var ins, outs []part
	for _, x := range in[1:] {
		ins = append(ins, whole(x))
	}
	for i, y := range out {
		if used[i] {
			outs = append(outs, whole(y))
		} else {
			outs = append(outs, dense(o.Then.Out()[i]))
		}
	}
	for i, f := range []*graph.Func{o.Otherwise, o.Then} {
		if k.branches[i], err = graph.CompileFunc(b, f, operandsOf(outs), operandsOf(ins), used); err != nil {
			return nil, err
		}
	}
	k.states.make = func() (*frame, error) { return newFrame(outs, ins) }
	return k, nil
}

type condKernel struct {
	plan     *plan
	backend  graph.Backend
	branches [2]*graph.FuncKernel // of false, of true
	states   pool[frame]
}

// Bytes is the memory of one run beside operands and results.
func (k *condKernel) Bytes() int { return max(k.branches[0].Bytes(), k.branches[1].Bytes()) }

// Run is RunContext without an end.
func (k *condKernel) Run(x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	return k.RunContext(context.Background(), x, out, in)
}

// RunContext runs the function that the predicate chooses.
func (k *condKernel) RunContext(ctx context.Context, x graph.Exec, out []tensor.Write, in []tensor.Read) error {
	if err := k.plan.check(out, in); err != nil {
		return err
	}
	which := 0
	if yes, err := predicate(k.backend, in[0].View()); err != nil {
		return err
	} else if yes {
		which = 1
	}
	s, err := k.states.get()
	if err != nil {
		return err
	}
	defer k.states.put(s)
	defer s.clear()
	for i, r := range in[1:] {
		if err := s.read(i, 0, r.Storage()); err != nil {
			return err
		}
	}
	for i, w := range out {
		if !k.plan.used[i] {
			continue
		}
		if err := s.write(i, 0, w.Storage()); err != nil {
			return err
		}
	}
	return k.branches[which].RunContext(ctx, x, s.writes, s.reads)
}
