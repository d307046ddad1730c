package ops_test

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleExp() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Exp(x))
	// Output: [1.        2.7182818]
}

func ExampleExp2() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 3, -1))
	show(ops.Exp2(x))
	// Output: [1.  8.  0.5]
}

func ExampleExpm1() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1e-10))
	show(ops.Expm1(x))
	// Output: [0.e+00 1.e-10]
}

func ExampleLog() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, math.E, 0))
	show(ops.Log(x))
	// Output: [  0.   1. -inf]
}

func ExampleLog2() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 8, 0.5))
	show(ops.Log2(x))
	// Output: [ 0.  3. -1.]
}

func ExampleLog10() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 1000, 0.1))
	show(ops.Log10(x))
	// Output: [ 0.  3. -1.]
}

func ExampleLog1p() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1e-10))
	show(ops.Log1p(x))
	// Output: [0.e+00 1.e-10]
}

func ExampleSqrt() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(4.0, 2, 0))
	show(ops.Sqrt(x))
	// Output: [2.        1.4142136 0.       ]
}

func ExampleRsqrt() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(4.0, 0.25))
	show(ops.Rsqrt(x))
	// Output: [0.5 2. ]
}

func ExampleCbrt() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(27.0, -8))
	show(ops.Cbrt(x))
	// Output: [ 3. -2.]
}

func ExampleSigmoid() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 2))
	show(ops.Sigmoid(x))
	// Output: [0.5        0.88079708]
}

func ExampleSoftplus() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1000))
	show(ops.Softplus(x))
	// Output: [6.9314718e-01 1.0000000e+03]
}

func ExampleErf() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Erf(x))
	// Output: [0.         0.84270079]
}

func ExampleErfc() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Erfc(x))
	// Output: [1.         0.15729921]
}

func ExampleErfinv() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 0.5, 1))
	show(ops.Erfinv(x))
	// Output: [0.         0.47693628        inf]
}

func ExampleSin() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, math.Pi/2))
	show(ops.Sin(x))
	// Output: [0. 1.]
}

func ExampleCos() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, math.Pi))
	show(ops.Cos(x))
	// Output: [ 1. -1.]
}

func ExampleTan() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Tan(x))
	// Output: [0.        1.5574077]
}

func ExampleAsin() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Asin(x))
	// Output: [0.        1.5707963]
}

func ExampleAcos() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, -1))
	show(ops.Acos(x))
	// Output: [0.        3.1415927]
}

func ExampleAtan() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Atan(x))
	// Output: [0.         0.78539816]
}

func ExampleSinh() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Sinh(x))
	// Output: [0.        1.1752012]
}

func ExampleCosh() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Cosh(x))
	// Output: [1.        1.5430806]
}

func ExampleTanh() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Tanh(x))
	// Output: [0.         0.76159416]
}

func ExampleAsinh() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 1))
	show(ops.Asinh(x))
	// Output: [0.         0.88137359]
}

func ExampleAcosh() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	show(ops.Acosh(x))
	// Output: [0.        1.3169579]
}

func ExampleAtanh() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 0.5))
	show(ops.Atanh(x))
	// Output: [0.         0.54930614]
}
