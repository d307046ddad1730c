package adjoint_test

import (
	"slices"
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

// cotangent is the vector that TestSecondDerivatives pulls back through y.
func cotangent(shape []int) gorgonia.Value {
	if len(shape) == 0 {
		return gorgonia.NewF64(0.75)
	}
	return weights(shape)
}

// direction is what the gradient by operand k is multiplied by.
func direction(v *gtensor.Dense) *gtensor.Dense {
	d := v.Clone().(*gtensor.Dense)
	for i := range d.Data().([]float64) {
		d.Data().([]float64)[i] = 1 - 0.4*float64(i%4)
	}
	return d
}

// secondGraph is φ = Σ v·(gradients of y by its operands, of a cotangent w), and what φ depends on.
func (r gradientRow) secondGraph(t *testing.T) (phi *Node, wrt []*Node) {
	t.Helper()
	g := gorgonia.NewGraph()
	var in []*Node
	for i, v := range r.in {
		in = append(in, input(g, string(rune('a'+i)), v.Clone().(*gtensor.Dense)))
	}
	y := must(r.op(in))
	w := input(g, "w", cotangent(y.Shape()))
	grads, err := y.Op().(gorgonia.SDOp).SymDiff(in, y, w)
	check(t, err)
	for i, d := range grads {
		if d == nil {
			continue
		}
		wrt = append(wrt, in[i])
		term := must(gorgonia.Sum(must(gorgonia.HadamardProd(d, must(adjoint.Const(g, direction(r.in[i])))))))
		for term.Dims() > 0 {
			term = must(gorgonia.Sum(term))
		}
		if phi == nil {
			phi = term
		} else {
			phi = must(gorgonia.Add(phi, term))
		}
	}
	return phi, append(wrt, w)
}

// secondReference is the gradient of φ in our own graph.
func (r gradientRow) secondReference(t *testing.T) (grads [][]float64) {
	t.Helper()
	g := graph.Eager(cpu.New())
	var in, wrt, directions []*graph.Node
	for _, v := range r.in {
		n := g.Const(tensor.Must(adjoint.FromDense(v)))
		in = append(in, n)
		if n.DType() == tensor.Float64 {
			wrt = append(wrt, n)
			directions = append(directions, g.Const(tensor.Must(adjoint.FromDense(direction(v)))))
		}
	}
	y := r.ours(in)
	w := g.Const(tensor.Must(adjoint.FromValue(cotangent(y.Shape()))))
	var phi *graph.Node
	for k, d := range autograd.VJP([]*graph.Node{y}, []*graph.Node{w}, wrt) {
		term := ops.Sum(ops.Mul(d, directions[k]))
		if phi == nil {
			phi = term
		} else {
			phi = ops.Add(phi, term)
		}
	}
	for _, d := range autograd.Grad(phi, append(slices.Clone(wrt), w)...) {
		grads = append(grads, tensor.Must(tensor.Values[float64](tensor.Must(d.Value()))))
	}
	check(t, g.Err())
	return grads
}

// TestSecondDerivatives differentiates the ops that SymDiff makes, on both machines.
func TestSecondDerivatives(t *testing.T) {
	for _, r := range gradientRows() {
		if slices.ContainsFunc(composedRows(), func(c gradientRow) bool { return c.name == r.name }) {
			continue // y's op has other operands than the row
		}
		t.Run(r.name, func(t *testing.T) {
			want := r.secondReference(t)
			phi, wrt := r.secondGraph(t)
			grads, err := gorgonia.Grad(phi, wrt...)
			check(t, err)
			vm := gorgonia.NewTapeMachine(phi.Graph())
			check(t, vm.RunAll())
			for k, d := range grads {
				if got := floats(d.Value()); !close64(got, want[k], 1e-12) {
					t.Errorf("TapeMachine: derivative %d is %v, want %v", k, got, want[k])
				}
			}
			phi, wrt = r.secondGraph(t)
			alone := phi.Graph().SubgraphRoots(phi) // a LispMachine seeds every root, and y is one in the whole
			check(t, gorgonia.NewLispMachine(alone).RunAll())
			for k, x := range wrt {
				d, err := x.Grad()
				check(t, err)
				if got := floats(d); !close64(got, want[k], 1e-12) {
					t.Errorf("LispMachine: derivative %d is %v, want %v", k, got, want[k])
				}
			}
		})
	}
}
