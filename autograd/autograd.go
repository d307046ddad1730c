// Package autograd turns graphs into graphs of derivatives: reverse mode, forward mode, vectorisation, and
// what composes from them. Everything it makes is nodes, so derivatives of derivatives to any order, and in
// any mixture, are had by calling it again.
//
// Complex gradients follow ⟨u, v⟩ = Re Σ conj(u)·v: the gradient of a real function is the direction of its
// steepest ascent.
package autograd

import (
	"fmt"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Node is a graph.Node.
type Node = graph.Node

// Func is a function from nodes to nodes: builders applied to its arguments.
type Func func(in []*Node) []*Node

// Grad is the gradient of a scalar with respect to each of wrt, any nodes it was computed from: ∂loss/∂wrt,
// zero where loss does not depend on one.
//
// Errors (sticky): tensor.ErrShape for a loss that is not of rank 0, tensor.ErrDType for one that is not real
// and floating-point, or for a wrt of a dtype that carries no gradient.
func Grad(loss *Node, wrt ...*Node) []*Node {
	if bad := graph.Invalid("autograd.Grad", append([]*Node{loss}, wrt...)...); bad != nil {
		return all(bad, len(wrt))
	}
	g := loss.Graph()
	if loss.Rank() != 0 {
		return all(g.Fail("autograd.Grad", tensor.Errorf("", tensor.ErrShape, "the loss has shape %v, want a scalar", loss.Shape())), len(wrt))
	}
	if !loss.DType().IsFloat() {
		return all(g.Fail("autograd.Grad", tensor.Errorf("", tensor.ErrDType, "the loss is %s, want a real floating-point number", loss.DType())), len(wrt))
	}
	return vjp("autograd.Grad", []*Node{loss}, []*Node{g.Literal(loss.DType(), 1)}, wrt)
}

// VJP is reverse mode: x̄ = Jᵀ·ȳ for the Jacobian J of outs with respect to wrt. ct holds the cotangent ȳ of
// each of outs, nil for zero. Results have the specs of wrt, zero where nothing flows.
//
// Errors (sticky): tensor.ErrShape, tensor.ErrDType for a cotangent that is not of its output's spec,
// tensor.ErrDType for a wrt of a dtype that carries no gradient.
func VJP(outs, ct, wrt []*Node) []*Node { return vjp("autograd.VJP", outs, ct, wrt) }

// vjp is VJP for a builder: op is what an error names.
func vjp(op string, outs, ct, wrt []*Node) []*Node {
	if bad := check(op, outs, ct, wrt, outs); bad != nil {
		return all(bad, len(wrt))
	}
	order := graph.Topo(outs)
	live := dependents(order, wrt)
	acc := map[*Node]*Node{}
	add := func(n, c *Node) {
		if c == nil || !live[n] {
			return
		}
		if old := acc[n]; old != nil {
			c = ops.Add(old, c)
		}
		acc[n] = c
	}
	for i, o := range outs {
		add(o, ct[i])
	}
	for k := len(order) - 1; k >= 0; k-- {
		c := order[k]
		cts, flows := lookup(acc, c.Out)
		need, wanted := make([]bool, len(c.In)), false
		for i, x := range c.In {
			need[i] = live[x]
			wanted = wanted || live[x]
		}
		if !flows || !wanted {
			continue
		}
		c.Graph().From(c, func() {
			for i, g := range c.Op.VJP(c, cts, need) {
				add(c.In[i], g)
			}
		})
	}
	r, _ := lookup(acc, wrt)
	return zeroFill(r, wrt)
}

// JVP is forward mode: ẏ = J·ẋ for the Jacobian J of outs with respect to wrt. tan holds the tangent ẋ of each
// of wrt, nil for zero. Results have the specs of outs.
//
// Errors (sticky): tensor.ErrShape, tensor.ErrDType for a tangent that is not of its node's spec,
// tensor.ErrDType for a wrt of a dtype that carries no gradient.
func JVP(outs, wrt, tan []*Node) []*Node {
	if bad := check("autograd.JVP", wrt, tan, wrt, outs); bad != nil {
		return all(bad, len(outs))
	}
	env, given := map[*Node]*Node{}, map[*Node]bool{}
	for i, w := range wrt {
		env[w], given[w] = tan[i], true
	}
	for _, c := range graph.Topo(outs) {
		in, flows := lookup(env, c.In)
		if !flows {
			continue
		}
		c.Graph().From(c, func() {
			for i, t := range c.Op.JVP(c, in) {
				if n := c.Out[i]; t != nil && !given[n] {
					env[n] = t
				}
			}
		})
	}
	r, _ := lookup(env, outs)
	return zeroFill(r, outs)
}

// HVP is the product of the Hessian of a scalar with directions, one per wrt: forward over reverse.
//
// Errors (sticky): those of Grad and JVP.
func HVP(loss *Node, wrt, directions []*Node) []*Node {
	return JVP(Grad(loss, wrt...), wrt, directions)
}

// check is for the first lines of VJP and JVP: vec belongs to like, one by one.
func check(op string, like, vec, wrt, outs []*Node) *Node {
	if bad := graph.Invalid(op, append(append([]*Node{}, outs...), wrt...)...); bad != nil {
		return bad
	}
	if len(like) != len(vec) {
		return graph.Fail(op, tensor.Errorf("", tensor.ErrShape, "%d vectors for %d nodes", len(vec), len(like)), like...)
	}
	for i, v := range vec {
		switch {
		case v == nil:
		case !v.Valid():
			return v
		case v.DType() != like[i].DType():
			return graph.Fail(op, tensor.Errorf("", tensor.ErrDType, "vector %d is %s for a node of %s", i, v.Spec(), like[i].Spec()), v)
		case !v.Spec().Equal(like[i].Spec()):
			return graph.Fail(op, tensor.Errorf("", tensor.ErrShape, "vector %d is %s for a node of %s", i, v.Spec(), like[i].Spec()), v)
		}
	}
	for i, w := range wrt {
		if !w.DType().IsDifferentiable() {
			return graph.Fail(op, tensor.Errorf("", tensor.ErrDType, "node %d is %s, which carries no gradient", i, w.Spec()), w)
		}
	}
	return nil
}

// dependents marks wrt and every node of a differentiable dtype that is computed from one of them.
func dependents(order []*graph.Call, wrt []*Node) map[*Node]bool {
	live := map[*Node]bool{}
	for _, w := range wrt {
		live[w] = true
	}
	for _, c := range order {
		for _, x := range c.In {
			if live[x] {
				for _, o := range c.Out {
					live[o] = live[o] || o.DType().IsDifferentiable()
				}
			}
		}
	}
	return live
}

func lookup(env map[*Node]*Node, nodes []*Node) (r []*Node, found bool) {
	r = make([]*Node, len(nodes))
	for i, n := range nodes {
		r[i] = env[n]
		found = found || r[i] != nil
	}
	return r, found
}

func zeroFill(r, like []*Node) []*Node {
	for i, n := range like {
		if r[i] == nil {
			r[i] = ops.ZerosLike(n)
		}
	}
	return r
}

func all(n *Node, times int) []*Node {
	r := make([]*Node, times)
	for i := range r {
		r[i] = n
	}
	return r
}

// firstInvalid is a node of the list that is not valid, or nil; op's error is recorded for a nil one.
func firstInvalid(op string, g *graph.Graph, nodes []*Node) *Node {
	for i, n := range nodes {
		if n == nil {
			return g.Fail(op, fmt.Errorf("result %d of the function is nil", i))
		}
		if !n.Valid() {
			return n
		}
	}
	return nil
}
