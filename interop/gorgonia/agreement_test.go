package adjoint_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// agreement is something that gorgonia computes rightly: a second opinion on our own graph.
type agreement struct {
	name   string
	shapes func(r *rand.Rand) [][]int
	theirs func(in []*Node) (*Node, error)
	ours   func(in []*graph.Node) *graph.Node
}

func someShape(r *rand.Rand) []int {
	shape := make([]int, 1+r.IntN(3))
	for i := range shape {
		shape[i] = 2 + r.IntN(5)
	}
	return shape
}

func alone(r *rand.Rand) [][]int { return [][]int{someShape(r)} }

func twice(r *rand.Rand) [][]int {
	s := someShape(r)
	return [][]int{s, s}
}

func aMatrix(r *rand.Rand) [][]int { return [][]int{{2 + r.IntN(6), 2 + r.IntN(6)}} }

func product(r *rand.Rand) [][]int {
	n, k, m := 2+r.IntN(8), 2+r.IntN(8), 2+r.IntN(8)
	return [][]int{{n, k}, {k, m}}
}

func pointwise(name string, theirs func(*Node) (*Node, error), ours func(*graph.Node) *graph.Node) agreement {
	return agreement{name, alone, func(in []*Node) (*Node, error) { return theirs(in[0]) },
		func(in []*graph.Node) *graph.Node { return ours(in[0]) }}
}

func ofTwo(name string, theirs func(a, b *Node) (*Node, error), ours func(a, b any) *graph.Node) agreement {
	return agreement{name, twice, func(in []*Node) (*Node, error) { return theirs(in[0], in[1]) },
		func(in []*graph.Node) *graph.Node { return ours(in[0], in[1]) }}
}

var agreements = []agreement{
	pointwise("square", gorgonia.Square, ops.Square), pointwise("sigmoid", gorgonia.Sigmoid, ops.Sigmoid),
	pointwise("tanh", gorgonia.Tanh, ops.Tanh), pointwise("exp", gorgonia.Exp, ops.Exp),
	pointwise("log", gorgonia.Log, ops.Log), pointwise("sqrt", gorgonia.Sqrt, ops.Sqrt),
	pointwise("neg", gorgonia.Neg, ops.Neg), pointwise("relu", gorgonia.Rectify, ops.Relu),
	pointwise("sin", gorgonia.Sin, ops.Sin), pointwise("cos", gorgonia.Cos, ops.Cos),
	pointwise("sum", func(x *Node) (*Node, error) { return gorgonia.Sum(x) },
		func(x *graph.Node) *graph.Node { return ops.Sum(x) }),
	pointwise("mean", func(x *Node) (*Node, error) { return gorgonia.Mean(x) },
		func(x *graph.Node) *graph.Node { return ops.Mean(x) }),
	ofTwo("add", gorgonia.Add, ops.Add), ofTwo("sub", gorgonia.Sub, ops.Sub),
	ofTwo("mul", gorgonia.HadamardProd, ops.Mul), ofTwo("div", gorgonia.HadamardDiv, ops.Div),
	{"matmul", product, func(in []*Node) (*Node, error) { return gorgonia.Mul(in[0], in[1]) },
		func(in []*graph.Node) *graph.Node { return ops.MatMul(in[0], in[1]) }},
	{"sum over axis 0", aMatrix, func(in []*Node) (*Node, error) { return gorgonia.Sum(in[0], 0) },
		func(in []*graph.Node) *graph.Node { return ops.Sum(in[0], 0) }},
	{"sum over axis 1", aMatrix, func(in []*Node) (*Node, error) { return gorgonia.Sum(in[0], 1) },
		func(in []*graph.Node) *graph.Node { return ops.Sum(in[0], 1) }},
	{"mean over axis 1", aMatrix, func(in []*Node) (*Node, error) { return gorgonia.Mean(in[0], 1) },
		func(in []*graph.Node) *graph.Node { return ops.Mean(in[0], 1) }},
	{"norm over axis 1", aMatrix, func(in []*Node) (*Node, error) { return gorgonia.Norm(in[0], 1, 2) },
		func(in []*graph.Node) *graph.Node { return ops.Norm(in[0], 2, 1) }},
	{"transpose", aMatrix, func(in []*Node) (*Node, error) { return gorgonia.Transpose(in[0], 1, 0) },
		func(in []*graph.Node) *graph.Node { return ops.Transpose(in[0], 1, 0) }},
	{"softmax", aMatrix, func(in []*Node) (*Node, error) { return gorgonia.SoftMax(in[0], 1) },
		func(in []*graph.Node) *graph.Node { return ops.Softmax(in[0], 1) }},
}

func random32(r *rand.Rand, shape []int) *gtensor.Dense {
	x := make([]float32, gtensor.Shape(shape).TotalSize())
	for i := range x {
		x[i] = 0.2 + 1.5*r.Float32() // log and sqrt take none below 0
	}
	return dense(shape, x...)
}

// TestAgreement compares values and gradients in gorgonia's graph, of its own ops alone, with those in ours.
func TestAgreement(t *testing.T) {
	for _, a := range agreements {
		t.Run(a.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(len(a.name))))
			for range 8 {
				var in []*gtensor.Dense
				shapes := a.shapes(r)
				for _, s := range shapes {
					in = append(in, random32(r, s))
				}
				value, grads := a.inTheirs(t, in)
				for k, want := range a.inOurs(t, in) {
					got := value
					if k > 0 {
						got = grads[k-1]
					}
					if !close64(got, want, 1e-5) {
						t.Errorf("shapes %v, result %d: gorgonia's graph gives %v, ours %v", shapes, k, got, want)
					}
				}
			}
		})
	}
}

func (a agreement) inTheirs(t *testing.T, values []*gtensor.Dense) (y []float64, grads [][]float64) {
	t.Helper()
	g := gorgonia.NewGraph()
	var in []*Node
	for i, v := range values {
		in = append(in, input(g, fmt.Sprint("in", i), v.Clone().(*gtensor.Dense)))
	}
	out := must(a.theirs(in))
	cost := out
	if !out.IsScalar() {
		w := input(g, "w", cycle32(out.Shape()))
		cost = must(gorgonia.Sum(must(gorgonia.HadamardProd(out, w))))
	}
	by, err := gorgonia.Grad(cost, in...)
	check(t, err)
	var read gorgonia.Value
	gorgonia.Read(out, &read)
	check(t, gorgonia.NewTapeMachine(g).RunAll())
	for _, d := range by {
		grads = append(grads, floats(d.Value()))
	}
	return floats(read), grads
}

// inOurs is the value, then the gradients.
func (a agreement) inOurs(t *testing.T, values []*gtensor.Dense) (results [][]float64) {
	t.Helper()
	g := graph.Eager(cpu.New())
	var in []*graph.Node
	for _, v := range values {
		in = append(in, g.Const(tensor.Must(adjoint.FromDense(v))))
	}
	out := a.ours(in)
	cost := out
	if out.Rank() > 0 {
		cost = ops.Sum(ops.Mul(out, g.Const(tensor.Must(adjoint.FromDense(cycle32(out.Shape()))))))
	}
	for _, n := range append([]*graph.Node{out}, autograd.Grad(cost, in...)...) {
		check(t, n.Err())
		results = append(results, tensor.Must(tensor.Must(n.Value()).Read().Float64s()))
	}
	return results
}

func cycle32(shape []int) *gtensor.Dense {
	w := make([]float32, gtensor.Shape(shape).TotalSize())
	for i := range w {
		w[i] = 0.5 + float32(i%3)
	}
	return dense(shape, w...)
}
