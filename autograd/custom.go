package autograd

import (
	"slices"
	"sync/atomic"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Backward is a reverse rule: from the inputs, the outputs and a cotangent per output (never nil), a cotangent
// per input, nil for zero.
type Backward func(in, out, ct []*Node) []*Node

// CustomVJP is f with a reverse rule of the user's own: gradients go through back, not through f. Forward mode
// through it is tensor.ErrUnsupported, since a reverse rule does not give the forward one.
func CustomVJP(f Func, back Backward) Func {
	id := funcs.Add(1)
	return func(in []*Node) []*Node {
		if bad := graph.Invalid("autograd.CustomVJP", in...); bad != nil {
			return failed(f, bad, in)
		}
		out := f(slices.Clone(in)) // f may write to what it is given
		return graph.ApplyN(len(out), CustomVJPOp{ID: id, Results: len(out), back: back}, slices.Concat(out, in)...)
	}
}

var funcs atomic.Uint64

// CustomVJPOp is y = y. Operands y… and x…; its cotangents go to x alone, by the user's rule.
type CustomVJPOp struct {
	ID      uint64 // which CustomVJP; together with Depth it stands for back
	Depth   int    // how often it was batched
	Results int
	back    Backward
}

// Name is autograd.CustomVJP.
func (CustomVJPOp) Name() string { return "autograd.CustomVJP" }

// Key stands for the function by its number.
func (o CustomVJPOp) Key() string { return graph.KeyOf([]int{int(o.ID), o.Depth, o.Results}) }

// Infer is the specs of y.
func (o CustomVJPOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) { return in[:o.Results], nil }

// Alias is y.
func (CustomVJPOp) Alias(r int) int { return r }

// VJP asks the user's rule.
func (o CustomVJPOp) VJP(c *graph.Call, ct []*Node, need []bool) []*Node {
	x := c.In[o.Results:]
	grads := o.back(slices.Clone(x), slices.Clone(c.Out), zeroFill(slices.Clone(ct), c.Out))
	if len(grads) != len(x) {
		err := tensor.Errorf("", tensor.ErrShape, "the reverse rule gives %d cotangents for %d inputs", len(grads), len(x))
		return all(c.Graph().Fail(c.Op.Name(), err), len(c.In))
	}
	r := make([]*Node, len(c.In))
	for i, g := range grads {
		if g.Valid() && !g.Spec().Equal(x[i].Spec()) {
			err := tensor.Errorf("", tensor.ErrShape, "the reverse rule gives %s for input %d of %s", g.Spec(), i, x[i].Spec())
			g = c.Graph().Fail(c.Op.Name(), err)
		}
		if need[o.Results+i] {
			r[o.Results+i] = g
		}
	}
	return r
}

// JVP is not supported.
func (o CustomVJPOp) JVP(c *graph.Call, _ []*Node) []*Node {
	return c.Unsupported("JVP", "the user gave a reverse rule only", o.Results)
}

// Batch batches the user's rule.
func (o CustomVJPOp) Batch(c *graph.Call, in []*Node, batched []bool, size int) []*Node {
	back := func(x, y, ct []*Node) []*Node { return batchedBackward(o.back, x, y, ct) }
	return graph.ApplyN(o.Results, CustomVJPOp{o.ID, o.Depth + 1, o.Results, back}, broadcastBatch(in, batched, size)...)
}

// broadcastBatch gives every operand the batch axis, as a view where it had none.
func broadcastBatch(in []*Node, batched []bool, size int) []*Node {
	r := make([]*Node, len(in))
	for i, x := range in {
		r[i] = x
		if !batched[i] {
			r[i] = ops.BroadcastTo(x, append([]int{size}, x.Shape()...)...)
		}
	}
	return r
}

// batchedBackward maps a reverse rule over the batch; cotangents it leaves nil stay nil.
func batchedBackward(back Backward, x, y, ct []*Node) []*Node {
	var given []int
	count := 0
	f := func(in []*Node) []*Node {
		grads := back(in[:len(x)], in[len(x):len(x)+len(y)], in[len(x)+len(y):])
		given, count = given[:0], len(grads)
		var r []*Node
		for i, g := range grads {
			if g != nil {
				given, r = append(given, i), append(r, g)
			}
		}
		return r
	}
	in := append(append(append([]*Node{}, x...), y...), ct...)
	mapped := Vmap(f, in, make([]int, len(in)))
	grads := make([]*Node, count)
	for k, i := range given {
		grads[i] = mapped[k]
	}
	return grads
}

// Checkpoint is f, whose inner values the reverse pass computes again instead of keeping: memory for time.
// Values and derivatives are those of f, also those with respect to what it uses beside its arguments: the
// variables of a layer, say. f is called once; what it built is built again, so random keys stay the same.
func Checkpoint(f Func) Func {
	id := funcs.Add(1)
	return func(in []*Node) []*Node {
		if bad := graph.Invalid("autograd.Checkpoint", in...); bad != nil {
			return failed(f, bad, in)
		}
		if len(in) == 0 {
			return f(in)
		}
		g := in[0].Graph()
		first := g.NumCalls()
		out := f(slices.Clone(in)) // f may write to what it is given
		if bad := firstInvalid("autograd.Checkpoint", g, out); bad != nil {
			return all(bad, len(out))
		}
		args := append(slices.Clone(in), graph.Captured(in, out, first)...)
		f, err := graph.Close("autograd.Checkpoint", args, out)
		if err != nil {
			return all(g.Fail("autograd.Checkpoint", err), len(out))
		}
		op := CheckpointOp{ID: id, Results: len(out), f: func(in []*Node) []*Node { return f.Apply(g, in...) }}
		return graph.ApplyN(len(out), op, slices.Concat(out, args)...)
	}
}

// CheckpointOp is y = y. Operands y = f(x) and x, all that f depends on; its cotangents go through f(x) computed
// anew.
type CheckpointOp struct {
	ID      uint64
	Depth   int // how often it was batched
	Results int
	f       Func
}

// Name is autograd.Checkpoint.
func (CheckpointOp) Name() string { return "autograd.Checkpoint" }

// Key stands for the function by its number.
func (o CheckpointOp) Key() string { return graph.KeyOf([]int{int(o.ID), o.Depth, o.Results}) }

// Infer is the specs of y.
func (o CheckpointOp) Infer(in []tensor.Spec) ([]tensor.Spec, error) { return in[:o.Results], nil }

// Alias is y.
func (CheckpointOp) Alias(r int) int { return r }

// VJP computes f again behind barriers, which keep it from being merged with the first time.
func (o CheckpointOp) VJP(c *graph.Call, ct []*Node, need []bool) []*Node {
	x := make([]*Node, 0, len(c.In)-o.Results)
	var wrt []*Node
	var at []int
	for i, n := range c.In[o.Results:] {
		b := graph.Barrier(n)
		x = append(x, b)
		if need[o.Results+i] && n.DType().IsDifferentiable() {
			wrt, at = append(wrt, b), append(at, o.Results+i)
		}
	}
	r := make([]*Node, len(c.In))
	for k, g := range VJP(o.f(x), ct, wrt) {
		r[at[k]] = g
	}
	return r
}

// JVP passes y's tangents on: forward mode keeps nothing anyway.
func (o CheckpointOp) JVP(_ *graph.Call, tan []*Node) []*Node { return tan[:o.Results] }

// Batch checkpoints the batched function. What all examples share stays as it is.
func (o CheckpointOp) Batch(c *graph.Call, in []*Node, batched []bool, size int) []*Node {
	y, x := broadcastBatch(in[:o.Results], batched, size), in[o.Results:]
	axes := make([]int, len(x))
	for i := range x {
		if !batched[o.Results+i] {
			axes[i] = -1
		}
	}
	f := func(x []*Node) []*Node { return Vmap(o.f, x, axes) }
	return graph.ApplyN(o.Results, CheckpointOp{o.ID, o.Depth + 1, o.Results, f}, append(y, x...)...)
}
