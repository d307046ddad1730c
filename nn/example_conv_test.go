package nn_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// A network that learns whether the stripes of an image lie or stand: a convolution, a pool over all of the image,
// and a linear layer.
func ExampleConv() {
	images, labels := make([]float32, 0, 8*6*6), make([]int32, 0, 8)
	for n := range 8 {
		for i := range 6 {
			for j := range 6 {
				along := [2]int{i, j}[n%2] // rows or columns
				images = append(images, float32((along+n/2)/2%2))
			}
		}
		labels = append(labels, int32(n%2))
	}
	b := cpu.New()
	store := graph.NewStore(b, 1)
	model := nn.Sequential{
		nn.NewConv(store, "conv", nn.HeNormal, tensor.Float32, 1, 4, ops.ConvSpec{Low: []int{1, 1}, High: []int{1, 1}}, 3, 3),
		nn.LayerFunc(ops.Relu),
		nn.LayerFunc(func(x *nn.Node) *nn.Node { return ops.Mean(x, 2, 3) }),
		nn.NewLinear(store, "out", nn.XavierUniform, tensor.Float32, 4, 2),
	}
	g := graph.New()
	x, y := g.Input("x", tensor.Float32, 8, 1, 6, 6), g.Input("y", tensor.Int32, 8)
	logits := model.Apply(x)
	trainer := nn.Trainer{
		Backend: b,
		Outputs: nn.Adam{LR: 0.05}.Step(nn.CrossEntropy(logits, y)),
		Metrics: []nn.Metric{{Name: "accuracy", Value: nn.Accuracy(logits, y)}},
		Data: &nn.Table{Batch: 8, Columns: map[string]*tensor.Tensor{
			"x": tensor.Must(tensor.FromSlice(images, 8, 1, 6, 6)), "y": tensor.Of(labels...),
		}},
		Epochs: 100, Progress: io.Discard,
	}
	history, err := trainer.Fit(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	last := history.Epochs[len(history.Epochs)-1]
	fmt.Printf("accuracy %v, loss below 0.05: %v\n", last.Metrics[0], last.Loss < 0.05)
	// Output: accuracy 1, loss below 0.05: true
}
