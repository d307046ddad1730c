package adjoint_test

import (
	"fmt"

	"gorgonia.org/gorgonia"

	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/ops"
)

func ExampleCumSum() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.CumSum(x, 0))))
	// Output: [4] [3 4 6 5]
}

func ExampleCumProd() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.CumProd(x, 0, ops.Exclusive))))
	// Output: [4] [1 3 3 6]
}

func ExampleCumMax() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.CumMax(x, 0))))
	// Output: [4] [3 3 3 3]
}

func ExampleCumMin() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.CumMin(x, 0, ops.Reversed))))
	// Output: [4] [-1 -1 -1 -1]
}

func ExampleLogCumSumExp() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.LogCumSumExp(x, 0))))
	// Output: [4] [3 3.12693 3.40761 3.41972]
}

func ExampleSort() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.Sort(x, 0, ops.Ascending))))
	// Output: [4] [-1 1 2 3]
}

func ExampleArgSort() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.ArgSort(x, 0, ops.Ascending))))
	// Output: [4] [3 1 2 0]
}

func ExampleTopK() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.TopK(x, 2, 0, ops.Descending))))
	// Output: [2] [3 2]
}

func ExampleArgTopK() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.ArgTopK(x, 2, 0, ops.Descending))))
	// Output: [2] [0 2]
}

func ExampleSoftmax() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.Softmax(x, 0))))
	// Output: [4] [0.657233 0.0889468 0.241783 0.0120376]
}

func ExampleLogSoftmax() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 1, 2, -1))
	fmt.Println(tape(must(adjoint.LogSoftmax(x, 0))))
	// Output: [4] [-0.419717 -2.41972 -1.41972 -4.41972]
}

func ExampleSegmentSum() {
	g := gorgonia.NewGraph()
	data := input(g, "data", vector(1., 2, 3, 2))
	ids := input(g, "ids", vector(1, 0, 0, 1))
	fmt.Println(tape(must(adjoint.SegmentSum(data, ids, 2))))
	// Output: [2] [5 3]
}

func ExampleSegmentMean() {
	g := gorgonia.NewGraph()
	data := input(g, "data", vector(1., 2, 3, 2))
	ids := input(g, "ids", vector(1, 0, 0, 1))
	fmt.Println(tape(must(adjoint.SegmentMean(data, ids, 2))))
	// Output: [2] [2.5 1.5]
}

func ExampleSegmentMax() {
	g := gorgonia.NewGraph()
	data := input(g, "data", vector(1., 2, 3, 2))
	ids := input(g, "ids", vector(1, 0, 0, 1))
	fmt.Println(tape(must(adjoint.SegmentMax(data, ids, 2))))
	// Output: [2] [3 2]
}

func ExampleSegmentMin() {
	g := gorgonia.NewGraph()
	data := input(g, "data", vector(1., 2, 3, 2))
	ids := input(g, "ids", vector(1, 0, 0, 1))
	fmt.Println(tape(must(adjoint.SegmentMin(data, ids, 2))))
	// Output: [2] [2 1]
}

func ExampleSegmentProd() {
	g := gorgonia.NewGraph()
	data := input(g, "data", vector(1., 2, 3, 2))
	ids := input(g, "ids", vector(1, 0, 0, 1))
	fmt.Println(tape(must(adjoint.SegmentProd(data, ids, 2))))
	// Output: [2] [6 2]
}

func ExampleCrossEntropy() {
	g := gorgonia.NewGraph()
	logits := input(g, "logits", dense([]int{2, 2}, 0., 0, 3, 3))
	labels := input(g, "labels", vector(int32(1), 0))
	fmt.Println(tape(must(adjoint.CrossEntropy(logits, labels))))
	// Output: [] [0.693147]
}
