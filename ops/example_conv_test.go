package ops_test

import (
	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

func ExampleConv() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float32{ // an image of one channel
		0, 0, 0, 0,
		0, 1, 1, 1,
		0, 1, 1, 1,
	}, 1, 1, 3, 4)))
	w := g.Const(tensor.Must(tensor.FromSlice([]float32{ // two features: edges down and across
		-1, -1, 1, 1,
		-1, 1, -1, 1,
	}, 2, 1, 2, 2)))
	y := ops.Conv(x, w, ops.ConvSpec{})
	show(ops.Squeeze(y, 0))
	show(ops.Squeeze(autograd.Grad(ops.Sum(ops.Square(y)), w)[0], 1))

	channelsLast := []int{0, 3, 1, 2}
	z := ops.Conv(ops.Transpose(x, 0, 2, 3, 1), w, ops.ConvSpec{
		Strides: []int{1, 2}, High: []int{1, 0}, XAxes: channelsLast, OutAxes: channelsLast,
	})
	show(ops.Squeeze(z, 0))
	// Output:
	// [[[1. 2. 2.]
	//   [0. 0. 0.]]
	//
	//  [[1. 0. 0.]
	//   [2. 0. 0.]]]
	// [[[ 0.  0.]
	//   [ 8. 10.]]
	//
	//  [[ 0.  4.]
	//   [ 0.  6.]]]
	// [[[ 1.  1.]
	//   [ 2.  0.]]
	//
	//  [[ 0.  2.]
	//   [ 0.  0.]]
	//
	//  [[-1.  1.]
	//   [-2.  0.]]]
}

func ExampleConvTranspose() {
	g := graph.Eager(cpu.New())
	x := g.Const(tensor.Must(tensor.FromSlice([]float64{1, 2, 3}, 1, 1, 3)))
	w := g.Const(tensor.Must(tensor.FromSlice([]float64{1, 10, 100}, 1, 1, 3)))
	show(ops.Squeeze(ops.ConvTranspose(x, w, ops.ConvSpec{Strides: []int{2}}), 0, 1))
	show(ops.Squeeze(ops.ConvTranspose(x, w, ops.ConvSpec{Strides: []int{2}, Low: []int{1}, High: []int{1}, Over: []int{1}}), 0, 1))
	// Output:
	// [  1.  10. 102.  20. 203.  30. 300.]
	// [ 10. 102.  20. 203.  30. 300.]
}
