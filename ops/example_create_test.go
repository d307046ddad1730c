package ops_test

import (
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleIota() {
	g := graph.Eager(cpu.New())
	show(ops.Iota(g, tensor.Int8, 1, 2, 3))
	// Output:
	// [[0 1 2]
	//  [0 1 2]]
}

func ExampleArange() {
	g := graph.Eager(cpu.New())
	show(ops.Arange(g, tensor.Int32, 5, 0, -2))
	show(ops.Arange(g, tensor.Float32, 0, 1, 0.25))
	// Output:
	// [5 3 1]
	// [0.   0.25 0.5  0.75]
}

func ExampleFull() {
	g := graph.Eager(cpu.New())
	show(ops.Full(g, tensor.Float32, 2.5, 3))
	// Output: [2.5 2.5 2.5]
}

func ExampleZeros() {
	g := graph.Eager(cpu.New())
	show(ops.Zeros(g, tensor.Int8, 3))
	// Output: [0 0 0]
}

func ExampleOnes() {
	g := graph.Eager(cpu.New())
	show(ops.Ones(g, tensor.Bool, 3))
	// Output: [True True True]
}

func ExampleZerosLike() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	show(ops.ZerosLike(x))
	// Output: [0. 0.]
}

func ExampleOnesLike() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	show(ops.OnesLike(x))
	// Output: [1. 1.]
}

func ExampleOneHot() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[uint8](2, 0, 9))
	show(ops.OneHot(x, 3, tensor.Float32))
	// Output:
	// [[0. 0. 1.]
	//  [1. 0. 0.]
	//  [0. 0. 0.]]
}

func ExampleEye() {
	g := graph.Eager(cpu.New())
	show(ops.Eye(g, tensor.Int8, 2))
	// Output:
	// [[1 0]
	//  [0 1]]
}
