package ops_test

import (
	"math"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleSegmentSum() {
	g := graph.Eager(cpu.New())
	data := g.Const(tensor.Of[float32](1, 2, 3, 4))
	ids := g.Const(tensor.Of[int32](0, 2, 0, -1)) // −1 is no segment: dropped
	show(ops.SegmentSum(data, ids, 3))
	// Output: [4. 0. 2.]
}

func ExampleSegmentProd() {
	g := graph.Eager(cpu.New())
	data := g.Const(tensor.Of[float32](2, 3, 4))
	show(ops.SegmentProd(data, g.Const(tensor.Of[int32](1, 1, 0)), 3))
	// Output: [4. 6. 1.]
}

func ExampleSegmentMax() {
	g := graph.Eager(cpu.New())
	data := g.Const(tensor.Of[float32](2, 3, 4))
	show(ops.SegmentMax(data, g.Const(tensor.Of[int32](1, 1, 0)), 3))
	// Output: [  4.   3. -inf]
}

func ExampleSegmentMin() {
	g := graph.Eager(cpu.New())
	data := g.Const(tensor.Of[int8](2, 3, 4))
	show(ops.SegmentMin(data, g.Const(tensor.Of[int32](1, 1, 0)), 3))
	// Output: [  4   2 127]
}

func ExampleSegmentMean() {
	g := graph.Eager(cpu.New())
	data := g.Const(tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))
	show(ops.SegmentMean(data, g.Const(tensor.Of[uint8](2, 0, 2)), 3))
	// Output:
	// [[3. 4.]
	//  [0. 0.]
	//  [3. 4.]]
}

func ExampleBincount() {
	g := graph.Eager(cpu.New())
	show(ops.Bincount(g.Const(tensor.Of[int32](1, 3, 1, 7)), 5))
	// Output: [0 2 0 1 0]
}

func ExampleRepeatCounts() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](5, 6, 7))
	show(ops.RepeatCounts(x, g.Const(tensor.Of[int32](2, 0, 1)), 0, 4))
	// Output: [5. 5. 7. 0.]
}

func ExampleMaskedSelect() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](5, -6, 7))
	show(ops.MaskedSelect(x, ops.Greater(x, 0)))
	// Output: [5. 7.]
}

func ExampleCompress() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3)))
	show(ops.Compress(x, g.Const(tensor.Of(true, false, true)), 1))
	// Output:
	// [[1 3]
	//  [4 6]]
}

func ExampleEmbeddingBag() {
	g := graph.Eager(cpu.New())
	table := g.Const(tensor.Must(tensor.FromSlice([]float32{0, 0, 1, 10, 2, 20}, 3, 2)))
	ids := g.Const(tensor.Must(tensor.FromSlice([]int64{1, 2, 1, 1}, 2, 2)))
	show(ops.EmbeddingBag(table, ids, ops.BagSum))
	// Output:
	// [[ 3. 30.]
	//  [ 2. 20.]]
}

func ExampleEmbeddingBagOffsets() {
	g := graph.Eager(cpu.New())
	table := g.Const(tensor.Must(tensor.FromSlice([]float32{0, 0, 1, 10, 2, 20}, 3, 2)))
	ids := g.Const(tensor.Of[int64](1, 2, 2))
	offsets := g.Const(tensor.Of[int64](0, 2, 2)) // bags of 2, 0 and 1
	show(ops.EmbeddingBagOffsets(table, ids, offsets, ops.BagMean))
	// Output:
	// [[ 1.5 15. ]
	//  [ 0.   0. ]
	//  [ 2.  20. ]]
}

func ExampleNanSum() {
	g := graph.Eager(cpu.New())
	show(ops.NanSum(g.Const(tensor.Of(1, math.NaN(), 3))))
	// Output: 4.0
}

func ExampleNanProd() {
	g := graph.Eager(cpu.New())
	show(ops.NanProd(g.Const(tensor.Of(2, math.NaN(), 3))))
	// Output: 6.0
}

func ExampleNanMean() {
	g := graph.Eager(cpu.New())
	show(ops.NanMean(g.Const(tensor.Of(1, math.NaN(), 3))))
	// Output: 2.0
}

func ExampleNanMax() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float64{1, math.NaN(), math.NaN(), math.NaN()}, 2, 2)))
	show(ops.NanMax(x, 1))
	// Output: [ 1. nan]
}

func ExampleNanMin() {
	g := graph.Eager(cpu.New())
	show(ops.NanMin(g.Const(tensor.Of(1, math.NaN(), 3))))
	// Output: 1.0
}

func ExampleNanArgMax() {
	g := graph.Eager(cpu.New())
	show(ops.NanArgMax(g.Const(tensor.Of(math.NaN(), 1, 3)), 0))
	// Output: 2
}

func ExampleNanArgMin() {
	g := graph.Eager(cpu.New())
	show(ops.NanArgMin(g.Const(tensor.Of(math.NaN(), math.Inf(1), math.Inf(1))), 0))
	// Output: 1
}
