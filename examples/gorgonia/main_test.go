package main

import (
	"bytes"
	"go/build"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
)

func small() config {
	return config{epochs: 2, batch: 32, length: 24, width: 16, rate: 0.01, seed: 1, goroot: build.Default.GOROOT}
}

func run(t *testing.T, c config) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.run(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var accuracy = regexp.MustCompile(`(?s)^(.*)test accuracy (0\.\d{4})\n`)

// TestRun: a short training learns, and prints the same losses and accuracy each time.
func TestRun(t *testing.T) {
	first := accuracy.FindStringSubmatch(run(t, small()))
	if first == nil {
		t.Fatal("no accuracy was printed")
	}
	if a, err := strconv.ParseFloat(first[2], 64); err != nil || a < 0.7 {
		t.Errorf("test accuracy %s, want 0.7 at least", first[2])
	}
	if again := accuracy.FindStringSubmatch(run(t, small())); !slices.Equal(again, first) {
		t.Errorf("printed %q, then %q", first, again)
	}
}

// TestCompare: the other embedding is timed after the test of the first.
func TestCompare(t *testing.T) {
	for oneHot, says := range map[bool]string{false: "one-hot rows", true: "index"} {
		c := small()
		c.epochs, c.oneHot, c.compare = 0, oneHot, 2
		out := run(t, c)
		line := regexp.MustCompile(`\n(\d+\.\d) ms a step with embedding by .*` + says + `\n$`).FindStringSubmatch(out)
		if line == nil || line[1] == "0.0" {
			t.Errorf("with -onehot=%v it printed\n%s", oneHot, out)
		}
	}
}

// TestOneHot: embedding by index and by one-hot rows give one loss and one gradient of the table.
func TestOneHot(t *testing.T) {
	c := small()
	r := rand.New(rand.NewPCG(1, 2))
	all, err := readFunctions(c.goroot)
	if err != nil {
		t.Fatal(err)
	}
	train, _, vocabulary := prepare(all, c.length, r)
	params := newWeights(r, vocabulary, c.width, len(packages))
	step := func(c config) (loss float32, table []float32) {
		m, err := newModel(c, params)
		if err != nil {
			t.Fatal(err)
		}
		grads, err := gorgonia.Grad(m.loss, m.learnables...)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.feed(c, train[:c.batch]); err != nil {
			t.Fatal(err)
		}
		if err := gorgonia.NewTapeMachine(m.loss.Graph()).RunAll(); err != nil {
			t.Fatal(err)
		}
		return m.loss.Value().Data().(float32), grads[0].Value().Data().([]float32)
	}
	loss, table := step(c)
	c.oneHot = true
	lossOneHot, tableOneHot := step(c)
	if d := loss - lossOneHot; d > 1e-5 || d < -1e-5 {
		t.Errorf("losses %v and %v", loss, lossOneHot)
	}
	largest := float32(0)
	for i := range table {
		largest = max(largest, table[i], -table[i])
		if d := table[i] - tableOneHot[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("gradients of element %d of the table: %v and %v", i, table[i], tableOneHot[i])
		}
	}
	if largest == 0 {
		t.Error("the gradient is 0 everywhere: the test tests nothing")
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{
		"readFull": "read full", "HTTPServer": "http server", "x": "", "ServeHTTP": "serve http", "utf8": "utf", "a_long_Name": "long name",
		"nextURL2Path": "next url path",
	} {
		if got := strings.Join(split(name), " "); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	var out bytes.Buffer
	c := small()
	c.goroot = t.TempDir()
	if err := c.run(&out); err == nil || !strings.Contains(err.Error(), "-goroot") {
		t.Errorf("a GOROOT without sources: %v", err)
	}
	c = small()
	c.batch = 0
	if err := c.run(&out); err == nil || !strings.Contains(err.Error(), "-batch 0") {
		t.Errorf("no batch: %v", err)
	}
}
