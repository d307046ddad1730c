// Gorgonia trains a classifier inside a gorgonia graph: which package of the Go standard library is a function
// from, by the words of its identifiers? The embedding, the maximum over words, the loss and the answer are ops of
// this module; the rest is gorgonia, written as its users write it. The same seed gives the same bits.
package main

import (
	"flag"
	"fmt"
	"go/build"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	adjoint "github.com/adjoint-go/adjoint/interop/gorgonia"
)

// config is what the flags say.
type config struct {
	epochs, batch, length, width int
	compare                      int
	rate                         float64
	seed                         uint64
	goroot                       string
	oneHot                       bool
}

func main() {
	var c config
	flag.IntVar(&c.epochs, "epochs", 4, "passes over the functions")
	flag.IntVar(&c.batch, "batch", 32, "functions of one step")
	flag.IntVar(&c.length, "length", 48, "words of a function that are read")
	flag.IntVar(&c.width, "width", 48, "numbers that stand for a word")
	flag.Float64Var(&c.rate, "rate", 0.005, "learning rate of Adam")
	flag.Uint64Var(&c.seed, "seed", 1, "of the weights and the order")
	flag.StringVar(&c.goroot, "goroot", build.Default.GOROOT, "`folder` of a Go installation")
	flag.BoolVar(&c.oneHot, "onehot", false, "embed by a matrix of one-hot rows, as gorgonia's own ops must")
	flag.IntVar(&c.compare, "compare", 0, "`steps` to time, at the end, with the other embedding")
	flag.Parse()
	if err := c.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gorgonia:", err)
		os.Exit(1)
	}
}

// weights outlive the graphs that use them.
type weights struct{ table, matrix, bias *tensor.Dense }

func newWeights(r *rand.Rand, vocabulary, width, classes int) weights {
	normal := func(scale float64, shape ...int) *tensor.Dense {
		x := make([]float32, tensor.Shape(shape).TotalSize())
		for i := range x {
			x[i] = float32(scale * r.NormFloat64())
		}
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x))
	}
	w := weights{normal(0.1, vocabulary, width), normal(0.1, width, classes), normal(0, 1, classes)}
	for i := range width { // the row of padding is 0 and stays 0
		w.table.Data().([]float32)[padding*width+i] = 0
	}
	return w
}

// model is the classifier in a graph of gorgonia's.
type model struct {
	words, labels, loss, answer *gorgonia.Node
	learnables                  gorgonia.Nodes
}

func newModel(c config, w weights) (m model, err error) {
	defer func() { // gorgonia.Must panics
		if e, ok := recover().(error); ok {
			err = e
		}
	}()
	g := gorgonia.NewGraph()
	parameter := func(name string, v *tensor.Dense) *gorgonia.Node {
		n := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(v.Shape()...), gorgonia.WithValue(v))
		m.learnables = append(m.learnables, n)
		return n
	}
	table, matrix, bias := parameter("table", w.table), parameter("matrix", w.matrix), parameter("bias", w.bias)
	m.labels = gorgonia.NewVector(g, tensor.Int32, gorgonia.WithName("labels"), gorgonia.WithShape(c.batch))

	var h *gorgonia.Node
	if c.oneHot {
		m.words = gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("words"), gorgonia.WithShape(c.batch*c.length, w.table.Shape()[0]))
		h = gorgonia.Must(gorgonia.Reshape(gorgonia.Must(gorgonia.Mul(m.words, table)), tensor.Shape{c.batch, c.length, c.width}))
	} else {
		m.words = gorgonia.NewMatrix(g, tensor.Int32, gorgonia.WithName("words"), gorgonia.WithShape(c.batch, c.length))
		h = gorgonia.Must(adjoint.Embedding(table, m.words, padding)) // [batch length width]
	}
	h = gorgonia.Must(adjoint.Max(h, 1)) // [batch width]
	logits := gorgonia.Must(gorgonia.BroadcastAdd(gorgonia.Must(gorgonia.Mul(h, matrix)), bias, nil, []byte{0}))
	m.loss = gorgonia.Must(adjoint.CrossEntropy(logits, m.labels))
	m.answer = gorgonia.Must(adjoint.ArgMax(logits, 1))
	return m, nil
}

// feed binds a batch to the model's inputs.
func (m model) feed(c config, batch []example) error {
	labels := make([]int32, c.batch)
	tokens := make([]int32, c.batch*c.length)
	for i, e := range batch {
		labels[i] = e.class
		copy(tokens[i*c.length:], e.tokens)
	}
	words := tensor.New(tensor.WithShape(c.batch, c.length), tensor.WithBacking(tokens))
	if c.oneHot {
		vocabulary := m.words.Shape()[1]
		rows := make([]float32, len(tokens)*vocabulary)
		for i, t := range tokens {
			if t != padding {
				rows[i*vocabulary+int(t)] = 1
			}
		}
		words = tensor.New(tensor.WithShape(len(tokens), vocabulary), tensor.WithBacking(rows))
	}
	if err := gorgonia.Let(m.words, words); err != nil {
		return err
	}
	return gorgonia.Let(m.labels, tensor.New(tensor.WithBacking(labels)))
}

func (c config) run(w io.Writer) error {
	began := time.Now()
	r := rand.New(rand.NewPCG(c.seed, 0))
	all, err := readFunctions(c.goroot)
	if err != nil {
		return err
	}
	train, test, vocabulary := prepare(all, c.length, r)
	if c.batch < 1 || c.batch > len(test) || c.length < 1 || c.width < 1 {
		return fmt.Errorf("-batch %d, -length %d, -width %d: want a batch of 1 to %d and no number below 1", c.batch, c.length, c.width, len(test))
	}
	fmt.Fprintf(w, "%d functions of %d packages, %d words; %d functions kept for the test\n", len(all), len(packages), vocabulary, len(test))
	params := newWeights(r, vocabulary, c.width, len(packages))
	perStep, err := c.train(w, params, train, r)
	if err != nil {
		return err
	}
	right, err := c.test(params, test)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "test accuracy %.4f\n", float64(right)/float64(len(test)))
	fmt.Fprintf(w, "%.1f ms a step, %.1f s in all\n", 1e3*perStep.Seconds(), time.Since(began).Seconds())
	if c.compare < 1 {
		return nil
	}
	c.epochs, c.oneHot = 1, !c.oneHot
	other, err := c.train(io.Discard, params, train[:min(c.compare*c.batch, len(train))], r)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%.1f ms a step with embedding by %s\n", 1e3*other.Seconds(), c.embedding())
	return nil
}

func (c config) embedding() string {
	if c.oneHot {
		return "a matrix of one-hot rows"
	}
	return "index"
}

// train updates the weights in place and returns the time of one step.
func (c config) train(w io.Writer, params weights, train []example, r *rand.Rand) (perStep time.Duration, err error) {
	m, err := newModel(c, params)
	if err != nil {
		return 0, err
	}
	if _, err := gorgonia.Grad(m.loss, m.learnables...); err != nil {
		return 0, err
	}
	vm := gorgonia.NewTapeMachine(m.loss.Graph(), gorgonia.BindDualValues(m.learnables...))
	defer vm.Close()
	solver := gorgonia.NewAdamSolver(gorgonia.WithLearnRate(c.rate))
	steps, began := 0, time.Now()
	for epoch := range c.epochs {
		r.Shuffle(len(train), func(i, k int) { train[i], train[k] = train[k], train[i] })
		sum, n := 0.0, 0
		for at := 0; at+c.batch <= len(train); at += c.batch {
			if err := m.feed(c, train[at:at+c.batch]); err != nil {
				return 0, err
			}
			if err := vm.RunAll(); err != nil {
				return 0, err
			}
			sum, n = sum+float64(m.loss.Value().Data().(float32)), n+1
			if err := solver.Step(gorgonia.NodesToValueGrads(m.learnables)); err != nil {
				return 0, err
			}
			vm.Reset()
		}
		steps += n
		fmt.Fprintf(w, "epoch %d: loss %.4f\n", epoch+1, sum/float64(max(n, 1)))
	}
	return time.Since(began) / time.Duration(max(steps, 1)), nil
}

// test counts the functions that are put in their package.
func (c config) test(params weights, test []example) (right int, err error) {
	m, err := newModel(c, params)
	if err != nil {
		return 0, err
	}
	vm := gorgonia.NewTapeMachine(m.loss.Graph())
	defer vm.Close()
	for at := 0; at < len(test); at += c.batch {
		batch := test[at:min(at+c.batch, len(test))]
		if err := m.feed(c, batch); err != nil {
			return 0, err
		}
		if err := vm.RunAll(); err != nil {
			return 0, err
		}
		answers := m.answer.Value().Data().([]int)
		for i, e := range batch {
			if answers[i] == int(e.class) {
				right++
			}
		}
		vm.Reset()
	}
	return right, nil
}
