package autograd_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// Random functions whose parts are checkpoints, functions with rules of their own and maps over rows, one inside
// of another, have the derivatives of any order that they have written out.

// The ways to use a function for a part of a larger one.
const (
	checkpointed = iota
	ruled
	mapped
	ways
)

type wrapper func(way int, f autograd.Func) autograd.Func

func writtenOut(way int, f autograd.Func) autograd.Func {
	if way != mapped {
		return f
	}
	return func(in []*node) []*node {
		var rows []*node
		for i := range in[0].Shape()[0] {
			args := make([]*node, len(in))
			for k, x := range in {
				args[k] = ops.Index(x, index.At(i))
			}
			rows = append(rows, f(args)[0])
		}
		return []*node{ops.Stack(0, rows...)}
	}
}

func transformed(way int, f autograd.Func) autograd.Func {
	switch way {
	case checkpointed:
		return autograd.Checkpoint(f)
	case ruled:
		return autograd.CustomVJP(f, func(in, out, ct []*node) []*node {
			for i := range in { // one input may depend on another
				in[i] = graph.Barrier(in[i])
			}
			return autograd.VJP(f(in), ct, in)
		})
	}
	return func(in []*node) []*node { return autograd.Vmap(f, in, make([]int, len(in))) }
}

// randomFunc draws functions: the same for the same seed, however parts are wrapped.
type randomFunc struct {
	seed  uint64
	wrap  wrapper
	rules bool // parts with rules of their own, which have no forward mode
}

// at is a function of two values of one shape to one of that shape, which also uses captured ones.
func (r randomFunc) at(part uint64, depth int, captured []*node) autograd.Func {
	return func(in []*node) []*node {
		rng := rand.New(rand.NewPCG(r.seed, part))
		pool, shape := append([]*node{}, in...), in[0].Shape()
		for _, c := range captured {
			if s, err := tensor.BroadcastShapes(shape, c.Shape()); err == nil && tensor.EqualShapes(s, shape) {
				pool = append(pool, ops.BroadcastTo(c, shape...))
			}
		}
		for k := range uint64(5) {
			x, y := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
			way := rng.IntN(ways)
			if way == ruled && !r.rules || way == mapped && len(shape) == 0 {
				way = checkpointed
			}
			var z *node
			switch n := rng.IntN(9); {
			case n == 0:
				z = ops.Mul(x, ops.Tanh(y)) // bounded: beyond ∞ there is nothing to compare
			case n == 1:
				z = ops.Tanh(ops.Add(x, y))
			case n == 2:
				z = ops.Sin(x)
			case n == 3 && len(shape) > 0:
				z = ops.Sin(ops.Mul(x, ops.KeepDims(ops.Sum, y, -1)))
			case n == 4 && len(shape) > 0:
				z = ops.Reverse(x, -1)
			case n == 5 && len(shape) > 0:
				from, to := tensor.Of[int32](0, 2, 2), tensor.Of[int32](1, 1, 0)
				z = ops.AddIndex(x, ops.Index(y, index.Of(from)), index.Of(to))
			case n > 5 && depth < 3:
				inner := append(append([]*node{}, captured...), pool...)
				if way == ruled {
					inner = nil // a rule gives no gradient to what is captured
				}
				z = r.wrap(way, r.at(part*31+k+1, depth+1, inner))([]*node{x, y})[0]
			default:
				z = ops.Exp(ops.Sin(x))
			}
			pool = append(pool, z)
		}
		return pool[len(pool)-1:]
	}
}

// derivatives is all kinds of them of one function, by name.
func (r randomFunc) derivatives(t *testing.T) map[string][]float64 {
	g := graph.Eager(backend)
	data := make([]float64, 24)
	for i := range data {
		data[i] = math.Sin(float64(i*i)+float64(r.seed)) / 2
	}
	constant := func(v []float64, shape ...int) *node { return g.Const(tensor.Must(tensor.FromSlice(v, shape...))) }
	x, y, w := constant(data[:12], 3, 4), constant(data[12:], 3, 4), constant(data[3:7], 4)
	f := r.at(1, 0, []*node{w})
	loss := func(in ...*node) *node { return ops.Sum(ops.Sin(f(in)[0])) }
	first := loss(x, y)
	grads := autograd.Grad(first, x, y, w)
	second := autograd.Grad(ops.Sum(ops.Mul(grads[0], ops.Add(grads[2], grads[1]))), x, w)
	each := autograd.Vmap(func(in []*node) []*node {
		l := loss(in[0], y)
		return append(autograd.Grad(l, in[0], w), l)
	}, []*node{ops.Stack(0, x, y, ops.Neg(x))}, []int{0})
	nodes := map[string]*node{
		"value": first, "∂x": grads[0], "∂y": grads[1], "∂w": grads[2],
		"second ∂x": second[0], "second ∂w": second[1],
		"∂x of each": each[0], "∂w of each": each[1],
		"∂w of all":    autograd.Grad(ops.Sum(ops.Square(each[2])), w)[0],
		"∂w of each ∂": autograd.Grad(ops.Sum(ops.Square(each[0])), w)[0],
		"Jacobian":     autograd.Jacobian(f([]*node{x, y})[0], w)[0],
	}
	if !r.rules {
		nodes["JVP"] = autograd.JVP([]*node{first}, []*node{x, w}, []*node{y, w})[0]
		hvp := autograd.HVP(first, []*node{x, w}, []*node{y, ops.Neg(w)})
		nodes["HVP"], nodes["third"] = hvp[1], autograd.JVP(hvp[:1], []*node{w}, []*node{w})[0]
	}
	got := map[string][]float64{}
	for name, n := range nodes {
		got[name] = values(t, n)
	}
	return got
}

func TestNestedTransformations(t *testing.T) {
	close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }
	for seed := range uint64(50) {
		rules := seed%2 == 0
		want := randomFunc{seed, writtenOut, rules}.derivatives(t)
		for name, got := range (randomFunc{seed, transformed, rules}).derivatives(t) {
			if !slices.EqualFunc(got, want[name], close) {
				t.Errorf("seed %d, %s: got %v, want %v", seed, name, got, want[name])
			}
		}
	}
}
