package ops_test

import (
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleTranspose() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Transpose(x))
	// Output:
	// [[1. 4.]
	//  [2. 5.]
	//  [3. 6.]]
}

func ExampleSwapAxes() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.SwapAxes(x, 0, 1))
	// Output:
	// [[1. 4.]
	//  [2. 5.]
	//  [3. 6.]]
}

func ExampleMoveAxis() {
	g := graph.Eager(cpu.New())
	x := ops.Iota(g, tensor.Int8, 1, 1, 2, 3)
	show(ops.MoveAxis(x, 1, -1))
	// Output:
	// [[[0 1]
	//   [0 1]
	//   [0 1]]]
}

func ExampleReverse() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Reverse(x, -1))
	// Output:
	// [[3. 2. 1.]
	//  [6. 5. 4.]]
}

func ExampleSlice() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Slice(x, []int{0, 2}, []int{1, -2}, []int{2, 2}))
	// Output:
	// [[3. 1.]
	//  [6. 4.]]
}

func ExampleSliceAxis() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.SliceAxis(x, 1, 0, 2))
	// Output:
	// [[1. 2.]
	//  [4. 5.]]
}

func ExampleDiagonal() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Diagonal(x, 1, 0, 1))
	// Output: [2. 6.]
}

func ExampleBroadcastTo() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	show(ops.BroadcastTo(x, 3, 2))
	// Output:
	// [[1. 2.]
	//  [1. 2.]
	//  [1. 2.]]
}

func ExampleSumTo() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.SumTo(x, 2, 1))
	// Output:
	// [[ 6.]
	//  [15.]]
}

func ExampleReshape() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Reshape(x, 3, -1))
	// Output:
	// [[1. 2.]
	//  [3. 4.]
	//  [5. 6.]]
}

func ExampleFlatten() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 1, 7, 1), 2, 3) // [[1 2 3] [4 5 6]]
	show(ops.Flatten(ops.Transpose(x)))
	// Output: [1. 4. 2. 5. 3. 6.]
}

func ExampleExpandDims() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	show(ops.ExpandDims(x, 1))
	// Output:
	// [[1.]
	//  [2.]]
}

func ExampleSqueeze() {
	g := graph.Eager(cpu.New())
	x := ops.Ones(g, tensor.Float32, 1, 2, 1)
	show(ops.Squeeze(x))
	show(ops.Squeeze(x, 0))
	// Output:
	// [1. 1.]
	// [[1.]
	//  [1.]]
}

func ExampleTile() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	show(ops.Tile(x, 2, 2))
	// Output:
	// [[1. 2. 1. 2.]
	//  [1. 2. 1. 2.]]
}

func ExampleRepeat() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	show(ops.Repeat(x, 2, 0))
	// Output: [1. 1. 2. 2.]
}

func ExamplePutSlice() {
	g := graph.Eager(cpu.New())
	x := ops.Zeros(g, tensor.Float32, 5)
	show(ops.PutSlice(x, 7, []int{0}, []int{2}, []int{3}))
	// Output: [7. 0. 7. 0. 7.]
}
