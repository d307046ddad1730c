package ops_test

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleEqual() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.Equal(x, 2))
	// Output: [False  True False]
}

func ExampleNotEqual() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.NotEqual(x, 2))
	// Output: [ True False  True]
}

func ExampleLess() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.Less(x, 2))
	// Output: [ True False False]
}

func ExampleLessEqual() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.LessEqual(x, 2))
	// Output: [ True  True False]
}

func ExampleGreater() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.Greater(x, 2))
	// Output: [False False  True]
}

func ExampleGreaterEqual() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.GreaterEqual(x, 2))
	// Output: [False  True  True]
}

func ExampleAttains() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, math.NaN()))
	show(ops.Attains(x, ops.Max(x)))
	// Output: [False False  True]
}

func ExampleWhere() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(4.0, -1, 9))
	show(ops.Where(ops.Greater(x, 0), ops.Sqrt(x), 0))
	// Output: [2. 0. 3.]
}

func ExampleCast() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.9, -1.9, 300, math.NaN()))
	show(ops.Cast(x, tensor.Int8))
	show(ops.Cast(x, tensor.Bool))
	// Output:
	// [  1  -1 127   0]
	// [True True True True]
}

func ExampleIsNaN() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float64](1, math.NaN(), math.Inf(-1)))
	show(ops.IsNaN(x))
	// Output: [False  True False]
}

func ExampleIsInf() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float64](1, math.NaN(), math.Inf(-1)))
	show(ops.IsInf(x))
	// Output: [False False  True]
}

func ExampleIsFinite() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float64](1, math.NaN(), math.Inf(-1)))
	show(ops.IsFinite(x))
	// Output: [ True False False]
}
