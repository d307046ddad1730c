package ops_test

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleCumSum() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](1, 2, 3, 4))
	show(ops.CumSum(x, 0))
	show(ops.CumSum(x, 0, ops.Exclusive))
	show(ops.CumSum(x, 0, ops.Reversed))
	// Output:
	// [ 1  3  6 10]
	// [0 1 3 6]
	// [10  9  7  4]
}

func ExampleCumProd() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(2.0, 0, 3, 4))
	show(ops.CumProd(x, 0))
	show(ops.CumProd(x, 0, ops.Exclusive, ops.Reversed))
	// Output:
	// [2. 0. 0. 0.]
	// [ 0. 12.  4.  1.]
}

func ExampleCumMax() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1, 3, 2, math.NaN(), 5))
	show(ops.CumMax(x, 0))
	// Output: [ 1.  3.  3. nan nan]
}

func ExampleCumMin() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(3.0, 1, 2, 0))
	show(ops.CumMin(x, 0, ops.Exclusive))
	// Output: [inf  3.  1.  1.]
}

func ExampleCumMaxWithIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 3, 3, 2))
	y, at := ops.CumMaxWithIndex(x, 0)
	show(y)
	show(at)
	// Output:
	// [1. 3. 3. 3.]
	// [0 1 1 1]
}

func ExampleCumMinWithIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 3, 3, 2))
	y, at := ops.CumMinWithIndex(x, 0, ops.Reversed)
	show(y)
	show(at)
	// Output:
	// [1. 2. 2. 2.]
	// [0 3 3 3]
}

func ExampleLogCumSumExp() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1000.0, 1000, math.Inf(-1))) // exp(1000) is no float64
	show(ops.LogCumSumExp(x, 0))
	// Output: [1000.     1000.6931 1000.6931]
}

// A running average that forgets half of the past at each step.
func ExampleAffineScan() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(8.0, 0, 4, 2))
	show(ops.AffineScan(0.5, ops.Mul(x, 0.5), 0))
	// Output: [4.  2.  3.  2.5]
}
