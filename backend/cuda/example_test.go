package cuda_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// The sums of rows on a GPU, or where there is none on the CPU: the bits are the same.
func ExampleOpen() {
	var b graph.Backend = cpu.New()
	gpu, err := cuda.Open(0)
	switch {
	case err == nil:
		defer gpu.Close()
		b = gpu
	case !errors.Is(err, cuda.ErrNoDriver) && !errors.Is(err, cuda.ErrNoDevice):
		fmt.Println(err)
		return
	}
	g := graph.New()
	x := g.Input("x", tensor.Float32, 2, 3)
	program, err := graph.Compile(b, ops.Sum(x, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	t := tensor.Must(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	feeds, err := graph.Feed{"x": t}.Import(b, nil) // to the device
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := program.Run(context.Background(), feeds)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Export(out[0].View())) // and back
	// Output: [ 6. 15.] <nil>
}
