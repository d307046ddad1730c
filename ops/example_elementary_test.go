package ops_test

import (
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleNeg() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, -2, 0))
	show(ops.Neg(x))
	// Output: [-1.  2. -0.]
}

func ExampleAbs() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, -2, 0))
	show(ops.Abs(x))
	show(ops.Abs(ops.Complex(3.0, ops.Full(g, tensor.Float64, 4))))
	// Output:
	// [1. 2. 0.]
	// 5.0
}

func ExampleSign() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(3.0, -2, 0))
	show(ops.Sign(x))
	// Output: [ 1. -1.  0.]
}

func ExampleFloor() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.5, 2.5, -1.7))
	show(ops.Floor(x))
	// Output: [ 1.  2. -2.]
}

func ExampleCeil() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.5, 2.5, -1.7))
	show(ops.Ceil(x))
	// Output: [ 2.  3. -1.]
}

func ExampleRound() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.5, 2.5, -1.7))
	show(ops.Round(x))
	// Output: [ 2.  2. -2.]
}

func ExampleTrunc() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.5, 2.5, -1.7))
	show(ops.Trunc(x))
	// Output: [ 1.  2. -1.]
}

func ExampleConj() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1+2i, 3-4i))
	show(ops.Conj(x))
	// Output: [1.-2.j 3.+4.j]
}

func ExampleReal() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1+2i, 3-4i))
	show(ops.Real(x))
	// Output: [1. 3.]
}

func ExampleImag() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1+2i, 3-4i))
	show(ops.Imag(x))
	// Output: [ 2. -4.]
}

func ExampleStopGradient() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	show(ops.StopGradient(x))
	// Output: [1. 2.]
}
