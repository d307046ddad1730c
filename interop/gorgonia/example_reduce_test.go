package adjoint_test

import (
	"fmt"

	"gorgonia.org/gorgonia"

	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
)

func ExampleSum() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.Sum(x, 0))))
	// Output: [2] [9 12]
}

func ExampleProd() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.Prod(x, -1))))
	// Output: [3] [2 12 30]
}

func ExampleMean() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.Mean(x))))
	// Output: [] [3.5]
}

func ExampleMax() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.Max(x, 0))))
	// Output: [2] [5 6]
}

func ExampleMin() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.Min(x, 1))))
	// Output: [3] [1 3 5]
}

func ExampleLogSumExp() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.LogSumExp(x, 1))))
	// Output: [3] [2.31326 4.31326 6.31326]
}

func ExampleVar() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.Var(x, 1, 0))))
	// Output: [2] [4 4]
}

func ExampleStd() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.Std(x, 1, 0))))
	// Output: [2] [2 2]
}

func ExampleNorm() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.Norm(x, 2, 1))))
	// Output: [3] [2.23607 5 7.81025]
}

func ExampleArgMax() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.ArgMax(x, 0))))
	// Output: [2] [2 2]
}

func ExampleArgMin() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.ArgMin(x, 1))))
	// Output: [3] [0 0 0]
}

func ExampleArgMaxAll() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.ArgMaxAll(x))))
	// Output: [] [5]
}

func ExampleArgMinAll() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	fmt.Println(tape(must(adjoint.ArgMinAll(x))))
	// Output: [] [0]
}

func ExampleHardmax() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(.1, .2, .3, .3, .1))
	fmt.Println(tape(must(adjoint.Hardmax(x, 0))))
	// Output: [5] [0 0 1 0 0]
}
