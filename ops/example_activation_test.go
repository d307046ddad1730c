package ops_test

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleRelu() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(-1.0, 0, 2))
	show(ops.Relu(x))
	// Output: [0. 0. 2.]
}

func ExampleGelu() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(-1.0, 0, 2))
	show(ops.Gelu(x))
	// Output: [-0.15865525  0.          1.9544997 ]
}

func ExampleGeluTanh() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(-1.0, 0, 2))
	show(ops.GeluTanh(x))
	// Output: [-0.15880801  0.          1.9545977 ]
}

func ExampleSilu() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(-1.0, 0, 2))
	show(ops.Silu(x))
	// Output: [-0.26894142  0.          1.7615942 ]
}

func ExampleLeakyRelu() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(-1.0, 0, 2))
	show(ops.LeakyRelu(x, 0.1))
	// Output: [-0.1  0.   2. ]
}

func ExampleSoftmax() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 0, math.Inf(-1)))
	show(ops.Softmax(x, 0))
	// Output: [0.5 0.5 0. ]
}

func ExampleLogSoftmax() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 0, math.Inf(-1)))
	show(ops.LogSoftmax(x, 0))
	// Output: [-0.69314718 -0.69314718        -inf]
}
