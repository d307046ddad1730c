package ops_test

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleSort() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(3, math.NaN(), -1, 2))
	show(ops.Sort(x, 0, ops.Ascending))
	show(ops.Sort(x, 0, ops.Descending))
	// Output:
	// [-1.  2.  3. nan]
	// [nan  3.  2. -1.]
}

func ExampleArgSort() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](5, 7, 5, 1))
	at := ops.ArgSort(x, 0, ops.Descending) // 5 stands twice: the first comes first
	show(at)
	show(ops.TakeAlongAxis(x, at, 0))
	// Output:
	// [1 0 2 3]
	// [7 5 5 1]
}

func ExampleSortWithIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float32{3, 1, 2, 6, 5, 4}, 2, 3)))
	values, indices := ops.SortWithIndex(x, -1, ops.Ascending)
	show(values)
	show(indices)
	// Output:
	// [[1. 2. 3.]
	//  [4. 5. 6.]]
	// [[1 2 0]
	//  [2 1 0]]
}

func ExampleSortBy() {
	g := graph.Eager(cpu.New())
	year := g.Const(tensor.Of[int16](2001, 1999, 2001, 1999))
	month := g.Const(tensor.Of[uint8](7, 12, 3, 1))
	value := g.Const(tensor.Of[float32](1, 2, 3, 4))
	for _, x := range ops.SortBy(0, 2, ops.Ascending, year, month, value) {
		show(x)
	}
	// Output:
	// [1999 1999 2001 2001]
	// [ 1 12  3  7]
	// [4. 2. 3. 1.]
}

func ExampleTopK() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float32{3, 1, 4, 1, 5, 9, 2, 6}, 2, 4)))
	values, indices := ops.TopK(x, 2, -1, ops.Descending)
	show(values)
	show(indices)
	// Output:
	// [[4. 3.]
	//  [9. 6.]]
	// [[2 0]
	//  [1 3]]
}

func ExampleKthValue() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](30, 10, 20))
	value, index := ops.KthValue(x, 2, 0) // the second least
	show(value)
	show(index)
	// Output:
	// 20
	// 2
}

func ExampleMedian() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float32{1, 9, 3, 7, 2, 4, 6, 8}, 2, 4)))
	show(ops.Median(x, 1))
	show(ops.Median(x))
	// Output:
	// [5. 5.]
	// 5.0
}

func ExampleQuantile() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(4.0, 1, 3, 2))
	show(ops.Quantile(x, 0.25, ops.QuantileLinear))
	show(ops.Quantile(x, 0.25, ops.QuantileHigher))
	// Output:
	// 1.75
	// 2.0
}

func ExampleQuantiles() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of(4.0, 1, 3, 2, 5))
	show(ops.Quantiles(x, []float64{0, 0.25, 0.5, 0.75, 1}, ops.QuantileLinear))
	// Output: [1. 2. 3. 4. 5.]
}

func ExampleUnique() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](3, 1, 3, 2, 1))
	show(ops.Unique(x))
	// Output: [1 2 3]
}

func ExampleUniqueWithIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](3, 1, 3, 2, 1))
	values, index, inverse, counts := ops.UniqueWithIndex(x)
	show(values)
	show(index)
	show(inverse) // values at inverse is x
	show(counts)
	// Output:
	// [1 2 3]
	// [1 3 0]
	// [2 0 2 1 0]
	// [2 1 2]
}

func ExampleUniqueRows() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]int32{2, 1, 0, 9, 2, 1}, 3, 2)))
	values, _, _, counts := ops.UniqueRows(x, 0)
	show(values)
	show(counts)
	// Output:
	// [[0 9]
	//  [2 1]]
	// [1 2]
}

// With a size, the elements may be known at run time alone.
func ExampleUniqueSized() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[int32](3, 1, 3))
	values, _, _, counts := ops.UniqueSized(x, 4, -1)
	show(values)
	show(counts)
	// Output:
	// [ 1  3 -1 -1]
	// [1 2 0 0]
}

func ExampleSearchSorted() {
	g := graph.Eager(cpu.New())
	edges := g.Const(tensor.Of[float32](0, 1, 1, 2))
	show(ops.SearchSorted(edges, g.Const(tensor.Of[float32](-1, 1, 1.5, 9)), false))
	show(ops.SearchSorted(edges, g.Const(tensor.Of[float32](-1, 1, 1.5, 9)), true))
	// Output:
	// [0 1 3 4]
	// [0 3 3 4]
}

func ExampleHardmax() {
	g := graph.Eager(cpu.New())
	show(ops.Hardmax(g.Const(tensor.Of[float32](1, 3, 3)), 0))
	// Output: [0. 1. 0.]
}
