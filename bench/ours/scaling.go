package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/bench/cases"
	"github.com/adjoint-go/adjoint/bench/worker"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/index"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor"
)

// scaled are the ops of the scaling table, on n elements. The softmax is of lines of 1024, the gather of rows
// of 64 from a table as large as its result.
var scaled = []struct {
	name   string
	inputs int
	shape  func(n int) []int
	build  build
}{
	{"sum", 1, func(n int) []int { return []int{n} }, unary(func(x *node) *node { return ops.Sum(x) })},
	{"add", 1, func(n int) []int { return []int{n} }, unary(func(x *node) *node { return ops.Add(x, x) })},
	{"gather", 2, func(n int) []int { return []int{n / 64, 64} },
		pure(func(in []input) *node { return ops.Index(in[0].node, index.Of(in[1].node)) })},
	{"softmax", 1, func(n int) []int { return []int{n / 1024, 1024} },
		unary(func(x *node) *node { return ops.Softmax(x, 1) })},
}

// scaling prints the time of an op for 2¹⁰ to 2²⁶ elements, and what a doubling multiplied it by.
func scaling(w io.Writer) error {
	b := cpu.New()
	fmt.Fprintf(w, "%9s", "elements")
	for _, op := range scaled {
		fmt.Fprintf(w, " | %10s ms  × ns/elem", op.name)
	}
	fmt.Fprintln(w)
	last := make([]float64, len(scaled))
	for n := 1 << 10; n <= 1<<26; n *= 2 {
		fmt.Fprintf(w, "%9d", n)
		for i, op := range scaled {
			t, err := scaledOnce(b, op.build, op.inputs, op.shape(n))
			if err != nil {
				return err
			}
			growth := "    "
			if last[i] > 0 {
				growth = fmt.Sprintf("%4.1f", t/last[i])
			}
			fmt.Fprintf(w, " | %10.5f %s %7.3f", t*1e3, growth, t*1e9/float64(n))
			last[i] = t
		}
		fmt.Fprintln(w)
	}
	return nil
}

func scaledOnce(b graph.Backend, f build, inputs int, shape []int) (float64, error) {
	x, err := tensor.New(tensor.Float32, shape...)
	if err != nil {
		return 0, err
	}
	data, err := tensor.Slice[float32](x)
	if err != nil {
		return 0, err
	}
	for i := range data {
		data[i] = float32(i%1000) / 1000
	}
	places := make([]int64, shape[0])
	for i := range places {
		places[i] = cases.Index(1, shape[0]).Place(i)
	}
	at, err := tensor.FromSlice(places, len(places))
	if err != nil {
		return 0, err
	}
	tensors := []*tensor.Tensor{x, at}[:inputs]
	run, err := compiled(b, f, make([]worker.Array, len(tensors)), tensors)
	if err != nil {
		return 0, err
	}
	seconds, err := worker.Measure(run.Do, 0.1)
	slices.Sort(seconds)
	return seconds[len(seconds)/2], err
}
