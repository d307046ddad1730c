package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

type node = graph.Node

// writer writes a random program. What it chooses depends on the seed and on specs alone.
type writer struct {
	rng   *rand.Rand
	g     *graph.Graph
	pool  []*node // float32
	ints  []*node // 0 to 2, never out of bounds
	vars  []*graph.Variable
	depth int
}

var programShapes = [][]int{{3, 4}, {4, 3}, {4}, {3, 1, 4}, {2, 3, 4}, {}, {3, 3}, {0, 4}, {3, 4}, {1, 4}, {64, 48}}

func (w *writer) pick() *node {
	if w.rng.IntN(3) == 0 {
		return w.pool[len(w.pool)-1]
	}
	return w.pool[w.rng.IntN(len(w.pool))]
}

// like is a node that broadcasts to x, x itself at times.
func (w *writer) like(x *node) *node {
	for range 6 {
		y := w.pick()
		if s, err := tensor.BroadcastShapes(x.Shape(), y.Shape()); err == nil && slices.Equal(s, x.Shape()) {
			return y
		}
	}
	return x
}

func (w *writer) add(n *node) {
	if n.Valid() && n.Size() <= 20000 {
		w.pool = append(w.pool, n)
	}
}

func (w *writer) axis(x *node) int { return w.rng.IntN(x.Rank()) }

func (w *writer) step() {
	x := w.pick()
	y := w.like(x)
	switch k := w.rng.IntN(27); {
	case k == 0:
		w.add([]func(*node) *node{ops.Neg, ops.Tanh, ops.Abs, ops.Relu, ops.Sigmoid, ops.Floor}[w.rng.IntN(6)](x))
	case k <= 3:
		f := []func(a, b any) *node{ops.Add, ops.Sub, ops.Mul, ops.Maximum, ops.Minimum, ops.Div}[w.rng.IntN(6)]
		if w.rng.IntN(2) == 0 {
			x, y = y, x
		}
		w.add(f(x, y))
	case k == 4:
		w.add(ops.Add(ops.Mul(x, 0.5), w.rng.IntN(3)))
	case k == 5:
		w.add(ops.Where(ops.Less(x, y), y, x))
	case k == 6:
		w.add(ops.Transpose(x, w.rng.Perm(x.Rank())...))
	case k == 7 && x.Rank() > 0:
		w.add(ops.Reverse(x, w.axis(x)))
	case k == 8 && x.Rank() > 0:
		a := w.axis(x)
		if d := x.Shape()[a]; d > 1 {
			w.add(ops.SliceAxis(x, a, w.rng.IntN(2), d-1))
		}
	case k == 9:
		w.add(ops.BroadcastTo(x, append([]int{1 + w.rng.IntN(2)}, x.Shape()...)...))
	case k == 10:
		w.add(ops.Flatten(x))
	case k == 11 && x.Rank() > 0:
		f := []func(*node, ...int) *node{ops.Sum, ops.Prod, ops.LogSumExp, ops.Mean}[w.rng.IntN(4)]
		w.add(f(x, w.axis(x)))
	case k == 12 && x.Rank() > 0 && x.Size() > 0:
		w.add(ops.Max(x, w.axis(x)))
	case k == 13 && x.Rank() > 0:
		w.add(ops.Softmax(x, w.axis(x)))
	case k == 14 && x.Rank() == 2:
		w.add(ops.Tanh(ops.MatMul(x, ops.Transpose(y2(x, y), 1, 0))))
	case k == 15 && x.Rank() > 0 && x.Shape()[0] >= 3:
		w.add(ops.Index(x, index.Of(w.ints[w.rng.IntN(len(w.ints))])))
	case k == 16 && x.Rank() > 0 && x.Shape()[0] >= 3:
		f := []func(*node, any, ...index.Item) *node{ops.SetIndex, ops.AddIndex, ops.MulIndex, ops.MaxIndex}[w.rng.IntN(4)]
		i := index.Of(w.ints[w.rng.IntN(len(w.ints))])
		w.add(f(x, ops.Index(y2(x, y), i), i))
	case k == 17:
		w.add(ops.SetIndex(x, 1, index.Mask(ops.Less(x, 0))))
	case k == 18 && x.Rank() > 0 && x.Shape()[0] > 1: // a[1:] = a[:-1]
		w.add(ops.SetIndex(x, ops.SliceAxis(x, 0, 0, x.Shape()[0]-1), index.From(1)))
	case k == 19 && x.Rank() > 0:
		w.add(ops.Concat(w.axis(x), x, x))
	case k == 20:
		other := []tensor.DType{tensor.Float64, tensor.BFloat16, tensor.Float16}[w.rng.IntN(3)]
		w.add(ops.Cast(ops.Cast(x, other), tensor.Float32))
	case k == 21:
		w.add(graph.Barrier(x))
		w.add(ops.StopGradient(x))
	case k == 22 && w.depth < 2: // a function over the same pool, checkpointed
		w.depth++
		r := autograd.Checkpoint(func(in []*node) []*node {
			old := w.pool
			w.pool = append(slices.Clone(old), in...)
			for range 3 {
				w.step()
			}
			out := w.pool[len(w.pool)-1]
			w.pool = old
			return []*node{out}
		})([]*node{x})
		w.depth--
		w.add(r[0])
	case k >= 23 && w.depth < 2: // the gradient, which uses what it can of the forward values
		w.depth += 2
		to := w.pool[w.rng.IntN(len(w.pool))]
		for _, d := range autograd.Grad(ops.Sum(x), to, y) {
			w.add(d)
		}
		w.depth -= 2
	}
}

func y2(x, y *node) *node {
	if slices.Equal(x.Shape(), y.Shape()) {
		return y
	}
	return x
}

// program builds a program: results and assignments.
func writeProgram(seed uint64, g *graph.Graph, s *graph.Store, feed graph.Feed) (outs []*node) {
	w := &writer{rng: rand.New(rand.NewPCG(seed, 5)), g: g, vars: s.Variables()}
	for _, v := range w.vars {
		w.pool = append(w.pool, v.Read(g))
	}
	for i, shape := range [][]int{{3, 4}, programShapes[w.rng.IntN(len(programShapes))], {3}} {
		name := fmt.Sprint("in", i)
		if i == 2 {
			w.ints = append(w.ints, input(g, name, tensor.Int32, feed, shape...))
			break
		}
		w.pool = append(w.pool, input(g, name, tensor.Float32, feed, shape...))
	}
	matrix := tensor.Must(tensor.FromSlice([]uint8{1, 0, 2, 2}, 2, 2))
	w.ints = append(w.ints, g.Const(tensor.Of[int64](0, 2, 1, 0)), g.Const(matrix))
	w.pool = append(w.pool, g.Const(tensor.Of[float32](1, -2, 0.5, 4)), g.Literal(tensor.Float32, w.rng.IntN(3)-1))
	for range 4 + w.rng.IntN(24) {
		w.step()
	}
	for range w.rng.IntN(5) {
		outs = append(outs, w.pick())
	}
	for _, v := range w.vars {
		if w.rng.IntN(3) == 0 {
			continue
		}
		var fits []*node
		for _, n := range w.pool {
			if n.Spec().Equal(v.Spec()) {
				fits = append(fits, n)
			}
		}
		n := fits[len(fits)-1-w.rng.IntN(min(3, len(fits)))]
		if w.rng.IntN(2) == 0 {
			n = ops.Sub(v.Read(g), ops.Mul(n, 0.25))
		}
		if w.rng.IntN(4) == 0 && len(outs) > 0 {
			outs = slices.Insert(outs, w.rng.IntN(len(outs)), v.Assign(n))
		} else {
			outs = append(outs, v.Assign(n))
		}
	}
	return outs
}

// input is an input, or its value in an eager graph.
func input(g *graph.Graph, name string, dt tensor.DType, feed graph.Feed, shape ...int) *node {
	if g.Backend() != nil {
		return g.Const(feed[name])
	}
	return g.Input(name, dt, shape...)
}

// feeds draws values for a program's inputs, some as views.
func programFeed(rng *rand.Rand, seed uint64, vars []*graph.Variable) graph.Feed {
	shape := rand.New(rand.NewPCG(seed, 5))
	second := programShapes[shape.IntN(len(programShapes))]
	feed := graph.Feed{}
	for i, s := range [][]int{{3, 4}, second} {
		data := make([]float32, tensor.Size(s))
		for k := range data {
			data[k] = float32(rng.IntN(17)-8) / 4
		}
		t := tensor.Must(tensor.FromSlice(data, s...))
		feed[fmt.Sprint("in", i)] = t
		if rng.IntN(3) == 0 && len(s) == 2 {
			c := tensor.Must(tensor.NewColMajor(tensor.Float32, s...))
			copy(tensor.Must(tensor.Slice[float32](c)), data)
			feed[fmt.Sprint("in", i)] = c.View()
		}
	}
	if rng.IntN(3) == 0 {
		feed["in0"] = tensor.Must(vars[0].Value()) // what is about to be written
	}
	feed["in2"] = tensor.Of(int32(rng.IntN(3)), int32(rng.IntN(3)), int32(rng.IntN(3))-3*int32(rng.IntN(2)))
	return feed
}

func programStore(b graph.Backend) *graph.Store {
	s := graph.NewStore(b, 0)
	for i, shape := range [][]int{{3, 4}, {3, 4}, {4}, {4, 3}} {
		values := make([]float32, tensor.Size(shape))
		for k := range values {
			values[k] = float32(k*(i+1)%7)/2 - 1
		}
		s.New(fmt.Sprint("v", i), graph.Value(tensor.Must(tensor.FromSlice(values, shape...))), tensor.Float32, shape...)
	}
	return s
}

// bitsOf is a text of every bit of values.
func bitsOf(r graph.Readable) string {
	v := r.Read()
	t := tensor.Must(v.View().Copy())
	return fmt.Sprintf("%v %x", v.Spec(), tensor.Must(t.Storage().Bytes())[:t.Size()*t.DType().Size()])
}

func storeBits(s *graph.Store) (all []string) {
	for _, v := range s.Variables() {
		all = append(all, bitsOf(tensor.Must(v.Value())))
	}
	return all
}

// spoil overwrites results, which are nobody else's memory.
func spoil(outs []*tensor.Tensor) {
	for _, t := range outs {
		b := tensor.Must(t.Storage().Bytes())
		for i := range b {
			b[i] = 0xa5
		}
	}
}
