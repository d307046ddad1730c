package ops_test

import (
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleRoll() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Int8, 1, 7, 1), 2, 3)
	show(ops.Roll(x, []int{1, -1}, []int{0, 1}))
	// Output:
	// [[5 6 4]
	//  [2 3 1]]
}

func ExampleTril() {
	g := graph.Eager(cpu.New())
	show(ops.Tril(ops.Ones(g, tensor.Int8, 3, 3), 0))
	// Output:
	// [[1 0 0]
	//  [1 1 0]
	//  [1 1 1]]
}

func ExampleTriu() {
	g := graph.Eager(cpu.New())
	show(ops.Triu(ops.Ones(g, tensor.Int8, 3, 3), 1))
	// Output:
	// [[0 1 1]
	//  [0 0 1]
	//  [0 0 0]]
}

func ExampleTrace() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Int8, 1, 10, 1), 3, 3)
	show(ops.Trace(x, 0, 0, 1))
	// Output: 15
}

func ExampleOuter() {
	g := graph.Eager(cpu.New())
	show(ops.Outer(g.Const(tensor.Of[int8](1, 2)), g.Const(tensor.Of[int8](3, 4, 5))))
	// Output:
	// [[ 3  4  5]
	//  [ 6  8 10]]
}

func ExampleDiff() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int8](1, 2, 4, 8))
	show(ops.Diff(x, 1, 0))
	show(ops.Diff(x, 2, 0))
	// Output:
	// [1 2 4]
	// [1 2]
}

func ExampleGatherElements() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Int8, 1, 10, 1), 3, 3)
	idx := ops.Reshape(g.Const(tensor.Of[int32](0, -1, 2, 1)), 2, 2)
	show(ops.GatherElements(x, idx, 0)) // of the first two columns
	// Output:
	// [[1 8]
	//  [7 5]]
}

func ExampleScatterElements() {
	g := graph.Eager(cpu.New())
	x, u := ops.Zeros(g, tensor.Int8, 1, 4), ops.Reshape(g.Const(tensor.Of[int8](5, 6, 7)), 1, 3)
	idx := ops.Reshape(g.Const(tensor.Of[int32](2, 0, 2)), 1, 3)
	show(ops.ScatterElements(x, idx, u, 1, ops.CombineAdd))
	// Output: [[ 6  0 12  0]]
}

func ExampleGatherND() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Int8, 1, 7, 1), 2, 3)
	show(ops.GatherND(x, ops.Reshape(g.Const(tensor.Of[int32](0, 0, 1, 2)), 2, 2), 0)) // elements
	show(ops.GatherND(x, ops.Reshape(g.Const(tensor.Of[int32](1)), 1, 1), 0))          // a row
	// Output:
	// [1 6]
	// [[4 5 6]]
}

func ExampleScatterND() {
	g := graph.Eager(cpu.New())
	idx := ops.Reshape(g.Const(tensor.Of[int32](4, 1)), 2, 1)
	show(ops.ScatterND(ops.Zeros(g, tensor.Int8, 5), idx, g.Const(tensor.Of[int8](7, 8)), ops.CombineSet))
	// Output: [0 8 0 0 7]
}

func ExampleIndexAdd() {
	g := graph.Eager(cpu.New())
	show(ops.IndexAdd(ops.Zeros(g, tensor.Int8, 2, 3), g.Const(tensor.Of[int32](2, 0, 2)), 1, 1))
	// Output:
	// [[1 0 2]
	//  [1 0 2]]
}

func ExampleIndexCopy() {
	g := graph.Eager(cpu.New())
	x, rows := ops.Zeros(g, tensor.Int8, 3, 2), ops.Reshape(ops.Arange(g, tensor.Int8, 1, 5, 1), 2, 2)
	show(ops.IndexCopy(x, g.Const(tensor.Of[int32](2, 0)), rows, 0))
	// Output:
	// [[3 4]
	//  [0 0]
	//  [1 2]]
}

func ExampleIndexFill() {
	g := graph.Eager(cpu.New())
	show(ops.IndexFill(ops.Zeros(g, tensor.Int8, 2, 3), g.Const(tensor.Of[int32](-1)), 9, 1))
	// Output:
	// [[0 0 9]
	//  [0 0 9]]
}

func ExampleMaskedFill() {
	g := graph.Eager(cpu.New())
	x := ops.Arange(g, tensor.Int8, 0, 5, 1)
	show(ops.MaskedFill(x, ops.Greater(x, 2), -1))
	// Output: [ 0  1  2 -1 -1]
}

func ExampleMaskedScatter() {
	g := graph.Eager(cpu.New())
	x, mask := ops.Zeros(g, tensor.Int8, 4), g.Const(tensor.Of(true, false, true, false))
	show(ops.MaskedScatter(x, mask, g.Const(tensor.Of[int8](7, 8, 9))))
	// Output: [7 0 8 0]
}
