package adjoint_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/tensor"
)

type Node = gorgonia.Node

// dense is a tensor of gorgonia's of the given shape; of float64 unless the values have another type.
func dense[T any](shape []int, values ...T) *gtensor.Dense {
	return gtensor.New(gtensor.WithShape(shape...), gtensor.WithBacking(values))
}

// vector is dense of rank 1.
func vector[T any](values ...T) *gtensor.Dense { return dense([]int{len(values)}, values...) }

// counting is 0, 1, 2… of a shape.
func counting(shape ...int) *gtensor.Dense {
	values := make([]float64, tensor.Size(shape))
	for i := range values {
		values[i] = float64(i)
	}
	return dense(shape, values...)
}

// input is a variable of g.
func input(g *gorgonia.ExprGraph, name string, v gorgonia.Value) *Node {
	return gorgonia.NewTensor(g, v.Dtype(), v.Shape().Dims(), gorgonia.WithShape(v.Shape()...),
		gorgonia.WithName(name), gorgonia.WithValue(v))
}

func must(n *Node, err error) *Node { return gorgonia.Must(n, err) }

// floats is the elements of a value in row-major order.
func floats(v gorgonia.Value) []float64 {
	view := tensor.Must(adjoint.FromValue(v))
	return tensor.Must(view.Read().Float64s())
}

// show is shape and elements, and says which error if there is one.
func show(v gorgonia.Value, err error) string {
	if err != nil {
		return "error: " + adjoint.Cause(err).Error()
	}
	elements := make([]string, 0, v.Size())
	for _, f := range floats(v) {
		elements = append(elements, strconv.FormatFloat(f, 'g', 6, 64))
	}
	return fmt.Sprint([]int(v.Shape()), elements)
}

// tape runs a graph on a TapeMachine and shows the value of n.
func tape(n *Node) string {
	vm := gorgonia.NewTapeMachine(n.Graph())
	defer vm.Close()
	err := vm.RunAll()
	return show(n.Value(), err)
}

// tapeGrad is the gradient of cost by x on a TapeMachine.
func tapeGrad(cost, x *Node) string {
	grads, err := gorgonia.Grad(cost, x)
	if err != nil {
		return show(nil, err)
	}
	return tape(grads[0])
}

// lispGrad is the gradient by x of the only root of the graph, on a LispMachine.
func lispGrad(x *Node) string {
	vm := gorgonia.NewLispMachine(x.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return show(nil, err)
	}
	return show(x.Grad())
}

func close64(a, b []float64, tolerance float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return max(x-y, y-x) <= tolerance*max(1, x, -x, y, -y)
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func contains(err error, says string) bool { return err != nil && strings.Contains(err.Error(), says) }
