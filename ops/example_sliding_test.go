package ops_test

import (
	"math"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleUnfold() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int8](1, 2, 3, 4, 5))
	show(ops.Unfold(x, []int{3}, nil, nil))
	show(ops.Unfold(x, []int{2}, []int{2}, []int{2}, 0)) // every other window, of elements two apart
	// Output:
	// [[1 2 3]
	//  [2 3 4]
	//  [3 4 5]]
	// [[1 3]
	//  [3 5]]
}

func ExampleFold() {
	g := graph.Eager(cpu.New())
	ones := ops.Ones(g, tensor.Float32, 3, 3)
	show(ops.Fold(ones, []int{5}, []int{3}, nil, nil)) // how many windows have each element
	// Output: [1. 2. 3. 2. 1.]
}

func ExampleReduceWindow() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](1, 5, 2, 2, 3))
	show(ops.ReduceWindow(ops.ReduceSum, x, ops.Sliding{Sizes: []int{2}}))
	show(ops.ReduceWindow(ops.ReduceMax, x, ops.Sliding{Sizes: []int{3}, Low: []int{1}, High: []int{1}}))
	// Output:
	// [6. 7. 4. 5.]
	// [5. 5. 5. 3. 3.]
}

func ExampleReduceWindowInit() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](1, 2, 3))
	w := ops.Sliding{Sizes: []int{2}, Strides: []int{2}, High: []int{1}}
	show(ops.ReduceWindowInit(ops.ReduceSum, x, 10, w)) // every window starts from 10, and the padding is 10
	// Output: [13 23]
}

func ExampleMaxPool() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(g.Const(tensor.Of[float32](1, 7, 3, 4, 5, 5, 7, 8, 9)), 3, 3)
	y := ops.MaxPool(x, ops.Sliding{Sizes: []int{2, 2}})
	show(y)
	show(autograd.Grad(ops.Sum(y), x)[0]) // to the first maximum of each window
	// Output:
	// [[7. 7.]
	//  [8. 9.]]
	// [[0. 2. 0.]
	//  [0. 0. 0.]
	//  [0. 1. 1.]]
}

func ExampleMaxPoolIndex() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(g.Const(tensor.Of[float32](1, 7, 3, 4, 5, 5, 7, 8, 9)), 3, 3)
	_, at := ops.MaxPoolIndex(x, ops.Sliding{Sizes: []int{2, 2}})
	show(at)
	// Output:
	// [[1 1]
	//  [7 8]]
}

func ExampleAvgPool() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](2, 4, 6))
	w := ops.Sliding{Sizes: []int{2}, Low: []int{1}}
	show(ops.AvgPool(x, w, false))
	show(ops.AvgPool(x, w, true)) // the padding is an element
	// Output:
	// [2. 3. 5.]
	// [1. 3. 5.]
}

func ExampleSelectAndScatter() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](3, 1, 4, 1, 5))
	source := g.Const(tensor.Of[int32](10, 20))
	show(ops.SelectAndScatter(ops.ArgMaxFn, x, source, 0, ops.Sliding{Sizes: []int{3}, Strides: []int{2}}))
	// Output: [ 0  0 10  0 20]
}

func ExampleVar() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3, 4))
	show(ops.Var(x, 0))
	show(ops.Var(x, 1)) // unbiased
	// Output:
	// 1.25
	// 1.6666667
}

func ExampleStd() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(ops.Arange(g, tensor.Float32, 0, 6, 1), 2, 3)
	show(ops.KeepDims(func(x *ops.Node, axes ...int) *ops.Node { return ops.Std(x, 1, axes...) }, x, -1))
	// Output:
	// [[1.]
	//  [1.]]
}

func ExampleNorm() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(3.0, -4, 0))
	for _, p := range []float64{0, 1, 2, math.Inf(1)} {
		show(ops.Norm(x, p))
	}
	// Output:
	// 2.0
	// 7.0
	// 5.0
	// 4.0
}

func ExampleStandardize() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(g.Const(tensor.Of[float32](1, 3, 10, 30)), 2, 2)
	show(ops.Standardize(x, 0, -1))
	// Output:
	// [[-1.  1.]
	//  [-1.  1.]]
}

func ExampleRMSNormalize() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](1, 7)) // whose mean square is 25
	show(ops.RMSNormalize(x, 0))
	// Output: [0.2 1.4]
}

func ExampleGroupNormalize() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](1, 3, 10, 30))
	show(ops.GroupNormalize(x, 0, 2, 0))
	// Output: [-1.  1. -1.  1.]
}

func ExampleBatchNormalize() {
	g := graph.Eager(cpu.New())
	x := ops.Reshape(g.Const(tensor.Of[float32](1, 2, 3, 4)), 2, 2)
	mean, variance := g.Const(tensor.Of[float32](1, 2)), g.Const(tensor.Of[float32](4, 1))
	show(ops.BatchNormalize(x, mean, variance, 0, 1))
	// Output:
	// [[0. 0.]
	//  [1. 2.]]
}
