package adjoint_test

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/adjoint-go/adjoint/index"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/ops"
)

func ExampleSetIndex() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(1., 2, 3))
	at := input(g, "at", vector(0, 0))
	v := input(g, "v", vector(10., 20))
	fmt.Println(tape(must(adjoint.SetIndex(x, v, adjoint.Of(at))))) // the last writer wins
	// Output: [3] [20 2 3]
}

func ExampleAddIndex() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(1., 2, 3))
	at := input(g, "at", vector(0, 0, 2))
	fmt.Println(tape(must(adjoint.AddIndex(x, 1, adjoint.Of(at)))))
	// Output: [3] [3 2 4]
}

func ExampleMulIndex() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(1., 2, 3))
	fmt.Println(tape(must(adjoint.MulIndex(x, 10, index.By(2)))))
	// Output: [3] [10 2 30]
}

func ExampleMaxIndex() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(1., 2, 3))
	fmt.Println(tape(must(adjoint.MaxIndex(x, 2.5, index.All))))
	// Output: [3] [2.5 2.5 3]
}

func ExampleMinIndex() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(1., 2, 3))
	fmt.Println(tape(must(adjoint.MinIndex(x, 2.5, index.From(1)))))
	// Output: [3] [1 2 2.5]
}

func ExampleScatter() {
	g := gorgonia.NewGraph()
	zeros := input(g, "zeros", counting(2, 2))
	ids := input(g, "ids", vector(1, 1))
	u := input(g, "u", dense([]int{2, 2}, 10., 20, 30, 40))
	fmt.Println(tape(must(adjoint.Scatter(zeros, ids, u, 0, ops.CombineAdd))))
	// Output: [2 2] [0 1 42 63]
}

func ExamplePutAlongAxis() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	at := must(adjoint.Const(g, dense([]int{3, 1}, 1, 0, 1)))
	fmt.Println(tape(must(adjoint.PutAlongAxis(x, at, 0, 1, ops.CombineSet))))
	// Output: [3 2] [1 0 0 4 5 0]
}

func ExampleScatterND() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	places := input(g, "places", dense([]int{2, 2}, 2, 1, 2, 1))
	u := input(g, "u", vector(10., 20))
	fmt.Println(tape(must(adjoint.ScatterND(x, places, u, ops.CombineMax))))
	// Output: [3 2] [1 2 3 4 5 20]
}
