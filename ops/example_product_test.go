package ops_test

import (
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleMatMul() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	y := g.Const(tensor.Of[float32](1, 0, -1))
	show(ops.MatMul(x, y))
	show(ops.MatMul(x, ops.Transpose(x)))
	// Output:
	// [-2. -2.]
	// [[14. 32.]
	//  [32. 77.]]
}

func ExampleDot() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.Dot(x, x))
	// Output: 14.0
}

func ExampleEinsum() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Einsum("ij,kj->ik", x, x))
	show(ops.Einsum("ij->j", x))
	// Output:
	// [[14. 32.]
	//  [32. 77.]]
	// [5. 7. 9.]
}
