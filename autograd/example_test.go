package autograd_test

import (
	"fmt"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleGrad() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(5.0, 7, 9))
	rows := ops.Index(x, index.Of(tensor.Of[int32](1, 1, 0)))
	fmt.Println(autograd.Grad(ops.Sum(rows), x)[0].Value()) // a repeated index adds
	// Output: [1. 2. 0.] <nil>
}

func ExampleVJP() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	y := ops.Mul(x, x)
	ct := g.Const(tensor.Of(1.0, 10))
	fmt.Println(autograd.VJP([]*graph.Node{y}, []*graph.Node{ct}, []*graph.Node{x})[0].Value())
	// Output: [ 2. 40.] <nil>
}

func ExampleJVP() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	y := ops.Sum(ops.Mul(x, x))
	tangent := g.Const(tensor.Of(0.0, 1))
	fmt.Println(autograd.JVP([]*graph.Node{y}, []*graph.Node{x}, []*graph.Node{tangent})[0].Value())
	// Output: 4.0 <nil>
}

func ExampleHVP() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	loss := ops.Sum(ops.Mul(ops.Mul(x, x), x)) // its Hessian is diag(6x)
	v := g.Const(tensor.Of(1.0, 1))
	fmt.Println(autograd.HVP(loss, []*graph.Node{x}, []*graph.Node{v})[0].Value())
	// Output: [ 6. 12.] <nil>
}

func ExampleJacobian() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	fmt.Println(autograd.Jacobian(ops.Mul(x, ops.Reverse(x, 0)), x)[0].Value())
	// Output:
	// [[2. 1.]
	//  [2. 1.]] <nil>
}

func ExampleHessian() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(0.0, 0, 3))
	fmt.Println(autograd.Hessian(ops.Prod(x), x).Value())
	// Output:
	// [[0. 3. 0.]
	//  [3. 0. 0.]
	//  [0. 0. 0.]] <nil>
}

func ExampleVmap() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2)))
	perExample := autograd.Vmap(func(in []*graph.Node) []*graph.Node {
		return autograd.Grad(ops.Prod(in[0]), in[0])
	}, []*graph.Node{x}, []int{0})
	fmt.Println(perExample[0].Value())
	// Output:
	// [[2. 1.]
	//  [4. 3.]] <nil>
}

func ExampleCustomVJP() {
	round := autograd.CustomVJP( // rounds forward, and lets the gradient through
		func(in []*graph.Node) []*graph.Node { return []*graph.Node{ops.Round(in[0])} },
		func(in, out, ct []*graph.Node) []*graph.Node { return ct })
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.2, 2.7))
	y := round([]*graph.Node{x})[0]
	fmt.Println(y.Value())
	fmt.Println(autograd.Grad(ops.Sum(ops.Mul(y, y)), x)[0].Value())
	// Output:
	// [1. 3.] <nil>
	// [2. 6.] <nil>
}

func ExampleCheckpoint() {
	layer := autograd.Checkpoint(func(in []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Square(ops.Square(in[0]))}
	})
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(1.0, 2))
	fmt.Println(autograd.Grad(ops.Sum(layer([]*graph.Node{x})[0]), x)[0].Value())
	// Output: [ 4. 32.] <nil>
}

func ExampleCheck() {
	f := func(in []*graph.Node) []*graph.Node { return []*graph.Node{ops.LogSumExp(in[0])} }
	fmt.Println(autograd.Check(cpu.New(), f, tensor.Of(1.0, 2, 3)))
	wrong := autograd.CustomVJP(f, func(in, out, ct []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Mul(ct[0], ops.OnesLike(in[0]))}
	})
	err := autograd.Checker{Backend: cpu.New(), NoForward: true}.Check(wrong, tensor.Of(1.0, 2, 3))
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}
