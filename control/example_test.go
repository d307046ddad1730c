package control_test

import (
	"context"
	"fmt"

	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/control"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// A recurrence h ← w·h + x over a sequence, its values and the gradient of the last of them. w is captured.
func ExampleScan() {
	g := graph.Eager(cpu.New())
	w, xs := g.Const(tensor.Scalar(0.5)), g.Const(tensor.Of(1.0, 2, 3))
	final, ys := control.Scan(func(carry, x []*Node) (next, y []*Node) {
		h := ops.Add(ops.Mul(w, carry[0]), x[0])
		return []*Node{h}, []*Node{h}
	}, []*Node{g.Const(tensor.Scalar(0.0))}, []*Node{xs})
	grads := autograd.Grad(final[0], w, xs)
	fmt.Println(ys[0])
	fmt.Println(grads[0], grads[1])
	// Output:
	// [1.   2.5  4.25]
	// 3.0 [0.25 0.5  1.  ]
}

// The sum of the last axis from the end, without a carry to begin with: what it starts from is a constant.
func ExampleReversed() {
	g := graph.Eager(cpu.New())
	xs := g.Const(tensor.Of[int64](1, 2, 3, 4))
	_, ys := control.Scan(func(carry, x []*Node) (next, y []*Node) {
		s := ops.Add(carry[0], x[0])
		return []*Node{s}, []*Node{s}
	}, []*Node{g.Literal(tensor.Int64, 0)}, []*Node{xs}, control.Reversed())
	fmt.Println(ys[0])
	// Output:
	// [10  9  7  4]
}

// Powers of a matrix applied to a vector: there are no slices, so the number of steps is given.
func ExampleSteps() {
	g := graph.Eager(cpu.New())
	fibonacci := g.Const(tensor.Must(tensor.FromSlice([]int64{1, 1, 1, 0}, 2, 2)))
	final, _ := control.Scan(func(carry, _ []*Node) (next, y []*Node) {
		return []*Node{ops.MatMul(fibonacci, carry[0])}, nil
	}, []*Node{g.Const(tensor.Of[int64](1, 0))}, nil, control.Steps(10))
	fmt.Println(final[0])
	// Output:
	// [89 55]
}

// A program that chooses by its data; the function that is not chosen is not run.
func ExampleCond() {
	g := graph.New()
	x := g.Input("x", tensor.Float64, 2)
	y := control.Cond(ops.Greater(ops.Sum(x), 0),
		func(in []*Node) []*Node { return []*Node{ops.Sqrt(in[0])} },
		func(in []*Node) []*Node { return []*Node{ops.Neg(in[0])} }, x)
	p, err := graph.Compile(cpu.New(), append(y, autograd.Grad(ops.Sum(y[0]), x)...)...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range []*tensor.Tensor{tensor.Of(4.0, 16), tensor.Of(-4.0, 1)} {
		outs, err := p.Run(context.Background(), graph.Feed{"x": x})
		fmt.Println(outs[0], outs[1], err)
	}
	// Output:
	// [2. 4.] [0.25  0.125] <nil>
	// [ 4. -1.] [-1. -1.] <nil>
}

// The greatest common divisor, of one pair and of a batch of pairs, which need different numbers of trips.
func ExampleWhile() {
	gcd := func(in []*Node) []*Node {
		return control.While(
			func(s []*Node) *Node { return ops.NotEqual(s[1], 0) },
			func(s []*Node) []*Node { return []*Node{s[1], ops.Mod(s[0], s[1])} }, in...)[:1]
	}
	g := graph.Eager(cpu.New())
	fmt.Println(gcd([]*Node{g.Literal(tensor.Int64, 48), g.Literal(tensor.Int64, 36)})[0])
	a, b := g.Const(tensor.Of[int64](48, 17, 270)), g.Const(tensor.Of[int64](36, 5, 192))
	fmt.Println(autograd.Vmap(gcd, []*Node{a, b}, []int{0, 0})[0])
	// Output:
	// 12
	// [12  1  6]
}

// Newton's iteration for a square root until it is good enough, but 20 trips at most: it has a gradient.
func ExampleWhileN() {
	g := graph.Eager(cpu.New())
	a := g.Const(tensor.Scalar(9.0))
	root := control.WhileN(20,
		func(s []*Node) *Node { return ops.Greater(ops.Abs(ops.Sub(ops.Square(s[0]), a)), 1e-12) },
		func(s []*Node) []*Node { return []*Node{ops.Mul(ops.Add(s[0], ops.Div(a, s[0])), 0.5)} },
		g.Const(tensor.Scalar(1.0)))[0]
	grad := tensor.Must(tensor.Values[float64](tensor.Must(autograd.Grad(root, a)[0].Value())))
	fmt.Printf("%v %.6f\n", root, grad[0])
	// Output:
	// 3.0 0.166667
}

// Each place keeps a balance: what comes in is added, and it loses half each time. The order of the updates
// counts, so no sum could do it.
func ExampleScatterBy() {
	g := graph.Eager(cpu.New())
	decayed, err := ops.Combiner("decayed", []tensor.DType{tensor.Float64}, func(old, u []*Node) []*Node {
		return []*Node{ops.Add(ops.Mul(old[0], 0.5), u[0])}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, u := g.Const(tensor.Of(8.0, 8, 8)), g.Const(tensor.Of(1.0, 2, 3))
	at := g.Const(tensor.Of[int64](2, 0, 2))
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}}
	y := control.ScatterBy(decayed, []*Node{x}, []*Node{u}, []*Node{at}, w, ops.Mode{})[0]
	grads := autograd.Grad(ops.Sum(y), x, u)
	fmt.Println(y)
	fmt.Println(grads[0], grads[1])
	// Output:
	// [6.  8.  5.5]
	// [0.5  1.   0.25] [0.5 1.  1. ]
}
