package ops_test

import (
	"fmt"
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// show prints the value of a node, or what went wrong.
func show(n *ops.Node) {
	v, err := n.Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v)
}

func ExampleAdd() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.Add(x, 10))
	// Output: [11. 12. 13.]
}

func ExampleSub() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.Sub(10, x))
	// Output: [9. 8. 7.]
}

func ExampleMul() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	y := g.Const(tensor.Of(10.0, 0, -1))
	show(ops.Mul(x, y))
	// Output: [10.  0. -3.]
}

func ExampleDiv() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](7, -7, 7))
	y := g.Const(tensor.Of[int32](2, 2, 0))
	show(ops.Div(x, y))
	// Output: [ 3 -3  0]
}

func ExamplePow() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2, 3))
	show(ops.Pow(x, 2))
	show(ops.Pow(2, x))
	// Output:
	// [1. 4. 9.]
	// [2. 4. 8.]
}

func ExampleAtan2() {
	g := graph.Eager(cpu.New())
	y := g.Const(tensor.Of(0.0, 1, 0))
	x := g.Const(tensor.Of(1.0, 0, -1))
	show(ops.Atan2(y, x))
	// Output: [0.        1.5707963 3.1415927]
}

func ExampleMaximum() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, -2, math.NaN()))
	show(ops.Maximum(x, 0))
	// Output: [ 1.  0. nan]
}

func ExampleMinimum() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, -2, math.NaN()))
	show(ops.Minimum(x, 0))
	// Output: [ 0. -2. nan]
}

func ExampleRem() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](7, -7, 7))
	show(ops.Rem(x, 3))
	// Output: [ 1 -1  1]
}

func ExampleMod() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](7, -7, 7))
	show(ops.Mod(x, 3))
	// Output: [1 2 1]
}

func ExampleFloorDiv() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](7, -7, 7))
	show(ops.FloorDiv(x, 3))
	// Output: [ 2 -3  2]
}

func ExampleLogAddExp() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float64](0, 1, math.Inf(-1)))
	show(ops.LogAddExp(x, x))
	// Output: [0.69314718 1.6931472        -inf]
}

func ExampleGuard() {
	g := graph.Eager(cpu.New())
	ct := g.Const(tensor.Of(0.0, 1, 0))
	slope := g.Const(tensor.Of(math.Inf(1), math.Inf(1), 2))
	show(ops.Guard(ct, slope))
	// Output: [ 0. inf  2.]
}

func ExampleComplex() {
	g := graph.Eager(cpu.New())
	re := g.Const(tensor.Of(1.0, 2))
	im := g.Const(tensor.Of(3.0, -4))
	show(ops.Complex(re, im))
	// Output: [1.+3.j 2.-4.j]
}

func ExampleSquare() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int8](1, -2, 3))
	show(ops.Square(x))
	// Output: [1 4 9]
}

func ExampleReciprocal() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, -2, 4))
	show(ops.Reciprocal(x))
	// Output: [ 1.   -0.5   0.25]
}

func ExampleClamp() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(-2.0, 0.5, 7, math.NaN()))
	show(ops.Clamp(x, 0, 1))
	// Output: [0.  0.5 1.  nan]
}

func ExampleAnd() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(true, true, false))
	y := g.Const(tensor.Of(true, false, false))
	show(ops.And(x, y))
	// Output: [ True False False]
}

func ExampleOr() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[uint8](12, 3))
	show(ops.Or(x, 5))
	// Output: [13  7]
}

func ExampleXor() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[uint8](12, 3))
	show(ops.Xor(x, 5))
	// Output: [9 6]
}

func ExampleShiftLeft() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int8](1, 3, -1))
	show(ops.ShiftLeft(x, 4))
	// Output: [ 16  48 -16]
}

func ExampleShiftRight() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int8](16, 3, -16))
	show(ops.ShiftRight(x, 2))
	// Output: [ 4  0 -4]
}

func ExampleNot() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(true, false))
	show(ops.Not(x))
	// Output: [False  True]
}
