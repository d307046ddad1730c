package cpu_test

import (
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The sums of the columns of a matrix, of which the plan reads a transposed view.
func ExampleReducePlan() {
	m := tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	src := tensor.Must(m.View().Transpose(1, 0))
	dst := tensor.Must(tensor.New(tensor.Float32, 3))
	plan, err := cpu.CompileReduce(tensor.Float32, ops.ReduceSum, src.Layout(), dst.Layout(), []int{1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, dst.Write(), src.Read()), dst)
	// Output: <nil> [5. 7. 9.]
}

// What is left behind each step, summed from the last.
func ExampleScanPlan() {
	src := tensor.Of[int32](1, 2, 3, 4)
	dst := tensor.Must(tensor.New(tensor.Int32, 4))
	plan, err := cpu.CompileScan(tensor.Int32, ops.ScanSum, src.Layout(), dst.Layout(), 0, ops.Reversed, ops.Exclusive)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, dst.Write(), src.Read()), dst)
	// Output: <nil> [9 7 4 0]
}

// The running maximum and where it stands.
func ExampleCompileScanIndices() {
	src := tensor.Of[float32](3, 1, 4, 1, 5)
	dst, at := tensor.Must(tensor.New(tensor.Float32, 5)), tensor.Must(tensor.New(tensor.Int64, 5))
	plan, err := cpu.CompileScanIndices(tensor.Float32, ops.ScanMax, src.Layout(), dst.Layout(), at.Layout(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.ExecuteIndices(nil, dst.Write(), at.Write(), src.Read()), dst, at)
	// Output: <nil> [3. 3. 4. 4. 5.] [0 0 2 2 4]
}

// The two greatest of each row, and where they stand.
func ExampleSortPlan() {
	src := tensor.Must(tensor.FromSlice([]float32{3, 1, 4, 9, 2, 6}, 2, 3))
	values, at := tensor.Must(tensor.New(tensor.Float32, 2, 2)), tensor.Must(tensor.New(tensor.Int64, 2, 2))
	v, i := values.Layout(), at.Layout()
	plan, err := cpu.CompileSort(tensor.Float32, ops.Descending, src.Layout(), &v, &i, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, values.Write(), at.Write(), src.Read()))
	fmt.Println(values)
	fmt.Println(at)
	// Output:
	// <nil>
	// [[4. 3.]
	//  [9. 6.]]
	// [[2 0]
	//  [0 2]]
}

// Squares of these numbers do not fit a float32.
func ExampleNormPlan() {
	src := tensor.Of[float32](3e30, -4e30)
	dst := tensor.Must(tensor.New(tensor.Float32))
	plan, err := cpu.CompileNorm(tensor.Float32, 2, src.Layout(), dst.Layout(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, dst.Write(), src.Read()), dst)
	// Output: <nil> 5e+30
}

// Rows of a table, the last one counted from the end. An index out of bounds is found before anything is
// written.
func ExampleGatherPlan() {
	table := tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2))
	rows, dst := tensor.Of[int32](2, 0, -1), tensor.Must(tensor.New(tensor.Float32, 3, 2))
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1, 2}, Collapsed: []int{0}, OffsetAxes: []int{1}, IndexShape: []int{3}}
	plan, err := cpu.CompileGather(tensor.Float32, w, ops.Mode{Wrap: true}, table.Layout(), dst.Layout(),
		graph.Operand{DType: tensor.Int32, Layout: rows.Layout()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, dst.Write(), table.Read(), rows.Read()))
	fmt.Println(dst)
	wrong := tensor.Of[int32](2, 3, 0)
	fmt.Println(plan.Execute(nil, dst.Write(), table.Read(), wrong.Read()))
	// Output:
	// <nil>
	// [[5. 6.]
	//  [1. 2.]
	//  [5. 6.]]
	// cpu.Gather: index 3 at position [1] of index operand 0 is out of bounds for axis 0 with extent 3
}

// Counting in place: the source is the destination, and repeated indices add up.
func ExampleScatterPlan() {
	counts, seen, ones := tensor.Of[int64](0, 0, 0, 0), tensor.Of[uint8](1, 3, 1, 1), tensor.Of[int64](1, 1, 1, 1)
	w := ops.Window{IndexAxes: []int{0}, SliceSizes: []int{1}, Collapsed: []int{0}, IndexShape: []int{4}}
	plan, err := cpu.CompileScatter(tensor.Int64, w, ops.Mode{}, ops.CombineAdd, counts.Layout(), ones.Layout(), counts.Layout(),
		graph.Operand{DType: tensor.Uint8, Layout: seen.Layout()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, counts.Write(), counts.Read(), ones.Read(), seen.Read()), counts)
	// Output: <nil> [0 3 0 1]
}

// From row-major to column-major memory.
func ExampleCopyPlan() {
	src := tensor.Must(tensor.FromSlice([]int8{1, 2, 3, 4, 5, 6}, 2, 3))
	memory := make([]int8, 6)
	dst := tensor.Must(tensor.ViewOf(memory, tensor.ColMajor([]int{2, 3})))
	plan, err := cpu.CompileCopy(tensor.Int8, src.Layout(), dst.Layout())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, tensor.Must(tensor.NewWrite(dst)), src.Read()), memory)
	// Output: <nil> [1 4 2 5 3 6]
}

// Columns beside one another.
func ExampleConcatPlan() {
	a, b := tensor.Must(tensor.FromSlice([]int32{1, 2}, 2, 1)), tensor.Must(tensor.FromSlice([]int32{3, 4, 5, 6}, 2, 2))
	dst := tensor.Must(tensor.New(tensor.Int32, 2, 3))
	plan, err := cpu.CompileConcat(tensor.Int32, []tensor.Layout{a.Layout(), b.Layout()}, dst.Layout(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, dst.Write(), a.Read(), b.Read()))
	fmt.Println(dst)
	// Output:
	// <nil>
	// [[1 3 4]
	//  [2 5 6]]
}

// One element of padding in front, one between neighbours, and the last element cropped.
func ExamplePadPlan() {
	src, value := tensor.Of[float32](1, 2, 3), tensor.Scalar[float32](-1)
	dst := tensor.Must(tensor.New(tensor.Float32, 5))
	plan, err := cpu.CompilePad(tensor.Float32, src.Layout(), value.Layout(), dst.Layout(), []int{1}, []int{-1}, []int{1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Execute(nil, dst.Write(), src.Read(), value.Read()), dst)
	// Output: <nil> [-1.  1. -1.  2. -1.]
}
