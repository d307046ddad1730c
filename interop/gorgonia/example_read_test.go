package adjoint_test

import (
	"fmt"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/index"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleTake() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	ids := input(g, "ids", vector(2, 0, -1)) // of int; int32 and int64 will do
	fmt.Println(tape(must(adjoint.Take(x, ids, 0))))
	// Output: [3 2] [5 6 1 2 5 6]
}

func ExampleTakeAlongAxis() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	at := must(adjoint.ArgSort(x, 1, ops.Descending))
	fmt.Println(tape(must(adjoint.TakeAlongAxis(x, at, 1))))
	// Output: [3 2] [2 1 4 3 6 5]
}

func ExampleEmbedding() {
	g := gorgonia.NewGraph()
	table := input(g, "table", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	tokens := input(g, "tokens", dense([]int{1, 2}, int64(2), 0))
	fmt.Println(tape(must(adjoint.Embedding(table, tokens))))
	// Output: [1 2 2] [5 6 1 2]
}

func ExampleGatherND() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	places := input(g, "places", dense([]int{2, 2}, 2, 1, 0, 0))
	fmt.Println(tape(must(adjoint.GatherND(x, places, 0))))
	// Output: [2] [6 1]
}

func ExampleIndex() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	rows := input(g, "rows", vector(2, 0))
	fmt.Println(tape(must(adjoint.Index(x, adjoint.Of(rows), index.By(-1)))))
	// Output: [2 2] [6 5 2 1]
}

func ExampleOf() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(1., 2, 3))
	mask := must(gorgonia.Gt(x, must(gorgonia.Mean(x)), false))
	fmt.Println(tape(must(adjoint.SetIndex(x, 0, adjoint.Of(mask))))) // a mask, being of bool
	// Output: [3] [1 2 0]
}

func ExampleParse() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	ids := input(g, "ids", vector(0, 2))
	items := tensor.Must(adjoint.Parse("$0, ..., ::-1", ids))
	fmt.Println(tape(must(adjoint.Index(x, items...))))
	// Output: [2 2] [2 1 6 5]
}

func ExampleWhere() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(1., -2, 3))
	positive := must(gorgonia.Gt(x, gorgonia.NewConstant(0.), false))
	fmt.Println(tape(must(adjoint.Where(positive, x, 0))))
	// Output: [3] [1 0 3]
}

func ExampleOneHot() {
	g := gorgonia.NewGraph()
	ids := input(g, "ids", vector(1, 0))
	fmt.Println(tape(must(adjoint.OneHot(ids, 3, gtensor.Float32))))
	// Output: [2 3] [0 1 0 1 0 0]
}

func ExampleConst() {
	g := gorgonia.NewGraph()
	x := input(g, "x", dense([]int{3, 2}, 1., 2, 3, 4, 5, 6))
	ids := must(adjoint.Const(g, vector(1, 1)))
	fmt.Println(tape(must(adjoint.Take(x, ids, 0))))
	// Output: [2 2] [3 4 3 4]
}
