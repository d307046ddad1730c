package main

import (
	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
)

type node = graph.Node

// input is what a case gets: a fed input, or a variable where the case updates it.
type input struct {
	*node
	v *graph.Variable
}

// build makes the outputs of a case's program, assignments among them.
type build func(in []input) []*node

// pure is a case of one result.
func pure(f func(in []input) *node) build { return func(in []input) []*node { return []*node{f(in)} } }

// unary is a case of one operand and one result.
func unary(f func(x *node) *node) build { return pure(func(in []input) *node { return f(in[0].node) }) }

// along is a family of cases, one for each axis.
func along(t map[string]build, name string, f func(x *node, axis int) *node) {
	for axis, suffix := range []string{" axis 0", " axis 1"} {
		t[name+suffix] = unary(func(x *node) *node { return f(x, axis) })
	}
}

func table() map[string]build {
	t := map[string]build{
		"argmax all":         unary(ops.ArgMaxAll),
		"sum all":            unary(func(x *node) *node { return ops.Sum(x) }),
		"var all":            unary(func(x *node) *node { return ops.Var(x, 1) }),
		"var axis 1":         unary(func(x *node) *node { return ops.Var(x, 1, 1) }),
		"exp":                unary(ops.Exp),
		"add":                pure(func(in []input) *node { return ops.Add(in[0].node, in[1].node) }),
		"transposed copy":    unary(func(x *node) *node { return ops.Transpose(x) }),
		"strided slice copy": unary(func(x *node) *node { return ops.Index(x, index.All, index.By(2)) }),
		"5-op chain":         pure(chain),
		"layer norm fwd+bwd": layerNorm,
		"sort axis 1": func(in []input) []*node {
			values, indices := ops.SortWithIndex(in[0].node, 1, ops.Ascending)
			return []*node{values, indices}
		},
		"topk(8) axis 1": func(in []input) []*node {
			values, indices := ops.TopK(in[0].node, 8, 1, ops.Descending)
			return []*node{values, indices}
		},
		"x[mask]": pure(func(in []input) *node { return ops.Index(in[0].node, index.Mask(in[1].node)) }),
		"x[mask] = v": func(in []input) []*node {
			return []*node{in[0].v.Assign(ops.SetIndex(in[0].node, 0.25, index.Mask(in[1].node)))}
		},
		"embedding step / dense":  embedding,
		"embedding step / sparse": embedding,
		"MLP step":                mlp,
	}
	for _, name := range []string{"matmul 1024", "matmul 128", "matmul 64x128"} {
		t[name] = pure(func(in []input) *node { return ops.MatMul(in[0].node, in[1].node) })
	}
	t["conv 3x3"] = pure(func(in []input) *node {
		return ops.Conv(in[0].node, in[1].node, ops.ConvSpec{Low: []int{1, 1}, High: []int{1, 1}})
	})
	along(t, "argmax", ops.ArgMax)
	along(t, "softmax", ops.Softmax)
	along(t, "cumsum", func(x *node, axis int) *node { return ops.CumSum(x, axis) })
	along(t, "sum", func(x *node, axis int) *node { return ops.Sum(x, axis) })
	along(t, "max", func(x *node, axis int) *node { return ops.Max(x, axis) })
	along(t, "logsumexp", func(x *node, axis int) *node { return ops.LogSumExp(x, axis) })
	for axis, suffix := range []string{"0", "1"} {
		t["take-along axis "+suffix] = pure(func(in []input) *node {
			return ops.TakeAlongAxis(in[0].node, in[1].node, axis)
		})
	}
	writes := map[string]func(x *node, v any, items ...index.Item) *node{
		"add": ops.AddIndex, "max": ops.MaxIndex, "set": ops.SetIndex,
	}
	for _, rows := range []string{" 1 KB rows", " 256 B rows", " 64 B rows"} {
		t["gather"+rows] = pure(func(in []input) *node { return ops.Index(in[0].node, index.Of(in[1].node)) })
		for op, write := range writes {
			t["scatter-"+op+rows] = func(in []input) []*node {
				return []*node{in[0].v.Assign(write(in[0].node, in[2].node, index.Of(in[1].node)))}
			}
		}
	}
	return t
}

func chain(in []input) *node {
	x, y := in[0].node, in[1].node
	return ops.Maximum(ops.Sub(ops.Mul(ops.Add(ops.Mul(x, y), x), 2), y), 0)
}

func layerNorm(in []input) []*node {
	x, gain, bias, ct := in[0].node, in[1].node, in[2].node, in[3].node
	y := ops.Add(ops.Mul(ops.Standardize(x, 1e-5, 1), gain), bias)
	return append([]*node{y}, autograd.VJP([]*node{y}, []*node{ct}, []*node{x, gain, bias})...)
}

func embedding(in []input) []*node {
	h := ops.Embedding(in[0].node, in[1].node)
	return nn.SGD{LR: 1e-2}.Step(ops.Mul(ops.Sum(ops.Square(h)), 0.5), in[0].v)
}

func mlp(in []input) []*node {
	h, w := in[0].node, in[2:]
	var params []*graph.Variable
	for i := 0; i < len(w); i += 2 {
		if i > 0 {
			h = ops.Relu(h)
		}
		h = ops.Add(ops.MatMul(h, w[i].node), w[i+1].node)
		params = append(params, w[i].v, w[i+1].v)
	}
	return nn.SGD{LR: 0.1}.Step(nn.CrossEntropy(h, in[1].node), params...)
}
