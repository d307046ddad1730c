package adjoint_test

import (
	"errors"
	"fmt"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleApply() {
	g := gorgonia.NewGraph()
	x := input(g, "x", vector(3., 4))
	unit := must(adjoint.Apply("unit", func(in []*graph.Node) *graph.Node { // one op, with its gradients
		return ops.Div(in[0], ops.Norm(in[0], 2))
	}, x))
	fmt.Println(tape(unit))
	// Output: [2] [0.6 0.8]
}

func ExampleCause() {
	g := gorgonia.NewGraph()
	x, ids := input(g, "x", vector(3., 4)), input(g, "ids", vector(0, 2))
	must(adjoint.Take(x, ids, 0))
	err := gorgonia.NewTapeMachine(g).RunAll()
	if bad, ok := errors.AsType[*ops.IndexError](adjoint.Cause(err)); ok {
		fmt.Println("index", bad.Index, "at", bad.Position)
	}
	// Output: index 2 at [1]
}

func ExampleFromDense() {
	d := gtensor.New(gtensor.WithShape(2, 2), gtensor.WithBacking([]int32{1, 2, 3, 4}))
	v, err := adjoint.FromDense(d)
	fmt.Println(v.Spec(), v, err)
	// Output:
	// int32[2 2] [[1 2]
	//  [3 4]] <nil>
}

func ExampleToDense() {
	d, err := adjoint.ToDense(tensor.Of[float32](1, 2, 3))
	fmt.Println(d.Dtype(), d, err)
	// Output: float32 [1  2  3] <nil>
}

func ExampleToDenseOf() {
	d, err := adjoint.ToDenseOf(tensor.Of[int64](1, 2, 3), gtensor.Int64)
	fmt.Println(d.Dtype(), d, err)
	// Output: int64 [1  2  3] <nil>
}

func ExampleFromValue() {
	v, err := adjoint.FromValue(gorgonia.NewF64(2.5))
	fmt.Println(v.Spec(), v, err)
	// Output: float64[] 2.5 <nil>
}

func ExampleToValue() {
	v, err := adjoint.ToValue(tensor.Scalar[float32](2.5))
	fmt.Printf("%T %v %v\n", v, v, err)
	// Output: *gorgonia.F32 2.5 <nil>
}

func ExampleUse() {
	err := adjoint.Use(cpu.On(cpu.Threads(1))) // for ops applied from now on
	defer adjoint.Use(nil)
	fmt.Println(err)
	// Output: <nil>
}
