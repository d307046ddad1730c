package ops_test

import (
	"errors"
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4)))

	row := ops.Index(x, index.At(-1))                                             // x[-1]
	block := ops.Index(x, index.From(1), index.By(2))                             // x[1:, ::2]
	picked := ops.Index(x, index.Of(tensor.Of[int64](2, 0)), index.At(1))         // x[[2, 0], 1]
	masked := ops.Index(x, index.Mask(tensor.Of(true, false, true)), index.To(2)) // x[[T, F, T], :2]

	fmt.Println(tensor.Must(row.Value()))
	fmt.Println(tensor.Must(block.Value()))
	fmt.Println(tensor.Must(picked.Value()))
	fmt.Println(tensor.Must(masked.Value()))
	// Output:
	// [ 8  9 10 11]
	// [[ 4  6]
	//  [ 8 10]]
	// [9 1]
	// [[0 1]
	//  [8 9]]
}

// A bad index is an error of the graph that names the item, the position and the axis.
func ExampleIndexError() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](5, 6, 7))
	ops.Index(x, index.Ellipsis, index.Of(tensor.Of[int64](0, 3)))
	bad, _ := errors.AsType[*ops.IndexError](g.Err())
	fmt.Println(bad)
	fmt.Println("item", bad.Operand, "position", bad.Position)
	// Output:
	// index 3 at position [1] of item 1 is out of bounds for axis 0 with extent 3
	// item 1 position [1]
}

func ExampleSetIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](1, 2, 3))

	y := ops.SetIndex(x, 0, index.From(1)) // x[1:] = 0
	v := g.Const(tensor.Of[float32](10, 20))
	z := ops.SetIndex(x, v, index.Of(tensor.Of[int64](0, 0))) // x[[0, 0]] = v: the last writer wins

	fmt.Println(tensor.Must(y.Value()))
	fmt.Println(tensor.Must(z.Value()))
	// Output:
	// [1. 0. 0.]
	// [20.  2.  3.]
}

// In a graph that is built for compiling, a mask is not known yet. An assignment through it is a select.
func ExampleSetIndex_mask() {
	g := graph.New()
	x := g.Input("x", tensor.Float32, 4)
	y := ops.SetIndex(x, 0, index.Mask(ops.Less(x, 0)))
	fmt.Println(y.Call().Op.Name(), g.Err())
	// Output: ops.Where <nil>
}

func ExampleAddIndex() {
	g := graph.Eager(cpu.New())
	votes := ops.AddIndex(ops.Zeros(g, tensor.Int32, 3), 1, index.Of(tensor.Of[int64](0, 2, 0, 2, 2)))
	fmt.Println(tensor.Must(votes.Value()))
	// Output:
	// [2 0 3]
}

func ExampleMulIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](2, 3, 4))
	y := ops.MulIndex(x, g.Const(tensor.Of[float32](5, 7)), index.Of(tensor.Of[int64](1, 1)))
	fmt.Println(tensor.Must(y.Value()))
	// Output:
	// [  2. 105.   4.]
}

func ExampleMaxIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](1, 5, 9))
	y := ops.MaxIndex(x, g.Const(tensor.Of[float32](3, 4, 7)), index.Of(tensor.Of[int64](0, 0, 1)))
	fmt.Println(tensor.Must(y.Value()))
	// Output:
	// [4. 7. 9.]
}

func ExampleMinIndex() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](1, 5, 9))
	y := ops.MinIndex(x, 4, index.Ellipsis)
	fmt.Println(tensor.Must(y.Value()))
	// Output:
	// [1. 4. 4.]
}

func ExampleTake() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](5, 6, 7))
	i := g.Const(tensor.Of[int64](0, -1, 3))
	fmt.Println(tensor.Must(ops.Take(x, i, 0, ops.Clamped).Value()))
	fmt.Println(tensor.Must(ops.Take(x, i, 0, ops.Modulo).Value()))
	fmt.Println(tensor.Must(ops.Take(x, i, 0, ops.Filled(-1)).Value()))
	// Output:
	// [5. 7. 7.]
	// [5. 7. 5.]
	// [ 5.  7. -1.]
}

func ExampleTakeAlongAxis() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float32{1, 9, 3, 8, 2, 5}, 2, 3)))
	best := g.Const(tensor.Must(tensor.FromSlice([]int32{1, 0}, 2, 1))) // where each row is greatest
	fmt.Println(tensor.Must(ops.TakeAlongAxis(x, best, 1).Value()))
	// Output:
	// [[9.]
	//  [8.]]
}

func ExamplePutAlongAxis() {
	g := graph.Eager(cpu.New())
	x := ops.Zeros(g, tensor.Float32, 2, 3)
	i := g.Const(tensor.Must(tensor.FromSlice([]int32{1, 0, 0, 0}, 2, 2)))
	fmt.Println(tensor.Must(ops.PutAlongAxis(x, i, 1, 1, ops.CombineAdd).Value()))
	// Output:
	// [[1. 1. 0.]
	//  [2. 0. 0.]]
}

func ExampleEmbedding() {
	g := graph.Eager(cpu.New())
	table := g.Const(tensor.Must(tensor.FromSlice([]float32{0, 0, 1, 2, 3, 4}, 3, 2)))
	ids := g.Const(tensor.Of[int32](2, 1, 0))
	fmt.Println(tensor.Must(ops.Embedding(table, ids, 0).Value())) // row 0 is padding: read, never trained
	// Output:
	// [[3. 4.]
	//  [1. 2.]
	//  [0. 0.]]
}

func ExampleDynamicSlice() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](0, 1, 2, 3, 4))
	y := ops.DynamicSlice(x, []*ops.Node{g.Const(tensor.Scalar[int32](4))}, []int{2})
	fmt.Println(tensor.Must(y.Value())) // the start clamps to 3
	// Output:
	// [3. 4.]
}

func ExampleDynamicUpdateSlice() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](0, 1, 2, 3, 4))
	y := ops.DynamicUpdateSlice(x, g.Const(tensor.Of[float32](7, 8)), g.Const(tensor.Scalar[int32](1)))
	fmt.Println(tensor.Must(y.Value()))
	// Output:
	// [0. 7. 8. 3. 4.]
}

func ExampleNonzero() {
	g := graph.Eager(cpu.New())
	m := g.Const(tensor.Must(tensor.FromSlice([]bool{false, true, true, false}, 2, 2)))
	at := ops.Nonzero(m)
	fmt.Println(tensor.Must(at[0].Value()), tensor.Must(at[1].Value()))
	// Output:
	// [0 1] [1 0]
}

func ExampleNonzeroSized() {
	g := graph.Eager(cpu.New())
	m := g.Const(tensor.Of(false, true, true, false))
	at := ops.NonzeroSized(m, 3, -1)
	fmt.Println(tensor.Must(at[0].Value()))
	// Output:
	// [ 1  2 -1]
}

// Windows of two elements, one per index; what is beyond the end reads as 0.
func ExampleGather() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](10, 11, 12, 13))
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{1}}
	y := ops.Gather(x, []*ops.Node{g.Const(tensor.Of[int64](1, 3))}, w, ops.Mode{OOB: ops.OOBSkip, PerElement: true})
	fmt.Println(tensor.Must(y.Value()))
	// Output:
	// [[11. 12.]
	//  [13.  0.]]
}

func ExampleGatherFill() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Of[float32](10, 11, 12, 13))
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}}
	y := ops.GatherFill(x, -1, []*ops.Node{g.Const(tensor.Of[int64](1, 4))}, w, ops.Mode{OOB: ops.OOBSkip})
	fmt.Println(tensor.Must(y.Value()))
	// Output:
	// [11. -1.]
}

func ExampleScatter() {
	g := graph.Eager(cpu.New())
	x := ops.Zeros(g, tensor.Float32, 4)
	u := g.Const(tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)))
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{2}, OffsetAxes: []int{1}}
	y := ops.Scatter(x, u, []*ops.Node{g.Const(tensor.Of[int64](0, 1))}, ops.CombineAdd, w, ops.Mode{})
	fmt.Println(tensor.Must(y.Value())) // the windows overlap at element 1
	// Output:
	// [1. 5. 4. 0.]
}

func ExampleStableHLOGather() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3)))
	starts := g.Const(tensor.Must(tensor.FromSlice([]int32{0, 1, 1, 9}, 2, 2)))
	y := ops.StableHLOGather(x, starts, ops.GatherDims{
		OffsetDims: []int{1}, CollapsedSliceDims: []int{0}, StartIndexMap: []int{0, 1},
		IndexVectorDim: 1, SliceSizes: []int{1, 2},
	})
	fmt.Println(tensor.Must(y.Value())) // the start 9 clamps to 1
	// Output:
	// [[2 3]
	//  [5 6]]
}

func ExampleStableHLOScatter() {
	g := graph.Eager(cpu.New())
	x := ops.Zeros(g, tensor.Int32, 4)
	i := g.Const(tensor.Must(tensor.FromSlice([]int32{1, 1, 9}, 3, 1)))
	y := ops.StableHLOScatter(x, i, g.Const(tensor.Of[int32](5, 6, 7)), ops.CombineAdd, ops.ScatterDims{
		InsertedWindowDims: []int{0}, ScatterDimsToOperandDims: []int{0}, IndexVectorDim: 1,
	})
	fmt.Println(tensor.Must(y.Value())) // index 9 is left out
	// Output:
	// [ 0 11  0  0]
}
