package main

import (
	"io"

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

// scaling prints the table of the ops.
func scaling(w io.Writer) error {
	b := cpu.New()
	var columns []worker.Scaled
	for _, op := range scaled {
		columns = append(columns, worker.Scaled{Name: op.name, Seconds: func(n int) (float64, error) {
			return scaledOnce(b, op.build, op.inputs, op.shape(n))
		}})
	}
	return worker.Scale(w, columns...)
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
	return worker.Median(run.Do, 0.1)
}
