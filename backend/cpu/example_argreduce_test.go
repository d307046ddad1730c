package cpu_test

import (
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The index of the greatest element down each column of a column-major matrix.
func ExampleArgReducePlan() {
	src := tensor.Must(tensor.FromSliceColMajor([]float64{1, 5, 5, -2, -7, 3}, 3, 2))
	dst := tensor.Must(tensor.New(tensor.Int64, 2))
	plan, err := cpu.CompileArgReduce(tensor.Float64, tensor.Int64, ops.ArgMaxFn, src.Layout(), dst.Layout(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := plan.Execute(cpu.Threads(0), dst.Write(), src.Read()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tensor.Must(tensor.Values[int64](dst))) // of the two fives the first
	// Output: [1 2]
}

// An axis of extent 0 has no index to return; complex numbers have no order but by magnitude.
func ExampleCompileArgReduce() {
	empty, line := tensor.RowMajor([]int{0, 2}), tensor.RowMajor([]int{2})
	_, err := cpu.CompileArgReduce(tensor.Float32, tensor.Int32, ops.ArgMinFn, empty, line, 0)
	fmt.Println(err)
	_, err = cpu.CompileArgReduce(tensor.Complex64, tensor.Int32, ops.ArgMinFn, line, tensor.Layout{}, 0)
	fmt.Println(err)
	// Output:
	// cpu.ArgReduce: axis 0 of source shape [0 2] is empty: there is no index to give
	// cpu.ArgReduce: source dtype complex64 has no order but by magnitude
}
