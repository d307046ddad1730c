package ops_test

import (
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleConcat() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	y := g.Const(tensor.Of(3.0))
	show(ops.Concat(0, x, y))
	// Output: [1. 2. 3.]
}

func ExampleStack() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	y := g.Const(tensor.Of(3.0, 4))
	show(ops.Stack(1, x, y))
	// Output:
	// [[1. 3.]
	//  [2. 4.]]
}

func ExampleSplit() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	parts := ops.Split(x, 0, 1, 2)
	show(parts[0])
	show(parts[1])
	// Output:
	// [1.]
	// [2. 3.]
}

func ExamplePad() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.Pad(x, 9, []int{1}, []int{2}, []int{1}))
	show(ops.Pad(x, 9, []int{-1}, []int{1}, nil))
	// Output:
	// [9. 1. 9. 2. 9. 3. 9. 9.]
	// [2. 3. 9.]
}

func ExamplePadWith() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.PadWith(x, ops.PadEdge, []int{2}, []int{2}))
	show(ops.PadWith(x, ops.PadReflect, []int{2}, []int{2}))
	show(ops.PadWith(x, ops.PadSymmetric, []int{2}, []int{2}))
	show(ops.PadWith(x, ops.PadWrap, []int{2}, []int{2}))
	// Output:
	// [1. 1. 1. 2. 3. 3. 3.]
	// [3. 2. 1. 2. 3. 2. 1.]
	// [2. 1. 1. 2. 3. 3. 2.]
	// [2. 3. 1. 2. 3. 1. 2.]
}
