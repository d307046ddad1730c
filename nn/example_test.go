package nn_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// A network that learns exclusive or.
func Example() {
	b := cpu.New()
	store := graph.NewStore(b, 1)
	model := nn.Sequential{
		nn.NewLinear(store, "hidden", nn.XavierUniform, tensor.Float32, 2, 8),
		nn.LayerFunc(ops.Tanh),
		nn.NewLinear(store, "out", nn.XavierUniform, tensor.Float32, 8, 2),
	}
	g := graph.New()
	x, labels := g.Input("x", tensor.Float32, 4, 2), g.Input("labels", tensor.Int32, 4)
	logits := model.Apply(x)

	trainer := nn.Trainer{
		Backend: b,
		Outputs: nn.Adam{LR: 0.05}.Step(nn.CrossEntropy(logits, labels)),
		Metrics: []nn.Metric{{Name: "accuracy", Value: nn.Accuracy(logits, labels)}},
		Data: &nn.Table{Batch: 4, Columns: map[string]*tensor.Tensor{
			"x":      tensor.Must(tensor.FromSlice([]float32{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2)),
			"labels": tensor.Of[int32](0, 1, 1, 0),
		}},
		Epochs:   200,
		Progress: io.Discard,
	}
	history, err := trainer.Fit(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	last := history.Epochs[len(history.Epochs)-1]
	fmt.Printf("accuracy %v, loss below 0.05: %v\n", last.Metrics[0], last.Loss < 0.05)
	// Output: accuracy 1, loss below 0.05: true
}

func ExampleAdam() {
	b := cpu.New()
	store := graph.NewStore(b, 1)
	x := store.New("x", nn.Fill(3), tensor.Float64)
	g := graph.New()
	loss := ops.Square(ops.Sub(x.Read(g), 1))
	step, err := graph.Compile(b, nn.Adam{LR: 0.1}.Step(loss)...)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		outs, err := step.Run(context.Background(), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("loss %.4v\n", outs[0])
	}
	for _, v := range store.Variables() {
		value, _ := v.Value()
		fmt.Printf("%s = %.4v\n", v.Name(), value)
	}
	// Output:
	// loss 4.0
	// loss 3.61
	// x = 2.80
	// adam/step = 2
	// adam/x/m = 0.74
	// adam/x/v = 0.03
}

func ExampleDropout() {
	b := cpu.New()
	store := graph.NewStore(b, 1)
	g := graph.New()
	keys := nn.NewKeys(g, store, "dropout")
	x := ops.Ones(g, tensor.Float32, 6)
	program, err := graph.Compile(b, nn.Dropout(x, 0.5, keys.Next()), keys.Advance())
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		outs, err := program.Run(context.Background(), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(outs[0])
	}
	// Output:
	// [2. 2. 2. 0. 0. 2.]
	// [2. 0. 0. 0. 0. 0.]
}

func ExampleCrossEntropyWith() {
	g := graph.Eager(cpu.New())
	logits := g.Const(tensor.Must(tensor.FromSlice([]float32{0, 0, 5, 0}, 2, 2)))
	labels := g.Const(tensor.Of[int32](1, -1))
	loss, err := nn.CrossEntropyWith(nn.CrossEntropyOptions{Ignore: []int{-1}}, logits, labels).Value()
	fmt.Println(loss, err) // log 2, of the first example alone
	// Output: 0.6931472 <nil>
}

func ExampleCosine() {
	g := graph.Eager(cpu.New())
	for _, done := range []int64{0, 1, 2, 6, 10} {
		factor, err := nn.Cosine(2, 10)(g.Const(tensor.Scalar(done))).Value()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(done, factor)
	}
	// Output:
	// 0 0.5
	// 1 1.0
	// 2 1.0
	// 6 0.5
	// 10 0.0
}

func ExampleSave() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")

	from, to := graph.NewStore(cpu.New(), 1), graph.NewStore(cpu.New(), 2)
	from.New("w", nn.Fill(2), tensor.Float32, 2)
	w := to.New("w", nn.Zeros, tensor.Float32, 2)
	if err := nn.Save(path, from); err != nil {
		log.Fatal(err)
	}
	if err := nn.Load(path, to); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Value())
	// Output: [2. 2.] <nil>
}
