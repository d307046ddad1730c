package ops_test

import (
	"math"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleSum() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Sum(x))
	show(ops.Sum(x, 0))
	// Output:
	// 21.0
	// [5. 7. 9.]
}

func ExampleProd() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Prod(x, 1))
	// Output: [  6. 120.]
}

func ExampleMax() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Max(x, -1))
	// Output: [3. 6.]
}

func ExampleMin() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Min(x, 0))
	// Output: [1. 2. 3.]
}

func ExampleMean() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Mean(x, 1))
	// Output: [2. 5.]
}

func ExampleLogSumExp() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.LogSumExp(x))
	// Output: 3.407606
}

func ExampleAny() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 0, math.NaN()))
	show(ops.Any(x))
	// Output: True
}

func ExampleAll() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 0, 2))
	show(ops.All(x))
	// Output: False
}

func ExampleKeepDims() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Sub(x, ops.KeepDims(ops.Mean, x, 1)))
	// Output:
	// [[-1.  0.  1.]
	//  [-1.  0.  1.]]
}

func ExampleReduceInit() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.ReduceInit(ops.ReduceMax, x, 4, 1))
	// Output: [4. 6.]
}

func ExampleArgMax() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 5, 5))
	show(ops.ArgMax(x, 0))
	show(ops.ArgMax(g.Const(tensor.Of(3, math.NaN(), 5)), 0))
	// Output:
	// 1
	// 1
}

func ExampleArgMin() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 5, 1))
	show(ops.ArgMin(x, 0))
	// Output: 0
}

func ExampleArgMaxAbs() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](3, -9, 9))
	show(ops.ArgMaxAbs(x, 0))
	// Output: 1
}

func ExampleArgMinAbs() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(3+4i, 6i))
	show(ops.ArgMinAbs(x, 0))
	// Output: 0
}

func ExampleMaxWithIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 5, 5))
	y, at := ops.MaxWithIndex(x, 0)
	show(y)
	show(at)
	show(autograd.Grad(y, x)[0]) // of Max: [0. 0.5 0.5]
	// Output:
	// 5.0
	// 1
	// [0. 1. 0.]
}

func ExampleMinWithIndex() {
	g := graph.Eager(cpu.New())
	y, at := ops.MinWithIndex(g.Const(tensor.Of[int32](3, -9, -9)), 0)
	show(y)
	show(at)
	// Output:
	// -9
	// 1
}

func ExampleMaxAbsWithIndex() {
	g := graph.Eager(cpu.New())
	y, at := ops.MaxAbsWithIndex(g.Const(tensor.Of(3.0, -9, 8)), 0)
	show(y)
	show(at)
	// Output:
	// -9.0
	// 1
}

func ExampleMinAbsWithIndex() {
	g := graph.Eager(cpu.New())
	y, at := ops.MinAbsWithIndex(g.Const(tensor.Of(3+4i, 6i, -4)), 0)
	show(y)
	show(at)
	// Output:
	// -4.+0.j
	// 2
}

func ExampleArgMaxAll() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.ArgMaxAll(x))
	show(ops.ArgMaxAll(ops.Reverse(x)))
	// Output:
	// 5
	// 0
}

func ExampleArgMinAll() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.ArgMinAll(ops.Transpose(x)))
	// Output: 0
}

func ExampleArgReduce() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.ArgReduce(ops.ArgMaxFn, x, 1, tensor.Int32))
	// Output: [2 2]
}
